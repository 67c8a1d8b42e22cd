"""What the parts of the narrow phase are handed: the arrays that they share, and a description of one pair."""

from typing import NamedTuple

import numpy as np

from ..compiled.kernel import subkernel
from ..model.state import DYNAMIC
from .data.contact_arrays import ContactArrays, PairArrays
from .data.workspace import MESH, SPHERE, CollisionWorkspace, PairShape
from .swept_motion import bound_approach, swept_radius


class NarrowPhaseArrays(NamedTuple):
    """What the narrow phase reads and writes. In kernels the tuples are views, a pointer each.

    Attributes
    ----------
    model, state : ModelArrays, StateArrays
        (read)
    workspace : CollisionWorkspace
        Poses and predicted motion read, scratch written.
    pairs, contacts : PairArrays, ContactArrays
        Of this detection pass: the pairs' shapes read, the pair cache and the contacts written.
    last_substep_pairs, last_substep_contacts : PairArrays, ContactArrays
        Of the last substep (read).
    previous_pass_pairs, previous_pass_contacts : PairArrays, ContactArrays
        Of the previous detection pass; meaningless in the first one (read).
    pair_kernels : table of ``pair_dispatch``
        (read)
    step : NamedTuple
        ``h`` [s], ``gravity_norm`` [m/s^2], ``maximal_points``.
    only_checks : bool
        Make no contacts, but check whether ``end_velocity`` leads shapes into each other by the end of the substep.
    looks_again : bool
        Make no contacts, but see whether those of pairs that meet after others stand (``later_meetings``).
    end_velocity : float64 [B, 6]
        Leads the bodies to their end poses: this pass's position-update velocity if ``only_checks``, else that of the
        previous pass (read).
    """

    model: tuple
    state: tuple
    workspace: CollisionWorkspace
    pairs: PairArrays
    contacts: ContactArrays
    last_substep_pairs: PairArrays
    last_substep_contacts: ContactArrays
    previous_pass_pairs: PairArrays
    previous_pass_contacts: ContactArrays
    pair_kernels: np.ndarray
    step: tuple
    only_checks: bool
    looks_again: bool
    end_velocity: np.ndarray


class Pair(NamedTuple):
    """A pair of shapes, as the parts of the narrow phase see it.

    Attributes
    ----------
    number : int
        Its place in ``PairArrays``; elsewhere such a place is called ``pair_number``.
    a, b, body_a, body_b : int
        Shapes and their bodies.
    shape_a, shape_b : PairShape
    moves_a, moves_b : bool
        Whether the bodies are dynamic.
    size : float
        Of the smaller shape [m].
    moving, other : int
        The same shapes: the motion of the smaller one is seen from the larger one, since where the far parts of that
        one go does not matter. Of a pair with a mesh, ``other`` is the mesh.
    moving_radius : float
        Of the moving shape about its position; 0 for a ball, whose turns change no distance [m].
    with_mesh : bool
    surface_speed : float
        Bound on the speed of the surfaces beyond the motion of the bodies [m/s].
    is_moving_surface : bool
        Whether a surface moves so, or has since the last contacts were made.
    """

    number: int
    a: int
    b: int
    body_a: int
    body_b: int
    shape_a: PairShape
    shape_b: PairShape
    moves_a: bool
    moves_b: bool
    size: float
    moving: int
    other: int
    moving_radius: float
    with_mesh: bool
    surface_speed: float
    is_moving_surface: bool


@subkernel(inline=True)
def describe_pair(model, state, workspace, pairs, pair_number):
    """The ``Pair`` of a place in ``PairArrays``."""
    a, b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
    shapes, shape_parameters, sizes = model.shapes, workspace.shape_parameters, workspace.size
    body_a, body_b = shapes.body[a], shapes.body[b]
    kind_a, kind_b = shapes.kind[a], shapes.kind[b]
    bounding_radius, parameters = shape_parameters.bounding_radius, shape_parameters.parameters
    with_mesh = kind_a == MESH or kind_b == MESH
    if with_mesh:
        moving, other = (a, b) if kind_b == MESH else (b, a)
        mesh = shapes.hull[other]
        surface_speed = workspace.meshes.speed[mesh]
        is_moving_surface = surface_speed > 0.0 or workspace.meshes.has_deformed[mesh]
    else:
        moving, other = (b, a) if sizes[a] >= sizes[b] else (a, b)
        surface_speed = shape_parameters.surface_speed[a] + shape_parameters.surface_speed[b]
        has_grown = shape_parameters.has_grown
        is_moving_surface = surface_speed > 0.0 or has_grown[a] or has_grown[b]
    swept_a = swept_radius(kind_a, workspace.local_pose[a], bounding_radius[a])
    swept_b = swept_radius(kind_b, workspace.local_pose[b], bounding_radius[b])
    return Pair(
        pair_number,
        a,
        b,
        body_a,
        body_b,
        PairShape(kind_a, workspace.polytope[a], parameters[a], bounding_radius[a], swept_a),
        PairShape(kind_b, workspace.polytope[b], parameters[b], bounding_radius[b], swept_b),
        state.kind[body_a] == DYNAMIC,
        state.kind[body_b] == DYNAMIC,
        min(sizes[a], sizes[b]),
        moving,
        other,
        0.0 if shapes.kind[moving] == SPHERE else bounding_radius[moving],
        with_mesh,
        surface_speed,
        is_moving_surface,
    )


@subkernel
def approach_speed(arrays, pair, velocity):
    """Bound on the speed at which points of a pair's moving shape come nearer to the other body [m/s]."""
    body_of, workspace = arrays.model.shapes.body, arrays.workspace
    return bound_approach(
        velocity,
        body_of[pair.moving],
        body_of[pair.other],
        workspace.body_pose,
        workspace.shape_pose[pair.moving],
        pair.moving_radius,
    )


@subkernel
def approach_of_substep(arrays, pair):
    """How much nearer points of a pair may come in the substep, other contacts considered [m]."""
    step, surplus = arrays.step, arrays.workspace.predicted.surplus
    approach = step.h * approach_speed(arrays, pair, arrays.state.velocity)
    if pair.moves_a or pair.moves_b:
        # Speeds may grow by g h before the bodies move.
        approach += step.gravity_norm * step.h * step.h
    return approach + (surplus[pair.body_a] + surplus[pair.body_b] + step.h * pair.surface_speed)
