"""Meshes as collision shapes: what Blender would make of them, centred where the mesh is.

Shapes are given in the user frame of their object: its origin and its rotation. The object's scale (and mirroring)
is in the points: ``point = stretch * local``.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile

import bpy
import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.geometry.hulls import ConvexHull
from ...solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from ...solver_core.geometry.shapes import Box, ShapeError, Sphere
from ...solver_core.geometry.triangle_mesh import TriangleMesh, convex_sheet, nested_meshes
from ...solver_core.model.compound import Compound, placed
from .concave_shapes import ConcaveReader, mesh_triangles, settings_of
from .faults import SceneError
from .missing_geometry import (
    NO_FACES,
    NO_FACES_YET,
    ONE_POINT,
    box_corners,
    is_point,
    margin_of,
    missing_geometry,
    rod_corners,
)
from .scene_poses import rotation_and_stretch, vector_text
from .self_crossings import self_crossings

# A side below this share of the longest counts as no thickness: coordinates are float32, so 1e-7 is noise, and the
# thinnest sheets that people model (paper, 0.1 mm on 30 cm) are 3e-4. Dimensionless, nominal 1e-5.
RATIO_FLAT = 1e-5
# Thickness of a flat body that moves, as a share of its longest side. Dimensionless, nominal 1/200.
RATIO_PLATE = 1.0 / 200.0
# Digits of the stretch that count: instances of one mesh share one hull although their float32 matrices differ.
_STRETCH_DIGITS = 6

# Modifiers that Blender counts as deforming: they move vertices and make none.
_DEFORMING_MODIFIERS = {
    "ARMATURE",
    "CAST",
    "CLOTH",
    "CORRECTIVE_SMOOTH",
    "CURVE",
    "DISPLACE",
    "HOOK",
    "LAPLACIANDEFORM",
    "LAPLACIANSMOOTH",
    "LATTICE",
    "MESH_CACHE",
    "MESH_DEFORM",
    "SHRINKWRAP",
    "SIMPLE_DEFORM",
    "SMOOTH",
    "SOFT_BODY",
    "SURFACE_DEFORM",
    "WARP",
    "WAVE",
}

# What Blender's ball, capsule, cylinder and cone are read as, unless they are flat.
ROUND_SHAPES = (Sphere, Capsule, Cylinder, Cone)

# What is seen of a mesh and lies farther outside of what collides than this share of its size is worth a note.
_RATIO_SEEN = 0.05
# Shapes along the mesh's Z: the word for them, and which of the scales along X and Y the radius follows in Bullet.
_ROUND_SHAPES = {
    "CAPSULE": ("capsule", (1,), "Scale Y"),
    "CYLINDER": ("cylinder", (0,), "Scale X"),
    "CONE": ("cone", (0, 1), "the mean of Scale X and Y"),
}


# Shapes that Blender sizes by the bounding box of the final mesh, whatever Source says.
_SIZED_SHAPES = {"BOX", "SPHERE", *_ROUND_SHAPES}


def rule_of_radius(kind) -> str:
    """Which of an object's scales the radius of its round collision shape follows."""
    return "Scale X" if kind == "SPHERE" else _ROUND_SHAPES[kind][2]


class MeshError(ValueError):
    """A mesh that gives no shape; says why and what to do, without the object's name."""


