"""A wedge as it is stored: ``wedge.json`` in its folder, which is all that a task needs beside the scene."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import cli_output
from .variants import Variant, WedgeError

PLAN = "wedge.json"
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class WedgePlan:
    """All variants of a scene.

    Attributes
    ----------
    scene : str
        Path of the .blend.
    scene_hash : str
        SHA-256 of that file.
    variants : list of Variant
    jitter : float
        Farthest that a body's start is moved [m].
    start, end : int or None
        As in ``BakeSettings``.
    threads : int
        Of each bake.
    trajectories : bool
        Write the poses alone (.npz), no .blend.
    pictures : bool
    """

    scene: str
    scene_hash: str
    variants: list[Variant] = field(default_factory=list)
    jitter: float = 0.0
    start: int | None = None
    end: int | None = None
    threads: int = 0
    trajectories: bool = False
    pictures: bool = True

    def variant(self, number: int) -> Variant:
        """The variant of this number.

        Raises
        ------
        WedgeError
        """
        if not 1 <= number <= len(self.variants):
            raise WedgeError(f"there is no variant {number}; there are {len(self.variants)}")
        return self.variants[number - 1]

    def key(self, variant: Variant) -> str:
        """A name for all that decides what comes out of a variant."""
        decides = [self.scene_hash, variant.values, variant.seed, self.jitter if variant.seed is not None else 0.0]
        text = json.dumps([*decides, self.start, self.end, self.trajectories], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def result(self, folder: Path, variant: Variant) -> dict[str, Any] | None:
        """The report of a variant that is finished; None if it is not."""
        report = folder / f"{variant.name}.json"
        if not (self.output(folder, variant).is_file() and report.is_file()):
            return None
        try:
            told = json.loads(report.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return told if told.get("wedge", {}).get("key") == self.key(variant) else None

    def output(self, folder: Path, variant: Variant) -> Path:
        """Where the motion of a variant is written."""
        return folder / f"{variant.name}.{'npz' if self.trajectories else 'blend'}"

    def write(self, folder: Path) -> None:
        """Store the plan in its folder."""
        cli_output.write_json(folder / PLAN, {"format": FORMAT, **asdict(self)})


def read_plan(folder: Path) -> WedgePlan | None:
    """The plan in a folder; None if there is none.

    Raises
    ------
    WedgeError
        It is damaged, or of another version.
    """
    path = folder / PLAN
    if not path.is_file():
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored.pop("format") != FORMAT:
            raise WedgeError(f"{path} was made by another version of Cairn")
        variants = [Variant(**entry) for entry in stored.pop("variants")]
        return WedgePlan(variants=variants, **stored)
    except OSError as error:
        raise WedgeError(f"cannot read {path}: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, WedgeError):
            raise
        raise WedgeError(f"{path} is damaged; write it anew with cairn wedge and --replace") from error


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
