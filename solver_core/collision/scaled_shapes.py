"""Round shapes that grow: radius, length and position change at constant rates through a frame, and the surface pushes.

The surface moves with the map that scales the shape. With the rates r' and h' of radius and half height, and with that
of the position, a point (x, y, z) of the shape's frame has the velocity

    sphere           r'/r (x, y, z)
    cylinder, cone   (r'/r x, r'/r y, h'/h z)
    capsule          (0, 0, h'/h s) + r'/r (x, y, z - s),   s: height of the nearest point of its axis

Contacts on such a shape are made anew in every substep, with this velocity as ``surface_velocity``; likewise on meshes
that deform.
"""

from ..compiled.kernel import subkernel
from .data.workspace import CAPSULE, POSITION, SPHERE


@subkernel
def grow_shapes(shape_parameters, local_pose, h):
    """Let all round shapes that grow do so for a substep.

    Parameters
    ----------
    shape_parameters, local_pose : ShapeParameters, float64 [S, 4, 3]
        Of ``CollisionWorkspace`` (written).
    h : float
        [s].
    """
    parameters, parameter_rate = shape_parameters.parameters, shape_parameters.parameter_rate
    for shape in range(len(local_pose)):
        grows = shape_parameters.surface_speed[shape] > 0.0
        shape_parameters.has_grown[shape] = grows
        if grows:
            parameters[shape, 0] += h * parameter_rate[shape, 0]
            parameters[shape, 1] += h * parameter_rate[shape, 1]
            for i in range(3):
                local_pose[shape, POSITION, i] += h * shape_parameters.position_rate[shape, i]


@subkernel
def set_surface_velocity(workspace, pair, contacts, first):
    """Write the velocity of b's surface less a's, beyond the bodies' own motion, at the contacts of a pair.

    Parameters
    ----------
    workspace, pair : CollisionWorkspace, Pair
        Shape parameters and poses (read).
    contacts : ContactArrays
        ``local_a``, ``local_b`` read, ``surface_velocity`` written.
    first : int
        The pair's contacts, from here on the last of all.
    """
    shape_parameters, local_pose, shape_pose = workspace.shape_parameters, workspace.local_pose, workspace.shape_pose
    a, b, kind_a, kind_b = pair.a, pair.b, pair.shape_a.kind, pair.shape_b.kind
    for contact in range(first, contacts.count[0]):
        x, y, z = surface_velocity_of(
            shape_parameters, a, kind_a, local_pose[a], shape_pose[a], contacts.local_a[contact]
        )
        p, q, r = surface_velocity_of(
            shape_parameters, b, kind_b, local_pose[b], shape_pose[b], contacts.local_b[contact]
        )
        velocity = contacts.surface_velocity[contact]
        velocity[0], velocity[1], velocity[2] = p - x, q - y, r - z


@subkernel
def surface_velocity_of(shape_parameters, shape, kind, local_pose, shape_pose, point):
    """Velocity of a shape's surface at a point of its body's frame, beyond the body's motion; world [m/s]."""
    if shape_parameters.surface_speed[shape] == 0.0:
        return 0.0, 0.0, 0.0
    parameters, rate = shape_parameters.parameters[shape], shape_parameters.parameter_rate[shape]
    shift = shape_parameters.position_rate[shape]
    dx, dy, dz = (
        point[0] - local_pose[POSITION, 0],
        point[1] - local_pose[POSITION, 1],
        point[2] - local_pose[POSITION, 2],
    )
    x = local_pose[0, 0] * dx + local_pose[1, 0] * dy + local_pose[2, 0] * dz
    y = local_pose[0, 1] * dx + local_pose[1, 1] * dy + local_pose[2, 1] * dz
    z = local_pose[0, 2] * dx + local_pose[1, 2] * dy + local_pose[2, 2] * dz
    radius, half = parameters[0], parameters[1]
    swelling = rate[0] / radius
    if kind == SPHERE:
        along = swelling * z
    elif kind == CAPSULE:
        height = min(max(z, -half), half)
        end = height / half if half > 0.0 else (1.0 if z >= 0.0 else -1.0)
        along = end * rate[1] + swelling * (z - height)
    else:
        along = rate[1] / half * z
    # The velocity of the position is in the body's frame: through the shape's into the world.
    sx, sy, sz = shift[0], shift[1], shift[2]
    x = swelling * x + local_pose[0, 0] * sx + local_pose[1, 0] * sy + local_pose[2, 0] * sz
    y = swelling * y + local_pose[0, 1] * sx + local_pose[1, 1] * sy + local_pose[2, 1] * sz
    z = along + local_pose[0, 2] * sx + local_pose[1, 2] * sy + local_pose[2, 2] * sz
    return (
        shape_pose[0, 0] * x + shape_pose[0, 1] * y + shape_pose[0, 2] * z,
        shape_pose[1, 0] * x + shape_pose[1, 1] * y + shape_pose[1, 2] * z,
        shape_pose[2, 0] * x + shape_pose[2, 1] * y + shape_pose[2, 2] * z,
    )
