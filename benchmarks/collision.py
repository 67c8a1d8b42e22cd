"""Collision: pairs of every two kinds of shapes against independent libraries, in accuracy and in speed.

1. Random pairs, far, near, touching and deep: signed distance and normal beside coal's (``_shape_pairs``). Of shapes
   that overlap, another normal is as good where it is a way out as short: along a face, along an edge next to it.
2. Pairs a second of every two shapes beside MuJoCo's ``mj_collision`` on the same poses: broad and narrow phase of all
   pairs, which lie apart from each other; cold, without a past, and at rest, where contacts are recycled and matched.
3. The stages of 10,000 boxes, resting, raining, packed in a block, and over many floors.
4. Meshes of a million triangles: seconds and memory of a body that stays, and of one that moves (``_large_meshes``).
"""

from statistics import median
from time import thread_time
from typing import NamedTuple

import numpy as np

from cairn.solver_core.collision.allocation import allocate_collision_workspace
from cairn.solver_core.collision.broad_phase import broad_phase
from cairn.solver_core.collision.data.contact_arrays import allocate_contacts, allocate_pairs, clear_contacts
from cairn.solver_core.collision.data.contact_matching import match_contacts
from cairn.solver_core.collision.narrow_phase import ALL_PAIRS, narrow_phase
from cairn.solver_core.collision.pair_context import NarrowPhaseArrays
from cairn.solver_core.collision.pair_dispatch import compile_pair_kernels
from cairn.solver_core.compiled.clock import now
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.compiled.views import StepArrays, views_of
from cairn.solver_core.dynamics.frame.step_data import StepSettings
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind

from . import _large_meshes
from ._shape_pairs import (
    PAIRS,
    TARGETS,
    TIMED_PAIRS,
    coal_distance,
    mujoco_geoms,
    numbers,
    random_pair,
    separation,
)
from .report import Claim, Report

SUBSTEP = 1.0 / 96.0
COUNT, QUICK_COUNT = 2_000, 90
DEGREES_NORMAL = 0.1
# Way out along another normal that counts as as good, and distance below which shapes only touch (shares of the size).
RATIO_AS_GOOD, RATIO_TOUCH = 1e-4, 2e-6
BUDGET_BROAD = 10.0
BOXES = 10_000
_TIMED_PAIRS, _SPACING = 200, 8.0
_REPETITIONS = 15
# Substeps from one look at the clock to the next: a call from Python takes as long as twenty pairs.
_TURNS = 5


class _StageMembers(NamedTuple):
    """What the stages read and write; two buffers of pairs and of contacts, which change places after each turn."""

    model: tuple
    state: tuple
    workspace: tuple
    pairs: tuple
    contacts: tuple


@kernel
def _run_stages(arrays, step, pair_kernels, turns, forgets, nanoseconds):
    """Run the stages as a step runs them: from a kernel, on views.

    Parameters
    ----------
    arrays : StepArrays
        Of ``_StageMembers``; the first turn writes the second buffers.
    step, pair_kernels
        As in ``NarrowPhaseArrays``.
    turns : int
    forgets : bool
        Whether each turn starts without a past.
    nanoseconds : int64 [3]
        Written: time of each stage in all turns.

    Returns
    -------
    int
        Not 0 if a buffer was full.
    """
    members = views_of(arrays)
    model, state, workspace = members.model, members.state, members.workspace
    status = 0
    nanoseconds[:] = 0
    for turn in range(turns):
        present, last = (turn + 1) % 2, turn % 2
        pairs, contacts = members.pairs[present], members.contacts[present]
        old_pairs, old_contacts = members.pairs[last], members.contacts[last]
        if forgets:
            old_pairs.count[0] = 0
            old_contacts.count[0] = 0
        started = now()
        status += broad_phase(model, state, step, pairs, workspace)
        found = now()
        clear_contacts(contacts)
        narrow_phase_arrays = NarrowPhaseArrays(
            model,
            state,
            workspace,
            pairs,
            contacts,
            old_pairs,
            old_contacts,
            old_pairs,
            old_contacts,
            pair_kernels,
            step,
            False,
            False,
            workspace.predicted.velocity,
        )
        status += narrow_phase(narrow_phase_arrays, np.int64(0), np.int64(ALL_PAIRS))
        made = now()
        match_contacts(pairs, contacts, old_contacts, workspace)
        nanoseconds[0] += found - started
        nanoseconds[1] += made - found
        nanoseconds[2] += now() - made
    return status


