"""Blender's rigid-body scene as a model of the solver: the only reader of scene data.

What is read is what Blender itself would simulate: the bodies of the Rigid Body World's collection as the depsgraph
evaluates them at the first frame, and for every later frame the flags, poses, gravity and speed that are animated.
What Blender does and Cairn does not (or does otherwise) becomes a ``Note``; what cannot be simulated a ``SceneError``.
Nothing in the file is changed.

A body's pose is rigid: location of ``matrix_world`` and its rotation. Where the object is mirrored, all three axes are
turned round, as Blender does, so that a proper rotation remains. Scale and mirror go into the shape.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.model.builder import ModelBuilder, ModelError
from ...solver_core.model.model import BodyKind
from ..write import attach, blender_world
from ..write import earlier_animation as earlier
from . import body_warnings
from .activation import ActivationReader, volume_of
from .aside import FrameAside
from .concave_shapes import ConcaveReader
from .export_parts import fingerprint_of, frame_range, mass_of, rigid_body_world, sleep_of
from .exported_scene import A_STEP, ExportedBody, SceneExport
from .fast_turns import angles_of, keyed_turns
from .faults import Faults, SceneError
from .force_fields import add_fields, field_objects
from .forces import add_forces
from .frame_samples import (
    evaluate_frame,
    gravity_of,
    is_sampled,
    kind_at,
    sample_without_bodies,
    simulation_paused,
    view_layer_of,
)
from .glue import add_glue, strength_objects
from .growing_compounds import links_to, read_growing
from .guides import add_guides, has_guide
from .launches import find_let_go, first_let_go, launch
from .locked_axes import add_locks
from .matter import matter_of
from .movers import movers_of
from .notes import Note
from .object_keys import key_of
from .scene_animation import (
    AnimationSurvey,
    flag_values,
    flags_animated,
    give_least_scale,
    largest_scale,
    scale_animated,
    scene_animated,
)
from .scene_joints import JointReader
from .scene_notes import body_notes, range_notes, scene_notes
from .scene_poses import (
    RATIO_ZERO_SCALE,
    check_rotations,
    finite_matrices,
    finite_matrix,
    matrix_with_scale,
    parents_part,
    rigid_matrices,
    rotations_and_stretches,
)
from .scene_shapes import ROUND_SHAPES, MeshError, ShapeReader
from .smooth_motion import FRAMES_AHEAD
from .start_motion import give_start_motion, has_start_motion
from .surfaces import StartSurfaces
from .writable import check_editable


def export_scene(
    scene: bpy.types.Scene,
    *,
    frame_start: int | None = None,
    frame_end: int | None = None,
    decompose: bool = True,
    for_bake: bool = False,
) -> SceneExport:
    """Read a scene's rigid bodies.

    Parameters
    ----------
    scene : bpy.types.Scene
    frame_start, frame_end : int, optional
        Default: the range of the Rigid Body World's cache.
    decompose : bool
        Decompose concave meshes now, which may take minutes, or leave those that are new ``pending``.
    for_bake : bool
        Refuse also what can be simulated but not baked: nothing that moves, and objects that cannot be keyed.

    Returns
    -------
    SceneExport

    Raises
    ------
    SceneError
        All that is wrong, each with the object, the value and what to do. The scene is as it was.
    """
    reader = _reader(scene, frame_start, frame_end, decompose, for_bake)
    _result(reader.let_go_steps())
    with simulation_paused(scene):
        export = _result(reader.steps(scene))
    if frame_start is None and frame_end is None:  # nobody has chosen a range
        export.notes.extend(range_notes(scene, reader.frames))
    return export


def export_steps(
    scene: bpy.types.Scene, *, frame_start: int | None, frame_end: int | None, for_bake: bool
) -> Generator[None, None, SceneExport]:
    """The same of a scene without its bake as a generator, some objects a step; new concave meshes stay pending.

    Between two steps the scene is as it was, since the first frame is evaluated aside (``FrameAside``), where a bake
    shows what is there without it; what it shows otherwise is set aside for as long as that takes. Where all this
    cannot be, all is read in one step.

    Raises
    ------
    SceneError
    """
    reader = _reader(scene, frame_start, frame_end, False, for_bake)
    try:
        export = yield from _steps_aside(scene, reader)
    except ReferenceError as error:
        raise SceneError(None, "an object was removed while the scene was read; bake again") from error
    if frame_start is None and frame_end is None:
        export.notes.extend(range_notes(scene, reader.frames))
    return export


def _steps_aside(scene, reader):
    in_steps = len(reader.objects_read()) > A_STEP and not earlier.is_collection_split(scene)  # few are one step
    led = (yield from reader.led_steps()) if in_steps else []
    yield from reader.let_go_steps()
    objects = reader.objects_read()
    # what reads a mesh without some modifiers evaluates anew
    in_steps = in_steps and not (led and any(ob.modifiers and _is_deformed_alone(ob) for ob in objects))
    with FrameAside(scene, objects if in_steps else []) as aside:
        if aside.is_open and not led:
            yield
        if not aside.is_open:
            return _in_one_step(scene, reader)
        steps = reader.steps(aside.scene, is_evaluated=True)
        with earlier.earlier_animation(scene, led):
            aside.evaluate(reader.start)
            if not led:
                yield
            fits = aside.is_there() and not aside.holds_other_bake(scene)
            if not led:
                yield
            fits = fits and aside.is_there() and aside.shows_the_same(objects)
            if fits and led:
                next(steps)
        if not fits:
            aside.close()
            return _in_one_step(scene, reader)
        del objects, led
        export = None
        while export is None:
            yield
            if not aside.is_there():
                raise SceneError(None, "the scene was changed while it was read; bake again")
            try:
                next(steps)
            except StopIteration as end:
                export = end.value
        yield
    yield
    return export


def _in_one_step(scene, reader):
    """Read a scene that is shown without its bake meanwhile."""
    with blender_world.guarded(scene), earlier.earlier_animation(scene), simulation_paused(scene):
        export = _result(reader.steps(scene))
    if earlier.baked_objects(scene):
        attach.refresh(scene)
    return export


def _is_deformed_alone(ob):
    return ob.rigid_body is not None and ob.rigid_body.mesh_source == "DEFORM"


def _reader(scene, frame_start, frame_end, decompose, for_bake):
    faults = Faults()
    world = rigid_body_world(scene)
    start, end = frame_range(world, frame_start, frame_end, faults)
    return _SceneReader(scene, start, end, decompose, for_bake, faults)


def _result(steps):
    """Go through a generator; what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@dataclass
