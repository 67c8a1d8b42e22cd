"""Trajectory -> keyframes: the only writer of animation.

``write_trajectory`` builds one action for each moving object first, without touching the object, and then attaches them
(attach.py); if anything fails in between, everything is put back. earlier_animation.py says what is kept of the user's
animation, channels.py how world matrices become location and rotation.
"""

import contextlib
import dataclasses

import bpy
import numpy as np
from mathutils import Euler

from . import channels, fcurves, impact_curves, since_bake, spin, timelines
from . import earlier_animation as earlier
from .attach import attach_steps, check_writable, keep_steps, objects_by_name, refresh, remove_replaced

# Number of objects whose poses become keys together: bounds the memory, and is one tick of the progress.
CHUNK = 32
# Number of poses that become keys in a step: some hundredths of a second. To find the objects again in the next one
# takes some thousandths where there are thousands of them.
KEYED = 4000
DYNAMIC = 2  # BodyKind.DYNAMIC of the core
# Which part of a rotation channel has a length of 1, and how near to it single precision keeps it.
_UNIT = {"QUATERNION": slice(0, 4), "AXIS_ANGLE": slice(1, 4)}
_ROUNDING = 1e-6


@dataclasses.dataclass
class LeadIn:
    """Evaluated motion of an object before the bake, where its F-curves alone do not say it (lead_in.py)."""

    frames: np.ndarray  # [n]
    matrix_world: np.ndarray  # [n, 4, 4]
    parent_matrix: np.ndarray  # [n, 4, 4]


@dataclasses.dataclass
class _Motion:
    """Keys to write for one object; ``frames[0]`` is where they take over from the user's curves."""

    object_name: str
    frames: np.ndarray  # [n]
    location: np.ndarray  # [n, 3] [m]
    turning_frames: np.ndarray  # [m], those of ``frames`` and others between them
    rotation: np.ndarray  # [m, 3 or 4]
    keep_curves: bool  # keys of the user's curves before frames[0] go on


def write_trajectory(scene, export, trajectory, samples=(), lead_in=None, turns=None):
    """Write a trajectory as keyframes; see ``write_steps``."""
    steps = write_steps(scene, export, trajectory, samples, lead_in, turns)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            remove_replaced(end.value)
            return


def write_steps(scene, export, trajectory, samples=(), lead_in=None, turns=None, impacts=None, *, at_hits=False):
    """Write a trajectory as keyframes, as a generator of (objects done, objects).

    First it makes the actions, then it gives them to the objects, some a step: each has its earlier animation or the
    bake, and a file that is saved in between can be given back by Delete Bake. Whoever has begun goes on to the end;
    closing the generator earlier, or an error, puts everything back. Between steps it holds names, no references to
    Blender's data.

    Parameters
    ----------
    scene : bpy.types.Scene
        Used before the first and, found anew by its name, in each later step.
    export : SceneExport
    trajectory : Trajectory
        Poses of the user frames of all bodies of ``export``, from ``export.frame_start`` on.
    samples : sequence of FrameSample
        What was animated in each frame of the trajectory; empty if nothing was.
    lead_in : dict of str to LeadIn, optional
        Evaluated motion before ``export.frame_start``, for objects that need it.
    turns : dict of int to dict, optional
        By frame of the trajectory the bodies that turn far in it, as of ``fast_turns``.
    impacts : dict of str to float32 [frame_count + 1], optional
        By object how hard it is pushed in each frame (``impact_curves.of_objects``).
    at_hits : bool
        Keys between frames, too, where the trajectory's reports say that motion breaks.

    Returns
    -------
    dict of str to str
        What is left for ``remove_replaced``.

    Raises
    ------
    SceneError
        An object is gone, or cannot be written.
    """
    scene_name = scene.name
    # in the order of their names, in which Blender keeps actions: it finds the place of each new one at once
    moving = sorted((body for body in export.bodies if body.moves), key=lambda body: body.object_name.casefold())
    check_writable(scene, [body.object_name for body in moving])
    for _ in keep_steps(scene_name):
        yield 0, len(moving)
    poses = _Poses(export, trajectory, samples, turns or {}, at_hits)
    actions = {}  # object name -> action name
    try:
        for start in range(0, len(moving), CHUNK):
            objects = objects_by_name(bpy.data.scenes[scene_name])
            chunk = moving[start : start + CHUNK]
            motions = list(_motions(objects, chunk, poses, lead_in or {}))
            keyed = 0
            for made, motion in enumerate(motions):
                if keyed >= KEYED:
                    # an object is done when it has its action, too
                    yield (start + made) // 2, len(moving)
                    objects, keyed = objects_by_name(bpy.data.scenes[scene_name]), 0
                keyed += len(motion.turning_frames)
                action = _build_action(objects[motion.object_name], motion)
                actions[motion.object_name] = action.name
                if impacts and objects[motion.object_name].override_library is None:
                    bag = fcurves.channelbag(action, action.slots[0])
                    impact_curves.write(bag, export.frame_start, impacts[motion.object_name])
            yield min(start + CHUNK, len(moving)) // 2, len(moving)
        last = export.frame_start + trajectory.frame_count
        facts = {"is_baked": True, "baked_start": export.frame_start, "baked_end": last, "take": ""}
        with contextlib.closing(attach_steps(scene_name, actions, facts)) as attaching:
            while True:
                try:
                    attached, to_attach = next(attaching)
                except StopIteration as end:
                    replaced = end.value
                    break
                share = attached / to_attach if to_attach else 1.0
                yield round(0.5 * len(moving) * (1.0 + share)), len(moving)
    except BaseException:
        earlier.remove_unused([bpy.data.actions[name] for name in actions.values() if name in bpy.data.actions])
        raise
    refresh(bpy.data.scenes[scene_name])
    return replaced