class _Stages:
    """Bodies and the collision stages on them, substep after substep."""

    def __init__(self, bodies, reach=0.0, pair_capacity=64, contact_capacity=512):
        builder = ModelBuilder()
        for body in bodies:
            builder.add_body(**body)
        model = builder.build()
        self.arrays, self.state = model.arrays, model.initial_state
        self.workspace = allocate_collision_workspace(model.arrays.shapes, model.hulls, model.meshes, model.body_count)
        self.pair_kernels = compile_pair_kernels(model.arrays.shapes.kind, self.workspace)
        self.step = StepSettings(1, SUBSTEP, reach / SUBSTEP**2, 8)
        self.pairs = [allocate_pairs(pair_capacity) for _ in range(2)]
        self.contacts = [allocate_contacts(contact_capacity) for _ in range(2)]
        self.nanoseconds = np.zeros(3, np.int64)

    def play(self, turns=1, forgets=False) -> float:
        """Play the stages ``turns`` times; returns the thread's time a turn [s]. The last turn's buffers come first."""
        started = thread_time()
        members = _StageMembers(self.arrays, self.state, self.workspace, tuple(self.pairs), tuple(self.contacts))
        status = _run_stages(StepArrays(members), self.step, self.pair_kernels, turns, forgets, self.nanoseconds)
        seconds = thread_time() - started
        if turns % 2:
            self.pairs.reverse()
            self.contacts.reverse()
        if status:
            pairs, contacts = self.pairs[0], self.contacts[0]
            raise RuntimeError(f"room for {pairs.needed[0]} pairs and {contacts.needed[0]} contacts is needed")
        return seconds / turns


def run(quick, plots) -> Report:
    """Verify and time every pair of kinds; ``quick`` verifies fewer pairs and times fewer scenes."""
    checked = [_verify(kinds, QUICK_COUNT if quick else COUNT) for kinds in PAIRS]
    timed = _time_pairs(TIMED_PAIRS[:: 8 if quick else 1])
    scenes = _time_scenes(("resting",) if quick else tuple(SCENES))
    meshes, mesh_claims = _large_meshes.measure(quick)
    claims, notes = [], []
    if checked[0] is None:
        checked = []
        notes.append("coal is not installed: nothing was verified (pip install coal).")
    for row in checked:
        count = row["pairs"]
        claims += [
            Claim(
                f"{row['shapes']}: gaps within {row['allowed']:g} of the size", count, row["gaps"], row["gaps"] == count
            ),
            Claim(
                f"{row['shapes']}: normals within {DEGREES_NORMAL} degrees, or as good",
                count,
                row["normals"] + row["as good"],
                row["normals"] + row["as good"] == count,
            ),
        ]
    if timed and "MuJoCo" not in timed[0]:
        notes.append("MuJoCo is not installed: times stand alone (pip install mujoco).")
    for row in timed:
        for state in ("at rest", "cold"):
            if "MuJoCo" in row:
                ratio = row[f"{state} over MuJoCo"]
                claims.append(
                    Claim(f"{row['shapes']}: pairs a second {state} over MuJoCo's", "above 1", ratio, ratio > 1, True)
                )
    broad = scenes[0]["broad_phase ms"]
    claims.append(
        Claim(
            f"broad phase of {BOXES:,} resting boxes, ms",
            f"at most {BUDGET_BROAD:g}",
            broad,
            broad <= BUDGET_BROAD,
            True,
        )
    )
    notes.append(
        "MuJoCo has no cone (there: the hull of a polygon and the apex) and no mesh but convex ones; a ground of "
        "triangles is its height field."
    )
    return Report(name="collision", rows=checked + timed + scenes + meshes, claims=claims + mesh_claims, notes=notes)


# ---- accuracy


