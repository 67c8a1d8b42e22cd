"""Draw the two pictures of docs/architecture.md: the step, and who may import what.

    python tools/draw_architecture.py

Writes ``docs/images/step.svg`` and ``docs/images/layers.svg``. The pictures bring their own light ground, so that
they are legible on light and dark pages.
"""

from html import escape
from pathlib import Path

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"

# The stages in the order of the step: name, where it is, what it does, and what it hands to the next stage.
BEFORE = [
    ("apply_forces", "dynamics/motion/integration.py", "gravity, damping: free velocities", "poses, free velocities")
]
LOOP = [
    ("broad_phase", "collision/broad_phase.py", "bounds that overlap, by a tree of boxes", "pairs of shapes"),
    (
        "narrow_phase",
        "collision/narrow_phase.py",
        "distance, time of impact, manifold",
        "contacts: points, normal, gap",
    ),
    (
        "match_contacts",
        "collision/data/contact_matching.py",
        "impulses of the last substep",
        "contacts, warm start",
    ),
    ("build_rows", "constraints/contact_rows.py", "Jacobian, response, bias, bounds", "rows"),
    ("find_islands", "dynamics/islands/islands.py", "groups that share no body", "islands"),
    (
        "solve_positions",
        "dynamics/solving/advance.py -> solvers/",
        "where the bodies go",
        "impulses, position velocities",
    ),
]
AFTER = [
    (
        "solve_velocities",
        "dynamics/solving/velocity_solve.py -> solvers/",
        "restitution; no recovery speed stays",
        "velocities that stay",
    ),
    ("integrate", "dynamics/motion/integration.py", "poses; angular momentum is kept", "poses, velocities"),
    ("fall_asleep", "dynamics/rest/sleeping.py", "once a frame: islands that stand still", ""),
    ("report", "report.py", "once a frame: residual, energy, seconds a stage", ""),
]

STYLE = """
  text { font: 13px "DejaVu Sans", "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f }
  .name { font: bold 14px "DejaVu Sans Mono", Consolas, Menlo, monospace }
  .path { font: 12px "DejaVu Sans Mono", Consolas, Menlo, monospace; fill: #0b5394 }
  .note { font-size: 12px; fill: #57606a }
  .ground { fill: #fbfbf9; stroke: #d0d7de }
  .stage { fill: #e8f0fa; stroke: #5b7fa6 }
  .solver { fill: #fdf0dd; stroke: #b98a3e }
  .state { fill: #eaf5ea; stroke: #5e9a5e }
  .loop { fill: none; stroke: #b4552d; stroke-width: 1.5; stroke-dasharray: 7 4 }
  .arrow { fill: none; stroke: #57606a; stroke-width: 1.5; marker-end: url(#tip) }
  .again { fill: none; stroke: #b4552d; stroke-width: 2; marker-end: url(#tip-again) }
  .warm { fill: #9a3f1a }
"""
MARKERS = """<defs>
  <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
    <path d="M0 0 L10 5 L0 10 z" fill="#57606a"/></marker>
  <marker id="tip-again" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto">
    <path d="M0 0 L10 5 L0 10 z" fill="#b4552d"/></marker>
</defs>"""


class Drawing:
    """An SVG file in the making."""

    def __init__(self, width: int, height: int, title: str):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'role="img"><title>{escape(title)}</title>',
            f"<style>{STYLE}</style>",
            MARKERS,
        ]
        self.box(0.5, 0.5, width - 1, height - 1, "ground")

    def box(self, x: float, y: float, width: float, height: float, look: str):
        """A rectangle; ``look`` is its class."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="{look}"/>')

    def text(self, x: float, y: float, words: str, look: str = "", anchor: str = "start"):
        """A line of text that begins, or by ``anchor`` has its middle or end, at x."""
        self.parts.append(f'<text x="{x}" y="{y}" class="{look}" text-anchor="{anchor}">{escape(words)}</text>')

    def path(self, steps: str, look: str):
        """A line by SVG's own commands."""
        self.parts.append(f'<path d="{steps}" class="{look}"/>')

    def save(self, name: str):
        """Write the file into docs/images."""
        (IMAGES / name).write_text("\n".join([*self.parts, "</svg>", ""]), encoding="utf-8")


LEFT, WIDTH, HIGH, GAP = 290, 200, 40, 26


