"""A crash of Blender while it reads a damaged file, said in a line.

Blender checks the structure of a file, not where all of its pointers lead: of files with damaged blocks about one in
fifty crashes its reader. A check beforehand would have to be another Blender that opens the file first, and each
command would take a second longer, or twice as long for a large file. So this process, which is at its end in any case,
says what has happened, and ends as it does where a scene cannot be read.
"""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

# Not all of them are known on each system.
_CRASHES = [
    getattr(signal, name) for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL") if hasattr(signal, name)
]
# More than the structure that says what a process does at a signal takes on any system [bytes].
_BYTES_OF_ACTION = 512


@contextmanager
def crash_told(line: str, code: int) -> Iterator[None]:
    """End with an exit code, and a line on stderr, if the process crashes meanwhile; on POSIX systems.

    Python's own handlers only make a note of the signal and return, to the instruction that has crashed. This one is
    called from C at once, and does nothing but write and leave. If not even that can be done, the process ends by the
    signal, as it does without.

    Parameters
    ----------
    line : str
    code : int
    """
    if os.name != "posix":
        yield
        return
    message = f"{line}\n".encode(errors="surrogateescape")

    def leave(_number):
        os.write(2, message)
        os._exit(code)

    library = ctypes.CDLL(None)
    library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.signal.restype = ctypes.c_void_p
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(leave)
    earlier = {number: ctypes.create_string_buffer(_BYTES_OF_ACTION) for number in _CRASHES}
    for number, action in earlier.items():
        library.sigaction(number, None, action)
        library.signal(number, ctypes.cast(handler, ctypes.c_void_p))
    try:
        yield
    finally:
        for number, action in earlier.items():
            library.sigaction(number, action, None)
