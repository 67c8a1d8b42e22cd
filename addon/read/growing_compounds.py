"""Compounds whose scale is keyed and that never move by simulation: their parts are followed frame by frame.

Boxes, hulls and meshes are surfaces whose vertices go where they are seen, whatever scales, turns or shears them. A
ball, capsule, cylinder or cone stays one as long as its matrix in the compound's user frame is a fixed rotation (of a
ball: any) times a stretch. That cannot be asked of all frames beforehand, so it is asked of the chain of matrices from
the compound to the part with some arbitrary scale, and turn, wherever one is animated: what keeps its rotation under
three unlike scales keeps it under all.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.geometry.shapes import Sphere
from ...solver_core.model.compound import Compound
from .faults import SceneError
from .object_keys import key_of
from .scene_animation import scale_animated, scales_evenly
from .scene_poses import finite_matrix, rigid_matrices, rotation_and_stretch
from .scene_shapes import ROUND_SHAPES, MeshError, ShapeReader

# Three unlike factors, and a turn about no axis of symmetry (w, x, y, z).
_SOME_SCALE = np.diag([1.0, 1.3, 1.9])
_SOME_TURN = rotations.matrix(np.array([0.8, 0.4, 0.2, 0.4]))
# Elements of rotation matrices that differ by less are equal: 0.006 degrees, well above the rounding of float32.
_SAME_TURN = 1e-4


@dataclass(frozen=True)
class GrowingPart:
    """A part of a compound that grows.

    Attributes
    ----------
    object_name : str
    library : str or None
        As of ``ExportedBody``.
    shape : TriangleMesh, Sphere, Capsule, Cylinder or Cone
        At the first frame, in the compound's user frame.
    vertex_count : int
        Of a surface, as its object gives them.
    mirrored : bool
        Whether its matrix in the user frame mirrors it at the first frame.
    """

    object_name: str
    library: str | None
    shape: object
    vertex_count: int
    mirrored: bool


def links_to(part, compound) -> list:
    """Objects from a compound parent down to one of its parts, both included."""
    links = [part]
    while links[-1] != compound:
        links.append(links[-1].parent)
    return links[::-1]


def read_growing(reader, compound, parts, survey, frames):
    """A compound whose parts can grow, at the first frame.

    Parameters
    ----------
    reader : ShapeReader
    compound : bpy.types.Object
    parts : sequence of (bpy.types.Object, float64 [4, 4])
        As of ``ShapeReader.read``.
    survey : AnimationSurvey
    frames : int64 [n]
        All that are baked.

    Returns
    -------
    shape : Compound
    growing : tuple of GrowingPart
        In the order of the compound's parts.
    notes : list of (str, str)
        As of ``ShapeReader.read``.

    Raises
    ------
    MeshError
    """
    growing, notes = [], []
    for child, matrix in parts:
        try:
            shape, part_notes = _read_part(reader, compound, child, matrix, survey, frames)
            count = 0 if isinstance(shape, ROUND_SHAPES) else len(reader.part_vertices(child, matrix))
        except MeshError as error:
            raise MeshError(f"its part {child.name}: {error}") from error
        growing.append(GrowingPart(*key_of(child), shape, count, _mirrors(matrix)))
        notes += [(level, f"its part {child.name} {text}") for level, text in part_notes]
    return Compound([part.shape for part in growing]), tuple(growing), notes


def _read_part(reader, compound, child, matrix, survey, frames):
    notes = []
    if child.rigid_body.collision_shape not in {"BOX", "CONVEX_HULL", "MESH"}:
        shape, notes = reader.part(child, matrix, moves=False)
        if isinstance(shape, ROUND_SHAPES):
            links = links_to(child, compound)
            if _stays_round(reader.depsgraph, links, survey, frames, isinstance(shape, Sphere)):
                return shape, notes
            text = "may turn or be sheared where the compound grows: it is the convex hull of its mesh"
            notes = [("warning", text)]
    surface, surface_notes = reader.surface(child, matrix[:3, :3], position=matrix[:3, 3], shared=False)
    return surface, notes + surface_notes


def _stays_round(depsgraph, links, survey, frames, is_ball) -> bool:
    """Whether no scale or turn that is animated can turn the last of ``links`` (a ball: or not) or shear it."""
    evaluated = [ob.evaluated_get(depsgraph) for ob in links]
    worlds = [np.array(ob.matrix_world, float)[:3, :3] for ob in evaluated]
    # From each object to the one above it; from the compound to the user frame, where only its stretch is left.
    steps = [np.diag(rotation_and_stretch(worlds[0], links[0].name)[1])]
    steps += [np.linalg.solve(upper, lower) for upper, lower in itertools.pairwise(worlds)]
    now, other = np.eye(3), np.eye(3)
    for ob, at_start, step in zip(links, evaluated, steps, strict=True):
        now, other = now @ step, other @ step
        if ob != links[0] and survey.turns_within_parent(ob):
            # The basis is a rotation times a stretch: the turn goes between.
            stretch = np.diag(np.linalg.norm(np.array(at_start.matrix_basis, float)[:3, :3], axis=0))
            other = other @ np.linalg.inv(stretch) @ _SOME_TURN @ stretch
        if scale_animated(ob) and not scales_evenly(ob, frames):
            other = other @ _SOME_SCALE
    try:
        turn, other_turn = (rotation_and_stretch(linear, links[-1].name)[0] for linear in (now, other))
    except SceneError:
        return False
    return is_ball or np.allclose(turn, other_turn, atol=_SAME_TURN)


def sample_growing(depsgraph, frame, compound, children, parts, position, orientation):
    """Surfaces and shapes of a growing compound's parts at an evaluated frame.

    Parameters
    ----------
    depsgraph : bpy.types.Depsgraph
    frame : int
    compound : bpy.types.Object
    children : list of bpy.types.Object or None
        The parts' objects, as far as they are there.
    parts : tuple of GrowingPart
    position, orientation : float64 [3], [4]
        The compound's pose at ``frame``.

    Returns
    -------
    vertices : dict of int to float64 [vertex_count, 3]
        By part that is a surface, in the user frame.
    shapes : dict of int to Sphere, Capsule, Cylinder or Cone
        By part that is round.

    Raises
    ------
    SceneError
    """
    to_user = np.linalg.inv(rigid_matrices(rotations.matrix(orientation), position))
    reader, vertices, shapes = ShapeReader(depsgraph), {}, {}
    for number, (part, child) in enumerate(zip(parts, children, strict=True)):
        name = part.object_name
        if child is None or child.rigid_body is None:
            raise SceneError(compound.name, f"its part {name} is no longer a rigid body of this scene; bake again")
        matrix = to_user @ finite_matrix(child.evaluated_get(depsgraph), f"at frame {frame}")
        if _mirrors(matrix) != part.mirrored:
            text = f"the scale of its part {name} changes its sign by frame {frame}; a shape that grows must keep it"
            raise SceneError(compound.name, text)
        try:
            if part.vertex_count:
                vertices[number] = _vertices(reader, child, matrix, part)
            else:
                shapes[number] = _round_shape(reader, child, matrix, part)
        except MeshError as error:
            raise SceneError(compound.name, f"at frame {frame}, its part {name}: {error}") from error
    return vertices, shapes


def _vertices(reader, child, matrix, part):
    vertices = reader.part_vertices(child, matrix)
    if len(vertices) != part.vertex_count:
        raise MeshError(f"its mesh has {len(vertices)} vertices and at the start {part.vertex_count}; bake again")
    return vertices


def _round_shape(reader, child, matrix, part):
    shape, _ = reader.part(child, matrix, moves=False)
    if isinstance(shape, Sphere) and isinstance(part.shape, Sphere):
        return shape
    turns = [rotations.matrix(one.orientation) for one in (shape, part.shape)]
    if type(shape) is not type(part.shape) or not np.allclose(*turns, atol=_SAME_TURN):
        raise MeshError("it is turned or sheared within its compound: set its Shape to Convex Hull")
    # To the bit: what is left is the rounding of the matrices.
    return replace(shape, orientation=part.shape.orientation)


def _mirrors(matrix) -> bool:
    return bool(np.linalg.det(matrix[:3, :3]) < 0.0)
