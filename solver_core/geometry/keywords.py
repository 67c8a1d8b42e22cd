"""A wrong keyword of a shape's constructor names the right one."""

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

# Words for the same length of round shapes, of which each has one: a height of what stands, a length of what lies.
_HALVES = ("half_height", "half_length")
_WHOLES = ("height", "length", "depth")

Init = TypeVar("Init", bound=Callable[..., None])


def names_keywords(init: Init) -> Init:
    """Let a constructor say which keyword was meant by one that it does not have (``TypeError``)."""
    known = list(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def checked(self: Any, *arguments: Any, **keywords: Any) -> None:
        for keyword in keywords:
            if keyword not in known:
                raise TypeError(f"{type(self).__name__} has no {keyword}; {_hint(keyword, known)}")
        init(self, *arguments, **keywords)

    return checked  # type: ignore[return-value]


def _hint(keyword, known) -> str:
    own = next((half for half in _HALVES if half in known), None)
    if own and keyword in _HALVES:
        return f"its {own} is the same kind of length"
    if own and keyword in _WHOLES:
        return f"give half of it as {own}"
    close = difflib.get_close_matches(keyword, known, 1)
    return f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
