"""Bonds between pieces, as a glue object keeps them (``addon/glue.py``).

A glue object is a mesh whose edges are bonds. Its vertices lie where the pieces were when they were glued; what counts
are the edges' attributes, all in the frames of the pieces, so that a wall may be moved as a whole. An edge that is
deleted in Edit Mode is a bond less.
"""

from dataclasses import dataclass

import numpy as np

# Attributes of the edges, and how many numbers each has: the pieces by their places among ``CairnGlue.pieces``, the
# bond's area, its middle in the frames of both and (as it was glued) in the world, its normal and principal axis in the
# frame of the first, section moduli and radii of gyration; and a factor of its strength, for others to change.
ATTRIBUTES = {
    "piece_a": ("INT", 1),
    "piece_b": ("INT", 1),
    "area": ("FLOAT", 1),
    "middle_a": ("FLOAT_VECTOR", 3),
    "middle_b": ("FLOAT_VECTOR", 3),
    "place": ("FLOAT_VECTOR", 3),
    "normal": ("FLOAT_VECTOR", 3),
    "axis": ("FLOAT_VECTOR", 3),
    "bending_y": ("FLOAT", 1),
    "bending_z": ("FLOAT", 1),
    "torsion": ("FLOAT", 1),
    "gyration_y": ("FLOAT", 1),
    "gyration_z": ("FLOAT", 1),
    "strength": ("FLOAT", 1),
}


@dataclass(frozen=True)
class Bonds:
    """The bonds of one glue object, an entry each; attributes as of ``ATTRIBUTES``."""

    piece_a: np.ndarray
    piece_b: np.ndarray
    area: np.ndarray
    middle_a: np.ndarray
    middle_b: np.ndarray
    place: np.ndarray
    normal: np.ndarray
    axis: np.ndarray
    bending_y: np.ndarray
    bending_z: np.ndarray
    torsion: np.ndarray
    gyration_y: np.ndarray
    gyration_z: np.ndarray
    strength: np.ndarray


def is_glue(ob) -> bool:
    """Whether an object holds bonds."""
    if ob is None or ob.type != "MESH" or not hasattr(ob, "cairn"):  # who reads from a script may not have registered
        return False
    return ob.rigid_body is None and ob.is_property_set("cairn") and len(ob.cairn.glue.pieces) > 0


def glue_objects(scene) -> list:
    """The scene's objects that hold bonds, in the order of their names."""
    return sorted((ob for ob in scene.objects if is_glue(ob)), key=lambda ob: ob.name_full)


def read_bonds(ob) -> Bonds | None:
    """The bonds of a glue object; None where its attributes are not those of bonds."""
    mesh, arrays = ob.data, {}
    for name, (kind, width) in ATTRIBUTES.items():
        attribute = mesh.attributes.get(name)
        if attribute is None or attribute.domain != "EDGE" or attribute.data_type != kind:
            return None
        if len(attribute.data) != len(mesh.edges):  # in Edit Mode nothing is there
            return None
        values = np.empty(width * len(mesh.edges), np.int32 if kind == "INT" else np.float32)
        attribute.data.foreach_get("vector" if width == 3 else "value", values)
        values = values.astype(np.int64 if kind == "INT" else float)
        arrays[name] = values.reshape(-1, 3) if width == 3 else values
    for name in ("piece_a", "piece_b"):
        if np.any((arrays[name] < 0) | (arrays[name] >= len(ob.cairn.glue.pieces))):
            return None
    return Bonds(**arrays)
