"""What has come of the variants, side by side: ``table.csv``, and ``sheet.png`` with a picture of each."""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

from ..cli_output import beside
from ..pictures import read_pixels, write_png
from .plan import WedgePlan
from .task import HEIGHT, WIDTH
from .variants import SEED

TABLE, SHEET = "table.csv", "sheet.png"
# Between the pictures of a sheet [pixels].
_GAP = 8
# Digits of 3 x 5 squares of this many pixels, row by row from the top.
_SQUARE = 4
_DIGITS = {
    "0": "111101101101111",
    "1": "010110010010111",
    "2": "111001111100111",
    "3": "111001111001111",
    "4": "101101111001001",
    "5": "111100111001111",
    "6": "111100111101111",
    "7": "111001001001001",
    "8": "111101111101111",
    "9": "111101111001111",
}


def rows_of(plan: WedgePlan, folder: Path) -> list[dict[str, Any]]:
    """A row for each variant, with its values and what came of it; of one that is not finished its values alone."""
    rows = []
    for variant in plan.variants:
        row: dict[str, Any] = {"variant": variant.number, **variant.values}
        if variant.seed is not None:
            row[SEED] = variant.seed
        report = plan.result(folder, variant)
        row["finished"] = "no" if report is None else "failed" if report["wedge"].get("error") else "yes"
        if report is not None:
            row |= _outcome(report)
        rows.append(row)
    return rows


def _outcome(report):
    totals, told = report["totals"], report["wedge"]
    return {
        "moved": told["moved"],
        "farthest [m]": f"{told['farthest']:.6g}",
        "deepest overlap [m]": f"{totals['max_penetration']:.3g}",
        "missed": totals["missed"],
        "worst": f"{totals['worst']['residual']:.3g}",
        "joints broken": len(report["breaks"]),
        "seconds": f"{totals['seconds']:.2f}",
        "digest": totals["digest"],
    }


def write_table(plan: WedgePlan, folder: Path) -> Path:
    """Write ``table.csv``; whole, or not at all."""
    rows = rows_of(plan, folder)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path = folder / TABLE
    with beside(path, ".csv") as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_sheet(plan: WedgePlan, folder: Path) -> Path | None:
    """Write ``sheet.png``, all pictures in the order of the variants with their numbers; None if there are none."""
    if not any((folder / f"{variant.name}.png").is_file() for variant in plan.variants):
        return None
    columns = math.ceil(math.sqrt(len(plan.variants) * HEIGHT / WIDTH * 16 / 9))
    rows = math.ceil(len(plan.variants) / columns)
    shape = rows * (HEIGHT + _GAP) + _GAP, columns * (WIDTH + _GAP) + _GAP, 4
    sheet = np.ones(shape, np.float32)
    for place, variant in enumerate(plan.variants):
        row, column = divmod(place, columns)
        # pixels begin at the bottom
        bottom, left = shape[0] - (row + 1) * (HEIGHT + _GAP), _GAP + column * (WIDTH + _GAP)
        tile = sheet[bottom : bottom + HEIGHT, left : left + WIDTH]
        tile[:] = _tile(folder / f"{variant.name}.png")
        _write_number(tile, variant.number)
    path = folder / SHEET
    with beside(path, ".png") as temporary:
        write_png(sheet, temporary)
    return path


def _tile(path):
    """A variant's picture; grey where there is none."""
    if not path.is_file():
        return np.array([0.6, 0.6, 0.6, 1.0], np.float32)
    pixels = read_pixels(path)
    if pixels.shape[:2] != (HEIGHT, WIDTH):
        return np.array([0.6, 0.6, 0.6, 1.0], np.float32)
    if pixels.shape[2] == 4:
        return pixels
    return np.concatenate([pixels[..., :3], np.ones((HEIGHT, WIDTH, 1), np.float32)], axis=2)


def _write_number(tile, number):
    """The number in the upper left corner, white on black."""
    text = str(number)
    height, width = 7 * _SQUARE, (4 * len(text) + 1) * _SQUARE
    tile[-height:, :width] = (0.0, 0.0, 0.0, 1.0)
    for place, digit in enumerate(text):
        dots = np.array(list(_DIGITS[digit]), int).reshape(5, 3)[::-1]
        dots = np.kron(dots, np.ones((_SQUARE, _SQUARE), int)).astype(bool)
        left = (4 * place + 1) * _SQUARE
        area = tile[-height + _SQUARE : -_SQUARE, left : left + 3 * _SQUARE]
        area[dots] = 1.0
