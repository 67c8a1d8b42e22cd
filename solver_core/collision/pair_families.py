"""Which kinds of pairs a model can have: only their contacts are compiled.

The narrow phase knows boxes and hulls itself. What makes contacts of balls, of round shapes and of meshes it calls by
address (``entries``), through a table that is filled for the shapes of one model.
"""

import numpy as np
from numba import types

from ..contacts import LINK_COLUMNS
from ..entries import Compilation, empty_entries
from ..kernel import entry
from ..step_arrays import seen_in_step
from .mesh_pairs import mesh_pair_contacts
from .mesh_round import face_points_of_round, touch_round
from .round_contacts import round_contacts
from .sphere_contacts import sphere_contacts
from .workspace import (
    CAPSULE,
    CONE,
    FAMILIES,
    MESH,
    MESHES,
    ROUND_ON_FACE,
    ROUND_ON_MESH,
    ROUND_SHAPES,
    SPHERE,
    SPHERES,
    CollisionWorkspace,
)

_KERNELS = {
    SPHERES: entry(sphere_contacts),
    ROUND_SHAPES: entry(round_contacts),
    MESHES: entry(mesh_pair_contacts),
    ROUND_ON_MESH: entry(touch_round),
    ROUND_ON_FACE: entry(face_points_of_round),
}
# As progress reports name them.
_NAMES = {
    SPHERES: "balls",
    ROUND_SHAPES: "round shapes",
    MESHES: "meshes",
    ROUND_ON_MESH: "round shapes on meshes",
    ROUND_ON_FACE: "round shapes on faces of meshes",
}


def find_families(shape_kinds, workspace: CollisionWorkspace):
    """The table that ``narrow_phase`` needs where Python calls it, with all kernels compiled.

    Parameters
    ----------
    shape_kinds : int64 [shape_count]
        ``ShapeArrays.kind``.
    workspace : CollisionWorkspace

    Returns
    -------
    table of entries [FAMILIES]
    """
    families = empty_entries(FAMILIES)
    for compilation in families_to_compile(shape_kinds, workspace, families, in_step=False):
        compilation.compile()
    return families


def needed_families(shape_kinds) -> list[int]:
    """Places of the families of pairs that shapes of these kinds make."""
    has_spheres = bool(np.any(shape_kinds == SPHERE))
    has_round_shapes = bool(np.any((shape_kinds >= CAPSULE) & (shape_kinds <= CONE)))
    has_meshes = bool(np.any(shape_kinds == MESH))
    needed = {
        SPHERES: has_spheres,
        ROUND_SHAPES: has_round_shapes,
        MESHES: has_meshes,
        ROUND_ON_MESH: has_meshes and has_round_shapes,
        ROUND_ON_FACE: has_meshes and has_round_shapes,
    }
    return [place for place, is_needed in needed.items() if is_needed]


def families_to_compile(shape_kinds, workspace: CollisionWorkspace, families, in_step=True) -> list[Compilation]:
    """The families of pairs that shapes of these kinds make, for the table; ``in_step``: for a step's narrow phase."""
    signatures = _signatures(workspace, families, seen_in_step if in_step else (lambda members: members))
    return [
        Compilation(
            f"narrow_phase: {_NAMES[place]}",
            _KERNELS[place],
            signatures[place][1:],
            result=signatures[place][0],
            entries=families,
            place=place,
        )
        for place in needed_families(shape_kinds)
    ]


def _signatures(workspace, families, seen) -> dict:
    """What the kernels return, and values of the types that they are called with, by place; ``seen`` of tuples."""
    polytopes, scratch, meshes = seen(workspace.polytopes), seen(workspace.scratch), seen(workspace.meshes)
    mesh_arrays = workspace.meshes
    number, length = 0, 0.0
    parameters, link = np.zeros(3), np.zeros(LINK_COLUMNS, np.int64)
    triangle = mesh_arrays.vertex, mesh_arrays.triangle, mesh_arrays.normal, number, number, number
    on_triangle = polytopes, number, number, number, parameters, length, length, number, scratch
    count = types.int64
    return {
        SPHERES: (
            count,
            polytopes,
            number,
            number,
            number,
            number,
            parameters,
            parameters,
            length,
            length,
            scratch,
        ),
        ROUND_SHAPES: (
            count,
            polytopes,
            number,
            number,
            number,
            number,
            parameters,
            parameters,
            length,
            length,
            number,
            number,
            number,
            scratch,
        ),
        MESHES: (
            count,
            meshes,
            polytopes,
            number,
            number,
            number,
            number,
            parameters,
            length,
            length,
            length,
            number,
            number,
            length,
            link,
            scratch,
            families,
        ),
        ROUND_ON_MESH: (count, *triangle, *on_triangle, mesh_arrays.contact, number),
        ROUND_ON_FACE: (count, *on_triangle),
    }
