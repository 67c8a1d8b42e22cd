"""The rigid body constraints of a scene as joints of the core.

A joint's frame is the constraint object's pose at the start, without its scale. What Blender tolerates and ignores is
left out with a note that names the constraint; nothing here stops a bake.
"""

import math
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...solver_core.model.builder import ModelBuilder
from .activation import ActivationReader
from .exported_scene import ExportedJoint
from .faults import SceneError
from .joint_activation import has_joint_activation, read_joint_activation
from .joint_settings import JointSettings, read_joint_settings
from .notes import Note
from .object_keys import key_of
from .scene_animation import AnimationSurvey, animated_paths
from .scene_poses import TOLERANCE_SHEAR, finite_matrix, rigid_poses

_CONSTRAINT = "rigid_body_constraint."
_ENABLED = _CONSTRAINT + "enabled"
_BREAKING = frozenset({_CONSTRAINT + "use_breaking", _CONSTRAINT + "breaking_threshold"})
# How the names of settings begin whose animation is followed, or that nothing comes of where it is not.
_FOLLOWED = ("enabled", "use_breaking", "breaking_threshold", "motor_", "use_motor_", "spring_", "friction_", "servo_")


@dataclass
class JointReader:
    """Adds a scene's joints to a model, and keeps what was found.

    Attributes
    ----------
    scene : bpy.types.Scene
    depsgraph : bpy.types.Depsgraph
        Of the first frame.
    index : dict of str to int
        Bodies of the model, by full name.
    moves : dict of str to bool
        Whether they are dynamic in some frame.
    parts : set of str
        Objects that are shapes of a compound parent, by full name.
    """

    scene: bpy.types.Scene
    depsgraph: bpy.types.Depsgraph
    index: dict[str, int]
    moves: dict[str, bool]
    parts: set[str]
    survey: AnimationSurvey
    joints: list[ExportedJoint] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def objects(self) -> list[bpy.types.Object]:
        """The constraints of the world's collection."""
        collection = self.scene.rigidbody_world.constraints
        members = collection.all_objects if collection is not None else ()
        return [ob for ob in members if ob.rigid_body_constraint is not None]

    def rope_ends(self) -> list[bpy.types.Object]:
        """Objects at which ropes are tied, by the user's choice."""
        extras = [_extras_of(ob) for ob in self.objects()]
        return [one.rope_end for one in extras if one is not None and one.rope_end is not None]

    def note_without_effect(self) -> None:
        """Add the notes on constraints that are no joints, without reading the others."""
        for ob in self.objects():
            self._ends(ob, ob.rigid_body_constraint)

    def add(self, builder: ModelBuilder, ob: bpy.types.Object, activations: ActivationReader | None = None) -> None:
        """Read one of them; what it holds until, or from when, with the reader of activations."""
        constraint = ob.evaluated_get(self.depsgraph).rigid_body_constraint
        keyed = not animated_paths(ob).isdisjoint({_ENABLED, "*"})
        ends = self._ends(ob, constraint)
        if ends is None:
            return
        given, switch = read_joint_activation(ob, constraint.enabled, keyed, builder, activations)
        if not (constraint.enabled or keyed):
            if constraint.disable_collisions and None not in ends:
                # In Blender a constraint that is switched off does this all the same.
                builder.exclude_pair(*ends)
            return
        try:
            matrix = finite_matrix(ob.evaluated_get(self.depsgraph), "at the start")
        except SceneError as error:
            self._note(ob, f"{error.message}; until then it is left out")
            return
        position, orientation = self._frame(ob, matrix)
        anchor = self._far_end(ob, constraint, position)
        breaking = self._breaking_load(ob, constraint)
        arguments = {
            "name": ob.name,
            "position": position,
            "orientation": orientation,
            "enabled": bool(constraint.enabled),
            "breaking_force": breaking,
            "breaking_torque": breaking,
            "collide": not constraint.disable_collisions,
        } | given
        try:
            length = float(np.linalg.norm(anchor - position))
            settings = read_joint_settings(
                constraint, _extras_of(ob), length, swapped=ends[0] is None, animated=animated_paths(ob)
            )
            if settings.kind == "ROPE":
                arguments["anchor_b"] = anchor
            # Of a joint of the core only the second end may be the world.
            index = builder.add_joint(settings.joint, *(ends[::-1] if ends[0] is None else ends), **arguments)
        except ValueError as error:  # the core's own refusals, of a joint or of where it stands
            self._note(ob, f"{str(error).removeprefix(f'{ob.name}: ')}; it is left out")
            return
        self._keep(ob, index, constraint, settings, arguments, switch)

    def _keep(self, ob, index, constraint, settings: JointSettings, arguments, switch):
        paths = animated_paths(ob)
        if paths:
            self.survey.owners[ob.name_full] = ob
        names = [None if target is None else target.name for target in (constraint.object1, constraint.object2)]
        self.joints.append(
            ExportedJoint(
                object_name=ob.name,
                index=index,
                kind=settings.kind,
                first=names[0],
                second=names[1],
                joint=settings.joint,
                position=tuple(arguments["position"].tolist()),
                orientation=tuple(arguments["orientation"].tolist()),
                breaking_load=arguments["breaking_force"],
                enabled=arguments["enabled"],
                enabled_changes=not paths.isdisjoint({_ENABLED, "*"}),
                drives=tuple(drive for drive in settings.drives if not paths.isdisjoint(drive.paths | {"*"})),
                breaking_changes=not paths.isdisjoint(_BREAKING | {"*"}),
                library=key_of(ob)[1],
                switch=switch,
            )
        )
        self.notes += [Note(level, ob.name, text) for level, text in settings.notes]
        self._note_what_differs(ob, constraint, names, paths)

    def _note_what_differs(self, ob, constraint, names, paths):
        if None in names:
            self._note(
                ob,
                "ties its body to the world, as one of its objects is empty; Blender ignores such a constraint: "
                "set both objects, or switch it off",
            )
        if constraint.use_override_solver_iterations:
            self._note(ob, "its own Solver Iterations are not used; Cairn solves all joints to its tolerance", "info")
        for prefix, owner in ((_CONSTRAINT, constraint), ("cairn.joint.", _extras_of(ob))):
            settings = {path.removeprefix(prefix).split("[")[0] for path in paths if path.startswith(prefix)}
            labels = {_label(owner, name) for name in settings if not name.startswith(_FOLLOWED)}
            for label in sorted(label for label in labels if label):
                self._note(ob, f"{label} is animated: the start frame's value is used throughout")
        if has_joint_activation(ob) and any(path.startswith("cairn.activation") for path in paths):
            self._note(ob, "Activation is animated: the start frame's value is used throughout")

    def _ends(self, ob, constraint):
        """The two bodies, None for the world; or None where it is no joint, with a note unless Blender says nothing."""
        first, second = constraint.object1, constraint.object2
        if first is None and second is None:
            if constraint.enabled:
                self._note(ob, "joins nothing: set its two objects, or delete it", "info")
            return None
        if first == second:
            self._note(ob, f"joins {first.name} with itself: it has no effect; choose another second object")
            return None
        for target in (first, second):
            if target is not None and target.name_full not in self.index:
                self._note(ob, f"has no effect: its object {target.name} {self._why_no_body(target)}")
                return None
        bodies = [target for target in (first, second) if target is not None]
        if not any(self.moves[body.name_full] for body in bodies):
            names, verb = " and ".join(body.name for body in bodies), "move" if len(bodies) > 1 else "moves"
            self._note(ob, f"has no effect: {names} never {verb} by simulation; make a body of it Active and Dynamic")
            return None
        return tuple(None if target is None else self.index[target.name_full] for target in (first, second))

    def _why_no_body(self, target):
        if target.rigid_body is None:
            return "is not a rigid body; add one in Physics > Rigid Body"
        if target.name_full in self.parts:
            return f"is a shape of its compound parent; choose {target.parent.name}"
        return "is not in the Rigid Body World's collection; add it there"

    def _frame(self, ob, matrix):
        """Position and orientation, without scale; with a note where the axes are no frame."""
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        if scale.min() <= 1e-7 * scale.max():
            self._note(ob, f"its scale along {'XYZ'[int(np.argmin(scale))]} is 0: its axes are a guess; set a scale")
        else:
            directions = matrix[:3, :3] / scale
            if np.abs(directions.T @ directions - np.eye(3)).max() > TOLERANCE_SHEAR:
                self._note(
                    ob,
                    "it is sheared by its parent's scale: the nearest axes at right angles are used; "
                    "apply the scale of its parent, or clear the parent and keep the transform",
                )
        position, orientation = rigid_poses(matrix)
        return np.array(position), np.asarray(orientation, float)

    def _far_end(self, ob, constraint, position):
        """Where the second end of a rope is tied: at the object of the user's choice, else at the second body."""
        extras = _extras_of(ob)
        target = (extras.rope_end if extras is not None else None) or constraint.object2 or constraint.object1
        if target is None:
            return position
        return np.array(target.evaluated_get(self.depsgraph).matrix_world, float)[:3, 3]

    def _breaking_load(self, ob, constraint):
        """Force [N] and torque [N m] at which it breaks, or None."""
        threshold = constraint.breaking_threshold
        if constraint.use_breaking and not threshold >= 0.0:
            self._note(ob, f"its Breaking Threshold is {threshold:g}: it never breaks; set 0 or more")
        load = breaking_load(self.depsgraph.scene_eval, constraint)
        return load if math.isfinite(load) else None

    def _note(self, ob, text, level="warning"):
        self.notes.append(Note(level, ob.name, text))


def breaking_load(scene, constraint) -> float:
    """Force [N] and torque [N m] at which a constraint breaks; infinite where it never does.

    Blender's threshold is an impulse within one of Blender's own substeps; divided by its time it is a load, whatever
    Cairn's substeps are.

    Parameters
    ----------
    scene : bpy.types.Scene
    constraint : bpy.types.RigidBodyConstraint
        Both evaluated.
    """
    substep, threshold = blender_substep(scene), constraint.breaking_threshold
    return threshold / substep if constraint.use_breaking and threshold >= 0.0 and substep > 0.0 else math.inf


def blender_substep(scene) -> float:
    """Time of one of Blender's own substeps [s], over which an impulse counts as a force for breaking."""
    world, render = scene.rigidbody_world, scene.render
    return world.time_scale * render.fps_base / (render.fps * world.substeps_per_frame)


def _label(owner, name):
    """What a setting is called in the panels, or None where there is no such one."""
    setting = None if owner is None else owner.bl_rna.properties.get(name)
    return None if setting is None else setting.name


def _extras_of(ob):
    """Cairn's own properties of a constraint; None where Cairn is not registered."""
    values = getattr(ob, "cairn", None)
    return None if values is None else values.joint
