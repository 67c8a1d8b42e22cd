"""The stages of a step in their order, and what they call: one line each, with all that is to be said of it.

A stage's name is the same in code, reports, benchmarks and documents. Its number is its place in the frame's times
(``frame_record``) and in the table of kernels that a frame calls by address. The numbers are no plain Python integers:
Numba would compile what they are passed to once for each.

Who adds a stage adds a line here, writes its entry, and calls it. The file of an entry is told by its name below
``dynamics``, since it knows more than this room does; ``frame.compilation`` looks it up.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from ...parallel.workers import run_workers

# (status, iterations, residual, scale, worst block), of every solver.
SOLVER_OUTCOME = types.Tuple((types.int64, types.int64, types.float64, types.float64, types.int64))
NOTHING, NUMBER = types.none, types.int64

# Arguments of entries: the step's arrays, what a solver sees of them, the table of kernels, the workers' contexts; or a
# number of that type.
ARRAYS, SOLVER_INPUT, KERNELS, CONTEXTS = "arrays", "solver input", "kernels", "contexts"
# Up to where a substep calls an entry: to find contacts, up to the rows, or to the end.
CONTACTS, ROWS, END = range(3)
# What a simulation must have for an entry to be compiled.
JOINTS, FIELDS, GUIDES, WAITING, IMPULSES, WORKERS = "joints", "fields", "guides", "waiting", "impulses", "workers"
ROLLING_FRICTION, PULL = "rolling friction", "pull"
# In place of a file: the solver's own kernel.
METHOD = "method"


class Stage(NamedTuple):
    """An entry that a frame calls by address.

    Attributes
    ----------
    name : str
    entry : str or entry
        File and function, below ``dynamics``; or METHOD; or the entry itself, where this room knows it.
    result : Numba type
        What it returns.
    arguments : tuple
        ARRAYS and so on.
    until : int
        CONTACTS, ROWS or END.
    needs : str, optional
        JOINTS and so on; None: it is always compiled.
    """

    name: str
    entry: object
    result: object
    arguments: tuple
    until: int
    needs: str | None


TABLE: list[Stage] = []


def _stage(name, entry, result, arguments, until=END, needs=None):
    """Add a line to the table; returns its number."""
    TABLE.append(Stage(name, entry, result, arguments, until, needs))
    return np.int64(len(TABLE) - 1)


_OF_ISLAND = ARRAYS, 0
_OF_WORKER = ARRAYS, 0

# The stages, which are timed
APPLY_FORCES = _stage("apply_forces", "frame.stages.run_apply_forces", NOTHING, (ARRAYS,), ROWS)
BROAD_PHASE = _stage("broad_phase", "frame.stages.run_broad_phase", NUMBER, (ARRAYS,), CONTACTS)
NARROW_PHASE = _stage("narrow_phase", "frame.contact_generation.find_pair_contacts", NOTHING, _OF_WORKER, CONTACTS)
MATCH_CONTACTS = _stage("match_contacts", "frame.stages.run_match_contacts", NOTHING, (ARRAYS,), ROWS)
BUILD_ROWS = _stage("build_rows", "frame.stages.run_build_rows", NOTHING, (ARRAYS,), ROWS)
FIND_ISLANDS = _stage("find_islands", "frame.stages.run_find_islands", NOTHING, (ARRAYS,))
SOLVE_POSITIONS = _stage("solve_positions", "solving.advance.solve_positions", NOTHING, _OF_WORKER)
SOLVE_VELOCITIES = _stage("solve_velocities", "solving.velocity_solve.solve_velocities", NOTHING, _OF_WORKER)
INTEGRATE = _stage("integrate", "frame.stages.run_integrate", NOTHING, (ARRAYS,))
FALL_ASLEEP = _stage("fall_asleep", "", NOTHING, ())  # in the frame's own kernel
STAGES = tuple(stage.name for stage in TABLE)

# What stages call: solvers ...
SOLVE_ISLAND = _stage("solve_island", METHOD, SOLVER_OUTCOME, (SOLVER_INPUT, 0, 0.0, 0.0))
FALLBACK_SWEEPS = _stage("fallback_sweeps", "frame.stages.run_fallback_sweeps", SOLVER_OUTCOME, (ARRAYS, 0, 0, 0))
SMALL_STEPS = _stage("small_steps", "frame.stages.run_small_steps", SOLVER_OUTCOME, _OF_ISLAND)
SOLVE_JOINTED = _stage(
    "solve_jointed", "solving.jointed_solve.run_solve_jointed", SOLVER_OUTCOME, (ARRAYS, 0, 0, 0.0, 0.0), needs=JOINTS
)
# ... what there is to do where there are joints ...
PREPARE_JOINTS = _stage("prepare_joints", "joints.joint_stages.run_prepare_joints", NOTHING, (ARRAYS, 0), ROWS, JOINTS)
BUILD_JOINT_ROWS = _stage(
    "build_joint_rows", "joints.joint_stages.run_build_joint_rows", NOTHING, (ARRAYS,), ROWS, JOINTS
)
WAKE_JOINED = _stage("wake_joined", "joints.joint_stages.run_wake_joined", NUMBER, (ARRAYS,), ROWS, JOINTS)
CORRECT_JOINTS = _stage("correct_joints", "joints.joint_stages.run_correct_joints", NUMBER, (ARRAYS, 0), needs=JOINTS)
MOVE_JOINT_ROWS = _stage(
    "move_joint_rows", "joints.joint_stages.run_move_joint_rows", NOTHING, (ARRAYS, 0, 0), needs=JOINTS
)
END_JOINTS = _stage("end_joints", "joints.joint_stages.run_end_joints", NUMBER, (ARRAYS, 0), needs=JOINTS)
SOLVE_JOINTED_VELOCITIES = _stage(
    "solve_jointed_velocities", "solving.velocity_solve.solve_jointed_velocities", NOTHING, (ARRAYS, 0, 0), needs=JOINTS
)
LEAVE_HELD_CONTACTS = _stage(
    "leave_held_contacts", "joints.held_contacts.run_leave_held_contacts", NOTHING, _OF_ISLAND, needs=JOINTS
)
# ... fields, guides, a body that is pulled, bodies that wait, a record of impulses ...
APPLY_FIELDS = _stage("apply_fields", "outside.field_forces.run_apply_fields", NOTHING, (ARRAYS,), ROWS, FIELDS)
BRAKE_ROLLING = _stage(
    "brake_rolling", "motion.rolling_friction.run_brake_rolling", NOTHING, (ARRAYS,), ROWS, ROLLING_FRICTION
)
GUIDE_BODIES = _stage("guide_bodies", "outside.guides.run_guide_bodies", NOTHING, (ARRAYS,), ROWS, GUIDES)
PULL_BODY = _stage("pull_body", "outside.pull.run_pull_body", NOTHING, (ARRAYS,), ROWS, PULL)
ACTIVATE = _stage("activate", "rest.activation.run_activate", NUMBER, (ARRAYS, 0), needs=WAITING)
KEEP_IMPULSES = _stage(
    "keep_impulses", "motion.frame_impulses.run_keep_impulses", NOTHING, (ARRAYS, 0, 0), needs=IMPULSES
)
# ... and several threads.
JOIN_CONTACTS = _stage("join_contacts", "frame.contact_generation.join_runs", NOTHING, (ARRAYS, 0), needs=WORKERS)
HELP_WITH_DOMAINS = _stage("help_with_domains", "frame.stages.run_help", NOTHING, _OF_WORKER, needs=WORKERS)
RUN_WORKERS = _stage("run_workers", run_workers, NOTHING, (KERNELS, 0, CONTEXTS), needs=WORKERS)
