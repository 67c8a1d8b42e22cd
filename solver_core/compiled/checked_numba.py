"""Importing this raises an ``ImportError`` of one line if the installed Numba is too old or too new for Cairn."""

from pathlib import Path

import numba

from .versions import why_untested

if _reason := why_untested(numba.__version__):
    raise ImportError(f"{_reason}, which lies in {Path(numba.__file__).parent}")