def _verify(kinds, count):
    """Compare random pairs with coal; None without it."""
    try:
        import coal
    except ImportError:
        return None
    rng = np.random.default_rng(len(kinds[0]) + 100 * len(kinds[1]))
    allowed = PAIRS[kinds]
    gaps = normals = as_good = 0
    worst_gap, worst_angle = 0.0, 0.0
    for case in range(count):
        one, two, pose_a, pose_b, size = random_pair(rng, kinds, TARGETS[case % len(TARGETS)])
        exact, exact_normal = coal_distance(coal, one, two, pose_a, pose_b)
        gap, normal = contact_of(one, two, pose_a, pose_b, reach=max(exact, 0.0) + size)
        error = abs(gap - exact) / size
        gaps += error <= allowed
        worst_gap = max(worst_gap, error)
        angle = float(np.degrees(2.0 * np.arcsin(min(1.0, 0.5 * np.linalg.norm(normal - exact_normal)))))
        if angle <= DEGREES_NORMAL:
            normals += 1
            worst_angle = max(worst_angle, angle)
        elif exact <= RATIO_TOUCH * size:
            as_good += separation(one, two, pose_a, pose_b, normal) >= exact - RATIO_AS_GOOD * size
    return {
        "shapes": " - ".join(kinds),
        "pairs": count,
        "allowed": allowed,
        "gaps": gaps,
        "worst gap": worst_gap,
        "normals": normals,
        "as good": int(as_good),
    }


def contact_of(one, two, pose_a, pose_b, reach):
    """Smallest gap and the normal of two samples; infinite and zero without contact."""
    stages = _Stages([_body(one, pose_a), _body(two, pose_b)], reach)
    stages.play()
    contacts = stages.contacts[0]
    count = contacts.count[0]
    if count == 0:
        return np.inf, np.zeros(3)
    least = contacts.gap[:count].argmin()
    return float(contacts.gap[least]), contacts.normal[least].copy()


def _body(sample, pose, **options):
    if isinstance(sample.shape, TriangleMesh):
        options["kind"] = BodyKind.STATIC
    return {"shape": sample.shape, "position": pose.position, "orientation": pose.orientation, **options}


# ---- speed of pairs


