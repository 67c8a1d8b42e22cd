"""Ghosts stand where the bodies of a take would be if it played, and have the form of the objects."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from tumbling import Tumble, add_body, add_empty, key, new_scene

from cairn.addon.takes import book, ghosts, steps
from cairn.addon.ui import ghost_view
from cairn.addon.write import attach
from cairn.addon.write.channels import quaternion_matrices


@pytest.fixture
def scene():
    return new_scene()


def kept_take(scene, speed):
    scene.frame_set(1)
    Tumble(scene, 20, speed=speed).write(scene)
    return steps.finished(steps.keep_steps(scene.name))


@pytest.fixture
def two_takes(scene):
    """Two takes of bodies in all rotation modes, with deltas, scale, a mirror, and parents of three kinds."""
    parent = add_body(scene, "Parent", mode="QUATERNION", scale=(1.5, 1.5, 1.5))
    parent.delta_location, parent.delta_rotation_quaternion = (0.5, 0, 0), (0.9, 0.1, 0.3, 0.2)
    child = add_body(scene, "Child", location=(3, 0, 0), mode="AXIS_ANGLE")
    child.parent, child.matrix_parent_inverse = parent, Matrix.Translation((0.1, 0.2, 0.3))
    plain = add_body(scene, "Plain", location=(0, 5, 1), mode="ZYX", scale=(1, 1, -1))
    plain.delta_rotation_euler, plain.delta_scale = (0.2, 0.1, 0.4), (2, 1, 1)
    carrier = add_empty(scene, "Carrier")
    key(carrier, "location", {1: (0, 0, 0), 20: (0, 0, 3)})
    add_body(scene, "Carried").parent = carrier
    return scene, [kept_take(scene, 0.3), kept_take(scene, 0.1)]


@pytest.mark.parametrize("frame", [1, 7, 7.5, 20])
def test_a_ghost_is_where_its_take_would_be(two_takes, frame):
    scene, (first, second) = two_takes
    steps.finished(steps.use_steps(scene.name, first))
    scene.frame_set(int(frame), subframe=frame % 1)
    objects, _ = ghosts.take_matrices(scene, book.take_of(scene, first), frame)
    wanted = {obj.name: np.array(obj.matrix_world) for obj in objects}
    steps.finished(steps.use_steps(scene.name, second))
    scene.frame_set(int(frame), subframe=frame % 1)
    objects, matrices = ghosts.take_matrices(scene, book.take_of(scene, first), frame)
    assert {obj.name for obj in objects} == {"Parent", "Child", "Plain", "Carried"}
    for obj, matrix in zip(objects, matrices, strict=True):
        assert pytest.approx(wanted[obj.name], abs=1e-4) == matrix.T, obj.name
    differ = [np.abs(np.array(obj.matrix_world) - wanted[obj.name]).max() for obj in objects]
    assert frame == 1 or max(differ) > 0.1


def test_surfaces_at_their_poses_are_the_meshes_as_they_are_seen(two_takes):
    scene, (first, _) = two_takes
    scene.frame_set(9)
    objects, _ = ghosts.take_matrices(scene, book.take_of(scene, first), 9)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = np.array([np.array(obj.matrix_world).T for obj in objects])
    surface = ghosts.surface_of(objects, graph, (1, 0, 0, 1), 10_000)
    position, orientation = ghosts.poses_of(shown)
    body = surface.place[:, 3].astype(int)
    turned = np.einsum("vij,vj->vi", quaternion_matrices(orientation)[body], surface.place[:, :3].astype(float))
    drawn = turned + position[body]
    for number, obj in enumerate(objects):
        wanted = [obj.matrix_world @ vertex.co for vertex in obj.data.vertices]
        assert drawn[body == number] == pytest.approx(np.array(wanted), abs=1e-4), obj.name
    assert surface.boxed == 0
    assert surface.colour.shape == (len(surface.place), 4)


def test_edges_tell_the_form_and_large_meshes_stand_as_boxes(scene):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4)
    grid = bpy.context.object
    cube = add_body(scene, "Cube")
    empty = add_empty(scene, "Empty")
    graph = bpy.context.evaluated_depsgraph_get()
    assert len(ghosts.surface_of([cube], graph, (1, 1, 1, 1), 100).edges) == 12
    flat = ghosts.surface_of([grid], graph, (1, 1, 1, 1), 100)
    assert len(flat.edges) == 16  # the rim
    assert len(flat.triangles) == 32
    both = ghosts.surface_of([cube, grid, empty], graph, (1, 1, 1, 1), 20)
    assert both.boxed == 1
    assert len(both.place) == 24
    assert both.place[:, 3].tolist() == [0.0] * 8 + [1.0] * 8 + [2.0] * 8
    assert both.edges.max() == 23


def test_what_plays_has_no_ghost(two_takes):
    scene, (first, second) = two_takes
    for take in scene.cairn.takes:
        take.ghost = True
    scene.cairn.bullet_ghost = True  # which nobody has seen
    assert ghost_view.ghosts_of(scene) == [first]
    attach.delete_bake(scene)
    assert ghost_view.ghosts_of(scene) == [first, second]
    ghosts.note_bullet(scene, ["Plain"], 1, np.tile(np.eye(4, dtype=np.float32), (3, 1, 1, 1)))
    assert ghost_view.ghosts_of(scene) == [first, second, ""]
    assert [obj.name for obj in ghost_view.matrices_of(scene, "")[0]] == ["Plain"]
    assert len({ghost_view.colour_of(scene, uid) for uid in (first, second, "")}) == 3
    assert len(ghost_view._handlers) == 1
    for take in scene.cairn.takes:
        take.ghost = False
    scene.cairn.bullet_ghost = False
    assert ghost_view._handlers == []


def test_a_view_that_turns_asks_for_no_pose_again(two_takes):
    """But a frame, a parent that is moved by hand, and another simulation by Bullet do."""
    scene, _ = two_takes
    asked = []
    draw = lambda: ghost_view._once(ghost_view._places, "x", ghost_view._state_of(scene), lambda: asked.append(1))  # noqa: E731
    draw()
    draw()
    assert len(asked) == 1
    scene.frame_set(8)
    draw()
    draw()
    assert len(asked) == 2
    scene.objects["Parent"].delta_location.x += 1.0
    bpy.context.view_layer.update()
    draw()
    assert len(asked) == 3
    ghost_view.refresh()
    draw()
    assert len(asked) == 4
