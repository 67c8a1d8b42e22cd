"""Force fields beside Blender's own particle of the same mass in the same file: the same path for two seconds."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.read.scene_export import export_scene
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

FRAMES = 49
CASES = {
    "force": ("FORCE", (0, 1, 0), {"strength": -3.0, "falloff_power": 1.0}),
    "gravitation": ("FORCE", (0, 2, 0), {"strength": -3.0, "use_gravity_falloff": True}),
    "wind": ("WIND", (0, 1, 0), {"strength": 2.0, "flow": 0.5}),
    "wind in a tube": (
        "WIND", (0, 0, 0), {"strength": 4.0, "falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 2.0}
    ),
    "wind in a cone": ("WIND", (0, 0, 0), {"strength": 40.0, "falloff_type": "CONE", "radial_falloff": 1.0}),
    "vortex": ("VORTEX", (0, 0, 0), {"strength": 1.0}),
    "vortex that draws in": ("VORTEX", (0, 0, 0), {"strength": 0.8, "shape": "PLANE"}),
    "harmonic": ("HARMONIC", (0, 1, 0), {"strength": 9.0, "harmonic_damping": 0.0}),
    "harmonic with a length": ("HARMONIC", (0, 1, 0), {"strength": 9.0, "harmonic_damping": 0.2, "rest_length": 0.3}),
    "drag": ("DRAG", (2, 1, 0), {"linear_drag": 0.3, "quadratic_drag": 0.4}),
    "magnetic": ("MAGNET", (2, 1, 1), {"strength": 2.0}),
    "magnetic plane": ("MAGNET", (2, 1, 1), {"strength": 2.0, "shape": "PLANE"}),
}  # fmt: skip


def scene_with(kind, velocity, settings):
    """A field, a particle of half a kilogram, and beside it a ball of a hundredth of a metre of the same mass."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    cairn.register()
    scene, start = bpy.context.scene, (1.0, 0.0, 0.5)
    scene.frame_start, scene.frame_end, scene.use_gravity = 1, FRAMES, kind == "DRAG"
    mesh = bpy.data.meshes.new("Dot")
    mesh.from_pydata([start], [], [])
    emitter = bpy.data.objects.new("Emitter", mesh)
    scene.collection.objects.link(emitter)
    bpy.context.view_layer.objects.active = emitter
    bpy.ops.object.particle_system_add()
    particles = emitter.particle_systems[0].settings
    particles.count, particles.frame_start, particles.frame_end, particles.lifetime = 1, 1, 1, 1000
    particles.emit_from, particles.normal_factor, particles.object_align_factor = "VERT", 0.0, velocity
    particles.mass, particles.timestep, particles.subframes, particles.integrator = 0.5, 1.0 / 24.0, 20, "RK4"
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.01, location=start)
    ball = bpy.context.object
    bpy.ops.rigidbody.object_add()
    body = ball.rigid_body
    body.mass, body.linear_damping, body.angular_damping, body.collision_shape = 0.5, 0.0, 0.0, "SPHERE"
    ball.cairn.start_velocity = velocity
    scene.rigidbody_world.point_cache.frame_end = FRAMES
    bpy.ops.object.effector_add(type=kind)
    for name, value in settings.items():
        setattr(bpy.context.object.field, name, value)
    return scene, emitter


def path_of_particle(scene, emitter):
    found = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        evaluated = emitter.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(tuple(evaluated.particle_systems[0].particles[0].location))
    return np.array(found)


def path_of_body(scene):
    export = export_scene(scene)
    simulation = Simulation(export.model, SimulationOptions())
    found = [simulation.poses()[0][0]]
    for _ in range(FRAMES - 1):
        simulation.advance_frame(export.default_sample.frame_input)
        found.append(simulation.poses()[0][0])
    return np.array(found)


@pytest.mark.parametrize("name", CASES)
def test_a_small_ball_goes_as_blenders_particle(name):
    """Within 1 % of the way for two seconds; measured are 0.01 %."""
    scene, emitter = scene_with(*CASES[name])
    theirs, own = path_of_particle(scene, emitter), path_of_body(scene)
    way = np.linalg.norm(np.diff(theirs, axis=0), axis=1).sum()
    assert way > 0.5
    assert np.linalg.norm(own - theirs, axis=1).max() < 1e-3 * way
