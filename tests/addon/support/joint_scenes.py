"""Joints made as users make them, and the same scene moved by Blender's own simulation and by Cairn."""

import bpy
import numpy as np

from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene

TURNS = {"x": (0.0, 0.0, 0.0), "y": (0.0, 0.0, 0.5 * np.pi), "z": (0.0, -0.5 * np.pi, 0.0)}


def joint(maker, name, first, second, *, kind="POINT", extras=None, **values):
    """An empty made a rigid-body constraint by Blender's operator; values are the constraint's or the object's."""
    ob = maker.object(name)
    add_constraint(ob, kind)
    constraint = ob.rigid_body_constraint
    constraint.object1, constraint.object2 = first, second
    for key, value in values.items():
        setattr(constraint if hasattr(constraint, key) else ob, key, value)
    for key, value in (extras or {}).items():
        setattr(ob.cairn.joint, key, value)
    return ob


def add_constraint(ob, kind):
    """Make an object a constraint, as the active one: Blender 5.0 crashes where the context says which one it is."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.rigidbody.constraint_add(type=kind)


def cube(maker, name="Body", **values):
    """A cube of side 1 and 1 kg that nothing damps and that never sleeps; values are the object's or the body's."""
    ob = maker.body(name, shape="BOX")
    settings = ob.rigid_body
    settings.linear_damping = settings.angular_damping = 0.0
    settings.use_deactivation = False
    for key, value in values.items():
        setattr(settings if hasattr(settings, key) and key != "type" else ob if key != "type" else settings, key, value)
    return ob


def bullet_matrices(scene, names, frames):
    """World matrices by Blender's own simulation [frames + 1, object, 4, 4], from frame 1 on."""
    matrices = []
    for frame in range(1, frames + 2):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        matrices.append([np.array(scene.objects[name].evaluated_get(graph).matrix_world) for name in names])
    return np.array(matrices)


def cairn_run(scene, frames, **options):
    """Cairn's simulation of the scene: its export, the trajectory, from frame 1 on."""
    from cairn.solver_core import Simulation, SimulationOptions, Trajectory

    export = export_scene(scene, frame_start=1, frame_end=frames + 1)
    simulation = Simulation(export.model, SimulationOptions(**{"frame_rate": export.frame_rate, **options}))
    trajectory = Trajectory(*simulation.poses())
    with simulation_paused(scene):
        for frame in range(2, frames + 2):
            sample = sample_frame(scene, export, frame) if export.samples_needed else export.default_sample
            trajectory.append(*_advance(simulation, sample))
    return export, trajectory


def _advance(simulation, sample):
    report = simulation.advance_frame(sample.frame_input)
    return *simulation.poses(), report


def cairn_matrices(scene, names, frames, **options):
    """World matrices by Cairn, as ``bullet_matrices`` has them, without scale."""
    from cairn.solver_core.geometry import rotations

    export, trajectory = cairn_run(scene, frames, **options)
    rows = [export.model.names.index(name) for name in names]
    matrices = np.zeros((frames + 1, len(names), 4, 4))
    matrices[:, :, :3, :3] = rotations.matrix(trajectory.orientation[:, rows])
    matrices[:, :, :3, 3] = trajectory.position[:, rows]
    matrices[:, :, 3, 3] = 1.0
    return matrices


def turn_about(matrices, axis):
    """Angle about an axis since the start, of turns about it alone [frames + 1]."""
    first, second = (("xyz".index(axis) + 1) % 3, ("xyz".index(axis) + 2) % 3)
    relative = np.einsum("ji,fjk->fik", matrices[0, :3, :3], matrices[:, :3, :3])
    return np.unwrap(np.arctan2(relative[:, second, first], relative[:, first, first]))
