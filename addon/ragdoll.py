"""*Make Ragdoll*: bodies and joints of an armature, which follow its motion and lead its bones.

Each deforming bone gets a body that has the bone's frame, as large as what is weighted to it. A copy of the armature
keeps the motion and is the bodies' target (*Follow*); the bones of the armature itself, and with them its meshes, go
where the bodies go. Nothing that was there is changed but for a constraint a bone. Bodies that overlap at the start, as
thighs and neighbours of neighbours do, never touch each other: they would push each other off the motion.
"""

import itertools
import math
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .read.faults import SceneError
from .read.frame_samples import simulation_paused
from .read.scene_animation import AnimationSurvey
from .write.excluded_pairs import exclude

# Of the bones' constraints, and those of bodies.
CONSTRAINT = "Ragdoll"
# Bones shorter than this share of the longest side of all get no body, and go with their parents: but for those that
# bear longer ones and turn, or have skin of their own, as a short bone of the chest does.
LEAST_LENGTH = 0.03
# Of bodies [kg/m^3]: of people, and of much else that walks.
DENSITY = 1000.0
# Joints without limits of inverse kinematics: how far they swing and twist at least [rad], and any joint beyond what
# the motion needs, if that is more than nothing.
_CONE, _TWIST, _PLAY, _NOTHING = (math.radians(angle) for angle in (60.0, 45.0, 10.0, 0.5))
# Frames of the motion that are looked at for that.
_MOST_FRAMES = 60
# Of what is weighted to a bone, the share of points at either end of an axis that does not count; and of fewer points
# than this nothing does. A bone without has these half sides, as shares of its length.
_SHARE_LEFT_OUT, _LEAST_POINTS, _THICKNESS = 0.02, 8, 0.12
# A limb is round if it is longer than it is thick by this factor, and not flatter than this.
_LONG, _FLAT = 1.3, 1.7
_SEGMENTS = 8
# Bodies overlap if they are nearer than this share of the thinner one's thickness, as what touches is pressed on once
# it turns, or if after so many steps nothing has shown that they are not.
_NEAR, _MOST_STEPS = 0.2, 50


@dataclass(frozen=True)
class _Part:
    """What becomes a body: half sides and centre in the bone's frame, and its ancestor that has a body."""

    half: np.ndarray
    center: np.ndarray
    parent: str | None

    @property
    def is_round(self):
        across = self.half[[0, 2]]
        return self.half[1] > _LONG * across.max() and across.max() < _FLAT * across.min()

    @property
    def volume(self):
        if not self.is_round:
            return 8.0 * float(self.half.prod())
        x, y, z = self.half.tolist()
        end = min(0.5 * (x + z), y)
        return math.pi * x * z * (2.0 * (y - end) + 4.0 / 3.0 * end)


def make_ragdoll(
    scene: bpy.types.Scene, armature: bpy.types.Object, *, follow: float = 1.0, density: float = DENSITY
) -> tuple[list[bpy.types.Object], list[bpy.types.Object]]:
    """Make bodies of an armature's deforming bones, and joints between them.

    Parameters
    ----------
    scene : bpy.types.Scene
        Gets a Rigid Body World if it has none.
    armature : bpy.types.Object
    follow : float
        How much they follow its motion.
    density : float
        [kg/m^3]

    Returns
    -------
    bodies, joints : list of bpy.types.Object

    Raises
    ------
    SceneError
        Names the armature and says what to do; nothing has changed.
    """
    _check(armature)
    frames = _frames_of(scene, armature)
    poses = _poses_at(scene, armature, [bone.name for bone in armature.data.bones if bone.use_deform], frames)
    parts = _parts_of(armature, poses)
    collection = _new_collection(scene, armature)
    target = _copy_as_target(armature, collection)
    _give_world(scene)
    start = armature.matrix_world.copy() if not frames else Matrix(poses[0]["object"])
    bodies = {}
    for name, part in parts.items():
        bodies[name] = _add_body(scene, collection, name, part, start @ Matrix(poses[0][name]), density, follow)
        _follow_bone(bodies[name], target, name)
    joints = [
        _add_joint(scene, collection, armature, name, part, bodies, poses)
        for name, part in parts.items()
        if part.parent is not None
    ]
    _let_pass(scene, parts, bodies)
    for name, body in bodies.items():
        constraint = armature.pose.bones[name].constraints.new("COPY_TRANSFORMS")
        constraint.name, constraint.target = CONSTRAINT, body
    target.hide_set(True)
    return list(bodies.values()), joints


