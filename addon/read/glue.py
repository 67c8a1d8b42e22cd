"""Bonds between pieces (``glue_bonds``): for the model, and for what a bake depends on."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import bpy
import numpy as np

from ... import solver_core as core
from ...solver_core.geometry import rotations
from ..glue_materials import STRENGTHS
from ..write.earlier_animation import bodies_collection
from .exported_scene import ExportedJoint
from .glue_bonds import ATTRIBUTES, Bonds, glue_objects, read_bonds
from .glue_noise import noise_at, random_of
from .glue_variation import Places, factors_of, objects_of, variation_values
from .movers import number_of
from .notes import Note

SETTINGS = (
    "material",
    "tension",
    "shear",
    "torsion",
    "tension_force",
    "shear_force",
    "torsion_torque",
    "strength",
    "noise",
    "seed",
)
_NUMBERS_OF_BONDS = (
    *("tension", "shear", "torsion", "bending_y", "bending_z"),
    *("area", "gyration_y", "gyration_z"),
)
# Pieces have been moved apart where a bond's two middles are farther from each other than this share of its width.
_RATIO_MOVED = 0.05

DELETED = "{} of its bonds are left out: pieces of theirs were deleted"
GONE = "{} of its bonds are left out: {} is no rigid body of the world any more"
GONE_MANY = "{} of its bonds are left out: {} and {} more are no rigid bodies of the world any more"
MOVED = "{} of its bonds are left out, as their pieces were moved since; press Glue Again"
TWICE = "{} of its bonds are left out: another glue object has them"
SPOILT = "its bonds cannot be read: its attributes are gone, or it is in Edit Mode; press Glue Again in Object Mode"
NO_NUMBER = "{} of its bonds are left out: their strength is no number of at least 0"


def strengths_of(settings, bonds: Bonds) -> np.ndarray:
    """What each bond bears [n, 5]: tension and shear [N], torsion and bending about y and z [N m].

    By what it is made of, the factors of all bonds and of each, and chance; ``glue_variation.factors_of`` has the rest.

    Parameters
    ----------
    settings : CairnGlue
    bonds : Bonds
    """
    if settings.material == "BOND":
        per_area = settings.tension_force / bonds.area
        bears = np.column_stack(
            [
                np.full(len(bonds.area), settings.tension_force),
                np.full(len(bonds.area), settings.shear_force),
                np.full(len(bonds.area), settings.torsion_torque),
                per_area * bonds.bending_y,
                per_area * bonds.bending_z,
            ]
        )
    else:
        own = settings.tension, settings.shear, settings.torsion
        tension, shear, torsion = STRENGTHS.get(settings.material, own)
        bears = np.column_stack(
            [
                tension * bonds.area,
                shear * bonds.area,
                torsion * bonds.torsion,
                tension * bonds.bending_y,
                tension * bonds.bending_z,
            ]
        )
    if settings.noise_size > 0.0:
        random = noise_at(bonds.place, settings.noise_size, settings.seed)
    else:
        random = random_of(bonds.piece_a, bonds.piece_b, settings.seed)
    share = settings.strength * bonds.strength * (1.0 - settings.noise * random)
    return bears * share[:, None]


def strength_objects(scene) -> list:
    """Objects by which the strength of a scene's glue varies."""
    return [other for ob in glue_objects(scene) for other in objects_of(ob.cairn.glue)]


def glue_values(scene) -> list:
    """Numbers of all bonds of a scene, by which a bake finds out that something has changed; empty without any."""
    values = []
    for ob in glue_objects(scene):
        settings, bonds = ob.cairn.glue, read_bonds(ob)
        arrays = [] if bonds is None else [getattr(bonds, name).tobytes() for name in ATTRIBUTES]
        there = [piece.object is not None for piece in settings.pieces]
        same = [getattr(settings, name) for name in SETTINGS], arrays, there
        values.append(number_of((*same, *variation_values(settings))))
    return values


