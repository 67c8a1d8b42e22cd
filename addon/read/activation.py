"""What wakes a body, as its panel *Activation* says, and when: for the model, and frame by frame."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...solver_core.model.activation import Activation
from ...solver_core.model.model import BodyKind
from .exported_scene import ActivationFrames
from .faults import SceneError
from .notes import Note
from .object_keys import find_object, key_of

if TYPE_CHECKING:
    import bpy

    from .exported_scene import FrameSample, SceneExport

# Properties of ``Object.cairn`` that say what wakes a body; that of the volume is an object.
ACTIVATION_SETTINGS = (
    "activation",
    "activation_impulse",
    "activation_frame",
    "use_deactivation_frame",
    "deactivation_frame",
)

NO_IMPULSE = "its Activation by Impulse has a threshold of 0: the first touch counts"
NO_VOLUME = "its Activation by Volume has no object: it waits throughout"
NO_FACES = "its Activation by Volume has {} without faces: it waits throughout"
SIMULATED_VOLUME = "its Activation by Volume has {}, which is simulated: it counts where its animation has it"
NEVER_MOVES = "its Activation is not used: it never moves by simulation"
IS_KEYED = "its Activation is not used: Animated or Dynamic is on or keyed, which says when it moves"
TOO_EARLY = "Deactivate at frame {} is not used: it must be after its Activation at frame {}"
ASLEEP = "Start Deactivated is not used: its Activation says when it wakes"


def has_activation(ob) -> bool:
    """Whether an object's panel says anything else than that the body moves from the start."""
    # who reads a scene from a script may not have registered the add-on
    own = getattr(ob, "cairn", None)
    return own is not None and (own.activation != "START" or own.use_deactivation_frame)


def volume_of(ob) -> "bpy.types.Object | None":
    """The object that wakes a body, if one does."""
    own = getattr(ob, "cairn", None)
    return own.activation_volume if own is not None and own.activation == "VOLUME" else None


@dataclass
class ActivationReader:
    """Reads what wakes the bodies of a scene.

    Attributes
    ----------
    depsgraph : bpy.types.Depsgraph
        At the first frame.
    survey : AnimationSurvey
    notes : list of Note
    volumes : dict of (str, str or None) to int
        Keys of the objects (``object_keys``) to the model's volumes, in their order.
    """

    depsgraph: "bpy.types.Depsgraph"
    survey: object
    notes: list = field(default_factory=list)
    volumes: dict = field(default_factory=dict)
    is_sampled: bool = False

    def read(self, builder, ob, moves: bool, kind: int, flags_change: bool) -> tuple[dict, ActivationFrames | None]:
        """Arguments of ``add_body``, and the frames that matter.

        Parameters
        ----------
        builder : ModelBuilder
            Volumes are added to it.
        ob : bpy.types.Object
        moves, flags_change : bool
            As of ``ExportedBody``.
        kind : int
            At the start.
        """
        if not has_activation(ob):
            return {}, None
        if not moves or flags_change or kind != BodyKind.DYNAMIC:
            level, text = ("warning", IS_KEYED) if moves else ("info", NEVER_MOVES)
            self.notes.append(Note(level, ob.name, text))
            return {}, None
        own = ob.cairn
        wakes = own.activation_frame if own.activation == "FRAME" else None
        waits = own.deactivation_frame if own.use_deactivation_frame else None
        if wakes is not None and waits is not None and waits <= wakes:
            self.notes.append(Note("warning", ob.name, TOO_EARLY.format(waits, wakes)))
            waits = None
        frames = None
        if wakes is not None or waits is not None:
            frames, self.is_sampled = ActivationFrames(wakes, waits), True
        activation = self.activation_of(builder, ob) or Activation.told()
        if ob.rigid_body.use_start_deactivated and ob.rigid_body.use_deactivation and activation.waits:
            self.notes.append(Note("warning", ob.name, ASLEEP))
        return {"activation": activation, **({"starts_asleep": False} if activation.waits else {})}, frames

    def activation_of(self, builder, ob) -> Activation | None:
        """What an object waits for; None where its volume is none."""
        own = ob.cairn
        if own.activation == "START":
            return Activation(waits=False)
        if own.activation == "TOUCH":
            return Activation.touch()
        if own.activation == "IMPULSE":
            threshold = own.activation_impulse
            if not np.isfinite(threshold):
                text = "its Activation's Impulse is no number; set it in Physics > Rigid Body > Activation"
                raise SceneError(ob.name, text)
            if threshold > 0.0:
                return Activation.impulse(threshold)
            self.notes.append(Note("warning", ob.name, NO_IMPULSE))
            return Activation.touch()
        if own.activation == "VOLUME":
            volume = self._volume(builder, ob)
            return None if volume is None else Activation.in_volume(volume)
        return Activation.told()

    def _volume(self, builder, ob) -> int | None:
        """The model's volume of a body, or None where there is none."""
        volume = ob.cairn.activation_volume
        if volume is None:
            self.notes.append(Note("warning", ob.name, NO_VOLUME))
            return None
        key = key_of(volume)
        if key not in self.volumes:
            vertices, triangles, matrix = _surface(volume, self.depsgraph)
            if len(triangles) == 0:
                self.notes.append(Note("warning", ob.name, NO_FACES.format(volume.name), (volume.name,)))
                return None
            self.volumes[key] = builder.add_volume(vertices, triangles, matrix=matrix, name=volume.name)
            # what may not move is not read again
            self.is_sampled = self.survey.may_move(volume) or self.is_sampled
        if volume.rigid_body is not None and volume.rigid_body.type == "ACTIVE":
            self.notes.append(Note("info", ob.name, SIMULATED_VOLUME.format(volume.name), (volume.name,)))
        return self.volumes[key]


