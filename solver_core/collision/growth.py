"""Round shapes that grow: radius, length and place change at constant rates through a frame, and the surface pushes.

A shape's own map takes its surface along. With the rates r' and h' of radius and half height, and those of the place,
a point (x, y, z) of the shape's frame has the velocity

    sphere           r'/r (x, y, z)
    cylinder, cone   (r'/r x, r'/r y, h'/h z)
    capsule          (0, 0, h'/h s) + r'/r (x, y, z - s),   s: height of the nearest point of its axis

Contacts on such a shape are made anew in every substep; their ``drift`` is this velocity, as with meshes that deform.
"""

from ..kernel import subkernel
from .workspace import CAPSULE, GROWN, GROWS, POSITION, RATE, SHIFT, SPHERE


@subkernel
def grow_shapes(form, local_pose, h):
    """Let all round shapes that grow do so for a substep.

    Parameters
    ----------
    form, local_pose : float64 [S, 11], [S, 4, 3]
        Of ``CollisionWorkspace`` (written).
    h : float
        [s].
    """
    for shape in range(len(form)):
        form[shape, GROWN] = 1.0 if form[shape, GROWS] > 0.0 else 0.0
        if form[shape, GROWS] > 0.0:
            form[shape, 0] += h * form[shape, RATE]
            form[shape, 1] += h * form[shape, RATE + 1]
            for i in range(3):
                local_pose[shape, POSITION, i] += h * form[shape, SHIFT + i]


@subkernel
def drift_with_growth(
    form, kind_a, kind_b, local_pose, shape_pose, a, b, local_points_a, local_points_b, drift, first, last
):
    """Write the velocity of b's surface less a's, beyond the bodies' own motion, at the contacts of a pair.

    Parameters
    ----------
    form, local_pose, shape_pose : float64 [S, 11], [S, 4, 3], [S, 4, 3]
        Of ``CollisionWorkspace`` (read).
    kind_a, kind_b, a, b : int
        The shapes.
    local_points_a, local_points_b, drift : float64 [C, 3], [C, 3], [C, 6]
        Of ``ContactArrays`` (read, read, written).
    first, last : int
        Contacts.
    """
    for contact in range(first, last):
        x, y, z = surface_drift(form[a], kind_a, local_pose[a], shape_pose[a], local_points_a[contact])
        p, q, r = surface_drift(form[b], kind_b, local_pose[b], shape_pose[b], local_points_b[contact])
        drift[contact, 0], drift[contact, 1], drift[contact, 2] = p - x, q - y, r - z


@subkernel
def surface_drift(form, kind, local_pose, shape_pose, point):
    """Velocity of a shape's surface at a point of its body's frame, beyond the body's motion; world [m/s]."""
    if form[GROWS] == 0.0:
        return 0.0, 0.0, 0.0
    dx, dy, dz = (
        point[0] - local_pose[POSITION, 0],
        point[1] - local_pose[POSITION, 1],
        point[2] - local_pose[POSITION, 2],
    )
    x = local_pose[0, 0] * dx + local_pose[1, 0] * dy + local_pose[2, 0] * dz
    y = local_pose[0, 1] * dx + local_pose[1, 1] * dy + local_pose[2, 1] * dz
    z = local_pose[0, 2] * dx + local_pose[1, 2] * dy + local_pose[2, 2] * dz
    radius, half = form[0], form[1]
    swelling = form[RATE] / radius
    if kind == SPHERE:
        along = swelling * z
    elif kind == CAPSULE:
        height = min(max(z, -half), half)
        end = height / half if half > 0.0 else (1.0 if z >= 0.0 else -1.0)
        along = end * form[RATE + 1] + swelling * (z - height)
    else:
        along = form[RATE + 1] / half * z
    # The shift is in the body's frame: through the shape's into the world.
    sx, sy, sz = form[SHIFT], form[SHIFT + 1], form[SHIFT + 2]
    x = swelling * x + local_pose[0, 0] * sx + local_pose[1, 0] * sy + local_pose[2, 0] * sz
    y = swelling * y + local_pose[0, 1] * sx + local_pose[1, 1] * sy + local_pose[2, 1] * sz
    z = along + local_pose[0, 2] * sx + local_pose[1, 2] * sy + local_pose[2, 2] * sz
    return (
        shape_pose[0, 0] * x + shape_pose[0, 1] * y + shape_pose[0, 2] * z,
        shape_pose[1, 0] * x + shape_pose[1, 1] * y + shape_pose[1, 2] * z,
        shape_pose[2, 0] * x + shape_pose[2, 1] * y + shape_pose[2, 2] * z,
    )