def _check(armature):
    if any(CONSTRAINT in bone.constraints for bone in armature.pose.bones):
        raise SceneError(armature.name, f"it has a ragdoll; undo that, or remove the constraints {CONSTRAINT!r}")
    scale = armature.matrix_world.to_scale()
    if max(scale) > 1.001 * min(scale):
        raise SceneError(armature.name, "its scale differs from axis to axis; apply it with Object > Apply > Scale")
    if not any(bone.use_deform for bone in armature.data.bones):
        raise SceneError(armature.name, "none of its bones deforms anything; switch Deform on in Bone Properties")


# What is measured


def _parts_of(armature, poses) -> dict[str, _Part]:
    """What becomes a body, by the names of bones, parents first."""
    bones, points = armature.data.bones, _points_of(armature)
    ends = np.array([tuple(end) for bone in bones for end in (bone.head_local, bone.tail_local)])
    least = LEAST_LENGTH * float(np.ptp(ends, axis=0).max())
    parts: dict[str, _Part] = {}
    for bone in sorted(bones, key=lambda bone: len(bone.parent_recursive)):
        if not bone.use_deform:
            continue
        skin = points.get(bone.name, [])
        parent = next((above.name for above in bone.parent_recursive if above.name in parts), None)
        if bone.length < least:
            bears = any(below.use_deform and below.length >= least for below in bone.children_recursive)
            if not bears or not (parent is None or len(skin) >= _LEAST_POINTS or _turns(bone.name, parent, poses)):
                continue
        parts[bone.name] = _part_of(bone, max(bone.length, least), skin, parent)
    if not parts:
        raise SceneError(
            armature.name, "its bones that deform are all shorter than a thirtieth of it; none gets a body"
        )
    return parts


def _turns(name, parent, poses):
    """Whether a bone turns against another one in the motion."""
    turns = [(Matrix(pose[parent]).inverted() @ Matrix(pose[name])).to_quaternion() for pose in poses]
    return any(turns[0].rotation_difference(turn).angle > _NOTHING for turn in turns)


def _part_of(bone, length, points, parent):
    half, center = length * np.array([_THICKNESS, 0.5, _THICKNESS]), np.array([0.0, 0.5 * length, 0.0])
    if len(points) >= _LEAST_POINTS:
        local = np.array(points) @ np.array(bone.matrix_local.inverted().to_3x3()).T
        local += np.array(bone.matrix_local.inverted().translation)
        lower, upper = np.quantile(local, (_SHARE_LEFT_OUT, 1.0 - _SHARE_LEFT_OUT), axis=0)
        half, center = np.maximum(0.5 * (upper - lower), 0.02 * length), 0.5 * (lower + upper)
    return _Part(half, center, parent)


def _points_of(armature) -> dict[str, list]:
    """Vertices at rest, in the armature's space, by the bone that has the largest weight on them."""
    found: dict[str, list] = {}
    to_armature = armature.matrix_world.inverted()
    for ob in bpy.data.objects:
        if ob.type != "MESH" or not _is_deformed_by(ob, armature):
            continue
        matrix, bones = to_armature @ ob.matrix_world, armature.data.bones
        names = {group.index: group.name for group in ob.vertex_groups if group.name in bones}
        for vertex in ob.data.vertices:
            weights = [(entry.weight, names[entry.group]) for entry in vertex.groups if entry.group in names]
            if weights and max(weights)[0] > 0.0:
                found.setdefault(max(weights)[1], []).append(tuple(matrix @ vertex.co))
    return found


def _is_deformed_by(ob, armature):
    by_modifier = any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in ob.modifiers)
    return by_modifier or (ob.parent == armature and ob.parent_type == "ARMATURE")


def _frames_of(scene, armature) -> list[int]:
    """Frames at which the motion is looked at, the first one of the simulation first; none where nothing moves."""
    world = scene.rigidbody_world
    first = scene.frame_start if world is None else world.point_cache.frame_start
    survey = AnimationSurvey()
    if not (survey.may_move(armature) or any(bone.constraints for bone in armature.pose.bones)):
        return []
    count = min(_MOST_FRAMES, max(scene.frame_end - first + 1, 1))
    return [round(frame) for frame in np.linspace(first, max(scene.frame_end, first), count)]


def _poses_at(scene, armature, names, frames) -> list[dict[str, np.ndarray]]:
    """Matrices of the bones in the armature's space, and of the armature, at these frames; as they are now without."""
    if not frames:
        return [_pose_of(armature, names)]
    if scene.rigidbody_world is not None:
        with simulation_paused(scene):
            return _shown_at(scene, armature, names, frames)
    shown = scene.frame_current
    try:
        return _shown_at(scene, armature, names, frames)
    finally:
        scene.frame_set(shown)


