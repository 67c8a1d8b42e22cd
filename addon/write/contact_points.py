"""What touches what in a bake, as an object whose points Geometry Nodes reads.

Each contact of each frame is a vertex with attributes: ``frame``, ``normal`` (from body a to body b), ``impulse`` on
body b [N s], ``velocity`` of b's surface along a's [m/s], ``body_a`` and ``body_b``. A node group keeps those of the
frame that is shown, as points, or as copies of an object on them: dust, sparks, marks.
"""

import bpy
import numpy as np

MARK = "cairn_contacts"
GROUP = "Cairn Contacts at Frame"
# Attributes by the names of a file of contacts (``addon.contacts``), and their types.
_ATTRIBUTES = {
    "frame": ("frame", "INT"),
    "normal": ("normal", "FLOAT_VECTOR"),
    "impulse": ("impulse", "FLOAT_VECTOR"),
    "slip": ("velocity", "FLOAT_VECTOR"),
    "body_a": ("body_a", "INT"),
    "body_b": ("body_b", "INT"),
}
_VALUES = {"INT": "value", "FLOAT_VECTOR": "vector"}
# Of a point that is shown [m].
_RADIUS = 0.02


def write_points(scene: bpy.types.Scene, arrays: dict[str, np.ndarray]) -> bpy.types.Object:
    """Fill the scene's object of contacts, or make it; what else somebody has done to it stays.

    Parameters
    ----------
    scene : bpy.types.Scene
    arrays : dict
        Of ``addon.contacts.contacts_file``.

    Returns
    -------
    bpy.types.Object
    """
    ob = points_of(scene)
    if ob is None:
        mesh = bpy.data.meshes.new("Cairn Contacts")
        ob = bpy.data.objects.new("Cairn Contacts", mesh)
        ob[MARK] = True
        scene.collection.objects.link(ob)
        ob.modifiers.new(GROUP, "NODES").node_group = _group()
    mesh = ob.data
    mesh.clear_geometry()
    mesh.vertices.add(len(arrays["frame"]))
    mesh.vertices.foreach_set("co", arrays["position"].astype(np.float32).ravel())
    for name, (attribute, kind) in _ATTRIBUTES.items():
        made = mesh.attributes.new(attribute, kind, "POINT")
        values = arrays[name].astype(np.int32 if kind == "INT" else np.float32)
        made.data.foreach_set(_VALUES[kind], values.ravel())
    # the names that body_a and body_b count in
    ob["bodies"] = arrays["names"].tolist()
    mesh.update()
    return ob


def remove_points(scene: bpy.types.Scene) -> None:
    """Take the points away with their bake, and the object, too, where nobody has done anything to it."""
    ob = points_of(scene)
    if ob is None:
        return
    ob.data.clear_geometry()
    own = [
        modifier.type == "NODES" and modifier.node_group == bpy.data.node_groups.get(GROUP) for modifier in ob.modifiers
    ]
    if own == [True] and not ob.data.materials and not ob.children and ob.animation_data is None:
        mesh = ob.data
        bpy.data.objects.remove(ob)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)


def points_of(scene: bpy.types.Scene) -> bpy.types.Object | None:
    """The scene's object of contacts, if it has one that can be written."""
    found = [
        ob for ob in scene.objects if ob.type == "MESH" and ob.get(MARK) and ob.is_editable and ob.data.is_editable
    ]
    return found[0] if found else None


def kept_points(scene: bpy.types.Scene) -> bpy.types.Mesh | None:
    """A copy of the points of a scene's bake, which ``bring_back`` reads; None if it has none."""
    ob = points_of(scene)
    if ob is None or not len(ob.data.vertices):
        return None
    mesh = ob.data.copy()
    mesh.materials.clear()
    mesh["bodies"] = ob["bodies"]
    return mesh


def bring_back(scene: bpy.types.Scene, kept: bpy.types.Mesh | None) -> None:
    """Let a scene have the points of another bake; without any those that it has are taken away."""
    if kept is None:
        remove_points(scene)
    else:
        write_points(scene, _arrays(kept, kept["bodies"]))


