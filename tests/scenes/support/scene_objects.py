"""What scripts of tutorials do, in few words: primitives by Blender's operators, rigid bodies on them, keys, joints.

Everything goes the way a user's click goes, so margins, shapes' sources, origins and scales are what Blender gives.
(``bmesh`` can be imported only after ``bpy``, so functions import it.)
"""

import math

import bpy
from mathutils import Vector


def new_file(fps=24, frames=(1, 100), substeps=10, speed=1.0, gravity=None):
    """An empty file with a Rigid Body World, as *Add Rigid Body World* makes it."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.render.fps = fps
    scene.frame_start, scene.frame_end = frames
    bpy.ops.rigidbody.world_add()
    world = scene.rigidbody_world
    world.collection = bpy.data.collections.new("RigidBodyWorld")
    world.substeps_per_frame, world.time_scale = substeps, speed
    world.point_cache.frame_start, world.point_cache.frame_end = frames
    if gravity is not None:
        scene.gravity = gravity if isinstance(gravity, tuple) else (0.0, 0.0, -gravity)
    scene.frame_set(frames[0])


def radians(*degrees):
    return tuple(math.radians(angle) for angle in degrees)


def cube(name, at=(0, 0, 0), size=(1, 1, 1), turn=(0, 0, 0)):
    """A cube of side 1 whose scale is not applied; ``turn`` in degrees."""
    bpy.ops.mesh.primitive_cube_add(size=1, location=at, rotation=[math.radians(angle) for angle in turn])
    bpy.context.object.scale = size
    return _named(name)


def plane(name, at=(0, 0, 0), size=10.0, turn=(0, 0, 0), scale=(1, 1, 1)):
    bpy.ops.mesh.primitive_plane_add(size=size, location=at, rotation=[math.radians(angle) for angle in turn])
    bpy.context.object.scale = scale
    return _named(name)


def ball(name, at=(0, 0, 0), radius=0.5, segments=16):
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, location=at, segments=segments, ring_count=segments // 2)
    return _named(name)


def icosphere(name, at=(0, 0, 0), radius=0.5, subdivisions=2, scale=(1, 1, 1)):
    bpy.ops.mesh.primitive_ico_sphere_add(radius=radius, location=at, subdivisions=subdivisions)
    bpy.context.object.scale = scale
    return _named(name)


def cylinder(name, at=(0, 0, 0), radius=0.5, depth=1.0, turn=(0, 0, 0), vertices=24):
    bpy.ops.mesh.primitive_cylinder_add(
        radius=radius, depth=depth, location=at, rotation=[math.radians(angle) for angle in turn], vertices=vertices
    )
    return _named(name)


def cone(name, at=(0, 0, 0), low=1.0, high=0.0, depth=1.0, turn=(0, 0, 0), ends="NGON", vertices=24):
    """A cone or, with ``ends`` "NOTHING", a funnel without thickness."""
    bpy.ops.mesh.primitive_cone_add(
        radius1=low,
        radius2=high,
        depth=depth,
        location=at,
        rotation=[math.radians(angle) for angle in turn],
        end_fill_type=ends,
        vertices=vertices,
    )
    return _named(name)


def torus(name, at=(0, 0, 0), major=0.5, minor=0.1, turn=(0, 0, 0), segments=(16, 8)):
    bpy.ops.mesh.primitive_torus_add(
        major_radius=major,
        minor_radius=minor,
        major_segments=segments[0],
        minor_segments=segments[1],
        location=at,
        rotation=[math.radians(angle) for angle in turn],
    )
    return _named(name)


def monkey(name, at=(0, 0, 0), size=1.0):
    bpy.ops.mesh.primitive_monkey_add(size=size, location=at)
    return _named(name)


def letter(name, text, at=(0, 0, 0), extrude=0.1, turn=(90, 0, 0)):
    """A text object converted to a mesh; its origin stays at the base line's start, as the operator leaves it."""
    bpy.ops.object.text_add(location=at, rotation=[math.radians(angle) for angle in turn])
    bpy.context.object.data.body, bpy.context.object.data.extrude = text, extrude
    bpy.ops.object.convert(target="MESH")
    return _named(name)