# World matrices of the bake


class _Poses:
    """World and parents' matrices of the moving bodies at all frames of a trajectory, and where they break."""

    def __init__(self, export, trajectory, samples, turns, at_hits):
        self.bodies = {body.object_name: body for body in export.bodies if body.moves}
        self._timelines = timelines.Timelines(trajectory, turns, at_hits)
        self.orientation = trajectory.orientation
        self.samples = list(samples)[: trajectory.frame_count]
        self._start, self._frames = export.frame_start, np.arange(len(self.orientation))
        self._rotations = {}

    def turns(self, body):
        """Turns of a body that are far, by index of the key that they lead to."""
        line = self._timelines.line(body.index)
        return {int(np.searchsorted(line.at, place)): turn for place, turn in line.turns.items()}

    def frames(self, body):
        """Frames of a body's keys."""
        return self._start + self._timelines.line(body.index).at

    def row(self, body, index):
        """Which of a body's keys is that of a frame of the trajectory."""
        return int(np.searchsorted(self._timelines.line(body.index).at, index))

    def follow_parents(self, body, obj):
        """Give a body keys where bodies that it is a child of break."""
        ancestors = []
        while obj.parent is not None:
            obj = obj.parent
            if obj.library is None and obj.name in self.bodies:
                ancestors.append(self.bodies[obj.name].index)
        self._timelines.follow(body.index, ancestors)

    def load(self, bodies):
        """Compute the rotations of some bodies together, and forget the others."""
        orientation = self.orientation[:, [body.index for body in bodies]].swapaxes(0, 1)
        rotations = channels.quaternion_matrices(orientation)
        self._rotations = {body.index: rotation for body, rotation in zip(bodies, rotations, strict=True)}

    def world(self, body):
        """World matrices [F, 4, 4] at its keys: the rigid motion since the start, applied to the start's matrix."""
        line = self._timelines.line(body.index)
        position = line.position
        rotation = self._rotations.get(body.index)
        if rotation is None or not self._timelines.is_whole(body.index):  # or a parent from another chunk
            rotation = channels.quaternion_matrices(line.orientation)
        # in the body's own frame the start's matrix never changes
        start = np.array(body.matrix_world_start, float)[:3]
        start[:, 3] -= position[0]
        world = np.zeros((len(position), 4, 4))
        world[:, :3] = (rotation.reshape(-1, 3) @ (rotation[0].T @ start)).reshape(-1, 3, 4)  # one product
        world[:, :3, 3] += position
        world[:, 3, 3] = 1.0
        return world

    def parent(self, body, obj):
        """Parents' part [F, 4, 4] of a body's world matrix, None without parent; parents may be baked themselves."""
        if obj.parent is None:
            return None
        at = self._timelines.line(body.index).at
        evaluated = self._sampled("parent_matrix", body.object_name, body.parent_matrix_start, at)
        ancestor = obj.parent
        # a linked one may have the name of a body that moves, and moves not itself
        while ancestor is not None and (ancestor.library is not None or ancestor.name not in self.bodies):
            ancestor = ancestor.parent
        if ancestor is None:
            return evaluated
        carrier = self.bodies[ancestor.name]
        # The parents' part was evaluated with the ancestor where its own animation has it: carry it to the baked pose.
        without_bake = self._sampled("matrix_world", carrier.object_name, carrier.matrix_world_start, at)
        world, own = self.world(carrier), self._timelines.line(carrier.index).at
        if not np.array_equal(own, at):
            world = timelines.between(world, own, at)
        return world @ np.linalg.inv(without_bake) @ evaluated

    def _sampled(self, name, object_name, start, at):
        values = [start, *(getattr(sample, name).get(object_name, start) for sample in self.samples)]
        if not self.samples:
            values *= len(self._frames)
        values = np.array(values, float)
        return values if len(at) == len(values) else timelines.between(values, self._frames, at)

    def first_key(self, body):
        """Index of the first key: the frame before the body's first dynamic one; None if there was none."""
        if not self.samples:
            return 0
        return next((i for i, sample in enumerate(self.samples) if sample.kind[body.index] == DYNAMIC), None)