def arrays_of(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """What the points hold, by the names of a file of contacts, and the ``names`` that bodies count in."""
    return _arrays(ob.data, ob["bodies"])


def _arrays(mesh, names):
    count = len(mesh.vertices)
    place = np.empty(3 * count, np.float32)
    mesh.vertices.foreach_get("co", place)
    arrays = {"position": place.reshape(-1, 3), "names": np.array(names, np.str_)}
    for name, (attribute, kind) in _ATTRIBUTES.items():
        values = np.empty(count if kind == "INT" else 3 * count, np.int32 if kind == "INT" else np.float32)
        mesh.attributes[attribute].data.foreach_get(_VALUES[kind], values)
        arrays[name] = values if kind == "INT" else values.reshape(-1, 3)
    return arrays


def _group():
    """The node group that keeps the contacts of the frame that is shown; made once in a file."""
    group = bpy.data.node_groups.get(GROUP)
    if group is not None and group.get(MARK):
        return group
    group = bpy.data.node_groups.new(GROUP, "GeometryNodeTree")
    group[MARK], group.is_modifier = True, True
    _declare(group.interface)
    nodes, links = group.nodes, group.links
    given, result = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")

    frame = _attribute(nodes, "frame", "INT")
    impulse = _attribute(nodes, "impulse", "FLOAT_VECTOR")
    normal = _attribute(nodes, "normal", "FLOAT_VECTOR")
    now = nodes.new("GeometryNodeInputSceneTime")
    age = _math(nodes, links, "SUBTRACT", now.outputs["Frame"], frame)
    strength = nodes.new("ShaderNodeVectorMath")
    strength.operation = "LENGTH"
    links.new(impulse, strength.inputs[0])

    # frames are whole, and their differences are taken as numbers
    ends = _math(nodes, links, "SUBTRACT", given.outputs["Frames"], 0.5)
    to_come = _math(nodes, links, "LESS_THAN", age, -0.5)
    past = _math(nodes, links, "GREATER_THAN", age, ends)
    weak = _math(nodes, links, "LESS_THAN", strength.outputs["Value"], given.outputs["Least Impulse"])
    gone = _math(nodes, links, "MAXIMUM", _math(nodes, links, "MAXIMUM", to_come, past), weak)
    keep = nodes.new("GeometryNodeDeleteGeometry")
    links.new(given.outputs["Geometry"], keep.inputs["Geometry"])
    links.new(gone, keep.inputs["Selection"])
    points = nodes.new("GeometryNodeMeshToPoints")
    links.new(keep.outputs["Geometry"], points.inputs["Mesh"])
    links.new(given.outputs["Radius"], points.inputs["Radius"])

    info = nodes.new("GeometryNodeObjectInfo")
    info.inputs["As Instance"].default_value = True
    links.new(given.outputs["Object"], info.inputs["Object"])
    along = nodes.new("FunctionNodeAlignRotationToVector")
    along.axis = "Z"
    links.new(normal, along.inputs["Vector"])
    copies = nodes.new("GeometryNodeInstanceOnPoints")
    links.new(points.outputs["Points"], copies.inputs["Points"])
    links.new(info.outputs["Geometry"], copies.inputs["Instance"])
    links.new(along.outputs["Rotation"], copies.inputs["Rotation"])
    choice = nodes.new("GeometryNodeSwitch")
    choice.input_type = "GEOMETRY"
    links.new(given.outputs["Copies"], choice.inputs["Switch"])
    links.new(points.outputs["Points"], choice.inputs["False"])
    links.new(copies.outputs["Instances"], choice.inputs["True"])
    links.new(choice.outputs["Output"], result.inputs["Geometry"])
    _lay_out(nodes)
    return group


def _declare(interface):
    """What the modifier's panel has."""
    interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    frames = interface.new_socket("Frames", in_out="INPUT", socket_type="NodeSocketInt")
    frames.default_value, frames.min_value = 1, 1
    frames.description = "For how many frames a contact is shown"
    least = interface.new_socket("Least Impulse", in_out="INPUT", socket_type="NodeSocketFloat")
    least.default_value, least.min_value = 0.0, 0.0
    least.description = "Contacts that push less in their frame are left out [N s]"
    radius = interface.new_socket("Radius", in_out="INPUT", socket_type="NodeSocketFloat")
    radius.default_value, radius.min_value = _RADIUS, 0.0
    radius.description = "Of the points"
    copies = interface.new_socket("Copies", in_out="INPUT", socket_type="NodeSocketBool")
    copies.default_value = False
    copies.description = "Show copies of an object in place of points"
    ob = interface.new_socket("Object", in_out="INPUT", socket_type="NodeSocketObject")
    ob.description = "Copied to each contact, with its Z axis along the normal"
    interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")


def _attribute(nodes, name, kind):
    node = nodes.new("GeometryNodeInputNamedAttribute")
    node.data_type = kind
    node.inputs["Name"].default_value = name
    return next(socket for socket in node.outputs if socket.name == "Attribute" and socket.enabled)


def _math(nodes, links, operation, first, second):
    """The result of a node of two numbers, each a socket or a constant."""
    node = nodes.new("ShaderNodeMath")
    node.operation = operation
    for socket, value in zip(node.inputs, (first, second), strict=False):
        if isinstance(value, float):
            socket.default_value = value
        else:
            links.new(value, socket)
    return node.outputs["Value"]


def _lay_out(nodes):
    """In columns, in the order in which they were made."""
    for place, node in enumerate(nodes):
        node.location = (220.0 * (place // 4), -180.0 * (place % 4))
