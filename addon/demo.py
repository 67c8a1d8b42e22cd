"""Ready-made scenes as Blender scenes: objects with Blender's own rigid bodies, baked like any user's, and pictures."""

import math
from dataclasses import replace
from pathlib import Path

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ..solver_core.geometry import rotations
from ..solver_core.geometry.decomposition import coacd_version
from ..solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from ..solver_core.geometry.shapes import Box, Sphere
from ..solver_core.geometry.triangle_mesh import TriangleMesh
from ..solver_core.model.compound import Compound
from ..solver_core.model.model import BodyKind
from .cli_output import save_blend, write_json
from .demo_joints import add_joint
from .pictures import PictureError, render_strip, telling_frames
from .runtime import coacd_command
from .write.fcurves import LINEAR

FRAME_START = 1
# Frames in which keys lead a body that starts with a velocity to its start: Blender has no start velocity.
LEAD_IN = 4
PICTURE_COUNT = 5
RESOLUTION = (640, 480)  # of each
# Width of the bevel of a box, as a share of its shortest side: without it Workbench shows no joints.
_RATIO_BEVEL = 0.06

_SKY = (0.72, 0.76, 0.82)

_COLLISION_SHAPES = {
    "Box": "BOX",
    "Sphere": "SPHERE",
    "ConvexHull": "CONVEX_HULL",
    "Capsule": "CAPSULE",
    "Cylinder": "CYLINDER",
    "Cone": "CONE",
    "TriangleMesh": "MESH",
    "Compound": "COMPOUND",
}
# Sides of the mesh of a can or cone. A multiple of 4, so that its bounding box is as wide as the round shape.
_SIDES = 48


class DemoError(Exception):
    """A demo that was baked but could not be written or rendered."""


def demo_names() -> list[str]:
    """Names that ``make_demo`` knows."""
    from ..solver_core.scenes import SCENES

    return sorted(SCENES)


def description_of(name: str):
    """The scene of that name as data, a ``solver_core.scenes.Scene``."""
    from ..solver_core.scenes import SCENES

    return SCENES[name]()


def missing_for(description) -> str:
    """What a bake of the scene lacks here, and how to get it; empty if it lacks nothing."""
    if coacd_version() is None and any(body.mesh is not None for body in description.bodies):
        return f"its concave bodies need CoACD; install it with: {coacd_command()}"
    return ""


def make_demo(name: str, folder: Path, progress):
    """Build a scene, bake it, and write ``<name>.blend``, ``.json`` and ``.png`` into ``folder``.

    Parameters
    ----------
    name : str
    folder : Path
        Is there and can be written.
    progress : cli_output.Progress

    Returns
    -------
    result : bake.BakeResult
    files : list of Path
        What was written.

    Raises
    ------
    DemoError
    """
    from .bake import bake_scene
    from .settings import BakeSettings

    description = description_of(name)
    remedy = missing_for(description)
    if remedy:
        raise DemoError(f"the demo {name} lacks something: {remedy}")
    progress.show("build", 0, 0, f"{description.title}: {len(description.bodies)} bodies")
    scene = build_scene(description)
    result = bake_scene(scene, BakeSettings.from_scene(scene), progress)
    if result.stopped:
        return result, []
    blend, report, picture = (folder / f"{name}.{ending}" for ending in ("blend", "json", "png"))
    scene.frame_set(FRAME_START)
    try:
        save_blend(blend)
        write_json(report, result.report | {"scene": str(blend)})
        frames = telling_frames(result.trajectory.position, PICTURE_COUNT)
        render_strip(scene, [FRAME_START + frame for frame in frames], picture, progress)
    except (OSError, PictureError) as error:
        raise DemoError(f"the demo was baked, but {error}") from error
    return result, [blend, report, picture]


def build_scene(description):
    """A new file with one scene that is the description, as an animator would have set it up.

    Parameters
    ----------
    description : solver_core.scenes.Scene

    Returns
    -------
    bpy.types.Scene
    """
    # Unlike the factory settings, the start-up file leaves add-ons switched on.
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.name = description.title
    fill_scene(scene, description)
    return scene


