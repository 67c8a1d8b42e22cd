"""What compiled code was made from: one hash of all the core's sources."""

import functools
import hashlib
from pathlib import Path

CORE_FOLDER = Path(__file__).resolve().parents[1]


@functools.cache
def core_fingerprint() -> str:
    """Hash of the core's sources, 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for source in sorted(CORE_FOLDER.rglob("*.py")):
        digest.update(source.relative_to(CORE_FOLDER).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
