"""What a Newton step of fischer_newton costs as walls get longer: 1,000 to 100,000 rows in one island.

The rows are made by hand: bricks in running bond at rest, each on two bricks below, four contacts a pair.
"""

from statistics import median
from time import perf_counter

import numpy as np

from cairn.solver_core.problem.problem import ContactProblem, SolverOptions
from cairn.solver_core.problem.rows import allocate_rows
from cairn.solver_core.solve import solve_contacts

from .report import Claim, Report

COURSES = 4
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
NEWTON_STEPS = 3
REPETITIONS = 5
EXPONENT = 1.15

_HALF = np.array([0.5, 0.25, 0.25])
_MASS, _FRICTION, _GRAVITY_SPEED = 20.0, 0.5, 9.81 / 96.0


def long_wall(columns: int, courses: int = COURSES) -> ContactProblem:
    """Bricks in running bond on an immovable floor, all at the speed that gravity gives them in a substep.

    Parameters
    ----------
    columns, courses : int
        Bricks a course, and courses. Every second course is shifted by half a brick.
    """
    # body 0 is the floor
    place = np.arange(columns * courses)
    course, column = place // columns, place % columns
    centre = np.zeros((columns * courses + 1, 3))
    centre[1:, 0] = 2.0 * _HALF[0] * column + _HALF[0] * (course % 2)
    centre[1:, 2] = _HALF[2] * (2 * course + 1)
    below, above, middle, width = [], [], [], []
    for brick in place:
        for shift in (0, 1) if course[brick] else (0,):
            neighbour = column[brick] + shift - (course[brick] + 1) % 2
            if course[brick] and not 0 <= neighbour < columns:
                continue
            below.append(1 + (course[brick] - 1) * columns + neighbour if course[brick] else 0)
            above.append(1 + brick)
            other = centre[below[-1], 0] if course[brick] else centre[1 + brick, 0]
            middle.append(0.5 * (centre[1 + brick, 0] + other))
            width.append(0.5 * _HALF[0] if course[brick] else _HALF[0])
    corners = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]])
    count = 4 * len(below)
    point = np.empty((len(below), 4, 3))
    point[:, :, 0] = np.array(middle)[:, None] + np.array(width)[:, None] * corners[:, 0]
    point[:, :, 1] = _HALF[1] * corners[:, 1]
    point[:, :, 2] = (centre[above, 2] - _HALF[2])[:, None]
    return _contacts(np.repeat(below, 4), np.repeat(above, 4), point.reshape(count, 3), centre)


def _contacts(below, above, point, centre) -> ContactProblem:
    """Horizontal contacts with the normal up, between bricks that fall."""
    count = len(below)
    rows = allocate_rows(count, 3 * count, len(centre))
    rows.count[:] = count, 3 * count
    rows.block_row[:] = 3 * np.arange(count + 1)
    rows.body_a[:], rows.body_b[:] = below, above
    inertia = _MASS / 3.0 * (np.sum(_HALF**2) - _HALF**2)
    inverse = np.concatenate([np.full(3, 1.0 / _MASS), 1.0 / inertia])
    rows.body_mass[1:] = np.diag(1.0 / inverse)
    for direction, axis in enumerate(np.eye(3)[[2, 0, 1]]):
        jacobian = rows.jacobian[direction::3]
        jacobian[:, 0:3], jacobian[:, 6:9] = -axis, axis
        jacobian[:, 3:6] = -np.cross(point - centre[below], axis)
        jacobian[:, 9:12] = np.cross(point - centre[above], axis)
        rows.response[direction::3, :6] = jacobian[:, :6] * inverse * (below > 0)[:, None]
        rows.response[direction::3, 6:] = jacobian[:, 6:] * inverse
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    rows.upper[0::3] = np.inf
    rows.normal_row[1::3] = rows.normal_row[2::3] = 3 * np.arange(count)
    rows.friction[1::3] = rows.friction[2::3] = _FRICTION
    velocity = np.zeros((len(centre), 6))
    velocity[1:, 2] = -_GRAVITY_SPEED
    return ContactProblem(rows, velocity)


def run(quick, plots) -> Report:
    """Time this many Newton steps from a cold start at each size, sizes interleaved."""
    sizes = [size for size in ROWS if not quick or size <= 30_000]
    # 24 rows a brick, 12 in the lowest course
    problems = [long_wall(max(2, round(size / (24 * COURSES - 12)))) for size in sizes]
    # a tolerance of 0 is never met, so that every size does the same number of steps
    options = SolverOptions(tolerance=0.0, max_iterations=NEWTON_STEPS)
    started = perf_counter()
    solve_contacts(long_wall(2), "fischer_newton", "polyhedral", options=options)
    compile_seconds = perf_counter() - started
    times = [[] for _ in problems]
    for _ in range(2 if quick else REPETITIONS):
        for place, problem in enumerate(problems):
            result = solve_contacts(problem, "fischer_newton", "polyhedral", options=options)
            times[place].append(result.seconds / result.iterations)
    seconds = [median(values) for values in times]
    rows = [int(problem.rows.count[1]) for problem in problems]
    exponent = float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])
    solved = solve_contacts(problems[0], "fischer_newton", "polyhedral", options=SolverOptions(tolerance=1e-8))
    table = [
        {"rows": count, "seconds a step": value, "microseconds a row": 1e6 * value / count}
        for count, value in zip(rows, seconds, strict=True)
    ]
    return Report(
        "fischer_newton_cost",
        table,
        [
            Claim(
                "exponent of a Newton step's time in the rows",
                f"<= {EXPONENT}",
                exponent,
                exponent <= EXPONENT,
                timed=True,
            ),
            Claim("Newton steps to 1e-8 on the smallest wall", "<= 40", solved.iterations, solved.status.converged),
        ],
        [f"compiled or loaded in {compile_seconds:.1f} s; {COURSES} courses, {NEWTON_STEPS} steps from a cold start"],
    )