def _shown_at(scene, armature, names, frames):
    poses = []
    for frame in frames:
        scene.frame_set(frame)
        poses.append(_pose_of(armature.evaluated_get(bpy.context.evaluated_depsgraph_get()), names))
    return poses


def _pose_of(armature, names):
    pose = {name: np.array(armature.pose.bones[name].matrix) for name in names}
    pose["object"] = np.array(armature.matrix_world)
    return pose


# What is made


def _new_collection(scene, armature):
    collection = bpy.data.collections.new(f"{armature.name} {CONSTRAINT}")
    scene.collection.children.link(collection)
    return collection


def _copy_as_target(armature, collection):
    """The armature that keeps the motion."""
    target = armature.copy()
    target.name = f"{armature.name} Target"
    target.hide_render = True
    for bone in target.pose.bones:
        for constraint in bone.constraints:
            for name in ("target", "pole_target"):
                if getattr(constraint, name, None) == armature:
                    setattr(constraint, name, target)
            for entry in getattr(constraint, "targets", ()):
                if entry.target == armature:
                    entry.target = target
    collection.objects.link(target)
    return target


def _give_world(scene):
    if scene.rigidbody_world is None:
        with bpy.context.temp_override(scene=scene):
            bpy.ops.rigidbody.world_add()
    world = scene.rigidbody_world
    if world.collection is None:
        world.collection = bpy.data.collections.new("RigidBodyWorld")
    if world.constraints is None:
        world.constraints = bpy.data.collections.new("RigidBodyConstraints")


def _add_body(scene, collection, name, part, matrix, density, follow):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(*_round_mesh(part) if part.is_round else _box_mesh(part))
    ob = bpy.data.objects.new(name, mesh)
    ob.rotation_mode = "QUATERNION"
    ob.matrix_world = matrix
    ob.display_type, ob.hide_render = "WIRE", True
    collection.objects.link(ob)
    scene.rigidbody_world.collection.objects.link(ob)  # and Blender makes it a rigid body
    scale = float(matrix.to_scale()[0])
    ob.rigid_body.collision_shape = "CONVEX_HULL"
    ob.rigid_body.mass = max(density * part.volume * scale**3, 1e-3)
    ob.cairn.follow = follow
    return ob


def _box_mesh(part):
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    corners = [tuple(part.center + part.half * sign) for sign in signs]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, [], faces


def _round_mesh(part):
    """A capsule along the bone, with corners."""
    x, y, z = part.half.tolist()
    end = min(0.5 * (x + z), y)
    lean = math.sqrt(0.5)
    rings = [(-y + end * (1.0 - lean), lean), (-y + end, 1.0), (y - end, 1.0), (y - end * (1.0 - lean), lean)]
    points = [(0.0, -y, 0.0)]
    for height, share in rings:
        for corner in range(_SEGMENTS):
            angle = 2.0 * math.pi * corner / _SEGMENTS
            points.append((share * x * math.cos(angle), height, share * z * math.sin(angle)))
    points.append((0.0, y, 0.0))
    last, faces = len(points) - 1, []
    for corner in range(_SEGMENTS):
        after = (corner + 1) % _SEGMENTS
        faces.append((0, 1 + corner, 1 + after))
        for ring in range(len(rings) - 1):
            low, high = 1 + ring * _SEGMENTS, 1 + (ring + 1) * _SEGMENTS
            faces.append((low + corner, high + corner, high + after, low + after))
        top = 1 + (len(rings) - 1) * _SEGMENTS
        faces.append((last, top + after, top + corner))
    return [tuple(part.center + np.array(point)) for point in points], [], faces


def _follow_bone(body, target, name):
    constraint = body.constraints.new("COPY_TRANSFORMS")
    constraint.name, constraint.target, constraint.subtarget = CONSTRAINT, target, name


def _add_joint(scene, collection, armature, name, part, bodies, poses):
    """A joint at the bone's head, which goes with its body, with limits of inverse kinematics or of the motion."""
    ob = bpy.data.objects.new(f"{name} Joint", None)
    ob.empty_display_type, ob.empty_display_size = "ARROWS", 0.5 * float(part.half.max())
    ob.rotation_mode = "QUATERNION"
    ob.parent = bodies[name]
    collection.objects.link(ob)
    scene.rigidbody_world.constraints.objects.link(ob)  # and Blender makes it a constraint
    constraint = ob.rigid_body_constraint
    constraint.object1, constraint.object2 = bodies[part.parent], bodies[name]
    constraint.disable_collisions = True
    bone = armature.pose.bones[name]
    if _has_limits(bone):
        _set_limits(constraint, bone, [_turn_from_rest(armature, name, part.parent, pose) for pose in poses])
    else:
        ob.rotation_quaternion = Matrix.Rotation(-0.5 * math.pi, 3, "X").to_quaternion()  # z along the bone
        constraint.type = "POINT"
        extras = ob.cairn.joint
        extras.kind = "CONE_TWIST"
        extras.cone_angle, extras.twist_angle = _cone_of(name, part.parent, poses)
    return ob