@dataclass
class ShapeReader:
    """Reads shapes of objects in one evaluated frame; those of one mesh and one scale are made once.

    Attributes
    ----------
    depsgraph : bpy.types.Depsgraph
    concave : ConcaveReader or None
        Not needed for bodies that never move.
    """

    depsgraph: bpy.types.Depsgraph
    concave: ConcaveReader | None = None
    _shapes: dict = field(default_factory=dict)
    _hulls: dict = field(default_factory=dict)
    _surfaces: dict = field(default_factory=dict)
    _points: dict = field(default_factory=dict)

    def read(self, ob, stretch, *, moves, deforms=False, parts=()):
        """Shape of an object with a rigid body.

        Parameters
        ----------
        ob : bpy.types.Object
        stretch : float64 [3]
            Scale along the object's own axes; negative where it is mirrored.
        moves : bool
            Whether the body is ever dynamic, and so needs a volume.
        deforms : bool
            Whether the vertices of a mesh, box or hull that does not move change from frame to frame (``vertices``).
        parts : sequence of (bpy.types.Object, float64 [4, 4])
            For a compound parent: the children that are its shapes, those of nested compound parents among them, and
            matrices from their mesh to the user frame.

        Returns
        -------
        shape : Box, Sphere, Capsule, Cylinder, Cone, ConvexHull, TriangleMesh or Compound
        notes : list of (str, str)
            Level and text of what differs from Blender.

        Raises
        ------
        MeshError
        """
        stretch = _rounded(stretch)
        kind = ob.rigid_body.collision_shape
        if kind == "COMPOUND" and parts:
            return self._compound(ob, parts, moves)
        key = None if deforms else _key_of_shape(ob, kind, stretch, moves)
        if key is None:
            return self._read(ob, kind, stretch, moves, deforms)
        if key not in self._shapes:
            self._shapes[key] = self._read(ob, kind, stretch, moves, deforms)
        return self._shapes[key]

    def _read(self, ob, kind, stretch, moves, deforms):
        """Shape and notes of a body that is no compound of others."""
        if deforms or (not moves and self._has_faces(ob)):
            surface, notes = self.surface(ob, np.diag(stretch), shared=not deforms)
            return surface if deforms else _of_surface(surface), _childless_note(kind) + notes
        shape, notes = self._solid(ob, kind, stretch, moves)
        return shape, self._missing_notes(ob) + notes

    def _solid(self, ob, kind, stretch, moves):
        """Shape of a body that is no compound and no surface."""
        points = (self._final_points(ob) if kind in _SIZED_SHAPES else self._source_points(ob)) * stretch
        if is_point(points):
            return self._ball_of_point(ob, points[0])
        if kind == "BOX":
            return self._box(ob, stretch, moves)
        if kind == "SPHERE":
            return self._sphere(ob, stretch)
        if kind in _ROUND_SHAPES:
            return self._round(ob, kind, stretch, moves)
        hull, notes = self._hull(points, moves)
        if self._has_faces(ob):
            return self._mesh(ob, points, hull, notes)
        return hull, _childless_note(kind) + notes

    def vertices(self, ob, stretch) -> np.ndarray:
        """Vertices of the surface of a body that never moves, in the user frame [vertex_count, 3]."""
        return self._surface_mesh(ob)[0] * _rounded(stretch)

    def part_vertices(self, ob, matrix) -> np.ndarray:
        """Likewise, of a part of a compound by the matrix [4, 4] from its mesh to the user frame."""
        return _transformed(self._surface_mesh(ob)[0], matrix)

    def _surface_mesh(self, ob):
        """Vertices and triangles, before the object's scale: of the mesh that the body's Source names, or a hull's.

        The same linear map that scales a hull's points scales its faces, so a hull that grows keeps its triangles.
        """
        kind = ob.rigid_body.collision_shape
        if self._has_faces(ob):
            return self._source_points(ob), self._source_triangles(ob)
        points = box_corners(self._final_points(ob)) if kind == "BOX" else self._source_points(ob)
        hull, _ = _make_hull(points, moves=False)
        loops = [hull.loops[hull.flat_face]] if hull.is_flat else hull.loops
        fans = [(loop[0], loop[i], loop[i + 1]) for loop in loops for i in range(1, len(loop) - 1)]
        return hull.vertices, np.array(fans)

    def surface(self, ob, linear, *, shared, position=(0.0, 0.0, 0.0)):
        """The surface itself, of a body that is never dynamic or of a part of one.

        Parameters
        ----------
        ob : bpy.types.Object
        linear, position : float64 [3, 3], [3]
            The map from its mesh to the user frame.
        shared : bool
            Whether other bodies may have the very same mesh: not where it changes its form.

        Returns
        -------
        mesh : TriangleMesh
        notes : list of (str, str)
        """
        points, triangles = self._surface_mesh(ob)
        points = points @ linear.T + position
        if np.linalg.det(linear) < 0.0:
            # Mirrored: what ran counterclockwise runs clockwise.
            triangles = triangles[:, ::-1]
        key = points.tobytes(), triangles.tobytes()
        mesh = self._surfaces.get(key) if shared else None
        if mesh is None:
            try:
                mesh = TriangleMesh(points, triangles)
            except ShapeError as error:
                raise MeshError(f"its mesh gives no shape: {error}") from error
            if shared:
                self._surfaces[key] = mesh
        notes = [("info", f"its mesh: {note}") for note in mesh.notes]
        _, crossings = self_crossings(mesh.vertices, mesh.triangles, "its inner faces push as well")
        return mesh, self._missing_notes(ob) + notes + crossings

    def _compound(self, ob, parts, moves):
        """The children's shapes as parts of one body; where they are seen, and as large.

        Blender ignores the scale of the children themselves, which then collide as larger or smaller than they look.
        """
        shapes, notes, resized = [], [], False
        for child, matrix in parts:
            try:
                shape, child_notes = self.part(child, matrix, moves=moves)
            except MeshError as error:
                raise MeshError(f"its part {child.name}: {error}") from error
            shapes += shape.parts if isinstance(shape, Compound) else [shape]
            notes += [(level, f"its part {child.name} {text}") for level, text in child_notes]
            own = np.linalg.norm(np.array(child.evaluated_get(self.depsgraph).matrix_local, float)[:3, :3], axis=0)
            resized = resized or bool(np.any(np.abs(own - 1.0) > 0.01))
        if resized:
            notes.append(
                ("info", "its parts are as large as they look: Blender ignores the scale of a compound's parts")
            )
        return Compound(shapes), notes

    def part(self, child, matrix, *, moves):
        """Shape of one child in the compound's user frame."""
        try:
            rotation, stretch = rotation_and_stretch(matrix, child.name)
        except SceneError:
            return self._sheared_part(child, matrix, moves)
        shape, notes = self.read(child, stretch, moves=moves)
        return placed(shape, matrix[:3, 3], rotations.from_matrix(rotation)), notes

    def _sheared_part(self, child, matrix, moves):
        """A child that an uneven scale of its parents shears is the hull of what is seen; a box stays what it is."""
        if child.rigid_body.collision_shape == "BOX":
            hull, notes = self._hull(_transformed(box_corners(self._final_points(child)), matrix), moves)
            return hull, self._missing_notes(child) + notes
        hull, notes = self._hull(_transformed(self._source_points(child), matrix), moves)
        notes = self._missing_notes(child) + notes
        if child.rigid_body.collision_shape != "CONVEX_HULL":
            text = "is sheared: it is the convex hull of its mesh; apply the scale of its parents to keep its shape"
            notes = [("warning", text), *notes]
        return hull, notes

    def _mesh(self, ob, points, hull, notes):
        """A mesh as convex parts where it is concave; notes tell a flat one, which is a sheet or a plate, or a line."""
        if notes:
            return hull, notes
        shape, mesh_notes = self.concave.read(ob, points, self._source_triangles(ob), hull)
        return shape, notes + mesh_notes

    def _box(self, ob, stretch, moves):
        lower, upper = _bounds(self._final_points(ob))
        half_extents = 0.5 * (upper - lower) * np.abs(stretch)
        longest = 2.0 * half_extents.max()
        flat = half_extents < 0.5 * RATIO_FLAT * longest
        notes, is_line = [], flat.sum() > 1
        if flat.any():
            half_extents[flat] = 0.5 * RATIO_PLATE * longest if moves or is_line else 0.0
            notes.append(_rod_note(longest) if is_line else _flat_note(longest, moves))
        return Box(half_extents=half_extents, position=0.5 * (lower + upper) * stretch), notes

    def _sphere(self, ob, stretch):
        lower, upper = _bounds(self._final_points(ob))
        # Blender: the largest half side before scaling, and then the scale along X.
        radius = 0.5 * (upper - lower).max() * abs(stretch[0])
        notes = []
        if np.ptp(np.abs(stretch)) > 0.01 * np.abs(stretch).max():
            notes.append(("info", "uneven scale on a sphere: its radius follows Scale X, as in Blender"))
        return Sphere(radius=radius, position=0.5 * (lower + upper) * stretch), notes

    def _round(self, ob, kind, stretch, moves):
        """A capsule, cylinder or cone: sized by the bounding box before scaling, as in Blender, then scaled.

        The radius is the larger half side along X and Y. A capsule's round ends take their height off its axis.
        """
        word, radius_axes, rule = _ROUND_SHAPES[kind]
        points = self._final_points(ob)
        lower, upper = _bounds(points)
        half, scale = 0.5 * (upper - lower), np.abs(stretch)
        radius, half_height = half[:2].max(), half[2]
        notes, factor = [], scale[list(radius_axes)].mean()
        if radius < RATIO_FLAT * half.max():
            radius = RATIO_PLATE * half_height
            notes.append(_rod_note(2.0 * half_height * factor))
        if np.ptp(scale if kind == "CAPSULE" else scale[:2]) > 0.01 * scale.max():
            notes.append(("info", f"uneven scale on a {word}: its radius follows {rule}, as in Blender"))
        position = 0.5 * (lower + upper) * stretch
        if kind == "CAPSULE":
            if half_height < radius:
                notes.append(("info", "is lower than it is wide: the capsule is a ball, as in Blender"))
            length = max(half_height - radius, 0.0) * scale[2]
            return Capsule(radius * factor, length, position), notes
        if half_height < RATIO_FLAT * half.max():
            if not moves:
                hull, flat_notes = self._hull(points * stretch, moves)
                return hull, notes + flat_notes
            longest = 2.0 * radius * factor
            notes.append(_flat_note(longest, moves))
            return Cylinder(radius * factor, 0.5 * RATIO_PLATE * longest, position), notes
        if kind == "CYLINDER":
            return Cylinder(radius * factor, half_height * scale[2], position), notes
        # A cone that is mirrored along its axis points down: half a turn about X.
        turn = (1.0, 0.0, 0.0, 0.0) if stretch[2] > 0.0 else (0.0, 1.0, 0.0, 0.0)
        return Cone(radius * factor, half_height * scale[2], position, turn), notes

    def _hull(self, points, moves):
        key = (points.tobytes(), bool(moves))
        if key not in self._hulls:
            self._hulls[key] = _make_hull(points, moves)
        return self._hulls[key]

    def _ball_of_point(self, ob, point):
        radius = margin_of(ob.rigid_body)
        if radius <= 0.0:
            raise MeshError("all its vertices lie in one point and its Collision Margin is 0; give it a size")
        return Sphere(radius=radius, position=point), [("warning", ONE_POINT)]

    def _final_points(self, ob) -> np.ndarray:
        """Vertices after all modifiers [point_count, 3]: what Blender's bounding box is about."""
        points, _ = self._checked_points(ob, "FINAL")
        return points if len(points) else box_corners(points)

    def _source_points(self, ob) -> np.ndarray:
        """Vertices of the mesh that the body's Source names, or corners of the box in its place [point_count, 3]."""
        points, face_count = self._checked_points(ob, ob.rigid_body.mesh_source)
        missing = missing_geometry(ob.rigid_body.collision_shape, len(points), face_count)
        return points if missing is None else box_corners(self._final_points(ob))

    def _source_triangles(self, ob) -> np.ndarray:
        """Triangles between those vertices [triangle_count, 3]."""
        with self._source_mesh(ob, "BASE" if _is_plain(ob) else ob.rigid_body.mesh_source) as mesh:
            return mesh_triangles(mesh)

    def _has_faces(self, ob) -> bool:
        """Whether the shape is a mesh with faces: one without is its bounding box."""
        source = ob.rigid_body.mesh_source
        return ob.rigid_body.collision_shape == "MESH" and self._checked_points(ob, source)[1] > 0

    def _missing_notes(self, ob) -> list:
        """What stands in for vertices or faces that the mesh lacks."""
        kind = ob.rigid_body.collision_shape
        source = "FINAL" if kind in _SIZED_SHAPES else ob.rigid_body.mesh_source
        points, face_count = self._checked_points(ob, source)
        text = missing_geometry(kind, len(points), face_count)
        if text == NO_FACES and self._checked_points(ob, "FINAL")[1]:
            text = NO_FACES_YET
        return self._unseen_notes(ob, points) if text is None else [("warning", text)]

    def _unseen_notes(self, ob, points) -> list:
        """Whether what is seen is larger than what collides, as Mirror and Array come after Source."""
        if ob.rigid_body.collision_shape in _SIZED_SHAPES or ob.rigid_body.mesh_source == "FINAL" or _is_plain(ob):
            return []
        seen = self._final_points(ob)
        beyond = max((points.min(axis=0) - seen.min(axis=0)).max(), (seen.max(axis=0) - points.max(axis=0)).max())
        if beyond <= _RATIO_SEEN * np.ptp(seen, axis=0).max():
            return []
        source = ob.rigid_body.bl_rna.properties["mesh_source"].enum_items[ob.rigid_body.mesh_source].name
        text = (
            f"collides without modifiers that make it larger, as in Blender: Source is {source}; Final is what is seen"
        )
        return [("warning", text)]

    def _checked_points(self, ob, source):
        """Vertices of the mesh at a stage of its evaluation, and how many faces it has."""
        # Only objects whose mesh nothing changes can share what was read.
        plain = _is_plain(ob)
        key = ob.data.name_full if plain else (ob.name_full, source)
        if key not in self._points:
            self._points[key] = self._read_points(ob, "BASE" if plain else source)
        points, face_count = self._points[key]
        if not np.all(np.isfinite(points)):
            bad = int(np.argmin(np.isfinite(points).all(axis=1)))
            raise MeshError(f"vertex {bad} of its mesh is at {vector_text(points[bad])}; correct or delete it")
        return points, face_count

    def _read_points(self, ob, source):
        with self._source_mesh(ob, source) as mesh:
            return (np.zeros((0, 3)), 0) if mesh is None else _mesh_points(mesh)

    @contextmanager
    def _source_mesh(self, ob, source):
        """The mesh at a stage of its evaluation; None where there is none."""
        if source == "BASE" and ob.type == "MESH":
            yield ob.data
        elif source == "DEFORM" and ob.type == "MESH":
            with self._deformed_mesh(ob) as mesh:
                yield mesh
        else:
            with evaluated_mesh(ob, self.depsgraph) as mesh:
                yield mesh

    @contextmanager
    def _deformed_mesh(self, ob):
        """The mesh after the deforming modifiers that come first.

        Python cannot reach this stage of the evaluation (``BMesh.from_object(cage=True)`` evaluates the evaluated mesh
        once more), so if modifiers of both sorts follow each other, the later ones are switched off meanwhile.
        """
        shown = [modifier for modifier in ob.modifiers if modifier.show_viewport]
        deforming = list(takewhile(lambda modifier: modifier.type in _DEFORMING_MODIFIERS, shown))
        later = shown[len(deforming) :]
        if later and not deforming and ob.data.shape_keys is None:
            yield ob.data
            return
        with _switched_off(later, self.depsgraph), evaluated_mesh(ob, self.depsgraph) as mesh:
            yield mesh


