"""Stage ``solve_jointed``: an island whose joints are eliminated, or hang in a tree (``strategies``)."""

from ...compiled.kernel import entry
from ...compiled.views import numbers_of, views_of, whole
from ...solvers.joint_elimination import solve_with_joints_eliminated
from ...solvers.joint_tree import solve_tree_of_joints
from ..islands.policy import SHARE_LEFT_OF_TREES
from ..schedule.pass_kinds import SAME_CONTACTS
from .strategies import TREE


@entry
def run_solve_jointed(arrays, island, sweeps, exactly, least):
    """Solve an island with its joints eliminated; returns what a solver returns.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities of the island are written.
    island : int64
    sweeps : int64
        At most; 0: contacts keep their impulses; -1: there are only joints, along no loop.
    exactly, least : float
        The joints' share of the tolerance; the scale that the sweeps aim at is not below the second one [m/s].
    """
    members = views_of(arrays)
    problem = members.problem
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
        sweeps,
    )