def draw_step():
    """The stages from top to bottom, with the detection loop and the loop over substeps."""
    stages = BEFORE + LOOP + AFTER
    top = 70
    drawing = Drawing(960, top + len(stages) * (HIGH + GAP) + 22, "The stages of a step")
    middle = LEFT + WIDTH / 2
    places = {}
    drawing.box(LEFT, 16, WIDTH, 30, "state")
    drawing.text(middle, 36, "poses, velocities", anchor="middle")
    drawing.path(f"M{middle} 46 V{top - 2}", "arrow")
    y = top
    for index, (name, where, what, gives) in enumerate(stages):
        # The detection loop has a frame around it, which wants air.
        y += 14 if name in (LOOP[0][0], AFTER[0][0]) else 0
        places[name] = y
        drawing.box(
            LEFT, y, WIDTH, HIGH, "solver" if name.startswith("solve") else "state" if name == "report" else "stage"
        )
        drawing.text(middle, y + 25, name, "name", "middle")
        drawing.text(LEFT + WIDTH + 24, y + 16, where, "path")
        drawing.text(LEFT + WIDTH + 24, y + 33, what, "note")
        if index + 1 < len(stages):
            down = y + HIGH + GAP + (14 if stages[index + 1][0] in (LOOP[0][0], AFTER[0][0]) else 0) - 2
            drawing.path(f"M{middle} {y + HIGH} V{down}", "arrow")
            drawing.text(middle + 10, down - 7 if name == LOOP[-1][0] else y + HIGH + 17, gives, "note")
        y += HIGH + GAP
    first, last = places[LOOP[0][0]], places[LOOP[-1][0]]
    drawing.box(106, first - 14, 840, last - first + HIGH + 28, "loop")
    drawing.text(932, first + 10, "detection loop", "warm", "end")
    drawing.text(932, first + 28, "dynamics/frame/detection.py", "path", "end")
    _again(drawing, last + HIGH / 2, first + HIGH / 2, 262)
    lines = (
        "Another pass where",
        "the solution leads",
        "a body farther or",
        "elsewhere, or two",
        "shapes into each",
        "other: from the",
        "same poses, with",
        "more contacts",
    )
    for line, words in enumerate(lines):
        drawing.text(250, (first + last) / 2 - 40 + 17 * line, words, "warm", "end")
    _again(drawing, places["integrate"] + HIGH / 2, places["apply_forces"] + HIGH / 2, 84)
    for line, words in enumerate(("next", "substep")):
        drawing.text(74, (first + last) / 2 + 10 + 17 * line, words, "warm", "end")
    drawing.save("step.svg")


def _again(drawing: Drawing, start: float, end: float, x: float):
    """A line back up, from the left of one box to the left of another."""
    drawing.path(
        f"M{LEFT} {start} H{x + 8} Q{x} {start} {x} {start - 8} V{end + 8} Q{x} {end} {x + 8} {end} H{LEFT - 2}",
        "again",
    )


# Packages from the top down: row, place (x, width), look, name and what is in it.
WHOLE, ONE, TWO = (30, 900), (30, 440), (490, 440)
PACKAGES = [
    (0, WHOLE, "stage", "addon/", "Blender: read/ scene -> Model, write/ keyframes, ui/, bake.py, cli.py, demo.py"),
    (
        1,
        (30, 600),
        "state",
        "simulation.py  options.py  report.py  solve.py  trajectory.py",
        "what users of the core call",
    ),
    (1, (650, 280), "state", "scenes/  warm_up.py", "ready-made scenes; compiling ahead"),
    (
        2,
        WHOLE,
        "stage",
        "dynamics/",
        "the step, which alone knows all: frame/ solving/ joints/ outside/ rest/ motion/ islands/ schedule/",
    ),
    (3, TWO, "stage", "constraints/", "contacts -> rows; restitution"),
    (3, ONE, "solver", "solvers/", "registry; auto; sweeps/ newton/ pivoting/ fischer_newton/ lcp/"),
    (4, TWO, "stage", "collision/", "shapes and poses -> contacts; mesh/ manifold/ distance/ data/"),
    (4, ONE, "solver", "problem/", "what a solver sees: rows, laws of friction, residuals"),
    (5, TWO, "stage", "model/", "what is simulated, and its state"),
    (6, TWO, "stage", "geometry/", "shapes, meshes and their repair, rotations"),
    (7, WHOLE, "state", "parallel/", "workers and their queue of tasks"),
    (
        8,
        WHOLE,
        "state",
        "compiled/",
        "the one @kernel decorator, function tables, views, SIMD, child processes",
    ),
]


def draw_layers():
    """The packages of the core as layers: each imports only what is below it."""
    drawing = Drawing(960, 610, "Who may import what")
    for row, (x, width), look, name, what in PACKAGES:
        y = 44 + 62 * row
        drawing.box(x, y, width, 48, look)
        drawing.text(x + 14, y + 20, name, "name")
        drawing.text(x + 14, y + 39, what, "note")
    drawing.text(30, 28, "A package imports only packages below it.", "warm")
    drawing.text(930, 28, "The core (all below addon/) never imports bpy.", "warm", "end")
    drawing.path(f"M480 {44 + 62 * 3 - 5} V{44 + 62 * 7 - 9}", "loop")
    for line, words in enumerate(
        ("Solvers know nothing of bodies, shapes or time;", "collision knows nothing of rows or solvers.")
    ):
        drawing.text(466, 44 + 62 * 5 + 22 + 18 * line, words, "warm", "end")
    drawing.save("layers.svg")


if __name__ == "__main__":
    draw_step()
    draw_layers()
