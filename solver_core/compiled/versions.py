"""The versions of Numba that this package was tested with: the oldest and the newest, both by ``.ci/run``.

The package builds on private parts of Numba and llvmlite, which may change with any release: ``linking`` on libraries,
pipelines and flags; ``quick_numba`` and ``short_code`` on steps of the compiler; ``views`` on attributes and unboxing
of types of our own; ``cache_files`` on the cache's files; ``ready_made`` on what a compilation returns; ``kernel``,
``function_tables``, ``simd``, ``atomics``, ``clock`` and ``block_intrinsics`` on code generators; ``kernel_keys`` on
the kinds of values. So a Numba outside of these bounds is refused. To allow a new release, run the tests with it, and
change the bounds here and in ``pyproject.toml``.
"""

# Minor releases, both included.
OLDEST_NUMBA, NEWEST_NUMBA = (0, 61), (0, 68)


def why_untested(version: str) -> str:
    """One line if this version of Numba is outside of the bounds, else an empty text."""
    found = tuple(int(part) for part in version.split(".")[:2])
    if OLDEST_NUMBA <= found <= NEWEST_NUMBA:
        return ""
    oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST_NUMBA, NEWEST_NUMBA))
    return f"Cairn was tested with Numba {oldest} to {newest} and does not run with {version}"