def last_channels(scene, export, trajectory, names):
    """Channels that put some bodies where a trajectory ends, with nothing animated: (name, {path: values}) of each.

    Parameters
    ----------
    scene : bpy.types.Scene
    export : SceneExport
    trajectory : Trajectory
        Poses of the user frames of all bodies, from those of ``export`` on.
    names : set of str
        Of objects whose own channels alone say where they start (``own_pose``).
    """
    objects = objects_by_name(scene)
    bodies = [body for body in export.bodies if body.object_name in names]
    poses = _Poses(export, trajectory, (), {}, False)
    for start in range(0, len(bodies), CHUNK):
        for motion in _motions(objects, bodies[start : start + CHUNK], poses, {}):
            path = channels.rotation_path(objects[motion.object_name].rotation_mode)
            last = {"location": motion.location[-1], path: motion.rotation[-1]}
            # as Blender holds them
            yield motion.object_name, {path: values.astype(np.float32).tolist() for path, values in last.items()}


# Channels of the bake


def _motions(objects, bodies, poses, lead_in):
    """Keys of some bodies. Those of one rotation mode and as many frames are converted together."""
    groups = {}
    poses.load(bodies)
    for body in bodies:
        first = poses.first_key(body)
        if first is None:  # the bake was stopped before it came loose; the user's curves say it all
            continue
        obj = objects[body.object_name]
        prepared = _prepare(obj, body, poses, first, lead_in.get(body.object_name))
        if any(frame > prepared.first for frame in prepared.turns):
            yield _turning_motion(prepared, obj.rotation_mode)
        else:
            groups.setdefault((obj.rotation_mode, len(prepared.frames)), []).append(prepared)
    for (mode, _), group in groups.items():
        rotation = channels.rotation_channels(
            channels.nearest_rotations(np.array([prepared.rotation for prepared in group])),
            mode,
            np.array([prepared.hint for prepared in group]),
            np.array([prepared.first for prepared in group]),
        )
        for prepared, values in zip(group, rotation, strict=True):
            rows = slice(prepared.first, None)
            frames = prepared.frames[rows]
            prepared.give_own_pose(prepared.location[rows], values[rows], mode)
            yield _Motion(
                prepared.object_name, frames, prepared.location[rows], frames, values[rows], prepared.keep_curves
            )


def _turning_motion(prepared, mode):
    """Keys of a body that turns far in some frames, with keys of rotation in between where it needs them."""
    rows, first = slice(prepared.first, None), prepared.first
    turns = {frame - first: turn for frame, turn in prepared.turns.items() if frame > first}
    at, rotation = spin.spread(channels.nearest_rotations(prepared.rotation[rows]), turns)
    values = channels.rotation_channels(rotation[None], mode, prepared.hint[None], np.array([0]))[0]
    keep = np.ones(len(at), bool) if mode == "QUATERNION" else spin.needed(at, values)
    prepared.give_own_pose(prepared.location[rows], values, mode)
    frames = prepared.frames[rows]
    turning = np.interp(at[keep], np.arange(len(frames)), frames)
    return _Motion(prepared.object_name, frames, prepared.location[rows], turning, values[keep], prepared.keep_curves)