def fill_scene(scene, description):
    """Make an empty scene, of any file, the one that is described: a world, bodies, joints, camera, light and view."""
    _set_time_and_gravity(scene, description)
    with bpy.context.temp_override(scene=scene):
        bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.collection = bpy.data.collections.new("RigidBodyWorld")
    scene.rigidbody_world.point_cache.frame_start = scene.frame_start
    scene.rigidbody_world.point_cache.frame_end = scene.frame_end
    meshes, materials = {}, {}
    objects = {body.name: _add_body(scene, description, body, meshes, materials) for body in description.bodies}
    if description.joints:
        scene.rigidbody_world.constraints = bpy.data.collections.new("RigidBodyConstraints")
    for joint in description.joints:
        add_joint(scene, joint, objects, FRAME_START + (LEAD_IN if _has_lead_in(description) else 0))
    _add_camera(scene, description)
    _add_light(scene)
    _set_view(scene)


def _set_time_and_gravity(scene, description):
    scene.render.fps = round(description.frame_rate)
    scene.render.fps_base = scene.render.fps / description.frame_rate
    scene.frame_start = FRAME_START
    scene.frame_end = FRAME_START + description.frame_count
    if _has_lead_in(description):
        scene.frame_end += LEAD_IN
    scene.gravity = description.gravity


def _has_lead_in(description) -> bool:
    return any(body.kind == BodyKind.DYNAMIC and _has_velocity(body) for body in description.bodies)


def _has_velocity(body) -> bool:
    return bool(np.any(body.linear_velocity) or np.any(body.angular_velocity))


def _add_body(scene, description, body, meshes, materials):
    ob = _add_object(scene, description, body, meshes, materials)
    if isinstance(body.shape, Compound) and body.mesh is None:
        for number, part in enumerate(body.shape.parts):
            _add_part(scene, description, ob, body, number, part, meshes, materials)
    if body.kind == BodyKind.DYNAMIC and _has_velocity(body):
        _key_lead_in(ob, body, description.frame_rate)
    if body.kind == BodyKind.KINEMATIC and _has_velocity(body):
        _key_drive(scene, ob, body, description)
    return ob


def _add_object(scene, description, body, meshes, materials):
    """The object of a body, or of a part of one, with its rigid body's settings."""
    key = _shape_key(body)
    if key not in meshes:
        meshes[key] = _make_mesh(body, _material(body.color, materials))
    ob = bpy.data.objects.new(body.name, meshes[key])
    scene.collection.objects.link(ob)
    ob.rotation_mode = "QUATERNION"
    ob.location, ob.rotation_quaternion = body.position, body.orientation
    ob.color = (*body.color, 1.0)
    scene.rigidbody_world.collection.objects.link(ob)  # and Blender makes it a rigid body
    settings = ob.rigid_body
    settings.type = "PASSIVE" if body.kind == BodyKind.STATIC else "ACTIVE"
    settings.kinematic = body.kind == BodyKind.KINEMATIC
    settings.collision_shape = "MESH" if body.mesh is not None else _COLLISION_SHAPES[type(body.shape).__name__]
    settings.mass = body.mass
    settings.friction, settings.restitution = body.friction, body.restitution
    settings.linear_damping = description.linear_damping
    settings.angular_damping = description.angular_damping
    return ob


def _add_part(scene, description, parent, body, number, part, meshes, materials):
    """A child of a compound parent. Its own pose is that of the part, so a can may lie in any direction."""
    position, orientation = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if isinstance(part, Box | Capsule | Cylinder | Cone):
        position, orientation = part.position, part.orientation
        part = replace(part, position=(0.0, 0.0, 0.0), orientation=(1.0, 0.0, 0.0, 0.0))
    child = replace(
        body,
        name=f"{body.name}.{number + 1}",
        shape=part,
        position=tuple(position),
        orientation=tuple(orientation),
        color=body.color if body.part_colors is None else body.part_colors[number],
    )
    _add_object(scene, description, child, meshes, materials).parent = parent


def _key_lead_in(ob, body, frame_rate):
    """Lead the body to its start pose at its start velocity, then let go: ``kinematic`` is keyed off.

    Blender reads the flags of a step at its last frame, so the frame after the start pose is the first free one.
    """
    release = FRAME_START + LEAD_IN
    _key_motion(ob, body, frame_rate, release, range(FRAME_START, release + 1))
    for frame, kinematic in ((FRAME_START, True), (release + 1, False)):
        ob.rigid_body.kinematic = kinematic
        ob.keyframe_insert("rigid_body.kinematic", frame=frame)
    _make_linear(ob)