def _time_pairs(pairs_of_kinds):
    """Pairs a second of every two kinds, ours and MuJoCo's in turns."""
    try:
        import mujoco
    except ImportError:
        mujoco = None
    rows = []
    for kinds in pairs_of_kinds:
        rng = np.random.default_rng(7)
        bodies, samples = [], []
        for number in range(_TIMED_PAIRS):
            one, two, pose_a, pose_b = _overlapping_pair(rng, kinds)
            shift = _SPACING * np.array([number % 20, number // 20, 0.0]) - pose_a.position
            pose_a, pose_b = (pose._replace(position=pose.position + shift) for pose in (pose_a, pose_b))
            bodies += [_body(one, pose_a, kind=BodyKind.STATIC), _body(two, pose_b)]
            samples.append((one, two, pose_a, pose_b))
        stages = _Stages(bodies, 0.0, 12 * _TIMED_PAIRS, 64 * _TIMED_PAIRS)
        theirs = _mujoco_scene(mujoco, samples) if mujoco else None
        times = {"cold": [], "at rest": [], "MuJoCo": []}
        for _ in range(_REPETITIONS):
            times["cold"].append(stages.play(_TURNS, forgets=True))
            times["at rest"].append(stages.play(_TURNS))
            if theirs:
                started = thread_time()
                for _ in range(_TURNS):
                    mujoco.mj_collision(*theirs)
                times["MuJoCo"].append((thread_time() - started) / _TURNS)
        row = {"shapes": " - ".join(kinds)}
        row |= {name: _TIMED_PAIRS / median(values[1:]) for name, values in times.items() if values}
        if theirs:
            # Of the two times of one turn, so that what else the machine does cancels out.
            for state in ("cold", "at rest"):
                ratios = np.array(times["MuJoCo"][1:]) / np.array(times[state][1:])
                row[f"{state} over MuJoCo"] = median(ratios)
        row["contacts a pair"] = stages.contacts[0].count[0] / _TIMED_PAIRS
        if theirs:
            row["MuJoCo's contacts"] = theirs[1].ncon / _TIMED_PAIRS
        rows.append(row)
    return rows


def _overlapping_pair(rng, kinds):
    """A random pair that overlaps by a hundredth of the smaller one's size."""
    one, two, pose_a, pose_b, size = random_pair(rng, kinds, 0.5)
    gap, normal = contact_of(one, two, pose_a, pose_b, reach=5.0 * size)
    return one, two, pose_a, pose_b._replace(position=pose_b.position - (gap + 0.01 * size) * normal)


def _mujoco_scene(mujoco, samples):
    """MuJoCo's model and data of the same pairs."""
    assets, bodies = [], []
    for number, (one, two, pose_a, pose_b) in enumerate(samples):
        for which, (sample, pose) in enumerate(((one, pose_a), (two, pose_b))):
            geoms, asset = mujoco_geoms(sample, f"mesh{number}_{which}")
            assets.append(asset)
            parts = ("<freejoint/>" if which else "") + "".join(f"<geom {geom}/>" for geom in geoms)
            bodies.append(f'<body pos="{numbers(pose.position)}" quat="{numbers(pose.orientation)}">{parts}</body>')
    xml = f"<mujoco><asset>{''.join(assets)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


# ---- many bodies


def _grid(floors=1):
    """Boxes at rest side by side; the floors reach under all of them."""
    side = round(BOXES**0.5)
    bodies = [
        {"shape": Box((side, side, 0.5)), "position": (0, 0, -0.5 - 1e-3 * floor), "kind": BodyKind.STATIC}
        for floor in range(floors)
    ]
    places = 1.2 * (np.indices((side, side)).reshape(2, -1).T - 0.5 * side)
    return bodies + [{"shape": Box((0.5, 0.5, 0.5)), "position": (x, y, 0.5)} for x, y in places]


def _rain():
    """Boxes turned at random in ten layers, at 5 m/s."""
    rng = np.random.default_rng(0)
    side = round((BOXES / 10) ** 0.5)
    bodies = [{"shape": Box((2 * side, 2 * side, 0.0)), "kind": BodyKind.STATIC}]
    for place in np.indices((10, side, side)).reshape(3, -1).T[:BOXES]:
        position = 1.8 * np.array([place[1] - 0.5 * side, place[2] - 0.5 * side, place[0] + 0.5])
        bodies.append(
            {
                "shape": Box((0.5, 0.5, 0.5)),
                "position": position + rng.uniform(-0.03, 0.03, 3),
                "orientation": rng.normal(size=4),
                "linear_velocity": (0, 0, -5.0),
            }
        )
    return bodies


def _block():
    """Boxes packed without gaps: each touches its 18 neighbours by faces and edges, 26 with corners."""
    side = round(BOXES ** (1 / 3))
    places = np.indices((side, side, side)).reshape(3, -1).T
    floor = {"shape": Box((2 * side, 2 * side, 0.5)), "position": (0, 0, -1.0), "kind": BodyKind.STATIC}
    return [floor] + [{"shape": Box((0.5, 0.5, 0.5)), "position": place} for place in places.astype(float)]


# Name -> bodies, and how far all move a substep [m].
SCENES = {
    "resting": (_grid, 0.0),
    "resting, one far away": (lambda: [*_grid(), {"shape": Box((0.5, 0.5, 0.5)), "position": (1e7, 0, 0)}], 0.0),
    "resting over 10 floors": (lambda: _grid(10), 0.0),
    "raining": (_rain, 5.0 * SUBSTEP),
    "packed in a block": (_block, 0.0),
}


def _time_scenes(names):
    """Milliseconds a substep by stage."""
    rows = []
    for name in names:
        make, fall = SCENES[name]
        bodies = make()
        stages = _Stages(bodies, 9.81 * SUBSTEP**2, 20 * len(bodies), 50 * len(bodies))
        times = []
        for _ in range(_REPETITIONS):
            stages.state.position[1:, 2] -= fall
            stages.play()
            times.append(1e-6 * stages.nanoseconds)
        broad, narrow, match = np.median(times[2:], axis=0)
        rows.append(
            {
                f"{BOXES:,} boxes": name,
                "pairs": int(stages.pairs[0].count[0]),
                "contacts": int(stages.contacts[0].count[0]),
                "broad_phase ms": broad,
                "narrow_phase ms": narrow,
                "match_contacts ms": match,
            }
        )
    return rows