def mesh_object(name, points, faces, at=(0, 0, 0)):
    """A mesh by its vertices and faces."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(point) for point in points], [], faces)
    ob = bpy.data.objects.new(name, mesh)
    ob.location = at
    bpy.context.scene.collection.objects.link(ob)
    _select(ob)
    return ob


def lathe(name, profile, at=(0, 0, 0), segments=24):
    """A surface of revolution about Z; ``profile`` lists (radius, height)."""
    points, faces = [], []
    for radius, height in profile:
        for step in range(segments):
            angle = 2.0 * math.pi * step / segments
            points.append((radius * math.cos(angle), radius * math.sin(angle), height))
    for ring in range(len(profile) - 1):
        for step in range(segments):
            after = (step + 1) % segments
            low, high = ring * segments, (ring + 1) * segments
            faces.append((low + step, low + after, high + after, high + step))
    return mesh_object(name, points, faces, at)


def copy_of(ob, name, at, turn=None):
    """A linked duplicate (Alt D): it shares its mesh with the original, and is a rigid body if that is one."""
    _select(ob)
    bpy.ops.object.duplicate(linked=True)
    bpy.context.object.location = at
    if turn is not None:
        bpy.context.object.rotation_euler = [math.radians(angle) for angle in turn]
    return _named(name)


def voronoi_shards(ob, name, sites, gap=0.0):
    """Cut a convex mesh into the cells of points, as the add-on *Cell Fracture* does; origins at the shards' middles.

    Parameters
    ----------
    sites : list of tuple
        In the object's own space.
    gap : float
        By which each cell is cut back on each side [m].
    """
    import bmesh

    shards = []
    sites = [Vector(site) for site in sites]
    for index, site in enumerate(sites):
        shell = bmesh.new()
        shell.from_mesh(ob.data)
        shell.transform(ob.matrix_basis)
        for other in sites:
            if other is not site and shell.verts:
                normal = (other - site).normalized()
                _cut_off(shell, 0.5 * (site + other) - gap * normal, normal)
        if shell.verts:
            middle = sum((vert.co for vert in shell.verts), Vector()) / len(shell.verts)
            bmesh.ops.translate(shell, verts=shell.verts, vec=-middle)
            mesh = bpy.data.meshes.new(name)
            shell.to_mesh(mesh)
            shard = bpy.data.objects.new(f"{name}.{index:03}", mesh)
            shard.location = middle
            bpy.context.scene.collection.objects.link(shard)
            shards.append(shard)
        shell.free()
    bpy.data.objects.remove(ob)
    return shards


def _cut_off(shell, point, normal):
    """Take away what of a closed mesh lies on the normal's side of a plane, and close it."""
    import bmesh

    geometry = shell.verts[:] + shell.edges[:] + shell.faces[:]
    cut = bmesh.ops.bisect_plane(shell, geom=geometry, plane_co=point, plane_no=normal, clear_outer=True, dist=1e-5)
    edges = [item for item in cut["geom_cut"] if isinstance(item, bmesh.types.BMEdge)]
    if edges:
        bmesh.ops.edgenet_fill(shell, edges=edges)


def body(ob, kind="ACTIVE", shape=None, **settings):
    """Add a rigid body to an object; without ``shape`` it is what Blender gives, a convex hull."""
    _select(ob)
    bpy.ops.rigidbody.object_add(type=kind)
    if shape is not None:
        ob.rigid_body.collision_shape = shape
    for key, value in settings.items():
        setattr(ob.rigid_body, key, value)
    return ob


def passive(ob, shape="MESH", **settings):
    return body(ob, "PASSIVE", shape, **settings)


def moved_by_keys(ob, shape="CONVEX_HULL", kind="PASSIVE", **settings):
    """A body with *Animated* on."""
    return body(ob, kind, shape, kinematic=True, **settings)


def floor(size=40.0, z=0.0, **settings):
    """A plane as the floor, with the shape Mesh."""
    return passive(plane("Floor", (0, 0, z), size), **settings)


def key(ob, path, values, interpolation="LINEAR"):
    """Key a property of an object, {frame: value}."""
    owner, _, attribute = path.rpartition(".")
    target = ob.path_resolve(owner) if owner else ob
    for frame, value in values.items():
        setattr(target, attribute, value)
        ob.keyframe_insert(path, frame=frame)
    animation = ob.animation_data
    for layer in animation.action.layers:
        for strip in layer.strips:
            for curve in strip.channelbag(animation.action_slot).fcurves:
                if curve.data_path == path:
                    for point in curve.keyframe_points:
                        point.interpolation = interpolation


def shoot(ob, start, end, frames):
    """Key an active body from ``start`` to ``end`` and let go of it there: how animators throw things."""
    key(ob, "location", {frames[0]: start, frames[1]: end})
    key(ob, "rigid_body.kinematic", {frames[0]: True, frames[1]: False}, "CONSTANT")


def joint(kind, first, second, at, turn=(0, 0, 0), name="Joint", **settings):
    """An empty with a rigid body constraint; ``turn`` in degrees."""
    bpy.ops.object.empty_add(location=at, rotation=[math.radians(angle) for angle in turn])
    empty = _named(name)
    bpy.ops.rigidbody.constraint_add(type=kind)
    constraint = empty.rigid_body_constraint
    constraint.object1, constraint.object2 = first, second
    for key_, value in settings.items():
        setattr(constraint, key_, value)
    return empty


def child_of(ob, parent, keep=True):
    """Parent an object; ``keep`` its place, as Ctrl P does."""
    bpy.context.view_layer.update()
    ob.parent = parent
    if keep:
        ob.matrix_parent_inverse = parent.matrix_world.inverted()
    return ob


def as_mesh(ob):
    """Convert an object to a mesh, as *Object > Convert* does."""
    _select(ob)
    bpy.ops.object.convert(target="MESH")
    return bpy.context.object


def modifier(ob, kind, **settings):
    added = ob.modifiers.new(kind.title(), kind)
    for key_, value in settings.items():
        setattr(added, key_, value)
    return ob


def _select(ob):
    for other in bpy.context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob


def _named(name):
    ob = bpy.context.object
    ob.name = name
    if ob.data is not None:
        ob.data.name = name
    return ob