def _let_pass(scene, parts, bodies):
    """Let bodies that overlap, and that no joint keeps from touching, pass each other."""
    points = {name: _points_in_world(body) for name, body in bodies.items()}
    for first, second in itertools.combinations(parts, 2):
        is_joined = first == parts[second].parent or second == parts[first].parent
        thickness = (
            2.0 * min(parts[first].half.min(), parts[second].half.min()) * bodies[first].matrix_basis.to_scale()[0]
        )
        if not is_joined and _overlap(points[first], points[second], _NEAR * thickness):
            exclude(scene, bodies[first], bodies[second])


def _points_in_world(body):
    matrix = np.array(body.matrix_basis)
    return np.array([tuple(vertex.co) for vertex in body.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]


def _overlap(first, second, gap) -> bool:
    """Whether the hulls of two clouds of points meet, or are nearer than a gap (Gilbert 1966).

    A point of the difference of both goes towards the origin, until a plane across its way is seen to have all of the
    difference beyond it.
    """
    nearest = first[0] - second[0]
    for _ in range(_MOST_STEPS):
        farthest = first[np.argmin(first @ nearest)] - second[np.argmax(second @ nearest)]
        if nearest @ farthest > gap * math.sqrt(nearest @ nearest):
            return False
        way = farthest - nearest
        length = float(way @ way)
        if length == 0.0:
            break
        nearest = nearest + min(max(-float(nearest @ way) / length, 0.0), 1.0) * way
    return True


def _has_limits(bone):
    return any(getattr(bone, f"use_ik_limit_{axis}") or getattr(bone, f"lock_ik_{axis}") for axis in "xyz")


def _set_limits(constraint, bone, turns):
    """Limits of inverse kinematics as a joint's: those count from the bone's rest, these from its start.

    They are wider where the motion, whose turns at its frames are given, does not keep to them.
    """
    constraint.type = "GENERIC"
    for number, axis in enumerate("xyz"):
        setattr(constraint, f"use_limit_lin_{axis}", True)
        setattr(constraint, f"limit_lin_{axis}_lower", 0.0)
        setattr(constraint, f"limit_lin_{axis}_upper", 0.0)
        is_locked, angles = getattr(bone, f"lock_ik_{axis}"), [turn[number] for turn in turns]
        if not (is_locked or getattr(bone, f"use_ik_limit_{axis}")):
            continue
        lower = angles[0] if is_locked else getattr(bone, f"ik_min_{axis}")
        upper = angles[0] if is_locked else getattr(bone, f"ik_max_{axis}")
        lower = min(angles) - _PLAY if min(angles) < lower - _NOTHING else lower
        upper = max(angles) + _PLAY if max(angles) > upper + _NOTHING else upper
        # Blender's angles of this type have the other sign
        setattr(constraint, f"use_limit_ang_{axis}", True)
        setattr(constraint, f"limit_ang_{axis}_lower", angles[0] - upper)
        setattr(constraint, f"limit_ang_{axis}_upper", angles[0] - lower)


def _turn_from_rest(armature, name, parent, pose):
    """How a bone is turned against its parent, seen from its rest: Euler angles [rad]."""
    bones = armature.data.bones
    rest = bones[parent].matrix_local.inverted() @ bones[name].matrix_local
    now = Matrix(pose[parent]).inverted() @ Matrix(pose[name])
    return (rest.inverted() @ now).to_euler("XYZ")


def _cone_of(name, parent, poses):
    """How far a joint has to swing and twist for the motion, each way from its start, with some play [rad]."""
    first = Matrix(poses[0][parent]).inverted() @ Matrix(poses[0][name])
    cone, twist = _CONE, _TWIST
    for pose in poses:
        now = Matrix(pose[parent]).inverted() @ Matrix(pose[name])
        turn = (first.inverted() @ now).to_quaternion()
        along = turn @ Vector((0.0, 1.0, 0.0))
        cone = max(cone, along.angle(Vector((0.0, 1.0, 0.0))) + _PLAY)
        about = turn.to_swing_twist("Y")[1]
        twist = max(twist, abs((about + math.pi) % (2.0 * math.pi) - math.pi) + _PLAY)
    return min(cone, math.pi), min(twist, math.pi)
