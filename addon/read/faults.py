"""What makes a scene one that cannot be simulated: all of it at once, each fault with its object and what to do.

Who reads a scene goes on after a fault with a stand-in for what is wrong, and raises once all has been looked at: to
mend one fault after the other, with a bake begun for each, would take as many bakes.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class SceneError(ValueError):
    """A scene that cannot be simulated. ``str()`` is one line: object, value and what to do.

    Attributes
    ----------
    object_name : str or None
    message : str
        Without the object's name.
    """

    def __init__(self, object_name, message):
        self.object_name = object_name
        self.message = message
        super().__init__(message if object_name is None else f"{object_name}: {message}")

    @property
    def faults(self) -> "tuple[SceneError, ...]":
        """All that is wrong, each alone."""
        return (self,)


class SceneErrors(SceneError):
    """Several faults of a scene. The line is the first one's, and says how many more there are."""

    def __init__(self, faults: Iterable[SceneError]):
        self._faults = tuple(faults)
        first, more = self._faults[0], len(self._faults) - 1
        super().__init__(first.object_name, f"{first.message} (and {more:,} more fault{'s' if more > 1 else ''})")

    @property
    def faults(self) -> tuple[SceneError, ...]:
        return self._faults


class Faults:
    """Faults that are found while a scene is read, in the order in which they are met."""

    def __init__(self):
        self._found: dict[str, SceneError] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def object_names(self) -> set[str]:
        """Of the objects that something is wrong with."""
        return {fault.object_name for fault in self._found.values() if fault.object_name is not None}

    def add(self, error: SceneError) -> None:
        """Keep a fault, or all of several; the same again is none."""
        for fault in error.faults:
            self._found.setdefault(str(fault), fault)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Keep what is raised meanwhile, and go on behind it."""
        try:
            yield
        except SceneError as error:
            self.add(error)

    def raise_any(self) -> None:
        """Raise what was found, if there is anything.

        Raises
        ------
        SceneError
        """
        found = list(self._found.values())
        if found:
            raise found[0] if len(found) == 1 else SceneErrors(found)


@contextmanager
def gathered(faults: Faults | None) -> Iterator[Faults]:
    """The faults that a caller gathers; where it does not, what is found is raised at the end."""
    own = Faults() if faults is None else faults
    yield own
    if faults is None:
        own.raise_any()
