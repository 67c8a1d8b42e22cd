"""How the strength of bonds varies: by what is painted on the pieces, along an object, and within clusters of pieces.

Each is a factor for each bond, and they are multiplied. All is read as it is in the first frame.
"""

from typing import NamedTuple

import bpy
import numpy as np

from .glue_bonds import Bonds
from .glue_noise import random_of
from .glue_paint import first_value, paint_values, painted_at
from .glue_profile import profile_at, profile_values
from .movers import number_of
from .notes import Note

# What counts of each way to vary, where it is used.
_PAINT = ("paint", "paint_low", "paint_high")
_GRADIENT = ("gradient_axis", "gradient_curve", "gradient_low", "gradient_high")
_CLUSTERS = ("cluster_by", "cluster_count", "cluster_seed", "cluster_attribute", "cluster_factor")
_CURVES = {
    "LINEAR": lambda t: t,
    "SMOOTH": lambda t: t * t * (3.0 - 2.0 * t),
    "ROOT": np.sqrt,
    "SHARP": np.square,
    "STEP": lambda t: np.where(t < 0.5, 0.0, 1.0),
}

NOT_PAINTED = "its Painted has no effect: none of its pieces has a vertex group, or an attribute of numbers, {}"
NOT_PAINTED_ON = "its Painted has no effect: {} has no vertex group, or attribute of numbers, {}"
NO_SIZE = "its Gradient has no effect: {} has a scale of 0"
NO_PROFILE = "its Gradient has no effect: its curve is gone; choose another Curve, then Custom again"
NO_CLUSTERS = "its Clusters have no effect: no two pieces that it glues are in one"
CLUSTERS = "its clusters: {} bonds inside {} of them, {} between"


class Places(NamedTuple):
    """Where the bonds of a glue object are in the first frame.

    Attributes
    ----------
    bonds : Bonds
    middle : float64 [bond_count, 3]
        In the world.
    pieces : list of bpy.types.Object or None
        None where one is no body any more.
    matrices : float64 [piece_count, 4, 4]
        Of the pieces, in the world.
    moves : bool [piece_count]
    depsgraph : bpy.types.Depsgraph
    bodies_collection : bpy.types.Collection or None
        Of the Rigid Body World: that of all bodies, which makes no cluster.
    """

    bonds: Bonds
    middle: np.ndarray
    pieces: list
    matrices: np.ndarray
    moves: np.ndarray
    depsgraph: bpy.types.Depsgraph
    bodies_collection: bpy.types.Collection | None


def factors_of(settings, places: Places) -> tuple[np.ndarray, list[Note]]:
    """A factor of each bond's strength, and what the user should know of it."""
    factors, notes, name = np.ones(len(places.middle)), [], settings.id_data.name
    if settings.paint:
        painted = _painted(settings, places)
        if painted is None and settings.paint_object is not None:
            other = settings.paint_object.name
            notes.append(Note("warning", name, NOT_PAINTED_ON.format(other, settings.paint), (other,)))
        elif painted is None:
            notes.append(Note("warning", name, NOT_PAINTED.format(settings.paint)))
        else:
            factors *= painted
    if settings.gradient_object is not None:
        other = settings.gradient_object
        share = along_gradient(settings, places.middle, other.evaluated_get(places.depsgraph))
        heights = None if share is None else _heights(settings, share)
        if share is None:
            notes.append(Note("warning", name, NO_SIZE.format(other.name), (other.name,)))
        elif heights is None:
            notes.append(Note("warning", name, NO_PROFILE))
        else:
            factors *= _between(settings.gradient_low, settings.gradient_high, heights)
    if settings.cluster_by != "NONE":
        clusters = clusters_of(settings, places)
        first, second = clusters[places.bonds.piece_a], clusters[places.bonds.piece_b]
        inside = (first == second) & (first >= 0)
        if np.any(inside):
            factors[inside] *= settings.cluster_factor
            counts = np.count_nonzero(inside), len(np.unique(first[inside])), np.count_nonzero(~inside)
            notes.append(Note("info", name, CLUSTERS.format(*(f"{count:,}" for count in counts))))
        else:
            notes.append(Note("warning", name, NO_CLUSTERS))
    return factors, notes


def _painted(settings, places):
    """A factor by what is painted: on an object, or on two pieces, their mean, or on one; None where on none."""
    bonds, ob = places.bonds, settings.paint_object
    if ob is not None:
        matrix = np.array(ob.evaluated_get(places.depsgraph).matrix_world, float)
        values = painted_at(ob, settings.paint, places.middle, matrix, places.depsgraph)
        return None if values is None else _between(settings.paint_low, settings.paint_high, values)
    total, count = np.zeros(len(places.middle)), np.zeros(len(places.middle))
    for piece, ob in enumerate(places.pieces):
        rows = np.flatnonzero((bonds.piece_a == piece) | (bonds.piece_b == piece))
        if ob is None or not len(rows):
            continue
        values = painted_at(ob, settings.paint, places.middle[rows], places.matrices[piece], places.depsgraph)
        if values is not None:
            total[rows] += values
            count[rows] += 1.0
    if not np.any(count):
        return None
    value = total / np.where(count > 0.0, count, 1.0)
    return np.where(count > 0.0, _between(settings.paint_low, settings.paint_high, value), 1.0)