def _of_surface(surface):
    """The shape of a body that is a surface and keeps its form."""
    meshes = nested_meshes(surface)
    return convex_sheet(surface) or (surface if len(meshes) == 1 else Compound(meshes))


def _is_plain(ob) -> bool:
    """Whether nothing changes the object's mesh."""
    return ob.type == "MESH" and not ob.modifiers and ob.data.shape_keys is None


def _key_of_shape(ob, kind, stretch, moves):
    """What bodies that have the same shape share; None where more than their mesh and settings counts."""
    if not _is_plain(ob):
        return None
    settings = ob.rigid_body
    in_parts = settings_of(ob) if kind == "MESH" and moves else None
    return ob.data.name_full, kind, settings.mesh_source, margin_of(settings), in_parts, stretch.tobytes(), moves


@contextmanager
def _switched_off(modifiers, depsgraph):
    """Modifiers without effect meanwhile."""
    if modifiers:
        for modifier in modifiers:
            modifier.show_viewport = False
        depsgraph.view_layer.update()
    try:
        yield
    finally:
        if modifiers:
            for modifier in modifiers:
                modifier.show_viewport = True
            depsgraph.view_layer.update()


@contextmanager
def evaluated_mesh(ob, depsgraph):
    """The mesh of an object after all modifiers, or of a curve, text or metaball; None where there is none."""
    evaluated = ob.evaluated_get(depsgraph)
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:
        mesh = None
    try:
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def _mesh_points(mesh: "bpy.types.Mesh"):
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3).astype(float), len(mesh.polygons)