@dataclasses.dataclass
class _Prepared:
    """One body's location channel, and its rotation before it becomes channels."""

    object_name: str
    frames: np.ndarray
    first: int
    location: np.ndarray  # [F, 3]
    rotation: np.ndarray  # [F, 3, 3]
    hint: np.ndarray  # rotation channels as they were at the first key
    keep_curves: bool
    turns: dict  # far turns that lead to a frame, by its index, in the axes of ``rotation``
    own_pose: tuple | None  # channels of location and rotation that alone say where the object is without the bake

    def give_own_pose(self, location, rotation, mode):
        """Write the object's own channels to the first row of keys, from which they differ by rounding alone.

        So the bake's first frame shows to the bit what is there without it (``earlier.shows_earlier``).
        """
        if self.own_pose is None:
            return
        location[0], own = self.own_pose
        # the way to the next key would be bent by a length that is not 1
        if mode not in _UNIT or abs(np.linalg.norm(own[_UNIT[mode]]) - 1.0) < _ROUNDING:
            rotation[0] = own


def _prepare(obj, body, poses, first, lead):
    poses.follow_parents(body, obj)
    first = poses.row(body, first)
    frames, world, parent = poses.frames(body), poses.world(body), poses.parent(body, obj)
    basis = world if parent is None else np.linalg.inv(parent) @ world
    start = basis[0]
    if lead is not None:  # its curves alone do not say how it moves: the bake's keys begin where the scene begins
        first = 0
        frames = np.concatenate([lead.frames, frames])
        basis = np.concatenate([np.linalg.inv(lead.parent_matrix) @ lead.matrix_world, basis])
    bag = fcurves.channelbag(*earlier.earlier_action(obj))
    rotation = basis[:, :3, :3] / channels.split_scale(start[:3, :3], np.multiply(obj.scale, obj.delta_scale))
    delta_location, delta_rotation = _deltas(obj, bag, frames)
    if delta_rotation is not None:
        rotation = np.swapaxes(delta_rotation, -1, -2) @ rotation
    lead_count = len(frames) - len(world)
    turns = {
        lead_count + frame: _in_channels(turn, frame, parent, delta_rotation, lead_count)
        for frame, turn in poses.turns(body).items()
    }
    return _Prepared(
        object_name=body.object_name,
        frames=frames,
        first=first,
        location=basis[:, :3, 3] - delta_location,
        rotation=rotation,
        hint=_rotation_before(obj, bag, frames[first]),
        keep_curves=lead is None,
        turns=turns,
        own_pose=own_pose(obj) if lead is None else None,
    )


def own_pose(obj):
    """Location and rotation channels of an object, where these alone say where it is; else None."""
    kept = earlier.Kept.read(obj) if obj.cairn.is_baked else earlier.Kept.of(obj)
    is_put = kept.rotation_mode == obj.rotation_mode and since_bake.is_where_it_was_put(obj, kept)
    return (np.array(kept.location), np.array(kept.rotation)) if is_put else None


def _in_channels(turn, frame, parent, delta_rotation, lead_count):
    """A turn in world axes in those of the rotation channels: R = D^-1 P^-1 W turns by D^-1 P^-1 t."""
    if parent is not None:
        axes = channels.nearest_rotations(parent[frame - 1, :3, :3] / np.cbrt(np.linalg.det(parent[frame - 1, :3, :3])))
        turn = axes.T @ turn
    if delta_rotation is not None:
        turn = delta_rotation[min(lead_count + frame - 1, len(delta_rotation) - 1)].T @ turn
    return turn


def _rotation_before(obj, bag, frame):
    """Rotation channels that the user's own animation has at a frame."""
    path = channels.rotation_path(obj.rotation_mode)
    values = np.array(earlier.Kept.read(obj).rotation if obj.cairn.is_baked else getattr(obj, path), float)
    if len(values) != len(getattr(obj, path)):  # the rotation mode was changed after the bake
        values = np.array(getattr(obj, path), float)
    for (curve_path, index), curve in fcurves.curves_of(bag).items():
        if curve_path == path and not curve.mute and index < len(values):
            values[index] = curve.evaluate(float(frame))
    return values