def _between(low, high, share):
    return low + (high - low) * share


def along_gradient(settings, points, ob: bpy.types.Object) -> np.ndarray | None:
    """How far along an object's axis points are, from 0 to 1; None where the object has no size."""
    matrix = np.array(ob.matrix_world, float)
    x, y, z = matrix[:3, :3].T * (ob.empty_display_size if ob.type == "EMPTY" else 1.0)
    # the rows of the inverse by cross products
    rows = np.array([_cross(y, z), _cross(z, x), _cross(x, y)])
    volume = float(np.sum(rows[0] * x))
    if volume == 0.0 or not np.isfinite(volume):
        return None
    away = points - matrix[:3, 3]
    local = np.column_stack([np.sum(away * row, axis=1) / volume for row in rows])
    if settings.gradient_axis == "DISTANCE":
        share = np.sqrt(np.sum(local * local, axis=1))
    else:
        share = local[:, "XYZ".index(settings.gradient_axis)]
    return np.clip(share, 0.0, 1.0)


def _heights(settings, share):
    """What the curve makes of shares of the way; None where one that is drawn by hand is gone."""
    curve = _CURVES.get(settings.gradient_curve)
    return profile_at(settings, share) if curve is None else curve(share)


def _cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def clusters_of(settings, places: Places) -> np.ndarray:
    """The cluster of each piece; -1 where it is in none, as passive ones are."""
    there = np.array([ob is not None for ob in places.pieces], bool) & places.moves
    if settings.cluster_by == "NUMBER":
        return _near_each_other(settings, places, np.flatnonzero(there))
    known: dict = {}
    clusters = np.full(len(places.pieces), -1)
    for piece in np.flatnonzero(there):
        word = _word_of(settings, places.pieces[piece], places.bodies_collection)
        if word is not None:
            clusters[piece] = known.setdefault(word, len(known))
    return clusters


def _near_each_other(settings, places, rows):
    """Pieces by the nearest of some that chance chooses, as Voronoi cells are."""
    clusters = np.full(len(places.pieces), -1)
    drawn = random_of(rows, np.zeros_like(rows), settings.cluster_seed)
    chosen = rows[np.argsort(drawn, kind="stable")[: settings.cluster_count]]
    middles = np.array([_middle_of(places, row) for row in rows]).reshape(-1, 3)
    nearest = np.full(len(rows), np.inf)
    for cluster, row in enumerate(chosen):
        distance = np.sum((middles - middles[np.searchsorted(rows, row)]) ** 2, axis=1)
        closer = distance < nearest
        nearest[closer] = distance[closer]
        clusters[rows[closer]] = cluster
    return clusters


def _middle_of(places, piece):
    """The middle of a piece's bounds: the origins of pieces may all be in one place."""
    ob, matrix = places.pieces[piece].evaluated_get(places.depsgraph), places.matrices[piece]
    return np.sum(matrix[:3, :3] * np.mean(np.array(ob.bound_box, float), axis=0), axis=1) + matrix[:3, 3]


def _word_of(settings, ob, bodies_collection):
    """What names the cluster of a piece; None where it is in none."""
    if settings.cluster_by == "COLLECTION":
        # that of a whole scene is in no file's list
        names = [one.name_full for one in ob.users_collection if one != bodies_collection and not _is_of_scene(one)]
        return tuple(sorted(names)) or None
    name = settings.cluster_attribute
    for owner in (ob, ob.data):
        value = owner.get(name) if owner is not None else None
        if isinstance(value, (bool, int, float, str)):
            return value
    return first_value(ob.data, name) if ob.type == "MESH" and name else None


def _is_of_scene(collection):
    return any(collection == scene.collection for scene in bpy.data.scenes)


def objects_of(settings) -> list[bpy.types.Object]:
    """Objects beside the pieces by whose place or form the strength varies."""
    found = [settings.gradient_object, settings.paint_object if settings.paint else None]
    return [ob for ob in found if ob is not None]


def variation_values(settings) -> list:
    """Numbers of what varies the strength, by which a bake finds out that it has changed; empty where nothing does."""
    values: list = []
    if settings.noise_size > 0.0:
        values.append(settings.noise_size)
    pieces = [piece.object for piece in settings.pieces if piece.object is not None]
    if settings.paint:
        known: dict = {}
        for ob in pieces if settings.paint_object is None else [settings.paint_object]:
            key = ob.name_full if len(ob.vertex_groups) else ob.data  # pieces may share a mesh
            if key not in known:
                known[key] = number_of(paint_values(ob, settings.paint))
        values += [getattr(settings, name) for name in _PAINT] + list(known.values())
    if settings.gradient_object is not None:
        values += [getattr(settings, name) for name in _GRADIENT] + [settings.gradient_object.empty_display_size]
        values += profile_values(settings) if settings.gradient_curve == "CUSTOM" else []
    if settings.cluster_by != "NONE":
        values += [getattr(settings, name) for name in _CLUSTERS]
    if settings.cluster_by in {"COLLECTION", "ATTRIBUTE"}:
        values += [_word_of(settings, ob, None) for ob in pieces]
    return values