@dataclass
class GlueReader:
    """Adds the bonds of a scene to a model.

    Attributes
    ----------
    builder : ModelBuilder
        With all bodies.
    index : dict of str to int
        Bodies of the model, by full name.
    bodies : sequence of ExportedBody
        In the model's order.
    joints : list of ExportedJoint
    notes : list of Note
        Added to.
    depsgraph : bpy.types.Depsgraph
        Of the first frame.
    bodies_collection : bpy.types.Collection or None
        Of the Rigid Body World.
    known : set of (int, int)
        Bodies that have a bond.
    """

    builder: object
    index: dict[str, int]
    bodies: list
    joints: list[ExportedJoint]
    notes: list[Note]
    depsgraph: bpy.types.Depsgraph
    bodies_collection: bpy.types.Collection | None
    known: set[tuple[int, int]] = field(default_factory=set)

    def add(self, ob: bpy.types.Object) -> None:
        """Add the bonds of one glue object."""
        settings, bonds = ob.cairn.glue, read_bonds(ob)
        if bonds is None:
            self.notes.append(Note("warning", ob.name, SPOILT))
            return
        pieces = [piece.object for piece in settings.pieces]
        rows = np.array([-1 if one is None else self.index.get(one.name_full, -1) for one in pieces], np.int64)
        left = np.ones(len(bonds.area), bool)
        a, b = rows[bonds.piece_a], rows[bonds.piece_b]
        self._leave_out_gone(ob, left, (a >= 0) & (b >= 0), bonds, pieces, rows)
        moves = np.array([body.moves for body in self.bodies])
        left &= moves[a] | moves[b]
        start = np.array([body.rigid_start for body in self.bodies]).reshape(-1, 4, 4)
        turn, place = rotations.from_matrix(start[:, :3, :3]), start[:, :3, 3]
        middle = rotations.rotate(turn[a], bonds.middle_a) + place[a]
        bears = strengths_of(settings, bonds) * self._factors(settings, bonds, pieces, rows, middle)[:, None]
        self._leave_out(ob, left, np.all(bears >= 0.0, axis=1), NO_NUMBER)
        other = rotations.rotate(turn[b], bonds.middle_b) + place[b]
        apart = np.sqrt(np.sum((middle - other) ** 2, axis=1))
        self._leave_out(ob, left, apart <= _RATIO_MOVED * np.sqrt(bonds.area), MOVED)
        self._leave_out(
            ob, left, np.array([self._is_new(*pair) for pair in zip(a.tolist(), b.tolist(), strict=True)], bool), TWICE
        )
        frames = rotations.multiply(turn[a], _frames(bonds))
        for row in np.flatnonzero(left):
            layer = bonds.area[row], bonds.gyration_y[row], bonds.gyration_z[row]
            self._add(
                ob, (int(a[row]), int(b[row])), middle[row], frames[row], (*bears[row].tolist(), *map(float, layer))
            )
        self.known.update((min(pair), max(pair)) for pair in zip(a[left].tolist(), b[left].tolist(), strict=True))

    def _factors(self, settings, bonds, pieces, rows, middle):
        """Of each bond's strength, by where it is."""
        places = Places(
            bonds=bonds,
            middle=middle,
            pieces=[ob if row >= 0 else None for ob, row in zip(pieces, rows, strict=True)],
            matrices=np.array([self.bodies[row].matrix_world_start for row in rows], float),
            moves=np.array([self.bodies[row].moves for row in rows]),
            depsgraph=self.depsgraph,
            bodies_collection=self.bodies_collection,
        )
        factors, notes = factors_of(settings, places)
        self.notes += notes
        return factors

    def _is_new(self, a, b):
        return (min(a, b), max(a, b)) not in self.known

    def _leave_out(self, ob, left, keeps, text):
        count = int(np.count_nonzero(left & ~keeps))
        left &= keeps
        if count:
            self.notes.append(Note("warning", ob.name, text.format(count)))

    def _leave_out_gone(self, ob, left, keeps, bonds, pieces, rows):
        """Of pieces that were deleted, or are no bodies any more."""
        count = int(np.count_nonzero(~keeps))
        left &= keeps
        if not count:
            return
        used = np.unique(np.concatenate([bonds.piece_a[~keeps], bonds.piece_b[~keeps]]))
        gone = [pieces[piece].name for piece in used if rows[piece] < 0 and pieces[piece] is not None]
        if not gone:
            text = DELETED.format(count)
        else:
            text = GONE.format(count, gone[0]) if len(gone) == 1 else GONE_MANY.format(count, gone[0], len(gone) - 1)
        self.notes.append(Note("warning", ob.name, text, tuple(gone[:1])))

    def _add(self, ob, ends, middle, frame, numbers):
        a, b = ends
        joint = core.Bond(**dict(zip(_NUMBERS_OF_BONDS, numbers, strict=True)))
        first, second = self.bodies[a].object_name, self.bodies[b].object_name
        name = f"{ob.name}: {first} - {second}"
        # they collide from the substep on after the one in which the bond breaks (docs/decisions/43-breaking.md)
        index = self.builder.add_joint(joint, a, b, position=middle, orientation=frame, name=name, collide=False)
        self.joints.append(
            ExportedJoint(
                object_name=name,
                index=index,
                kind="BOND",
                first=first,
                second=second,
                joint=joint,
                position=tuple(middle.tolist()),
                orientation=tuple(frame.tolist()),
                breaking_load=None,
                enabled=True,
                enabled_changes=False,
                drives=(),
                owner=ob.name,
            )
        )


def add_glue(builder, scene, index, bodies, found) -> Iterator[None]:
    """Add all bonds of a scene, a glue object a step.

    Parameters
    ----------
    builder, index, bodies
        As of ``GlueReader``.
    scene : bpy.types.Scene
    found : JointReader
        Gets the bonds as joints, and the notes.
    """
    objects = glue_objects(scene)
    if objects:
        collection = bodies_collection(scene)
        reader = GlueReader(builder, index, bodies, found.joints, found.notes, found.depsgraph, collection)
        for ob in objects:
            reader.add(ob)
            yield


def _frames(bonds) -> np.ndarray:
    """Quaternions [n, 4] of bonds in the frames of their first pieces: x is the normal, y the principal axis."""
    normal = _unit(bonds.normal)
    axis = bonds.axis - np.sum(bonds.axis * normal, axis=1)[:, None] * normal
    axis = _unit(axis)
    return rotations.from_matrix(np.stack([normal, axis, rotations.cross(normal, axis)], axis=2))


def _unit(vectors):
    length = np.sqrt(np.sum(vectors * vectors, axis=1))
    return vectors / np.where(length > 0.0, length, 1.0)[:, None]