def _surface(ob, depsgraph):
    """Vertices [n, 3] and triangles [m, 3] of an object as it is shown, and its matrix [3, 4]."""
    evaluated = ob.evaluated_get(depsgraph)
    matrix = np.array(evaluated.matrix_world, float)[:3]
    if not np.all(np.isfinite(matrix)):
        raise SceneError(ob.name, "its place, rotation or scale is no number; it is the volume of an Activation")
    if ob.type not in {"MESH", "CURVE", "SURFACE", "META", "FONT"}:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64), matrix
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    vertices, triangles = np.empty(3 * len(mesh.vertices), np.float32), np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.vertices.foreach_get("co", vertices)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    return vertices.reshape(-1, 3).astype(float), triangles.reshape(-1, 3).astype(np.int64), matrix


def sample_activation(sample: "FrameSample", export: "SceneExport", depsgraph: "bpy.types.Depsgraph") -> None:
    """Write of the step that ends at an evaluated frame who wakes as it begins, who waits, and where volumes come to.

    A body that wakes at a frame is in it where it was, and in the next one has moved.
    """
    timed = [body for body in export.bodies if body.activation is not None]
    if timed:
        sample.activate, sample.deactivate = np.zeros((2, export.model.body_count), bool)
        for body in timed:
            sample.activate[body.index] = _is_due(body.activation.wakes, sample.frame, export)
            sample.deactivate[body.index] = _is_due(body.activation.waits, sample.frame, export)
            if sample.deactivate[body.index]:
                sample.activate[body.index] = False
    if export.volumes:
        sample.volumes = np.array([_matrix_at(*key, depsgraph, sample.frame) for key in export.volumes])


def _is_due(at, frame, export):
    """Whether something falls due as a step begins; in the first step also what did so earlier."""
    return at is not None and (at == frame - 1 or (at < frame and frame == export.frame_start + 1))


def _matrix_at(name, library, depsgraph, frame):
    ob = find_object(name, library)
    if ob is None:
        raise SceneError(name, "is the volume of an Activation and is no longer in the file; bake again")
    matrix = np.array(ob.evaluated_get(depsgraph).matrix_world, float)[:3]
    if not np.all(np.isfinite(matrix)):
        raise SceneError(name, f"its place, rotation or scale is no number at frame {frame}")
    return matrix
