"""nncg against Gauss-Seidel on the nine scenes on which nncg was published, and on its wall.

Silcowitz-Hansen, Niebe and Erleben 2010: the scenes of figure 4, the merit |grad f|^2 along 150 (figure 5) and 5,000
sweeps (figure 6), variants with a line search (figure 3), and the wall of figure 7. Each scene is one step of 1/60 s at
rest from a cold start, with box friction, as in the paper.
"""

from dataclasses import replace

import numpy as np

from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.scenes.wall import standing_wall
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts

from .problems.silcowitz import FIGURE_4, SNAKES
from .report import Claim, Report

_FRAME_RATE = 60.0
_INTERACTIVE, _LONG = 150, 5_000
_GRAVITY = 9.81
_STRUCTURED = ("f", "g", "h", "i")
# A merit below this share of the first one is what rounding leaves: 1e-12 of the first change, squared.
_ROUNDING = 1e-24
# One that the second half of the sweeps has not brought below this share of itself stays: what hinges and contacts
# could bear in each other's place is told apart only by the hinges' give, a ten-billionth of W, which no sweep notices.
_FALLS = 0.9
# Eigenvalues of W above this share of the largest count for its rank.
_RANK_TOLERANCE = 1e-9
_VARIANTS = {
    "pgs": ("pgs", {}),
    "nncg": ("nncg", {}),
    "polak_ribiere": ("nncg", {"conjugacy": "polak_ribiere"}),
    "line_search": ("nncg", {"line_search": True}),
}
# Figure 7.
_WALL_ROWS, _WALL_ITERATIONS, _WALL_GRADIENT = 4083, 500, 4.62e-3
_WALL_SHARE_OF_LENGTH = 0.98
_WALL_DROP, _WALL_SECONDS, _QUICK_WALL_SECONDS = 0.1, 4.0, 1.5


def run(quick, plots) -> Report:
    """All scenes; ``quick`` lets the wall come to rest for a shorter time."""
    rows, curves = [], {}
    for figure in "abcdefghi":
        problem, paper_rows, paper_rank = _scene_problem(figure)
        curves[figure] = {name: _merits(problem, *variant) for name, variant in _VARIANTS.items()}
        rows.append(_row(figure, problem, paper_rows, paper_rank, curves[figure]))
    wall = _wall(_QUICK_WALL_SECONDS if quick else _WALL_SECONDS)
    if plots is not None:
        _plot(curves, plots)
    return Report(
        name="silcowitz2010",
        rows=[*rows, wall],
        claims=[*_claims(curves), *_wall_claims(wall)],
        notes=[
            "Merit: |PGS(r) - r|^2 in the metric diag(W) [J], the least so far; `at n` after n sweeps.",
            "The paper gives pictures and counts; sizes and places of the bodies are ours. Gears are convex hulls.",
            "The paper's impulses have its own masses and time step, so absolute figures compare loosely.",
            f"Merits below {_ROUNDING:g} of the first count as rounding; there the two methods are equal.",
        ],
    )


def _scene_problem(figure):
    """The contact problem of one scene, and the paper's numbers of rows and rank."""
    make, _, rows, rank = (FIGURE_4 | SNAKES)[figure]
    simulation = Simulation(make().build_model(), SimulationOptions(frame_rate=_FRAME_RATE, substeps=1))
    return simulation.contact_problem(), rows, rank


def _merits(problem, method, options):
    """Least merit so far after each sweep, ``_LONG`` of them."""
    settings = SolverOptions(tolerance=0.0, max_iterations=_LONG, **options)
    merits = solve_contacts(problem, method, "box", options=settings).merit_history
    # a solver stops early only where nothing at all is left to change
    return np.minimum.accumulate(np.concatenate([merits, np.zeros(_LONG - len(merits))]))


def _row(figure, problem, paper_rows, paper_rank, curves):
    eigenvalues = np.linalg.eigvalsh(_delassus(problem))
    row = {
        "scene": figure,
        "rows": int(problem.rows.count[1]),
        "paper's": paper_rows,
        "rank": int(np.sum(eigenvalues > _RANK_TOLERANCE * eigenvalues[-1])),
        "paper's rank": paper_rank,
    }
    for sweeps in (_INTERACTIVE, _LONG):
        for name in ("pgs", "nncg"):
            row[f"{name} at {sweeps}"] = float(curves[name][sweeps - 1])
    for name in ("polak_ribiere", "line_search"):
        row[f"{name} at {_INTERACTIVE}"] = float(curves[name][_INTERACTIVE - 1])
    return row


def _delassus(problem):
    """W of a small problem."""
    rows, width = problem.rows, problem.free_velocity.size
    count = int(rows.count[1])
    jacobian, response = np.zeros((count, width)), np.zeros((count, width))
    for block in range(int(rows.count[0])):
        span = slice(rows.block_row[block], rows.block_row[block + 1])
        for body, columns in ((rows.body_a[block], slice(0, 6)), (rows.body_b[block], slice(6, 12))):
            jacobian[span, 6 * body : 6 * body + 6] += rows.jacobian[span, columns]
            response[span, 6 * body : 6 * body + 6] += rows.response[span, columns]
    return jacobian @ response.T


