"""What a benchmark gives back: rows of a table, and claims that hold or do not."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Claim:
    """One figure beside the one it is measured against.

    Attributes
    ----------
    claim : str
        What is claimed, in words.
    reference : str or number
        The paper's or peer's figure.
    ours : str or number
    holds : bool
    timed : bool
        Whether the figure is a time: machines are shared and noisy, so a claim on times that does not hold is printed
        and fails nothing. Counts are alike on every machine.
    """

    claim: str
    reference: object
    ours: object
    holds: bool
    timed: bool = False


@dataclass(frozen=True)
class Report:
    """One benchmark's outcome.

    Attributes
    ----------
    name : str
    rows : list of dict
        Column -> value; rows may differ in their columns.
    claims : list of Claim
    notes : list of str
        What a reader must know: where our problem differs from the paper's, what was left out.
    details : list of dict
        What the rows are made of, for the JSON file alone.
    """

    name: str
    rows: list[dict]
    claims: list[Claim]
    notes: list[str] = field(default_factory=list)
    details: list[dict] = field(default_factory=list)

    def holds(self) -> bool:
        """Whether every claim on counts holds."""
        return all(claim.holds for claim in self.claims if not claim.timed)

    def save(self, path: Path) -> None:
        """Write the report as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1, default=_plain) + "\n", encoding="utf-8")

    def text(self) -> str:
        """The table, the claims and the notes, for a terminal."""
        return self._laid_out(_aligned)

    def markdown(self) -> str:
        """The same in Markdown, for a page."""
        return self._laid_out(_piped)

    def _laid_out(self, lay_out):
        claims = [
            {"claim": c.claim, "reference": c.reference, "ours": c.ours, "holds": "yes" if c.holds else "NO"}
            for c in self.claims
        ]
        tables = [*_table(self.rows, lay_out), "", *_table(claims, lay_out), ""]
        return "\n".join([self.name, "", *tables, *(f"Note: {note}" for note in self.notes)])


def _plain(value):
    """NumPy's numbers and arrays as plain ones."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _table(rows, lay_out):
    """Lines of a table, with a heading wherever the columns change."""
    lines, index = [], 0
    while index < len(rows):
        columns = list(rows[index])
        end = index
        while end < len(rows) and list(rows[end]) == columns:
            end += 1
        lines += [""] if lines else []
        lines += lay_out(columns, [[_cell(row[column]) for column in columns] for row in rows[index:end]])
        index = end
    return lines


def _aligned(columns, cells):
    """Columns of spaces."""
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    dashes = ["-" * width for width in widths]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in [columns, dashes, *cells]
    ]


def _piped(columns, cells):
    """Markdown."""
    return [f"| {' | '.join(line)} |" for line in [columns, ["---"] * len(columns), *cells]]


def _cell(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) or value is None:
        return value or ""
    number = float(value)
    return str(int(number)) if number == int(number) and abs(number) < 1e9 else f"{number:.4g}"
