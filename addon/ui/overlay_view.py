"""The overlay of the 3D view: when it is drawn, of what, and when a scene is read for it.

Without a checkbox that is on there is no handler. Scenes are read by a timer, some objects a step, once the scene's
digest differs from that of the last reading; large ones where a button says so. What a frame shows is made once.
"""

import contextlib
import itertools
import time

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..read.faults import SceneError
from ..read.object_keys import key_of
from ..read.scene_digest import changes
from ..sight import known_scenes, overlay_arrays, shape_surfaces
from ..write import contact_points
from . import operators, watch

# Scenes of more bodies are read where the button says so.
MOST_BODIES = 1000
# A reading works in slices of so long, with so much time between them for the window [s].
SLICE, PAUSE = 0.02, 0.01
# How opaque the faces of shapes are, and what is at rest.
ALPHA, REST_COLOUR = 0.35, (0.3, 0.3, 0.32, 1.0)

_handlers: list = []
# What is drawn, by what it was made of.
_drawn: dict = {}
# What the present drawing has made; and what is made once for many drawings, whose pace it does not tell.
_made: set = set()
_ONCE = {"shapes on card", "scale", "identity"}
# The reading that goes on: (scene's name, digest, steps); and what the last one has said, by scene.
_reading: list = []
_numbers = itertools.count()
_said: dict = {}
# The last digest of each scene, as the watch has found it.
_digests: dict = {}
# What drawing leaves out where it takes longer than a frame at 24 a second: all but a share of the arrows, and faces of
# shapes. It is measured a few times after each change of what is drawn, since that waits for the card.
FRAME, CHECKS, LEAST_SHARE = 1.0 / 24.0, 4, 1.0 / 8.0
_pace = {"share": 1.0, "checks": CHECKS, "last": 0.0}
# What was left out of the last drawing, for the panel; and how long drawing took [s].
left_out: dict = {}
timing = {"drawings": 0, "seconds": 0.0, "made": 0.0}


def refresh() -> None:
    """Have handlers where a scene's overlay is on, and none where it is not."""
    wanted = any(scene.cairn.overlay.is_on for scene in bpy.data.scenes)
    if wanted and not _handlers:
        _handlers.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))
        watch.listeners.append(_note_digest)
    elif not wanted:
        _remove()
    _pace.update(share=1.0, checks=CHECKS, last=0.0)
    if wanted:
        watch.look_soon()
    redraw()


def _remove():
    while _handlers:
        bpy.types.SpaceView3D.draw_handler_remove(_handlers.pop(), "WINDOW")
    if _note_digest in watch.listeners:
        watch.listeners.remove(_note_digest)
    _stop_reading()
    _drawn.clear()
    left_out.clear()


