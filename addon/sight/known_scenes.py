"""What is known of scenes in this session, for the overlay: models as they were read or baked, and a bake's contacts.

Kept by names of scenes, as arrays; a bake of the same scene, another reading or another file takes their place. What a
file itself holds (*Contacts as Points*) is read from it.
"""

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...solver_core.model.model import Model
    from ..read.exported_scene import SceneExport


@dataclass
class KnownScene:
    """A scene as it was read.

    Attributes
    ----------
    model : Model
    objects : list of (str, str or None)
        Name of each body's object, and the file that it is linked from.
    digest : dict
        Of ``scene_digest``: the scene has changed where another one differs.
    pending : int
        Concave meshes that stand as their hulls, since they are not decomposed yet.
    number : int
        Another one for each reading.
    """

    model: "Model"
    objects: list[tuple[str, str | None]]
    digest: dict[str, Any]
    pending: int
    number: int = field(default_factory=itertools.count().__next__)

    @classmethod
    def of(cls, export: "SceneExport", digest: dict[str, Any]) -> "KnownScene":
        """Take what is needed of a scene that was read."""
        objects = [(body.object_name, body.library) for body in export.bodies]
        return cls(export.model, objects, digest, len(export.pending))


@dataclass
class KnownBake:
    """What pushed what in a bake, of this session or of a file.

    Attributes
    ----------
    mark : object
        Tells it from other bakes of the scene.
    arrays : dict
        Of ``addon.contacts.contacts_file``; of a file without ``joint_impulse``.
    moves : bool [body_count]
        Bodies that move: an arrow shows what pushes one.
    at_rest : bool [frame_count, body_count] or None
        Bodies whose pose is that of the frame before, to the bit.
    """

    mark: object
    arrays: dict[str, np.ndarray]
    moves: np.ndarray
    at_rest: np.ndarray | None


_scenes: dict[str, KnownScene] = {}
_bakes: dict[str, KnownBake] = {}


def scene_named(name: str) -> KnownScene | None:
    """What is known of a scene."""
    return _scenes.get(name)


def remember_scene(name: str, known: KnownScene) -> None:
    """Take over another reading."""
    _scenes[name] = known


def bake_of(name: str, mark: object) -> KnownBake | None:
    """What is known of a scene's bake, if it is the one with this mark."""
    known = _bakes.get(name)
    return known if known is not None and known.mark == mark else None


def remember_bake(name: str, known: KnownBake) -> None:
    """Take over another bake."""
    _bakes[name] = known


def forget() -> None:
    """Forget all: another file was opened, or the add-on is switched off."""
    _scenes.clear()
    _bakes.clear()


def note_bake(scene, export, trajectory, digest, arrays) -> None:
    """Keep what the overlay of a scene draws of a bake that was written just now.

    Parameters
    ----------
    scene : bpy.types.Scene
    export : SceneExport
    trajectory : Trajectory
    digest : dict
    arrays : dict or None
        Of ``contacts_file``, if the bake has kept contacts.
    """
    overlay = scene.cairn.overlay
    if overlay.is_on:
        remember_scene(scene.name, KnownScene.of(export, digest))
    _bakes.pop(scene.name, None)
    if overlay.is_on and (arrays is not None or overlay.at_rest):
        moves = np.array([body.moves for body in export.bodies])
        at_rest = rests(trajectory.position, trajectory.orientation) & moves if overlay.at_rest else None
        remember_bake(scene.name, KnownBake(scene.cairn.report, arrays or {}, moves, at_rest))


def rests(position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
    """Which bodies have the pose of the frame before, bool [frame_count, body_count].

    Parameters
    ----------
    position, orientation : float64 [frame_count + 1, body_count, 3], [frame_count + 1, body_count, 4]
    """
    return np.all(position[1:] == position[:-1], axis=2) & np.all(orientation[1:] == orientation[:-1], axis=2)


def contacts_at(arrays: dict[str, np.ndarray], frame: int) -> slice:
    """Which contacts of a bake are those of a frame of the scene."""
    numbers = arrays["frame"]
    return slice(int(np.searchsorted(numbers, frame)), int(np.searchsorted(numbers, frame, side="right")))


def poses_of(objects, matrices: np.ndarray, rows: dict, start) -> tuple[np.ndarray, np.ndarray]:
    """Poses of the user frames of bodies where their objects are now.

    Parameters
    ----------
    objects : list of (str, str or None)
        As of ``KnownScene``.
    matrices : float [n, 4, 4]
        World matrices, as they are in memory: columns first.
    rows : dict of (str, str or None) to int
        Where each object's matrix is.
    start : tuple of float64 [body_count, 3], [body_count, 4]
        Poses of those that are not there.
    """
    from ...solver_core.geometry import rotations

    position, orientation = start[0].copy(), start[1].copy()
    found = [(body, rows[key]) for body, key in enumerate(objects) if key in rows]
    if not found:
        return position, orientation
    bodies, places = (np.array(numbers) for numbers in zip(*found, strict=True))
    columns = np.asarray(matrices, float)[places]
    axes = columns[:, :3, :3].swapaxes(1, 2)  # as a matrix: its columns are the axes
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = axes / np.where(length > 0.0, length, 1.0)
    # a mirrored object is turned round about all three axes, as where it is read
    axes *= np.where(np.linalg.det(axes) < 0.0, -1.0, 1.0)[:, None, None]
    is_proper = np.abs(np.linalg.det(axes) - 1.0) < 1e-2
    position[bodies] = columns[:, 3, :3]
    orientation[bodies[is_proper]] = rotations.from_matrix(axes[is_proper])
    return position, orientation
