"""Animation evaluated aside: in a scene that no window shows and no file keeps.

To set the user's scene to a frame evaluates all that it holds, and lets every window draw it some eight times, for
smooth edges. What is read of a frame is a few objects. A copy of the scene that holds only these, and by Blender's
dependency graph what they depend on, gives the same numbers to the bit; no window draws when its frame is set.

What a copy cannot show stays in the user's scene (``Aside.frames`` decides): what depends on a scene by name, on code,
or on the frame that was shown before.
"""

import contextlib
from collections.abc import Iterator

import bpy

from ..write import attach, blender_world
from ..write import earlier_animation as earlier
from .exported_scene import SceneExport
from .frame_samples import is_sampled, simulation_paused, view_layer_of
from .object_keys import find_object

_NAME = "Cairn reads animation"
# Modifiers that go on from the frame that was evaluated before, or from a cache of such frames.
_REMEMBERING = {"CLOTH", "DYNAMIC_PAINT", "FLUID", "PARTICLE_SYSTEM", "SOFT_BODY"}
_SIMULATION_NODE = "GeometryNodeSimulationInput"


class Aside:
    """Evaluates frames of what a bake reads in each of them; ``close`` it, or use it as a context.

    Between two calls it holds names alone. The copy is *runtime data*: Blender leaves it out of what it saves.

    Parameters
    ----------
    scene : bpy.types.Scene
    export : SceneExport
    lead_in_names : list of str
        Objects whose matrices are read beside what ``export`` says is animated.
    """

    def __init__(self, scene: bpy.types.Scene, export: SceneExport, lead_in_names: list[str]):
        self._frame = export.frame_start
        keys = [*_keys_read(export), *((name, None) for name in lead_in_names)]
        self._copy: str | None = None
        self._baked: list[str] = []
        if _own_handlers_alone():
            self._open(scene, list(dict.fromkeys(keys)))

    def __enter__(self) -> "Aside":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether frames are evaluated in the copy."""
        return self._copy is not None

    @property
    def is_seen(self) -> bool:
        """Whether windows draw what is read, as it has to be shown in the scene itself."""
        return not self.is_open or self._baked

    def close(self) -> None:
        """Remove the copy."""
        name, self._copy = self._copy, None
        _remove(name)

    @contextlib.contextmanager
    def frames(self, scene: bpy.types.Scene) -> "Iterator[bpy.types.Scene]":
        """The scene whose frames are to be set, without the bake and without Blender's own simulation meanwhile."""
        if self.is_open:
            with self._set_aside(scene):
                yield bpy.data.scenes[self._copy]
            return
        with earlier.earlier_animation(scene), simulation_paused(scene):
            yield scene
        if earlier.baked_objects(scene):
            attach.refresh(scene)

    def _set_aside(self, scene):
        """Show what is evaluated without the bake, as long as the context lasts."""
        if not self._baked:
            return contextlib.nullcontext()
        names = set(self._baked)
        return earlier.earlier_animation(scene, [ob for ob in earlier.baked_objects(scene) if ob.name in names])

    def _open(self, scene, keys):
        objects = [find_object(*key) for key in keys]
        if None in objects:
            return  # said by who reads it
        self._copy = _copied(scene, objects)
        copy = bpy.data.scenes[self._copy]
        try:
            self._baked = [ob.name for ob in _baked_in(_graph(copy, self._frame))]
            with self._set_aside(scene):
                fits = _shows_the_same(copy, objects, _graph(copy, self._frame))
        except BaseException:
            self.close()
            raise
        if not fits:
            self.close()


class FrameAside:
    """A copy of a scene that shows one frame of some objects for as long as it takes to read them; use it as a context.

    It is open where objects are given and visible, and no other add-on is told of frames. Once it is evaluated
    ``holds_other_bake`` and ``shows_the_same`` have to be asked. The copy shows that frame until it is closed, whatever
    becomes of the scene.

    Parameters
    ----------
    scene : bpy.types.Scene
    objects : sequence of bpy.types.Object
    """

    def __init__(self, scene: bpy.types.Scene, objects: list[bpy.types.Object]):
        self._copy: str | None = None
        self._of = scene.name, scene.session_uid
        if not objects:
            return
        shown = view_layer_of(scene)
        present = set(shown.objects)
        # what is hidden is evaluated in the scene only where something else needs it
        with bpy.context.temp_override(area=None):  # a 3D view's own filters and its local view hide nothing there
            visible = all(ob in present and ob.visible_get(view_layer=shown) for ob in objects)
        if visible and _own_handlers_alone():
            self._copy = _copied(scene, objects)

    def evaluate(self, frame: int) -> None:
        """Evaluate a frame, with the objects set aside whose bake shows something else there."""
        self.scene.frame_set(frame)

    def holds_other_bake(self, scene: bpy.types.Scene) -> bool:
        """Whether anything that is evaluated carries a bake that is not the scene's own."""
        own = {ob.name_full for ob in earlier.baked_objects(scene)}
        return any(ob.name_full not in own for ob in _baked_in(self._depsgraph))

    def shows_the_same(self, objects: list[bpy.types.Object]) -> bool:
        """Whether the frame that is evaluated is what the scene itself would show without its bake."""
        return _shows_the_same(self.scene, objects, self._depsgraph)

    @property
    def _depsgraph(self):
        return self.scene.view_layers[0].depsgraph

    def __enter__(self) -> "FrameAside":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        return self._copy is not None

    @property
    def scene(self) -> bpy.types.Scene:
        """The copy."""
        return bpy.data.scenes[self._copy]

    def is_there(self) -> bool:
        """Whether the copy and its scene still are: a script may remove anything between two steps."""
        scene = bpy.data.scenes.get(self._of[0])
        of_scene = scene is not None and scene.session_uid == self._of[1] and scene.rigidbody_world is not None
        return of_scene and _own_scene(self._copy) is not None

    def close(self) -> None:
        """Remove the copy."""
        name, self._copy = self._copy, None
        _remove(name)


