"""Glue pieces to their neighbours: the bonds where their surfaces touch, kept in one object of the scene.

The object is a mesh of lines from piece to piece; its edges' attributes are the bonds (``read/glue.py``), and its
settings, which say how strong they all are, are ``Object.cairn.glue``.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from .read.glue_bonds import ATTRIBUTES, glue_objects, read_bonds
from .read.scene_poses import rigid_poses

# The gap where none is given, as a share of the pieces' size.
RATIO_GAP = 0.02


@dataclass(frozen=True)
class Glued:
    """What was glued.

    Attributes
    ----------
    ob : bpy.types.Object or None
        The glue object; None where no surfaces touch.
    bonds, pieces : int
        How many, and of how many pieces that have some.
    gap : float
        That was bridged [m].
    """

    ob: bpy.types.Object | None
    bonds: int
    pieces: int
    gap: float


def glue_neighbours(scene, pieces, *, gap: float = 0.0, depsgraph, into=None) -> Glued:
    """Glue rigid bodies to each other where their surfaces touch.

    Parameters
    ----------
    scene : bpy.types.Scene
    pieces : sequence of bpy.types.Object
        Rigid bodies, as they stand at the frame that is shown.
    gap : float
        Distance that is bridged [m]; 0: a fiftieth of the pieces' size.
    depsgraph : bpy.types.Depsgraph
    into : bpy.types.Object, optional
        A glue object whose bonds these replace; its settings stay. Without, there is a new one.
    """
    # not where Cairn is registered: it loads NumPy's linear algebra
    from ..solver_core.geometry.facing_areas import facing_areas

    surfaces, matrices = zip(*(_surface(ob, depsgraph) for ob in pieces), strict=True)
    if gap <= 0.0:
        gap = RATIO_GAP * _size_of(surfaces)
    found = facing_areas(surfaces, gap)
    moves = np.array([ob.rigid_body.type == "ACTIVE" for ob in pieces])
    wanted = moves[found.first] | moves[found.second]
    taken = _pairs_of_others(scene, into)
    names = [ob.name_full for ob in pieces]
    pairs = [frozenset((names[a], names[b])) for a, b in zip(found.first, found.second, strict=True)]
    wanted &= np.array([pair not in taken for pair in pairs], bool)
    rows = np.flatnonzero(wanted)
    count = len(np.unique(np.concatenate([found.first[rows], found.second[rows]])))
    if not len(rows):
        return Glued(None, 0, 0, gap)
    place, turn = rigid_poses(np.array(matrices))
    a, b = found.first[rows], found.second[rows]
    values = {
        "piece_a": a,
        "piece_b": b,
        "area": found.area[rows],
        "middle_a": _back(turn[a], found.center[rows] - place[a]),
        "middle_b": _back(turn[b], found.center[rows] - place[b]),
        "place": found.center[rows],
        "normal": _back(turn[a], found.normal[rows]),
        "axis": _back(turn[a], found.axis[rows]),
        "bending_y": found.bending_y[rows],
        "bending_z": found.bending_z[rows],
        "torsion": found.torsion[rows],
        "gyration_y": found.gyration_y[rows],
        "gyration_z": found.gyration_z[rows],
        "strength": np.ones(len(rows)),
    }
    ob = _write(scene, pieces, place, values, into)
    ob.cairn.glue.gap = gap
    return Glued(ob, len(rows), count, gap)


def _surface(ob, depsgraph):
    """An object's surface as it is shown, (vertices, triangles) in the world, and its matrix."""
    evaluated = ob.evaluated_get(depsgraph)
    matrix = np.array(evaluated.matrix_world, float)
    if ob.type not in {"MESH", "CURVE", "SURFACE", "META", "FONT"}:
        return (np.zeros((0, 3)), np.zeros((0, 3), np.int64)), matrix
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    vertices, triangles = np.empty(3 * len(mesh.vertices), np.float32), np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.vertices.foreach_get("co", vertices)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    points = vertices.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
    return (points, triangles.reshape(-1, 3).astype(np.int64)), matrix


def _size_of(surfaces) -> float:
    """The size of the piece in the middle: the cube root of the volume of its box, a plate's by its area [m]."""
    sizes = []
    for points, _ in surfaces:
        if len(points):
            span = np.sort(np.ptp(points, axis=0))
            sizes.append(np.cbrt(np.prod(span)) if span[0] > 0.0 else np.sqrt(span[1] * span[2]))
    return float(np.median(sizes)) if sizes else 0.0


def _pairs_of_others(scene, into) -> set:
    """Pairs of full names that other glue objects hold."""
    pairs = set()
    for ob in glue_objects(scene):
        bonds = None if ob == into else read_bonds(ob)
        if bonds is not None:
            names = [None if piece.object is None else piece.object.name_full for piece in ob.cairn.glue.pieces]
            pairs |= {frozenset((names[a], names[b])) for a, b in zip(bonds.piece_a, bonds.piece_b, strict=True)}
    return pairs


def _back(turn, vectors):
    """Vectors of the world in frames."""
    from ..solver_core.geometry import rotations

    return rotations.rotate(rotations.conjugate(turn), vectors)


def _write(scene, pieces, place, values, into):
    """Write bonds into a glue object, a new one where there is none."""
    mesh = bpy.data.meshes.new("Glue")
    edges = np.column_stack([values["piece_a"], values["piece_b"]])
    mesh.from_pydata(place.tolist(), edges.tolist(), [])
    for name, (kind, width) in ATTRIBUTES.items():
        attribute = mesh.attributes.new(name, kind, "EDGE")
        numbers = np.ascontiguousarray(values[name], np.int32 if kind == "INT" else np.float32)
        attribute.data.foreach_set("vector" if width == 3 else "value", numbers.ravel())
    if into is None:
        into = bpy.data.objects.new("Glue", mesh)
        scene.collection.objects.link(into)
        into.hide_render, into.display_type, into.show_in_front = True, "WIRE", True
    else:
        before, into.data = into.data, mesh
        if before.users == 0:
            bpy.data.meshes.remove(before)
    settings = into.cairn.glue
    settings.pieces.clear()
    for ob in pieces:
        settings.pieces.add().object = ob
    into.update_tag()
    return into


def keep_bonds(ob, loads) -> list:
    """Keep of a new glue object's bonds those of some pairs, each with a strength of its own; returns these pairs.

    Parameters
    ----------
    ob : bpy.types.Object
    loads : dict of frozenset of bpy.types.Object to float
        Force [N] and torque [N m] that the bond of two pieces bears; infinite where it never breaks.
    """
    bonds, settings = read_bonds(ob), ob.cairn.glue
    pieces = [piece.object for piece in settings.pieces]
    pairs = [frozenset((pieces[a], pieces[b])) for a, b in zip(bonds.piece_a, bonds.piece_b, strict=True)]
    rows = [row for row, pair in enumerate(pairs) if pair in loads]
    finite = [loads[pairs[row]] for row in rows if np.isfinite(loads[pairs[row]])]
    most = max(finite, default=1.0) or 1.0
    values = {name: getattr(bonds, name)[rows] for name in ATTRIBUTES}
    values["strength"] = np.array([loads[pairs[row]] / most for row in rows])
    place, _ = rigid_poses(np.array([piece.matrix_world for piece in pieces], float))
    _write(None, pieces, place, values, ob)
    settings.material = "BOND"
    settings.tension_force = settings.shear_force = settings.torsion_torque = most
    return [pairs[row] for row in rows]