def _deltas(obj, bag, frames):
    """Delta location [F or 1, 3] and delta rotation [F or 1, 3, 3] or None; they may be animated, and go on."""
    mode = obj.rotation_mode
    location = _channel(obj, bag, "delta_location", frames)
    if mode == "AXIS_ANGLE":  # Blender has no delta for it
        return location, None
    if mode == "QUATERNION":
        rotation = _channel(obj, bag, "delta_rotation_quaternion", frames)
        if (rotation == [1.0, 0.0, 0.0, 0.0]).all():
            return location, None
        rotation /= np.linalg.norm(rotation, axis=-1, keepdims=True)
        return location, channels.quaternion_matrices(rotation)
    triples = _channel(obj, bag, "delta_rotation_euler", frames)
    if not triples.any():
        return location, None
    return location, np.array([Euler(triple, mode).to_matrix() for triple in triples], float)


def _channel(obj, bag, path, frames):
    """Values [F, n] of a property if it has curves, else [1, n]."""
    value = np.array(getattr(obj, path), float)
    curves = {index: curve for (name, index), curve in fcurves.curves_of(bag).items() if name == path}
    if not curves:
        return value[None]
    columns = [
        fcurves.values_at(curves[index], frames) if index in curves else np.full(len(frames), value[index])
        for index in range(len(value))
    ]
    return np.column_stack(columns)


# Actions


def _build_action(obj, motion):
    """Make the action of one object: the user's other channels, and location and rotation from the bake."""
    action, bag = new_action(obj)
    leads = _take_own_curves(bag, obj.rotation_mode, motion)
    group = fcurves.transform_group(bag)
    _write_channel(bag, group, "location", motion.frames, motion.location, leads)
    path = channels.rotation_path(obj.rotation_mode)
    _write_channel(bag, group, path, motion.turning_frames, motion.rotation, leads)
    return action


def new_action(obj):
    """An action for a bake of an object, which it has not yet, and its channels: copies of all of the user's."""
    source, source_slot = earlier.earlier_action(obj)
    source_bag = fcurves.channelbag(source, source_slot)
    name = f"{obj.name} Cairn"
    if source_bag is None or len(source_bag.fcurves) == 0:
        action = bpy.data.actions.new(name)
        slot = action.slots.new("OBJECT", obj.name)
    else:
        action, slot = _copy_with_one_slot(source, source_slot, name)
    action[earlier.MARK] = _version()
    return action, fcurves.channelbag(action, slot, ensure=True)


def _copy_with_one_slot(source, source_slot, name):
    action = source.copy()
    action.name = name
    action.use_fake_user = False
    if action.asset_data is not None:
        action.asset_clear()
    for slot in list(action.slots):
        if slot.handle != source_slot.handle:
            action.slots.remove(slot)
    return action, action.slots[0]


def _take_own_curves(bag, rotation_mode, motion):
    """Remove the curves that the bake replaces; what they do before the bake's first key is returned."""
    leads = {}
    for curve in list(bag.fcurves):
        if not earlier.is_own(curve.data_path, rotation_mode):
            continue
        if motion.keep_curves and not curve.mute and fcurves.is_plain(curve):
            leads[fcurves.key_of(curve)] = fcurves.cut_before(curve, motion.frames[0])
        bag.fcurves.remove(curve)
    return leads


def _write_channel(bag, group, path, frames, values, leads):
    for index in range(values.shape[1]):
        curve = fcurves.new_curve(bag, path, index, group)
        lead, handle = leads.get((path, index), (None, None))
        if not lead:
            fcurves.write_linear(curve, *fcurves.without_repeats(frames, values[:, index]))
            continue
        baked = fcurves.Keys.linear(*fcurves.without_repeats(frames, values[:, index]))
        if handle is not None:
            baked.fields["handle_left_type"][0] = baked.fields["handle_right_type"][0] = fcurves.FREE
            baked.fields["handle_left"][0] = baked.fields["co"][0] + handle
            baked.fields["handle_right"][0] = baked.fields["co"][0] - handle
        (lead + baked).write(curve)


def _version():
    from ... import __version__

    return __version__
