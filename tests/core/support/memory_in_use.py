"""How much memory this process has, to see whether what goes on for long keeps taking more."""

import gc
import sys
from pathlib import Path

import pytest

_STATM = Path("/proc/self/statm")
needs_statm = pytest.mark.skipif(not _STATM.exists(), reason="the system does not tell a process its memory that way")


def memory_in_use() -> tuple[int, int]:
    """Bytes that are in memory, and blocks that Python's own allocator holds, once what is no more needed is gone."""
    gc.collect()
    gc.collect()
    return int(_STATM.read_text().split()[1]) * 4096, sys.getallocatedblocks()