def _key_drive(scene, ob, body, description):
    """Lead a kinematic body along for the whole scene, at its start pose when those that are led there are let go."""
    start = FRAME_START + (LEAD_IN if _has_lead_in(description) else 0)
    _key_motion(ob, body, description.frame_rate, start, range(FRAME_START, scene.frame_end + 1))
    _make_linear(ob)


def _key_motion(ob, body, frame_rate, start, frames):
    """Key the pose at each of the frames, of a body that is in its start pose at ``start`` and keeps its velocity.

    The velocity is that of the centre of mass, about which the object's origin turns.
    """
    center = rotations.rotate(np.array(body.orientation), body.shape.mass_properties().center)
    for frame in frames:
        seconds = (frame - start) / frame_rate
        turn = rotations.from_rotation_vector(np.multiply(body.angular_velocity, seconds))
        travel = np.multiply(body.linear_velocity, seconds)
        ob.location = np.array(body.position) + center + travel - rotations.rotate(turn, center)
        ob.rotation_quaternion = rotations.multiply(turn, np.array(body.orientation))
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_quaternion", frame=frame)


def _make_linear(ob):
    from .read.scene_animation import action_curves

    for curve in action_curves(ob):
        if curve.data_path != "rigid_body.kinematic":
            curve.keyframe_points.foreach_set("interpolation", np.full(len(curve.keyframe_points), LINEAR, np.int32))
            curve.update()


# Meshes and materials


def _shape_key(body):
    shape = body.shape
    if isinstance(shape, Box):
        size = (*shape.half_extents, *shape.position, *shape.orientation)
    elif isinstance(shape, Sphere):
        size = (shape.radius, *shape.position)
    elif isinstance(shape, Capsule | Cylinder | Cone):
        size = (*shape.parameters[:2], *shape.position)
    else:
        size = (id(shape),)
    return (type(shape).__name__, *map(float, size), *body.color)


def _make_mesh(body, material):
    shape = body.shape
    mesh = bpy.data.meshes.new(body.name.split(".")[0])
    if body.mesh is not None:
        vertices, faces = body.mesh
        mesh.from_pydata(vertices.tolist(), [], faces.tolist())
    elif isinstance(shape, Box):
        _fill_box(mesh, shape)
    elif isinstance(shape, Sphere):
        _fill_sphere(mesh, shape)
    elif isinstance(shape, Capsule | Cylinder | Cone):
        _fill_round(mesh, shape)
    elif isinstance(shape, TriangleMesh):
        mesh.from_pydata(shape.vertices.tolist(), [], shape.triangles.tolist())
    elif isinstance(shape, Compound):
        pass  # what is seen are its children
    else:
        mesh.from_pydata(np.asarray(shape.vertices).tolist(), [], [list(map(int, loop)) for loop in shape.loops])
    mesh.materials.append(material)
    return mesh


def _fill_box(mesh, shape):
    half_extents = np.asarray(shape.half_extents, float)
    pose = Matrix.Translation(Vector(shape.position)) @ Quaternion(shape.orientation).to_matrix().to_4x4()
    model = bmesh.new()
    if np.any(half_extents == 0.0):
        flat = int(np.argmin(half_extents))
        first, second = (axis for axis in range(3) if axis != flat)
        corners = np.zeros((4, 3))
        corners[:, first] = half_extents[first] * np.array([-1, 1, 1, -1])
        corners[:, second] = half_extents[second] * np.array([-1, -1, 1, 1])
        model.faces.new([model.verts.new(corner) for corner in corners])
    else:
        bmesh.ops.create_cube(model, size=2.0, matrix=Matrix.Diagonal((*half_extents, 1.0)))
        bmesh.ops.bevel(
            model,
            geom=list(model.edges),
            offset=_RATIO_BEVEL * 2.0 * half_extents.min(),
            segments=2,
            profile=0.5,
            affect="EDGES",
        )
    model.transform(pose)
    model.to_mesh(mesh)
    model.free()