class _SceneReader:
    """One export: the first frame is evaluated, objects are read, the model is built.

    Where something is wrong, a stand-in takes its place until all objects are read; then ``faults`` are raised.
    """

    scene: object
    start: int
    end: int
    decompose: bool
    for_bake: bool
    faults: Faults
    survey: AnimationSurvey = field(default_factory=AnimationSurvey)
    notes: list = field(default_factory=list)
    depsgraph: bpy.types.Depsgraph | None = None
    index: dict = field(default_factory=dict)
    moves: dict = field(default_factory=dict)
    let_go: dict = field(default_factory=dict)
    forces_change: bool = False
    follow_changes: bool = False

    @property
    def frames(self) -> range:
        return range(self.start, self.end + 1)

    @property
    def world(self):
        return self.scene.rigidbody_world

    @property
    def members(self):
        """Objects of the Rigid Body World's collection."""
        return earlier.bodies_collection(self.scene).all_objects

    def led_steps(self) -> Generator[None, None, list]:
        """Objects that carry a bake and do not show at each frame that is evaluated what they do without it.

        Beside those of which that is so at the start (``earlier.shows_earlier``) these are all that are shown at other
        frames, too (``find_let_go``), and what these are moved by.
        """
        baked, survey, found = earlier.baked_objects(self.scene), AnimationSurvey(), {}
        waiting = []
        for row, ob in enumerate(baked):
            if row % A_STEP == 0 and row > 0:
                yield
            is_let_go = ob.rigid_body is not None and first_let_go(ob, self.frames, survey) is not None
            if is_let_go or not earlier.shows_earlier(ob, self.start):
                waiting.append(ob)
        while waiting:
            ob = waiting.pop()
            if ob.name_full not in found:
                found[ob.name_full] = ob
                waiting += movers_of(ob)
        return [ob for ob in baked if ob.name_full in found]

    def let_go_steps(self) -> Generator[None, None, None]:
        """Find out which bodies move, and which animation lets go, and when."""
        survey = AnimationSurvey()
        for row, ob in enumerate(self._collect_objects()):
            if row % A_STEP == 0 and row > 0:
                yield
            self.moves[ob.name_full] = self._moves(ob)
            with self.faults.caught():
                frame = first_let_go(ob, self.frames, survey)
                if frame is not None:
                    self.let_go[ob.name_full] = frame

    def objects_read(self) -> list:
        """What is evaluated, beside what it depends on: bodies, shapes of compounds, joints and ends of ropes."""
        joints = self._joint_reader()
        bodies = [ob for ob in self.members if ob.rigid_body is not None]
        volumes = [one for one in map(volume_of, [*bodies, *joints.objects()]) if one is not None]
        others = *volumes, *field_objects(self.scene), *strength_objects(self.scene)
        return list(dict.fromkeys([*bodies, *joints.objects(), *joints.rope_ends(), *others]))

    def steps(self, shown, *, is_evaluated=False) -> Generator[None, None, SceneExport]:
        """Read the scene, ``A_STEP`` objects at a time; ``let_go_steps`` come before.

        ``shown`` is the scene whose frames are set, in the first of these steps; the first frame may be evaluated.
        """
        objects = self._collect_objects()
        let_go: dict = {}
        with self.faults.caught():
            wanted = {ob: self.let_go[ob.name_full] for ob in objects if ob.name_full in self.let_go}
            let_go = find_let_go(shown, wanted, self.frames)
        if self.let_go or not is_evaluated:
            evaluate_frame(shown, self.start)
        self.depsgraph = view_layer_of(shown).depsgraph
        yield
        self.surfaces, self.activations = StartSurfaces(), ActivationReader(self.depsgraph, self.survey)
        self.shapes = ShapeReader(self.depsgraph, ConcaveReader(waits=self.decompose))
        self.index = {ob.name_full: index for index, ob in enumerate(objects)}
        ancestors = [self._moving_ancestor(ob) for ob in objects]
        self.carriers = {ancestor.name_full for ancestor in ancestors if ancestor is not None}
        scene = self.depsgraph.scene_eval
        gravity = np.zeros(3)
        with self.faults.caught():
            gravity = gravity_of(scene, scene.rigidbody_world)
        builder, bodies = ModelBuilder(gravity=gravity), []
        starts = yield from self._start_poses(objects)
        for row, start in enumerate(zip(objects, *starts, strict=True)):
            if row % A_STEP == 0:
                yield
            with self.faults.caught():
                bodies.append(self._add_body(builder, *start))
        yield
        self._check_keying(objects)
        self.faults.raise_any()
        joints = self._joint_reader()
        for row, ob in enumerate(joints.objects()):
            if row % A_STEP == 0:
                yield
            joints.add(builder, ob, self.activations)
        yield
        yield from add_glue(builder, self.scene, self.index, bodies, joints)
        locks, notes = yield from add_locks(builder, objects, bodies)
        joints.joints, joints.notes = joints.joints + locks, joints.notes + notes
        fields = add_fields(builder, self.scene, self.depsgraph, objects, self.moves, self.survey)
        self.forces_change = yield from add_forces(builder, objects, bodies, self.depsgraph)
        self.follow_changes, notes = yield from add_guides(builder, objects, bodies, self.depsgraph, self.survey)
        yield
        model = builder.build()
        yield
        self.notes += give_start_motion(model, objects, bodies)
        self.notes += launch(model, let_go, self.index)
        for row, (ob, body) in enumerate(zip(objects, bodies, strict=True)):
            if row % A_STEP == 0:
                yield
            self.notes += body_notes(ob, body, model, self._moving_ancestor(ob), self.frames)
            if not body.deforming_vertices and self._shapes_may_change(ob):
                self.notes.append(Note("warning", ob.name, body_warnings.MESH_KEPT))
        self.notes += self.activations.notes + joints.notes + notes
        yield
        self.notes += scene_notes(self.scene, objects, any(self.moves.values()))
        yield
        return self._finished(model, bodies, objects, joints, fields)

    def _check_keying(self, objects):
        """Keep what could be simulated and not be keyed."""
        moving = [ob for ob in objects if self.moves[ob.name_full]]
        if self.for_bake and not moving:
            text = "no rigid body of this scene is Active and Dynamic; there is nothing to simulate"
            self.faults.add(SceneError(None, text))
        for ob in moving:
            if self.for_bake or ob.library is not None:
                check_editable(ob, self.faults)

    def _joint_reader(self) -> JointReader:
        parts = {ob.name_full for ob in self.members if self._is_compound_part(ob)}
        return JointReader(self.scene, self.depsgraph, self.index, self.moves, parts, self.survey)

    def _finished(self, model, bodies, objects, joints, fields) -> SceneExport:
        render = self.scene.render
        partial = SceneExport(
            model=model,
            bodies=bodies,
            joints=joints.joints,
            frame_start=self.start,
            frame_end=self.end,
            frame_rate=render.fps / render.fps_base,
            notes=self.notes,
            samples_needed=scene_animated(self.scene)
            or any(map(is_sampled, bodies))
            or self.activations.is_sampled
            or (self.forces_change or self.follow_changes)
            or any(one.is_sampled for one in (*joints.joints, *fields)),
            default_sample=None,
            pending=list(self.shapes.concave.pending.values()),
            surfaces=self.surfaces,
            fingerprint="",
            keyed_turns=keyed_turns(self.survey.owners.values(), np.arange(self.start, self.end + 1 + FRAMES_AHEAD)),
            volumes=tuple(self.activations.volumes),
            fields=fields,
            forces_change=self.forces_change,
            follow_changes=self.follow_changes,
        )
        sample = sample_without_bodies(self.scene, self.depsgraph, self.start, partial)
        for body, ob in zip(bodies, objects, strict=True):
            sample.kind[body.index] = kind_at(ob.evaluated_get(self.depsgraph).rigid_body, body)
        fingerprint = fingerprint_of(partial, sample, self.survey.owners | {self.scene.name_full: self.scene})
        return SceneExport(**{**vars(partial), "default_sample": sample, "fingerprint": fingerprint})

    def _collect_objects(self) -> list:
        """Objects that are bodies; a compound parent's children are shapes of the parent, not bodies."""
        objects = [ob for ob in self.members if ob.rigid_body is not None]
        objects = [ob for ob in objects if not self._is_compound_part(ob)]
        if not objects:
            raise SceneError(
                None,
                f"scene {self.scene.name!r} has no rigid bodies; select a mesh and add one in Physics > Rigid Body",
            )
        return objects

    def _is_compound_part(self, ob) -> bool:
        parent = ob.parent
        return parent is not None and parent.rigid_body is not None and parent.rigid_body.collision_shape == "COMPOUND"

    def _moves(self, ob) -> bool:
        """Whether the body is dynamic in any simulated frame."""
        if ob.rigid_body.type != "ACTIVE":
            return False
        if not flags_animated(ob):
            return ob.rigid_body.enabled and not ob.rigid_body.kinematic
        frames = np.arange(self.start + 1, self.end + 1)
        enabled, kinematic = flag_values(ob, "enabled", frames), flag_values(ob, "kinematic", frames)
        if enabled is None or kinematic is None:
            return True
        return bool(np.any(enabled & ~kinematic))

    def _start_poses(self, objects):
        """Of each object at the start: world matrix, its rigid part, that one's quaternion, stretch, parents' part.

        A generator, which returns them.
        """
        when, pieces, parents = f"at frame {self.start}", [], []
        for first in range(0, len(objects), A_STEP):
            chunk = objects[first : first + A_STEP]
            evaluated = [ob.evaluated_get(self.depsgraph) for ob in chunk]
            matrices = finite_matrices(evaluated, when, self.faults)
            check_rotations(evaluated, when, self.faults)
            give_least_scale(evaluated, matrices)
            broken = self.faults.object_names
            for row, ob in enumerate(chunk):
                # what pops in would otherwise be a point, and sink into all else as it grows
                is_keyed = self.moves[ob.name_full] and ob.name not in broken
                largest = largest_scale(ob, self.frames) if is_keyed else None
                if largest is not None:
                    matrices[row] = matrix_with_scale(evaluated[row], largest[1])
            pieces.append(matrices)
            parents.append(self._parents_parts(chunk, evaluated, broken))
            yield
        matrices = np.concatenate(pieces)
        rotation, stretch = rotations_and_stretches(matrices, [ob.name for ob in objects], self.faults)
        rigid = rigid_matrices(rotation, matrices[:, :3, 3])
        return matrices, rigid, rotations.from_matrix(rotation), stretch, np.concatenate(parents)

    def _parents_parts(self, objects, evaluated, broken):
        """Parents' parts of the world matrices of bodies that move [n, 4, 4]; not of those with ``broken`` names."""
        parts = np.tile(np.eye(4), (len(objects), 1, 1))
        moving = [ob.parent is not None and self.moves[ob.name_full] for ob in objects]
        children = [row for row, ob in enumerate(objects) if moving[row] and ob.name not in broken]
        if not children:
            return parts
        parts[children] = [parents_part(evaluated[row]) for row in children]
        for row in children:
            if not np.all(np.isfinite(parts[row])) or np.linalg.cond(parts[row, :3, :3]) > 1.0 / RATIO_ZERO_SCALE:
                ob, parts[row] = objects[row], np.eye(4)
                text = f"its parent {ob.parent.name} has zero scale; a child there cannot be keyed"
                self.faults.add(SceneError(ob.name, text))
        return parts

    def _add_body(self, builder, ob, matrix, rigid, orientation, stretch, parents_part_start) -> ExportedBody:
        name = ob.name
        moves = self.moves[ob.name_full]
        mass = 1.0
        with self.faults.caught():
            mass = mass_of(name, ob.evaluated_get(self.depsgraph).rigid_body, moves)
        try:
            body = self._exported_body(ob, matrix, rigid, parents_part_start)
        except MeshError as error:  # of a mesh that deforms
            raise SceneError(name, str(error)) from error
        shape, growing_parts = self._shape(ob, stretch, rigid)
        body = replace(body, grows=self._grows(ob, shape), growing_parts=growing_parts)
        self.surfaces.add(body.index, shape, self.shapes.concave.surface_of(shape))
        # Reading a shape may evaluate anew, which would leave earlier references behind.
        settings = ob.evaluated_get(self.depsgraph).rigid_body
        kind = BodyKind(kind_at(settings, body))
        activation, frames = self.activations.read(builder, ob, moves, kind, body.flags_change)
        settings = ob.evaluated_get(self.depsgraph).rigid_body
        try:
            builder.add_body(
                name=name,
                shape=shape,
                kind=kind,
                position=matrix[:3, 3],
                orientation=orientation,
                linear_damping=settings.linear_damping,
                angular_damping=settings.angular_damping,
                collision_mask=sum(1 << bit for bit, on in enumerate(settings.collision_collections) if on),
                # A wave drags along what lies on it, a plane that is scaled does not, as in Blender.
                surface_drags=self._shapes_may_change(ob),
                **matter_of(ob, settings, mass, moves),
                **(sleep_of(settings, has_start_motion(ob)) | activation),
            )
        except ModelError as error:
            raise SceneError(name, str(error).removeprefix(f"{name}: ")) from error
        return replace(body, activation=frames)

    def _exported_body(self, ob, matrix, rigid, parents_part_start) -> ExportedBody:
        moves, may_move = self.moves[ob.name_full], self.survey.may_move(ob)
        return ExportedBody(
            object_name=ob.name,
            library=key_of(ob)[1],
            index=self.index[ob.name_full],
            moves=moves,
            # A body that is dynamic throughout is where the simulation puts it, unless its curves lead it.
            follows=may_move and (not moves or flags_animated(ob) or has_guide(ob)),
            is_guided=moves and has_guide(ob),
            flags_change=flags_animated(ob) and ob.rigid_body.type == "ACTIVE",
            passive=ob.rigid_body.type == "PASSIVE",
            matrix_world_start=matrix,
            rigid_start=rigid,
            parent_matrix_start=parents_part_start,
            parent_animated=moves and self.survey.parent_may_move(ob),
            deforming_vertices=len(self.shapes.vertices(ob, np.ones(3))) if self._deforms(ob) else 0,
            grows=False,
            growing_parts=(),
            carries_bodies=moves and may_move and ob.name_full in self.carriers,
            angles_start=angles_of(ob.evaluated_get(self.depsgraph)),
        )

    def _deforms(self, ob) -> bool:
        """Whether the body collides as a surface that changes its form from frame to frame: meshes, growing boxes."""
        if self.moves[ob.name_full]:
            return False
        changes, kind = self.survey.shape_may_change(ob), ob.rigid_body.collision_shape
        if kind == "MESH":
            return changes or scale_animated(ob)
        is_hull = kind in {"BOX", "CONVEX_HULL"} or (kind == "COMPOUND" and not any(self._compound_parts(ob)))
        return is_hull and scale_animated(ob) and not changes

    def _grows(self, ob, shape) -> bool:
        """Whether the body is a ball, capsule, cylinder or cone that never moves and whose size is keyed."""
        if self.moves[ob.name_full] or not isinstance(shape, ROUND_SHAPES):
            return False
        return scale_animated(ob) and not self.survey.shape_may_change(ob)

    def _parts_grow(self, ob, parts) -> bool:
        """Whether the scale of a compound that never moves, or of any of its parts, is keyed."""
        if self.moves[ob.name_full] or self._shapes_may_change(ob):
            return False
        return any(scale_animated(link) for part in parts for link in links_to(part, ob))

    def _shapes_may_change(self, ob) -> bool:
        """Whether the mesh of the body, or of a part of the compound, may change in time."""
        return any(self.survey.shape_may_change(part) for part in list(self._compound_parts(ob)) or [ob])

    def _moving_ancestor(self, ob):
        """The nearest parent that moves by simulation, or None."""
        parent = ob.parent
        while parent is not None and not self.moves.get(parent.name_full, False):
            parent = parent.parent
        return parent

    def _shape(self, ob, stretch, rigid):
        """The body's shape, and of a compound that grows all of its parts."""
        parts, growing = [], ()
        for child in self._compound_parts(ob):
            parts.append((child, np.linalg.inv(rigid) @ finite_matrix(child.evaluated_get(self.depsgraph), "")))
        # Asked in any case: the survey keeps whose keys it has met.
        animated = list(self._animated_parts(ob))
        try:
            if self._parts_grow(ob, [child for child, _ in parts]):
                frames = np.arange(self.start, self.end + 1)
                shape, growing, notes = read_growing(self.shapes, ob, parts, self.survey, frames)
            else:
                text = "its part {} is animated: it keeps the place that it has at the start"
                self.notes += [Note("warning", ob.name, text.format(name), (name,)) for name in animated]
                moves, deforms = self.moves[ob.name_full], self._deforms(ob)
                shape, notes = self.shapes.read(ob, stretch, moves=moves, deforms=deforms, parts=parts)
        except MeshError as error:
            raise SceneError(ob.name, str(error)) from error
        if self.moves[ob.name_full] or any(ob.rigid_body.collision_collections):
            # Else nothing meets the shape, whatever it is.
            self.notes += [Note(level, ob.name, text) for level, text in notes]
        return shape, growing

    def _compound_parts(self, ob):
        """Children that are rigid bodies of the world; of a child that is a compound parent itself, its children."""
        if ob.rigid_body.collision_shape != "COMPOUND":
            return
        for child in self.members:
            if child.parent == ob and child.rigid_body is not None:
                if child.rigid_body.collision_shape == "COMPOUND":
                    yield from self._compound_parts(child)
                else:
                    yield child

    def _animated_parts(self, ob):
        """Names of children, and theirs, that may move within their compound parent."""
        if ob.rigid_body.collision_shape != "COMPOUND":
            return
        for child in self.members:
            if child.parent == ob and child.rigid_body is not None:
                if self.survey.moves_within_parent(child):
                    yield child.name
                if child.rigid_body.collision_shape == "COMPOUND":
                    yield from self._animated_parts(child)
