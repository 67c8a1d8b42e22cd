"""Which kinds of pairs a model can have: only what makes their contacts is compiled.

The narrow phase itself knows boxes and hulls. What makes contacts of balls, of round shapes and of meshes it calls by
address, through a table that is filled for the shapes of one model.
"""

import numpy as np
from numba import types

from ..compiled.function_tables import Compilation, empty_table
from ..compiled.kernel import entry
from ..compiled.views import seen_in_step
from .data.workspace import (
    KINDS_WITH_AXIS,
    MESH,
    MESHES,
    PAIR_KERNELS,
    ROUND_ON_FACE,
    ROUND_ON_MESH,
    ROUND_SHAPES,
    SPHERE,
    SPHERES,
    CollisionWorkspace,
    PairShape,
)
from .manifold.round_contacts import round_contacts
from .manifold.sphere_contacts import sphere_contacts
from .mesh.mesh_motion import fit_mesh
from .mesh.mesh_pairs import mesh_pair_contacts
from .mesh.mesh_query import MeshPair, MeshView
from .mesh.mesh_round import face_points_of_round, touch_round
from .mesh.mesh_tree import build_trees, refit_trees

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


def compile_pair_kernels(shape_kinds, workspace: CollisionWorkspace):
    """The table that ``narrow_phase`` needs, with all kernels compiled.

    Parameters
    ----------
    shape_kinds : int64 [shape_count]
        ``ShapeArrays.kind``.
    workspace : CollisionWorkspace

    Returns
    -------
    table of addresses [PAIR_KERNELS]
    """
    pair_kernels = empty_table(PAIR_KERNELS)
    for compilation in pair_kernels_to_compile(shape_kinds, workspace, pair_kernels):
        compilation.compile()
    return pair_kernels


def needed_pair_kernels(shape_kinds) -> list[int]:
    """Places in the table of the kernels that pairs of such shapes need."""
    has_spheres = bool(np.any(shape_kinds == SPHERE))
    has_round_shapes = bool(np.any(np.isin(shape_kinds, KINDS_WITH_AXIS)))
    has_meshes = bool(np.any(shape_kinds == MESH))
    needed = {
        SPHERES: has_spheres,
        ROUND_SHAPES: has_round_shapes,
        MESHES: has_meshes,
        ROUND_ON_MESH: has_meshes and has_round_shapes,
        ROUND_ON_FACE: has_meshes and has_round_shapes,
    }
    return [place for place, is_needed in needed.items() if is_needed]


def pair_kernels_to_compile(shape_kinds, workspace: CollisionWorkspace, pair_kernels) -> list[Compilation]:
    """What is to be compiled for the table: the kernels that pairs of such shapes need."""
    signatures = _signatures(workspace, pair_kernels)
    return [
        Compilation(
            f"narrow_phase: {_NAMES[place]}",
            _KERNELS[place],
            signatures[place][1:],
            result=signatures[place][0],
            table=pair_kernels,
            index=place,
        )
        for place in needed_pair_kernels(shape_kinds)
    ]


def mesh_kernels_to_compile(shape_kinds, workspace: CollisionWorkspace) -> list[Compilation]:
    """What Python calls to make the tables of meshes and to deform them; nothing for models without."""
    if not np.any(shape_kinds == MESH):
        return []
    meshes = workspace.meshes
    return [
        Compilation("trees of meshes", build_trees, (meshes,)),
        Compilation("boxes of meshes", refit_trees, (meshes,)),
        Compilation("deformed meshes", fit_mesh, (meshes, workspace.polytopes, 0, 0.0)),
    ]


def _signatures(workspace, pair_kernels) -> dict:
    """What the kernels return, and values of the types that they are called with, by place."""
    polytopes, scratch, meshes = (
        seen_in_step(part) for part in (workspace.polytopes, workspace.scratch, workspace.meshes)
    )
    number, length = 0, 0.0
    shape = PairShape(kind=0, polytope=0, parameters=np.zeros(3), bounding_radius=0.0, swept_radius=0.0)
    mesh = MeshView(
        vertices=workspace.meshes.vertex,
        triangles=workspace.meshes.triangle,
        normals=workspace.meshes.normal,
        nodes=workspace.meshes.node,
        boxes=workspace.meshes.box,
    )
    pair = MeshPair(row=0, other=shape, size=0.0, slack=0.0, maximal_points=0, side=0)
    sizes = length, length
    count = types.int64
    return {
        SPHERES: (count, polytopes, shape, shape, *sizes, scratch),
        ROUND_SHAPES: (count, polytopes, shape, shape, *sizes, number, number, number, scratch),
        MESHES: (count, meshes, polytopes, number, shape, *sizes, number, number, scratch, pair_kernels),
        ROUND_ON_MESH: (
            count,
            mesh,
            polytopes,
            pair,
            number,
            number,
            number,
            length,
            scratch,
            seen_in_step(workspace.meshes.contact),
            number,
        ),
        ROUND_ON_FACE: (count, polytopes, pair, length, scratch),
    }
