"""Stage ``solve_jointed``: an island whose joints are eliminated, or hang in a tree (``strategies``)."""

import numpy as np

from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of, whole
from ...problem.problem import CONVERGED_ABSOLUTE
from ...solvers.joint_elimination import solve_with_joints_eliminated
from ...solvers.joint_tree import solve_tree_of_joints
from ...solvers.redundant_joints import find_least_impulses
from ..islands.policy import SHARE_LEFT_OF_TREES
from ..schedule.pass_kinds import SAME_CONTACTS
from .strategies import AT_END, LEAST, TREE


@entry
def run_solve_jointed(arrays, island, sweeps, exactly, least):
    """Solve an island with its joints eliminated; returns what a solver returns.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities of the island are written.
    island : int64
    sweeps : int64
        At most; 0: contacts keep their impulses; TREE: there are only joints, along no loop; AT_END: as 0, by rows of
        the substep's end; LEAST: of impulses that do the same to bodies the least are taken (``redundant_joints``).
    exactly, least : float
        The joints' share of the tolerance; the scale that the sweeps aim at is not below the second one [m/s].
    """
    members = views_of(arrays)
    problem = members.problem
    if sweeps == LEAST:
        return _take_least_impulses(whole(problem.rows), whole(problem.islands), island, problem.jointed, members)
    if sweeps == TREE:
        # What is corrected moves on by far more than such a share, and is measured there.
        share = SHARE_LEFT_OF_TREES if members.solves.pass_kind[0] >= SAME_CONTACTS else 0.0
        return solve_tree_of_joints(
            whole(problem.rows),
            whole(problem.islands),
            island,
            members.motion.free_velocity,
            members.state.velocity,
            problem.jointed,
            numbers_of(members.settings.solver),
            (exactly, share),
        )
    return solve_with_joints_eliminated(
        whole(problem.rows),
        whole(problem.islands),
        island,
        members.motion.free_velocity,
        members.state.velocity,
        problem.jointed,
        numbers_of(members.settings.solver),
        (exactly, least),
        max(sweeps, np.int64(0)),
        np.bool_(sweeps == AT_END),
    )


@subkernel
def _take_least_impulses(rows, islands, island, workspace, members):
    """What joints bear against each other, and no body notices, is taken out of an island's impulses."""
    everywhere_alike = members.joint_state.bond_stiffness[:0]
    if find_least_impulses(rows, islands, island, workspace, rows.impulse, everywhere_alike, np.int64(0)):
        joints, by_row = workspace.islands, workspace.alm.by_row
        for place in range(joints.block_first[1]):
            block = joints.block_order[place]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                if by_row.weight[row] < 0.0:
                    rows.impulse[row] += by_row.shift[row]
    return CONVERGED_ABSOLUTE, np.int64(0), 0.0, 0.0, np.int64(-1)
