"""Files of compiled code, by what the code was made from; several processes may write them at the same time.

Numba compares the time stamp of a kernel's own file, and so misses an edit of a callee in another file. Here the names
of a kernel's files hold a key of all that it is made from (``kernel_keys``), so an edit that matters leads to other
files, and no other edit does.

Numba numbers the files of a function's code. If two processes compile it for different types at once, both take the
same number, and the index may name the code of other types, which would be called without a check. Here the name of a
file depends on the types, and the index names a file only after it is complete. If two processes write the index at
once, one entry is lost, and that code is compiled again when it is needed.

What is ready-made (``ready_made``) is not looked for in the cache.
"""

import hashlib
import os
import sys
import weakref
from pathlib import Path

from numba.core.caching import FunctionCache, IndexDataCacheFile

from . import ready_made, sources
from .kernel_keys import key_of

# Of the readable part of a file's name.
_LONGEST_NAME = 60


class _CacheFiles(IndexDataCacheFile):
    def save(self, key, data):
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def has(self, key) -> bool:
        """Whether there is code for this key."""
        name = self._load_index().get(key)
        return name is not None and os.path.exists(self._data_path(name))


class _NoFiles:
    """Nothing is read or kept: of sources that may have changed since this process loaded them."""

    def load(self, key):
        return None

    def save(self, key, data):
        pass

    def has(self, key) -> bool:
        return False


class _Cache(FunctionCache):
    """Numba's cache of a function, whose files depend on what the function is made from.

    Attributes
    ----------
    dispatcher : weak reference
        The kernel.
    folder : Path or None
        Where digests of sources are kept.
    """

    def load_overload(self, sig, target_context):
        # without what Numba needs to compile, or to read its own cache, which takes a third of the time to load all
        loaded = ready_made.load(self._py_func, sig, target_context)
        if loaded is not None:
            return loaded
        target_context.refresh()
        return super().load_overload(sig, target_context)

    def _load_overload(self, sig, target_context):
        self._cache_file = self.files_for(sig)
        return super()._load_overload(sig, target_context)

    def _save_overload(self, sig, data):
        self._cache_file = self.files_for(sig)
        super()._save_overload(sig, data)

    def files_for(self, kinds) -> _CacheFiles | _NoFiles:
        """Files of the code for arguments of these types."""
        try:
            key = key_of(self.dispatcher(), kinds, self.folder)
        except sources.ChangedSource:
            return _NoFiles()
        name = f"{Path(self._py_func.__code__.co_filename).stem}.{self._py_func.__qualname__}"
        readable = "".join(c for c in name if c.isalnum() or c in "._")[-_LONGEST_NAME:]
        python = "py{}{}".format(*sys.version_info) + getattr(sys, "abiflags", "")
        return _CacheFiles(self._cache_path, f"{readable}-{key}.{python}", source_stamp="")


def share_cache(dispatcher, folder: Path | None):
    """Let several processes write the code of a function that Numba caches; returns the function.

    Parameters
    ----------
    dispatcher : Numba's dispatcher
    folder : Path or None
        Where digests of sources are kept.
    """
    if cache := getattr(dispatcher, "_cache", None):  # there is none where kernels run as plain Python
        sources.remember()
        cache.__class__ = _Cache
        cache.dispatcher, cache.folder = weakref.ref(dispatcher), folder
    return dispatcher


def is_in_cache(dispatcher, kinds) -> bool:
    """Whether the code of a function for arguments of these types can be loaded."""
    if ready_made.is_ready_made(dispatcher.py_func, kinds):
        return True
    cache = dispatcher._cache
    return cache.files_for(kinds).has(cache._index_key(kinds, dispatcher.targetctx.codegen()))


def machine_code(dispatcher, kinds) -> bytes:
    """What the cache holds of a function for arguments of these types: an object file for LLVM to link."""
    cache = dispatcher._cache
    (_, _, (code, _)), *_ = cache.files_for(kinds).load(cache._index_key(kinds, dispatcher.targetctx.codegen()))
    return code