def _own_handlers_alone() -> bool:
    """Whether no other add-on's handler is told of frames: it may move things, and ask for what the window shows."""
    handlers = [*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post]
    return all(map(blender_world.is_own_handler, handlers))


def _own_scene(name):
    """The copy of a name, or None: another file may have been opened, which has none of ours."""
    copy = bpy.data.scenes.get(name) if name is not None else None
    return copy if copy is not None and copy.is_runtime_data else None


def _remove(name):
    copy = _own_scene(name)
    if copy is not None:
        bpy.data.scenes.remove(copy)


def _keys_read(export):
    """Names and libraries of the objects that are read in each frame."""
    for body in export.bodies:
        if is_sampled(body):
            yield body.object_name, body.library
            yield from ((part.object_name, part.library) for part in body.growing_parts)
    for joint in export.joints:
        if joint.is_sampled:
            yield joint.object_name, joint.library
    yield from export.volumes
    if export.follow_changes:
        yield from ((body.object_name, body.library) for body in export.bodies if body.is_guided)
    if export.forces_change:
        yield from ((body.object_name, body.library) for body in export.bodies if body.moves)
    if any(field.is_sampled for field in export.fields):
        yield from ((field.object_name, field.library) for field in export.fields)


def _copied(scene, objects) -> str:
    """Make a copy of a scene that holds some objects alone, and no simulation; its name."""
    copy = scene.copy()
    copy.name = _NAME
    copy.is_runtime_data = True
    for layer in list(copy.view_layers)[1:]:
        copy.view_layers.remove(layer)
    for child in list(copy.collection.children):
        copy.collection.children.unlink(child)
    for ob in list(copy.collection.objects):
        copy.collection.objects.unlink(ob)
    world = copy.rigidbody_world
    world.enabled = False
    if hasattr(copy, "cairn"):
        copy.cairn.world_waits = False
    world.collection = world.constraints = None
    for ob in objects:
        copy.collection.objects.link(ob)
    return copy.name


def _graph(copy, frame):
    copy.frame_set(frame)
    return copy.view_layers[0].depsgraph


def _baked_in(depsgraph) -> list:
    """Objects that carry a bake of all that is evaluated."""
    originals = [evaluated.original for evaluated in depsgraph.ids]
    return [one for one in originals if isinstance(one, bpy.types.Object) and one.cairn.is_baked]


def _shows_the_same(copy, objects, depsgraph) -> bool:
    """Whether the copy gives what the scene itself would; looks at all that is evaluated for the objects."""
    # hidden ones are not evaluated
    if not all(ob.evaluated_get(depsgraph).is_evaluated for ob in objects):
        return False
    return all(evaluated.original == copy or _is_free(evaluated) for evaluated in depsgraph.ids) and not _asks_code(
        copy
    )


def _is_free(data) -> bool:
    """Whether an evaluated data-block depends on its frame and others alone, not on the scene that it is in."""
    if isinstance(data, bpy.types.Scene):  # a driver asks it
        return False
    if isinstance(data, bpy.types.GeometryNodeTree) and any(node.bl_idname == _SIMULATION_NODE for node in data.nodes):
        return False
    # a metaball's surface is that of all its kind in the scene
    if isinstance(data, bpy.types.Object) and (
        data.type == "META" or any(modifier.type in _REMEMBERING for modifier in data.modifiers)
    ):
        return False
    return not _asks_code(data)


def _asks_code(data) -> bool:
    """Whether a driver runs Python, which may ask for anything, or asks for the scene in view."""
    animation = getattr(data, "animation_data", None)
    if animation is None:
        return False
    drivers = [curve.driver for curve in animation.drivers]
    return any(
        (driver.type == "SCRIPTED" and not driver.is_simple_expression)
        or any(variable.type == "CONTEXT_PROP" for variable in driver.variables)
        for driver in drivers
    )
