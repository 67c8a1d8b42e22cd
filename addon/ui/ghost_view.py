"""Ghosts in the 3D view: bodies where another take, or Blender's own simulation, has them at the frame that is shown.

Without a ghost that is on there is no handler. Surfaces are made where a form has changed, poses for each frame.
"""

import contextlib

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..takes import book, ghosts
from ..write import attach
from . import operators
from .overlay_view import redraw

# Ghosts of takes in the order of the list (Okabe and Ito's colours, which most eyes tell apart), and of Bullet.
COLOURS = (
    (0.34, 0.71, 0.91, 1.0),
    (0.00, 0.62, 0.45, 1.0),
    (0.80, 0.47, 0.65, 1.0),
    (0.94, 0.89, 0.26, 1.0),
)
BULLET_COLOUR = (0.84, 0.37, 0.0, 1.0)
# How opaque faces are; edges are drawn as they are.
ALPHA = 0.22
# Of each ghost: larger meshes beyond stand as their boxes.
MOST_VERTICES = 400_000

_handlers: list = []
# What is drawn, by ghost: (key, made). Names and arrays, no references to Blender's data.
_places: dict = {}
_surfaces: dict = {}
_poses: dict = {}
# Meshes that stand as boxes, by ghost, for the panel.
boxed: dict = {}


def refresh() -> None:
    """Have a handler where a ghost is on, and none where there is none; ghosts may be elsewhere than before."""
    _places.clear()
    wanted = any(ghosts_of(scene) for scene in bpy.data.scenes)
    if wanted and not _handlers:
        _handlers.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))
    elif not wanted:
        _remove()
    redraw()


def ghosts_of(scene) -> list:
    """Ghosts of a scene that are on: the numbers of takes, and "" for Bullet; none of what plays."""
    found = [take.uid for take in scene.cairn.takes if take.ghost and take != book.playing(scene)]
    return [*found, ""] if scene.cairn.bullet_ghost and ghosts.bullet_of(scene) is not None else found


def colour_of(scene, uid: str):
    """The colour of a ghost."""
    if not uid:
        return BULLET_COLOUR
    place = next(place for place, take in enumerate(scene.cairn.takes) if take.uid == uid)
    return COLOURS[place % len(COLOURS)]


def matrices_of(scene, uid: str):
    """Objects of a ghost and their world matrices, columns first, at the frame that is shown."""
    frame = scene.frame_current_final
    if not uid:
        return ghosts.bullet_matrices(scene, frame)
    return ghosts.take_matrices(scene, book.take_of(scene, uid), frame)


def _remove():
    while _handlers:
        bpy.types.SpaceView3D.draw_handler_remove(_handlers.pop(), "WINDOW")
    for kept in (_places, _surfaces, _poses, boxed):
        kept.clear()


def _draw():
    """The handler. What goes wrong takes it away, so that it is said once."""
    scene, space = bpy.context.scene, bpy.context.space_data
    if operators.running is not None or not space.overlay.show_overlays:
        return
    try:
        for uid in ghosts_of(scene):
            _draw_ghost(scene, uid)
    except Exception as error:
        import traceback

        traceback.print_exception(error)
        _remove()


def _draw_ghost(scene, uid):
    import gpu

    from ..sight import drawing

    present = attach.objects_by_name(scene)
    names, matrices = _once(_places, uid, _state_of(scene), lambda: _named_matrices(scene, uid))
    if not names or any(name not in present for name in names):
        return
    objects, colour = [present[name] for name in names], colour_of(scene, uid)
    form = tuple(map(ghosts.shape_key, objects)), colour

    def make():
        graph = bpy.context.evaluated_depsgraph_get()
        surface = ghosts.surface_of(objects, graph, colour, MOST_VERTICES)
        boxed[uid] = surface.boxed
        return drawing.Drawn(surface)

    on_card = _once(_surfaces, uid, form, make)
    place = _once(_poses, uid, matrices.tobytes(), lambda: drawing.poses_on_card(*ghosts.poses_of(matrices)))
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    on_card.draw(place, bpy.context.region_data, alpha=ALPHA, edge_shade=0.8, lift=1.0)
    drawing.restore_state()


def _state_of(scene):
    """Tells whether ghosts may be elsewhere than in the drawing before: a view that turns asks for the same again."""
    matrices = np.empty(16 * len(scene.objects), np.float32)
    scene.objects.foreach_get("matrix_world", matrices)
    return scene.name, scene.frame_current_final, tuple(scene.objects.keys()), matrices.tobytes()


def _named_matrices(scene, uid):
    objects, matrices = matrices_of(scene, uid)
    return [obj.name for obj in objects], matrices


def _once(kept, what, key, make):
    if what not in kept or kept[what][0] != key:
        kept[what] = key, make()
    return kept[what][1]


@persistent
def _after_change(*_):
    """Another file, or a step of undo: objects are others, and so may be what is on."""
    for kept in (_places, _surfaces, _poses):
        kept.clear()
    refresh()


@persistent
def _after_loading(*_):
    ghosts.forget()
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
    ghosts.forget()
