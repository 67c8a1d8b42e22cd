"""A ragdoll that follows motion capture of a person who jumps (``data/README.md``): how near, and how fast."""

import time
from pathlib import Path

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon import ragdoll
from cairn.addon.bake import bake_scene
from cairn.addon.checkpoints import running
from cairn.addon.read.frame_samples import simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.write import attach

CAPTURED = Path(__file__).resolve().parent / "data" / "jumping_jacks.bvh"
UNIT, LAST = 0.0564444, 56
# It stands, jumps up with arms and legs apart, lands, and jumps back.
LET_GO = [pytest.param(12, marks=pytest.mark.nightly), 28, pytest.param(44, marks=pytest.mark.nightly)]


@pytest.fixture
def doll(request):
    """The bodies, and where their bones are at each frame [frames, bodies, 4, 4]; the rig may be scaled."""
    cairn.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    cairn.register()
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    bpy.ops.import_anim.bvh(filepath=str(CAPTURED), global_scale=UNIT, update_scene_fps=True)
    rig = bpy.context.object
    rig.scale = 3 * (getattr(request, "param", 1.0),)
    bpy.context.view_layer.update()
    bodies, _ = ragdoll.make_ragdoll(scene, rig)
    scene.rigidbody_world.point_cache.frame_end = LAST
    with simulation_paused(scene):
        wanted = shown(rig, [body.name for body in bodies])
    return bodies, wanted


def shown(rig, names):
    """Matrices of bones in the world [frames, bones, 4, 4]."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(evaluated.matrix_world @ evaluated.pose.bones[name].matrix) for name in names])
    return np.array(found)


def poses_of(bodies):
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        found.append([np.array(body.evaluated_get(graph).matrix_world) for body in bodies])
    return np.array(found)


def bake():
    result = bake_scene(bpy.context.scene, BakeSettings())
    assert result.error is None
    return result


def test_it_is_a_whole_figure(doll):
    """The short bone of the chest, on which neck and arms hang, has a body; neighbours that overlap pass each other."""
    bodies, _ = doll
    names = {body.name for body in bodies}
    assert {"Hips", "Chest2", "LeftToe", "RightWrist"} <= names
    joined = [ob.rigid_body_constraint for ob in bpy.context.scene.rigidbody_world.constraints.objects]
    chest = bpy.data.objects["Chest2"]
    assert {one.object2.name for one in joined if one.object1 == chest and one.enabled} == {
        "LowerNeck",
        "LeftShoulder",
        "RightShoulder",
    }
    assert all(one.disable_collisions for one in joined)
    assert [1 for one in joined if not one.enabled]


@pytest.mark.parametrize("doll", [1.0, pytest.param(2.0, marks=pytest.mark.nightly)], indirect=True)
def test_at_follow_1_it_is_within_2_percent_of_each_body_s_size(doll):
    """The smallest one has 6 cm: got is 0.3 % of it. Heads and tails of bones, so turns count, too."""
    bodies, wanted = doll
    bake()
    found, sizes = poses_of(bodies), np.array([max(body.dimensions) for body in bodies])
    lengths = np.array([bpy.data.armatures[0].bones[body.name].length for body in bodies])[
        :, None
    ]  # axes have the scale
    for share in (0.0, 1.0):
        places = [poses[..., :3, 3] + share * lengths * poses[..., :3, 1] for poses in (found, wanted)]
        off = np.linalg.norm(places[0] - places[1], axis=2) / sizes
        worst = np.unravel_index(np.argmax(off), off.shape)
        assert off.max() <= 0.02, (bodies[worst[1]].name, worst[0] + 1)


@pytest.mark.parametrize("frame", LET_GO)
def test_let_go_it_has_the_velocity_of_its_keys(doll, frame, monkeypatch):
    """Of the figure's centre within 1 %, and of the middle one of its bodies.

    What a body of a few centimetres does at a landing lies between two frames and is not told by them.
    """
    bodies, wanted = doll
    seen = []
    note_frame = running.BakeCheckpoints.note_frame

    def note(self, simulation, trajectory):
        seen.append(simulation.velocities().copy())
        return note_frame(self, simulation, trajectory)

    monkeypatch.setattr(running.BakeCheckpoints, "note_frame", note)
    for body in bodies:
        for at, value in ((frame - 1, 1.0), (frame, 0.0)):
            body.cairn.follow = value
            body.keyframe_insert("cairn.follow", frame=at)
    model = bake().export.model
    order = [model.names.index(body.name) for body in bodies]
    centers = np.array(
        [
            np.linalg.inv(wanted[0, row])[:3] @ (*model.initial_state.position[body], 1.0)
            for row, body in enumerate(order)
        ]
    )
    places = np.einsum("fnij,nj->fni", wanted[..., :3, :3], centers) + wanted[..., :3, 3]
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    row = frame - 1
    keys = rate * (8.0 * (places[row + 1] - places[row - 1]) - (places[row + 2] - places[row - 2])) / 12.0
    found = seen[frame - 2][order, :3]
    fastest = np.linalg.norm(keys, axis=1).max()
    assert fastest > 0.9
    off = np.linalg.norm(found - keys, axis=1) / fastest
    mass = np.array([body.rigid_body.mass for body in bodies])
    center = np.linalg.norm(mass @ (found - keys)) / mass.sum() / fastest
    assert center <= 0.01
    assert np.median(off) <= 0.01
    assert off.max() <= 0.05


@pytest.mark.nightly
def test_it_costs_at_most_twice_what_it_costs_to_fall(doll):
    """Processor time of whole bakes; the one that falls lands on a floor, as a figure that was let go does."""
    bodies, wanted = doll
    bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, wanted[..., 2, 3].min() - 0.12))
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    seconds = {}
    for follow in (1.0, 0.0) * 3:
        for body in bodies:
            body.cairn.follow = follow
        start = time.process_time()
        bake()
        seconds.setdefault(follow, []).append(time.process_time() - start)
        attach.delete_bake(bpy.context.scene)
    assert min(seconds[1.0]) <= 2.0 * min(seconds[0.0])


def test_a_script_that_sets_follow_is_heard(doll):
    """Blender is not told of it: what it evaluated before must not count."""
    bodies, _ = doll
    bpy.context.scene.frame_set(1)
    for value in (0.25, 0.75):
        for body in bodies:
            body.cairn.follow = value
        guides = export_scene(bpy.context.scene).model.guides
        assert guides[:, -1] == pytest.approx(value)