def redraw() -> None:
    """Draw the 3D views of all windows anew."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


# Reading


def needs_model(overlay) -> bool:
    """Whether what is on cannot be drawn without reading the scene."""
    return overlay.shapes or overlay.joints or overlay.centres or overlay.at_rest


def is_stale(scene) -> bool:
    """Whether a scene has changed since it was read, or was not read."""
    known, digest = known_scenes.scene_named(scene.name), _digests.get(scene.name)
    return known is None or (digest is not None and bool(changes(known.digest, digest)))


def what_is_said(scene) -> str:
    """Why a scene could not be read; empty if it could."""
    return _said.get(scene.name, "")


def is_large(scene) -> bool:
    """Whether a scene is read only where somebody asks for it."""
    bodies = operators.scene_bodies(scene)
    return bodies is not None and len(bodies.all_objects) > MOST_BODIES


def _note_digest(scene_name, digest):
    """The watch has looked at a scene."""
    scene = bpy.data.scenes[scene_name]
    _digests[scene_name] = digest
    if needs_model(scene.cairn.overlay) and is_stale(scene) and not is_large(scene):
        read_soon(scene_name)


def read_soon(scene_name) -> None:
    """Have a scene read by the timer."""
    _stop_reading()
    _reading.append([scene_name, _digests.get(scene_name, {}), None])
    bpy.app.timers.register(_read_on, first_interval=PAUSE)


def _stop_reading():
    if bpy.app.timers.is_registered(_read_on):
        bpy.app.timers.unregister(_read_on)
    if _reading:
        steps = _reading.pop()[2]
        if steps is not None:
            steps.close()


def _read_on():
    """Read for a slice of time; the timer comes back until all is read."""
    if not _reading:
        return None
    if not watch.is_idle(bpy.context.window_manager):
        return watch.PAUSE
    name, digest, steps = _reading[0]
    scene = bpy.data.scenes.get(name)
    if scene is None:
        _reading.clear()
        return None
    if steps is None:
        steps = _reading[0][2] = reading_steps(name)
    end = time.perf_counter() + SLICE
    try:
        while time.perf_counter() < end:
            next(steps)
    except StopIteration as done:
        _reading.clear()
        known_scenes.remember_scene(name, known_scenes.KnownScene.of(done.value, digest))
        _said.pop(name, None)
    except (SceneError, ReferenceError, KeyError) as error:
        _reading.clear()
        _said[name] = str(error)
    else:
        return PAUSE
    _drawn.clear()
    redraw()
    operators.redraw(bpy.context)
    return None


def reading_steps(scene_name):
    """Read a scene, as a generator that returns the SceneExport."""
    from ..read.scene_export import export_steps

    scene = bpy.data.scenes[scene_name]
    return export_steps(scene, frame_start=None, frame_end=None, for_bake=False)


# Drawing


def _draw():
    """The handler. What goes wrong takes it away, so that it is said once."""
    scene, space = bpy.context.scene, bpy.context.space_data
    if operators.running is not None or not scene.cairn.overlay.is_on or not space.overlay.show_overlays:
        return
    if _pace["checks"] > 0:
        _finish()  # what Blender has drawn before
    start = time.perf_counter()
    try:
        _draw_overlay(scene, bpy.context.region_data)
    except Exception as error:
        import traceback

        traceback.print_exception(error)
        _remove()
        return
    if _pace["checks"] > 0 and _made.isdisjoint(_ONCE):
        _keep_pace(start)
    _made.clear()
    timing["drawings"] += 1
    timing["seconds"] += time.perf_counter() - start


def _finish():
    from ..sight import drawing

    drawing.finish()


def _keep_pace(start):
    """Leave out more where two drawings, one after the other, have taken too long."""
    _finish()
    took, before = time.perf_counter() - start, _pace["last"]
    _pace["last"] = took
    if min(took, before) > FRAME and _pace["share"] > LEAST_SHARE:
        _pace.update(share=0.5 * _pace["share"], checks=CHECKS, last=0.0)
        redraw()
        operators.redraw(bpy.context)
    else:
        _pace["checks"] -= 1


def _draw_overlay(scene, region_data):
    import gpu

    from ..sight import drawing

    overlay = scene.cairn.overlay
    known = known_scenes.scene_named(scene.name)
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    if known is not None and needs_model(overlay):
        poses = _poses(scene, known)
        resting = _resting(scene, known) if overlay.at_rest else None
        if overlay.shapes or resting is not None:
            surface = _once("shapes", known.number, lambda: shape_surfaces.surface_of(known.model))
            left_out["boxed"] = surface.boxed
            place = _once("poses on card", poses[2], lambda: drawing.poses_on_card(*poses[:2]))
            if overlay.shapes:
                on_card = _once("shapes on card", known.number, lambda: drawing.Drawn(surface))
                left_out["faces"] = _pace["share"] < 1.0
                on_card.draw(place, region_data, alpha=ALPHA, lift=1.0, faces=not left_out["faces"])
            if resting is not None:
                key = known.number, scene.frame_current
                part = _once("at rest", key, lambda: drawing.Drawn(_part_of(surface, resting)))
                part.draw(place, region_data, alpha=2.0 * ALPHA, lift=2.0)
        lines = lambda: _of_model(overlay, known, poses)  # noqa: E731
        _draw_made("of model", _model_key(overlay, known, poses), region_data, overlay, lines)
    bake = bake_of(scene)
    if bake is not None and bake.arrays and (overlay.contacts or overlay.joints):
        key = bake.mark, scene.frame_current, overlay.contacts, overlay.joints, overlay.arrow_length, _pace["share"]
        _draw_made("of bake", key, region_data, overlay, lambda: _of_bake(scene, overlay, bake, known))
    drawing.restore_state()


def _draw_made(what, key, region_data, overlay, make):
    """Draw in world axes what is made once for a key."""
    import gpu

    from ..sight import drawing

    surface = _once(what, key, make)
    if surface is None or not len(surface.place):
        return
    on_card = _once((what, "card"), key, lambda: drawing.Drawn(surface))
    pose = _once("identity", 0, drawing.identity_pose)
    gpu.state.depth_test_set("NONE" if overlay.in_front else "LESS_EQUAL")
    on_card.draw(pose, region_data, edge_shade=1.0)


def _once(what, key, make):
    found = _drawn.get(what)
    if found is None or found[0] != key:
        start = time.perf_counter()
        found = _drawn[what] = key, make()
        timing["made"] = time.perf_counter() - start
        _made.add(what)
        if what in _ONCE or what == "of bake":
            _pace["checks"] = CHECKS
    return found[1]


def _poses(scene, known):
    """Poses of the body frames where the objects are now and a number, another one where one has moved."""
    objects = scene.objects
    matrices = np.empty(16 * len(objects), np.float32)
    objects.foreach_get("matrix_world", matrices)

    def make():
        rows = {key_of(ob): row for row, ob in enumerate(objects)}
        state = known.model.initial_state
        start = known.model.user_poses(state.position, state.orientation)
        user = known_scenes.poses_of(known.objects, matrices.reshape(-1, 4, 4), rows, start)
        return *known.model.body_poses(*user), next(_numbers)

    return _once("poses", (known.number, matrices.tobytes()), make)


def _resting(scene, known):
    """Which bodies do not move in the frame, bool [body_count]; None where that is not known."""
    bake, frame = bake_of(scene), scene.frame_current - scene.cairn.baked_start - 1
    if bake is None or bake.at_rest is None or not 0 <= frame < len(bake.at_rest):
        return None
    return bake.at_rest[frame] if bake.at_rest.shape[1] == known.model.body_count else None


def _part_of(surface, chosen):
    """The surface of some bodies, in the colour of what rests."""
    of_vertex = chosen[surface.place[:, 3].astype(int)]
    return surface._replace(
        colour=np.tile(np.float32(REST_COLOUR), (len(surface.colour), 1)),
        triangles=surface.triangles[of_vertex[surface.triangles[:, 0]]],
        edges=surface.edges[of_vertex[surface.edges[:, 0]]],
    )


def _model_key(overlay, known, poses):
    if not (overlay.joints or overlay.centres):
        return None
    return known.number, overlay.joints, overlay.centres, poses[2]


def _of_model(overlay, known, poses):
    """Joints and centres, as one surface."""
    model, parts = known.model, []
    moves = np.asarray(model.initial_state.kind) != 0
    if overlay.joints and model.joint_count:
        parts.append(overlay_arrays.joint_lines(model.arrays.joints, *poses[:2]))
    if overlay.centres:
        parts.append(overlay_arrays.crosses(poses[0][moves], 0.5 * model.arrays.size[moves]))
    return overlay_arrays.joined(parts) if parts else None


def _of_bake(scene, overlay, bake, known):
    """Contacts of the frame, and what joints have borne in it."""
    arrays, parts = bake.arrays, []
    size = _size(arrays, known)
    scale = overlay.arrow_length * _scale(bake, size)
    if overlay.contacts:
        rows = known_scenes.contacts_at(arrays, scene.frame_current)
        impulse = arrays["impulse"][rows].astype(float)
        # an arrow shows what pushes a body that moves
        of_first = ~bake.moves[arrays["body_b"][rows]] & bake.moves[arrays["body_a"][rows]]
        impulse[of_first] *= -1.0
        colours = overlay_arrays.slip_colours(arrays["slip"][rows].astype(float))
        surface, left_out["contacts"] = overlay_arrays.arrows(
            *(arrays["position"][rows], impulse, colours, scale, max(overlay.arrow_length, 1.0) * size),
            most=int(overlay_arrays.MOST_ARROWS * _pace["share"]),
        )
        left_out["shown"] = overlay_arrays.arrow_count(surface)
        parts.append(surface)
    if overlay.joints and known is not None and len(arrays.get("joint_impulse", ())):
        frame = scene.frame_current - int(arrays["frame_start"]) - 1
        model = known.model
        if 0 <= frame < len(arrays["joint_impulse"]) and model.joint_count == arrays["joint_impulse"].shape[1]:
            _, (place, _) = overlay_arrays.joint_frames(model.arrays.joints, *_poses(scene, known)[:2])
            colours = np.tile(overlay_arrays.LOAD_COLOUR, (model.joint_count, 1))
            parts.append(overlay_arrays.arrows(place, arrays["joint_impulse"][frame], colours, scale, size)[0])
    return overlay_arrays.joined(parts) if parts else None


def _size(arrays, known):
    """A length of the bodies that move, which arrows compare with [m]."""
    if known is not None:
        moves = np.asarray(known.model.initial_state.kind) != 0
        if moves.any():
            return float(np.median(known.model.arrays.size[moves]))
    names = [name for name in arrays["names"].tolist() if name in bpy.data.objects]
    sizes = [max(bpy.data.objects[name].dimensions) for name in names if _is_active(bpy.data.objects[name])]
    return float(np.median(sizes)) if sizes else 1.0


def _scale(bake, size):
    return _once("scale", (bake.mark, size), lambda: overlay_arrays.metres_per_impulse(bake.arrays["impulse"], size))


def _is_active(ob):
    return ob.rigid_body is not None and ob.rigid_body.type == "ACTIVE"


def bake_of(scene) -> known_scenes.KnownBake | None:
    """What is known of a scene's bake: of this session, or from the points that the file has; None if nothing is."""
    if not scene.cairn.is_baked:
        return None
    mark = scene.cairn.report
    known = known_scenes.bake_of(scene.name, mark)
    if known is None:
        points = contact_points.points_of(scene)
        if points is None or not len(points.data.vertices):
            return None
        arrays = contact_points.arrays_of(points)
        moves = np.array([name in bpy.data.objects and _is_active(bpy.data.objects[name]) for name in arrays["names"]])
        known = known_scenes.KnownBake(mark, arrays, moves, None)
        known_scenes.remember_bake(scene.name, known)
    return known


# Files, undo


@persistent
def _after_change(*_):
    """Another file, or a step of undo: what is on may be another thing, and objects are others."""
    _drawn.clear()
    refresh()


@persistent
def _after_loading(*_):
    known_scenes.forget()
    _digests.clear()
    _said.clear()
    _stop_reading()
    _after_change()


HANDLERS = (("load_post", _after_loading), ("redo_post", _after_change), ("undo_post", _after_change))


def register():
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).append(handler)
    with contextlib.suppress(AttributeError):  # Blender restricts its data while it starts
        refresh()


def unregister():
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).remove(handler)
    _remove()
    _digests.clear()
    _said.clear()
    known_scenes.forget()
    if bpy.app.background:
        return
    from ..sight import drawing

    drawing.forget_shader()