def _claims(curves):
    for sweeps in (_INTERACTIVE, _LONG):
        ratios = {figure: _gain(curve, sweeps) for figure, curve in curves.items()}
        worst = min(ratios, key=ratios.get)
        yield Claim(
            f"nncg ends no higher than pgs in all nine, {sweeps} sweeps (pgs / nncg)",
            ">= 1",
            f"{ratios[worst]:.3g} at worst ({worst})",
            ratios[worst] >= 1.0,
        )
    worst = min(_STRUCTURED, key=lambda figure: _gain(curves[figure], _INTERACTIVE))
    gain = _gain(curves[worst], _INTERACTIVE)
    yield Claim(
        f"at least ten times lower in f to i, {_INTERACTIVE} sweeps",
        ">= 10",
        f"{gain:.3g} at worst ({worst})",
        gain >= 10.0,
    )
    slow = [f for f in _STRUCTURED if _still_falls(curves[f]["pgs"])]
    gain = min((_gain(curves[figure], _LONG) for figure in slow), default=np.inf)
    yield Claim(
        f"the same after {_LONG} sweeps, where pgs is not down where it ends ({', '.join(slow) or 'nowhere'})",
        ">= 10",
        f"{gain:.3g}",
        gain >= 10.0,
    )


def _still_falls(merit):
    """Whether the last sweeps still bring a merit down that is above rounding."""
    return merit[-1] > _ROUNDING * merit[0] and merit[-1] < _FALLS * merit[_LONG // 2]


def _gain(curve, sweeps):
    """Merit of pgs over that of nncg; no less than 1 where nncg's is rounding."""
    pgs, nncg = curve["pgs"][sweeps - 1], curve["nncg"][sweeps - 1]
    if nncg <= _ROUNDING * curve["nncg"][0]:
        return max(pgs, nncg) / nncg if nncg > 0.0 else np.inf
    return pgs / nncg


def _wall(seconds):
    """Drop the wall, let it come to rest, and measure the last frame."""
    scene = standing_wall()
    raised = [body if body.name == "Floor" else _raised(body) for body in scene.bodies]
    options = SimulationOptions(
        frame_rate=_FRAME_RATE,
        substeps=1,
        method="nncg",
        max_iterations=_WALL_ITERATIONS,
        maximal_points=4,
        sleeping=False,
    )
    simulation = Simulation(replace(scene, bodies=raised).build_model(), options)
    contacts = [simulation.advance_frame().contacts for _ in range(round(seconds * _FRAME_RATE))]
    problem = simulation.contact_problem()
    count = int(problem.rows.count[1])
    limit = SolverOptions(tolerance=options.tolerance, max_iterations=_WALL_ITERATIONS)
    rest = solve_contacts(problem, "nncg", "box", r0=problem.rows.impulse[:count], options=limit)
    swept = solve_contacts(problem, "pgs", "box", r0=rest.r, options=SolverOptions(tolerance=0.0, max_iterations=1))
    return {
        "scene": "wall",
        "bricks": len(raised) - 1,
        "mean rows": 3.0 * float(np.mean(contacts)),
        "paper's": _WALL_ROWS,
        "sweeps at rest": rest.iterations,
        "|grad f| [N s]": float(np.linalg.norm(swept.r - rest.r)),
        "fastest [m/s]": float(np.abs(simulation.velocities()).max()),
    }


def _raised(brick):
    """A brick of the wall in the air, a bit shorter: as in the paper's count, neighbours of a course do not touch."""
    length, depth, height = brick.shape.half_extents
    return replace(
        brick,
        shape=Box((_WALL_SHARE_OF_LENGTH * length, depth, height)),
        position=tuple(np.add(brick.position, (0.0, 0.0, _WALL_DROP))),
    )


def _wall_claims(wall):
    gradient = wall["|grad f| [N s]"]
    yield Claim("wall at rest, |grad f|", f"<= {_WALL_GRADIENT:g}", gradient, gradient <= _WALL_GRADIENT)


def _plot(curves, folder):
    """One picture for each number of sweeps: nine panels, merit against sweeps."""
    from matplotlib.figure import Figure

    for sweeps, name in ((_INTERACTIVE, "figure5"), (_LONG, "figure6")):
        picture = Figure(figsize=(11.0, 9.0), layout="constrained")
        for axes, (figure, curve) in zip(picture.subplots(3, 3).flat, curves.items(), strict=True):
            for variant in ("pgs", "nncg"):
                axes.semilogy(np.maximum(curve[variant][:sweeps], 1e-40), label=variant)
            axes.set_title(f"({figure})")
            axes.set_xlabel("sweeps")
            axes.set_ylabel("merit [J]")
            axes.legend()
        picture.savefig(folder / f"silcowitz2010_{name}.png", dpi=110)