def _fill_sphere(mesh, shape):
    model = bmesh.new()
    bmesh.ops.create_uvsphere(model, u_segments=48, v_segments=24, radius=shape.radius)
    for face in model.faces:
        face.smooth = True
    model.transform(Matrix.Translation(Vector(shape.position)))
    model.to_mesh(mesh)
    model.free()


def _fill_round(mesh, shape):
    """A can, a cone, or a ball whose halves are moved apart; along Z, as Blender's round shapes are."""
    if not np.allclose(np.abs(shape.orientation), (1.0, 0.0, 0.0, 0.0)):
        raise DemoError(f"a {type(shape).__name__.lower()} is turned within its body; turn the body instead")
    model = bmesh.new()
    if isinstance(shape, Capsule):
        bmesh.ops.create_uvsphere(model, u_segments=_SIDES, v_segments=24, radius=shape.radius)
        # A ring at the height of the middle belongs to both halves: the upper one takes it along.
        for vertex in model.verts:
            vertex.co.z += shape.half_length if vertex.co.z > -1e-6 * shape.radius else -shape.half_length
    else:
        bmesh.ops.create_cone(
            model,
            cap_ends=True,
            segments=_SIDES,
            radius1=shape.radius,
            radius2=0.0 if isinstance(shape, Cone) else shape.radius,
            depth=2.0 * shape.half_height,
        )
    for face in model.faces:
        face.smooth = len(face.verts) <= 4
    if not isinstance(shape, Capsule):
        for edge in model.edges:
            edge.smooth = all(face.smooth for face in edge.link_faces)
    model.transform(Matrix.Translation(Vector(shape.position)))
    model.to_mesh(mesh)
    model.free()


def _material(color, materials):
    if color not in materials:
        material = bpy.data.materials.new("Color")
        material.diffuse_color = (*color, 1.0)  # Workbench's; the nodes are for EEVEE and Cycles
        material.roughness = 0.6
        surface = _node(material, "BSDF_PRINCIPLED")
        surface.inputs["Base Color"].default_value = (*color, 1.0)
        surface.inputs["Roughness"].default_value = 0.6
        materials[color] = material
    return materials[color]


def _node(owner, kind):
    """The node of a kind in the default nodes of a material or a world."""
    if owner.node_tree is None:  # before Blender 5.0 nodes are there only once they are switched on
        owner.use_nodes = True
    return next(node for node in owner.node_tree.nodes if node.type == kind)


# Camera, light and view


def _add_camera(scene, description):
    camera = bpy.data.cameras.new("Camera")
    camera.lens = 45.0
    ob = bpy.data.objects.new("Camera", camera)
    ob.location = description.camera
    direction = Vector(description.target) - Vector(description.camera)
    ob.rotation_euler = direction.to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(ob)
    scene.camera = ob


def _add_light(scene):
    """A sun and a bright world, for those who render the file with EEVEE or Cycles."""
    light = bpy.data.lights.new("Sun", "SUN")
    light.energy, light.angle = 2.5, math.radians(5.0)
    ob = bpy.data.objects.new("Sun", light)
    ob.rotation_euler = (math.radians(40.0), math.radians(15.0), math.radians(30.0))
    scene.collection.objects.link(ob)
    scene.world = bpy.data.worlds.new("World")
    scene.world.color = _SKY
    _node(scene.world, "BACKGROUND").inputs["Color"].default_value = (*_SKY, 1.0)


def _set_view(scene):
    """Workbench with studio light, shadows and cavity: it renders without a window and needs no set-up."""
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = RESOLUTION
    scene.view_settings.view_transform = "Standard"
    display = scene.display
    display.render_aa = "16"
    # As the camera sees it, y is up and z comes towards the viewer: from the left, above and in front.
    display.light_direction = Vector((-0.45, 0.75, 0.5)).normalized()
    display.shadow_focus = 0.6
    shading = display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.studio_light = "paint.sl"
    shading.show_shadows, shading.shadow_intensity = True, 0.5
    shading.show_cavity, shading.cavity_type = True, "BOTH"
    shading.cavity_ridge_factor, shading.cavity_valley_factor = 0.6, 1.6
    shading.show_specular_highlight = True
