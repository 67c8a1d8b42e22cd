"""The stages of a step in their order: one word a stage, in code, reports, benchmarks and documents.

A stage's number is its place in the frame's times (``frame_record``) and in the table of kernels that a frame calls by
address (``stages``). The numbers are no plain Python integers: Numba would compile what they are passed to once for
each.
"""

import numpy as np
from numba import types

STAGES = (
    "apply_forces",
    "broad_phase",
    "narrow_phase",
    "match_contacts",
    "build_rows",
    "find_islands",
    "solve_positions",
    "solve_velocities",
    "integrate",
    "fall_asleep",
)
# What stages call by address, and what runs a task on several threads; the table holds these behind the stages.
_CALLED_BY_STAGES = (
    "join_contacts",
    "solve_island",
    "fallback_sweeps",
    "small_steps",
    "help_with_domains",
    "run_workers",
    "prepare_joints",
    "build_joint_rows",
    "correct_joints",
    "move_joint_rows",
    "end_joints",
    "wake_joined",
    "solve_jointed",
    "keep_impulses",
    "leave_held_contacts",
    "activate",
    "apply_fields",
    "guide_bodies",
)

# (status, iterations, residual, scale, worst block), of every solver.
SOLVER_OUTCOME = types.Tuple((types.int64, types.int64, types.float64, types.float64, types.int64))

KERNEL_NAMES = STAGES + _CALLED_BY_STAGES

APPLY_FORCES, BROAD_PHASE, NARROW_PHASE, MATCH_CONTACTS, BUILD_ROWS = map(np.int64, range(5))
FIND_ISLANDS, SOLVE_POSITIONS, SOLVE_VELOCITIES, INTEGRATE, FALL_ASLEEP = map(np.int64, range(5, 10))
JOIN_CONTACTS, SOLVE_ISLAND, FALLBACK_SWEEPS, SMALL_STEPS, HELP_WITH_DOMAINS, RUN_WORKERS = map(np.int64, range(10, 16))
PREPARE_JOINTS, BUILD_JOINT_ROWS, CORRECT_JOINTS = map(np.int64, range(16, 19))
MOVE_JOINT_ROWS, END_JOINTS, WAKE_JOINED, SOLVE_JOINTED, KEEP_IMPULSES = map(np.int64, range(19, 24))
LEAVE_HELD_CONTACTS, ACTIVATE, APPLY_FIELDS, GUIDE_BODIES = map(np.int64, range(24, 28))