def _make_hull(points, moves):
    if is_point(points):
        raise MeshError("all its vertices lie in one point; what is followed as a surface needs a size")
    try:
        hull = ConvexHull.from_points(points)
    except ShapeError:
        # Finite points, not all the same, that span no area: they lie on a line.
        hull = ConvexHull.from_points(rod_corners(points, RATIO_PLATE))
        return hull, [_rod_note(hull.size)]
    if not hull.is_flat:
        return hull, []
    note = _flat_note(hull.size, moves)
    return (ConvexHull.from_points(points, thickness=RATIO_PLATE * hull.size) if moves else hull), [note]


def _childless_note(kind) -> list:
    text = "is a Compound Parent without children that are rigid bodies: it is the convex hull of its own mesh"
    return [("warning", text)] if kind == "COMPOUND" else []


def _flat_note(longest, moves) -> tuple[str, str]:
    if moves:
        return "info", f"is flat: simulated as a plate {RATIO_PLATE * longest:.3g} thick"
    return "info", "is flat: simulated as a sheet that nothing passes from either side"


def _rod_note(length) -> tuple[str, str]:
    return "info", f"is a line: simulated as a rod {RATIO_PLATE * length:.3g} thick"


def _bounds(points):
    return points.min(axis=0), points.max(axis=0)


def _rounded(stretch):
    largest = float(f"{np.abs(stretch).max():.{_STRETCH_DIGITS}g}")
    return np.round(np.asarray(stretch, float) / largest, _STRETCH_DIGITS) * largest


def _transformed(points, matrix):
    return points @ matrix[:3, :3].T + matrix[:3, 3]
