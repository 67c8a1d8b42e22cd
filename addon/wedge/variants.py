"""What to vary, as it is written on the command line or in a table, and the variants that follow. Loads no bpy."""

import csv
import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = "seed"


class WedgeError(ValueError):
    """A wedge that cannot be made; one line."""


@dataclass(frozen=True)
class Variant:
    """One bake of a wedge.

    Attributes
    ----------
    number : int
        From 1.
    values : dict of str to (float, int or str)
        By property, as ``--vary`` names it.
    seed : int or None
        Of the jitter; None: there is none.
    """

    number: int
    values: dict[str, float | int | str]
    seed: int | None = None

    @property
    def name(self) -> str:
        """Of its files."""
        return f"v{self.number:04d}"

    @property
    def text(self) -> str:
        """What it is, in words."""
        parts = [f"{name} {value}" for name, value in self.values.items()]
        return ", ".join(parts if self.seed is None else [*parts, f"seed {self.seed}"]) or "as it is"


def parse_vary(text: str) -> tuple[str, list[float | int | str]]:
    """Property and values of one ``--vary``: "friction=0.3:0.8:6" (from, to, how many) or "solver=auto,nncg".

    Raises
    ------
    WedgeError
    """
    name, equals, given = text.rpartition("=")
    if not (equals and name and given):
        raise WedgeError(f"{text!r} does not say what to vary; write PROPERTY=VALUES, as in friction=0.3:0.8:6")
    ends = given.split(":")
    if len(ends) == 3:
        return name, _range(name, *ends)
    if len(ends) != 1:
        raise WedgeError(f"{given!r} of {name} is no range; write FROM:TO:HOW_MANY, as in 0.3:0.8:6")
    values = [_value(entry) for entry in given.split(",")]
    if "" in values:
        raise WedgeError(f"a value of {name} is missing in {given!r}")
    return name, values


def _range(name, first, last, count):
    try:
        low, high, number = float(first), float(last), int(count)
    except ValueError:
        number = 0
    if number < 1 or not (math.isfinite(low) and math.isfinite(high)):
        raise WedgeError(f"{first}:{last}:{count} of {name} is no range; write FROM:TO:HOW_MANY, as in 0.3:0.8:6")
    # 0.3 to 0.8 in six gives 0.4 and not 0.39999999999999997
    return [float(f"{value:.12g}") for value in np.linspace(low, high, number)]


def _value(text: str) -> float | int | str:
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def make_variants(varied: list[tuple[str, list]], *, side_by_side: bool, seeds: int | None) -> list[Variant]:
    """All combinations, or the first values together, then the second ones; each with every seed.

    Parameters
    ----------
    varied : list of (str, list)
        Of ``parse_vary``.
    side_by_side : bool
    seeds : int or None
        How many; None: no jitter.

    Raises
    ------
    WedgeError
    """
    names = [name for name, _ in varied]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise WedgeError(f"{twice} is varied twice; write its values in one --vary")
    columns = [values for _, values in varied]
    if side_by_side and len({len(values) for values in columns}) > 1:
        counts = ", ".join(f"{name} {len(values)}" for name, values in varied)
        raise WedgeError(f"with --zip all need as many values; there are of {counts}")
    rows = zip(*columns, strict=True) if side_by_side and columns else itertools.product(*columns)
    every_seed = [None] if seeds is None else range(1, seeds + 1)
    chosen = itertools.product([dict(zip(names, row, strict=True)) for row in rows], every_seed)
    return [Variant(number, values, seed) for number, (values, seed) in enumerate(chosen, 1)]


def read_table(path: Path) -> list[Variant]:
    """The variants of a CSV: properties in its first line, one variant in each other; a column ``seed`` jitters.

    Raises
    ------
    WedgeError
    OSError
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(entry.strip() for entry in row)]
    except UnicodeDecodeError as error:
        raise WedgeError(f"{path} is not text in UTF-8") from error
    if len(rows) < 2:
        raise WedgeError(f"{path} has no variants: it needs a line of properties, and a line for each variant")
    names = [name.strip() for name in rows[0]]
    if "" in names or len(set(names)) < len(names):
        raise WedgeError(f"the first line of {path} must name each property once")
    variants = []
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(names) or any(not entry.strip() for entry in row):
            raise WedgeError(f"variant {number} of {path} must have {len(names)} values, as the first line has")
        values = dict(zip(names, map(_value, row), strict=True))
        seed = values.pop(SEED, None)
        if seed is not None and not isinstance(seed, int):
            raise WedgeError(f"the seed {seed} of variant {number} of {path} is not a whole number")
        variants.append(Variant(number, values, seed))
    return variants
