"""Files of compiled code that several processes may write at the same time.

Numba numbers the files of a function's code. If two processes compile it for different types at once, both take the
same number, and the index may name the code of other types, which would be called without a check. Here the name of a
file depends on the types, and the index names a file only after it is complete. If two processes write the index at
once, one entry is lost, and that code is compiled again when it is needed.

What is ready-made (``ready_made``) is not looked for in the cache.
"""

import hashlib
import os

from numba.core.caching import FunctionCache, IndexDataCacheFile

from . import ready_made


class _CacheFiles(IndexDataCacheFile):
    def save(self, key, data):
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


class _Cache(FunctionCache):
    def load_overload(self, sig, target_context):
        # without what Numba needs to compile, or to read its own cache, which takes a third of the time to load all
        loaded = ready_made.load(self._py_func, sig, target_context)
        if loaded is not None:
            return loaded
        target_context.refresh()
        return super().load_overload(sig, target_context)


def share_cache(dispatcher):
    """Let several processes write the code of a function that Numba caches; returns the function."""
    if cache := getattr(dispatcher, "_cache", None):  # there is none where kernels run as plain Python
        cache.__class__ = _Cache
        cache._cache_file.__class__ = _CacheFiles
    return dispatcher


def is_in_cache(dispatcher, kinds) -> bool:
    """Whether the code of a function for arguments of these types can be loaded."""
    if ready_made.is_ready_made(dispatcher.py_func, kinds):
        return True
    cache = dispatcher._cache
    files = cache._cache_file
    name = files._load_index().get(cache._index_key(kinds, dispatcher.targetctx.codegen()))
    return name is not None and os.path.exists(files._data_path(name))


def machine_code(dispatcher, kinds) -> bytes:
    """What the cache holds of a function for arguments of these types: an object file for LLVM to link."""
    cache = dispatcher._cache
    (_, _, (code, _)), *_ = cache._cache_file.load(cache._index_key(kinds, dispatcher.targetctx.codegen()))
    return code
