"""Force fields on bodies: what they change of the free velocities of a substep.

**Where.** A field acts on six points of a body, at distances of sqrt(3) of its radii of gyration from the centre of
mass on the principal axes, a sixth of the force each. Their mean is the centre and their second moments are those of
the mass; so a field that is linear over the body has the force and the torque that it has on the whole body.

**By area** winds and drags press on the surface instead, at points of it with an area each, along its normal.

**When.** The points are where the body is half a substep on, at the velocity w that it begins with: half a drift, a
kick, half a drift, which is Verlet's method. It is symplectic and of second order, so what a field holds together keeps
its energy; constant forces have their exact parabola, as gravity has.

**What depends on velocities**, as drag, is taken linearly along the substep,

    (M - theta h K) (v - w) = h (F(w) + M g),        K = dF/dv

with theta = 1 / (1 - e^-z) - 1 / z for z = h times the largest rate that K brakes at: so linear drag is the exact
exponential, what brakes hard does not swing over, and a magnetic force, with z = 0, turns and neither gives nor takes.
At rest of this, F + M g = 0, the velocity is the terminal one, whatever h.

All of v - w over h is the body's acceleration, in place of gravity, wherever the step asks for that.
"""

import math

from ...compiled.kernel import entry, kernel, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.matter import limit_speed
from ...geometry.rotation_kernels import from_rotation_vector, multiply, rotate
from ...model.fields import AXIS, BY_AREA, CHARGE, COLUMNS, KIND, NOISE, PLACE, SEED
from ...model.state import DYNAMIC, STATIC
from ..islands.memory import forget_standing
from ..motion.integration import share_kept
from ..rest.waiting import hold_tried
from .field_laws import force_at, pressure_at
from .field_noise import change_at_random

_POINTS = 6


@entry
def run_apply_fields(arrays):
    """What fields add to the free velocities, after ``apply_forces``.

    Parameters
    ----------
    arrays : StepArrays
        Written: motion.free_velocity, motion.acceleration; who stands still, where forces change.
    """
    members = views_of(arrays)
    model, state, motion, fields = members.model, members.state, members.motion, members.fields
    step, gravity = numbers_of(members.settings.step), members.settings.gravity
    when, h = (members.record.substeps[0] + 0.5) / step.substeps, step.h
    if fields.changes[0] == 1:
        forget_standing(motion.memory)
    clear_accelerations(motion.acceleration, gravity)
    for body in range(state.kind.size):
        is_moved = fields.responds[body] or fields.charge[body] != 0.0 or fields.turns_along.size > 0
        if state.kind[body] != DYNAMIC or not is_moved:
            continue
        add_forces(model, state, fields, body, when, h, fields.frame[0])
        _change_velocity(model, state, motion, fields.system, gravity, body, h)
        if model.matter.largest_speed.size > 0:
            limit_speed(motion.free_velocity[body], model.matter.largest_speed[body])
    if members.waiting.count[0] > 0:
        hold_tried(members.waiting, motion.free_velocity)


@subkernel
def clear_accelerations(acceleration, gravity):
    """Begin with gravity, for all."""
    for body in range(acceleration.shape[0]):
        for axis in range(3):
            acceleration[body, axis], acceleration[body, 3 + axis] = gravity[axis], 0.0


@subkernel
def _change_velocity(model, state, motion, system, gravity, body, h):
    """Let ``system``, which holds K and F, change a body's free velocity."""
    mass, moments = model.mass[body], motion.inverse_inertia[body]
    rate = 0.0
    is_linear = True
    for axis in range(3):
        rate = max(rate, -system[axis, axis] / mass)
        system[axis, 6] += mass * gravity[axis]
    for i in range(6):
        for j in range(6):
            is_linear = is_linear and system[i, j] == 0.0
    # M^-1 F, and M^-1 K
    for column in range(7):
        a, b, c = system[3, column], system[4, column], system[5, column]
        for axis in range(3):
            system[axis, column] /= mass
            of_row = moments[3 * axis] * a + moments[3 * axis + 1] * b + moments[3 * axis + 2] * c
            system[3 + axis, column] = of_row
    if not is_linear:
        theta = _theta(h * rate)
        for i in range(6):
            for j in range(6):
                system[i, j] = (1.0 if i == j else 0.0) - theta * h * system[i, j]
        _solve(system)
    keep_linear = share_kept(model.linear_damping[body], h)
    keep_angular = share_kept(model.angular_damping[body], h)
    for axis in range(3):
        motion.acceleration[body, axis], motion.acceleration[body, 3 + axis] = system[axis, 6], system[3 + axis, 6]
        motion.free_velocity[body, axis] = keep_linear * state.velocity[body, axis] + h * system[axis, 6]
        motion.free_velocity[body, 3 + axis] = keep_angular * state.velocity[body, 3 + axis] + h * system[3 + axis, 6]


@subkernel
def _theta(z):
    """1 / (1 - e^-z) - 1 / z, which goes from 1/2 to 1."""
    if z < 1e-3:
        return 0.5 + z / 12.0
    return 1.0 / (1.0 - math.exp(-z)) - 1.0 / z


@subkernel
def _solve(system):
    """Solve the equations [A b] of six unknowns in place; the solution stands in the last column."""
    for pivot in range(6):
        best = pivot
        for row in range(pivot + 1, 6):
            if abs(system[row, pivot]) > abs(system[best, pivot]):
                best = row
        for column in range(7):
            system[pivot, column], system[best, column] = system[best, column], system[pivot, column]
        for row in range(6):
            if row != pivot and system[row, pivot] != 0.0:
                factor = system[row, pivot] / system[pivot, pivot]
                for column in range(pivot, 7):
                    system[row, column] -= factor * system[pivot, column]
    for row in range(6):
        system[row, 6] /= system[row, row]


@subkernel
def add_forces(model, state, fields, body, when, h, frame):
    """Write K and F of all fields on a body into ``fields.system``, in world axes.

    Parameters
    ----------
    model, state
        Read.
    fields : FieldArrays
        Written: row, system.
    body : int64
    when : float
        Share of the frame that is over half a substep on.
    h : float
        [s].
    frame : int64
        For what changes at random.
    """
    system, row = fields.system, fields.row
    for i in range(6):
        for j in range(7):
            system[i, j] = 0.0
    velocity = state.velocity[body]
    middle = _half_on(state, body, h)
    if fields.turns_along.size > 0:
        _push(fields, body, middle, when)
    for field in range(fields.carrier.size):
        kind = fields.values[1, field, KIND]
        carrier = fields.carrier[field]
        if carrier == body or (fields.charge[body] == 0.0 if kind == CHARGE else not fields.responds[body]):
            continue
        _place_field(fields, state, field, when, h)
        change = 0.0
        if row[NOISE] > 0.0:
            change = change_at_random(row[NOISE], int(row[SEED]), frame, body * fields.carrier.size + field)
        if row[BY_AREA] != 0.0:
            _press_on_faces(fields, body, middle, velocity, change)
            continue
        for axis in range(3):
            reach = _reach(model, body, axis)
            offset = rotate(
                middle[3],
                middle[4],
                middle[5],
                middle[6],
                reach if axis == 0 else 0.0,
                reach if axis == 1 else 0.0,
                reach if axis == 2 else 0.0,
            )
            one = _force_on(row, middle, velocity, offset, 1.0, fields.charge[body], change, system)
            two = _force_on(row, middle, velocity, offset, -1.0, fields.charge[body], change, system)
            # of both together, so that a field that is the same at both turns nothing, to the bit
            p, q, r = offset
            x, y, z = one[0] - two[0], one[1] - two[1], one[2] - two[2]
            for column in range(3):
                system[column, 6] += (one[column] + two[column]) / _POINTS
            system[3, 6] += (q * z - r * y) / _POINTS
            system[4, 6] += (r * x - p * z) / _POINTS
            system[5, 6] += (p * y - q * x) / _POINTS


@subkernel
def _push(fields, body, middle, when):
    """Add a body's own constant force and torque to ``fields.system``."""
    before, after, p, a, b, c = fields.push[0, body], fields.push[1, body], middle[3], middle[4], middle[5], middle[6]
    for first in range(0, 6, 3):
        x = before[first] + when * (after[first] - before[first])
        y = before[first + 1] + when * (after[first + 1] - before[first + 1])
        z = before[first + 2] + when * (after[first + 2] - before[first + 2])
        if fields.turns_along[body]:
            x, y, z = rotate(p, a, b, c, x, y, z)
        fields.system[first, 6] += x
        fields.system[first + 1, 6] += y
        fields.system[first + 2, 6] += z


@subkernel
def _press_on_faces(fields, body, middle, velocity, change):
    """Add the pressure of a field on a body's surface to ``fields.system``."""
    system, row = fields.system, fields.row
    for face in range(fields.face_first[body], fields.face_first[body + 1]):
        own = fields.face[face]
        p, a, b, c = middle[3], middle[4], middle[5], middle[6]
        x, y, z = rotate(p, a, b, c, own[0], own[1], own[2])
        n0, n1, n2 = rotate(p, a, b, c, own[3], own[4], own[5])
        area = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if area == 0.0:
            continue
        n0, n1, n2 = n0 / area, n1 / area, n2 / area
        u = velocity[0] + velocity[4] * z - velocity[5] * y
        v = velocity[1] + velocity[5] * x - velocity[3] * z
        w = velocity[2] + velocity[3] * y - velocity[4] * x
        at = middle[0] + x, middle[1] + y, middle[2] + z
        facing = -(n0 * row[AXIS] + n1 * row[AXIS + 1] + n2 * row[AXIS + 2])
        pressure, growth = pressure_at(row, at, n0 * u + n1 * v + n2 * w, facing, change)
        force = -area * pressure
        system[0, 6] += force * n0
        system[1, 6] += force * n1
        system[2, 6] += force * n2
        system[3, 6] += force * (y * n2 - z * n1)
        system[4, 6] += force * (z * n0 - x * n2)
        system[5, 6] += force * (x * n1 - y * n0)
        if growth > 0.0:
            growth *= -area
            _add_change(system, (growth * n0 * n0, growth * n0 * n1, growth * n0 * n2), 0, (x, y, z))
            _add_change(system, (growth * n1 * n0, growth * n1 * n1, growth * n1 * n2), 1, (x, y, z))
            _add_change(system, (growth * n2 * n0, growth * n2 * n1, growth * n2 * n2), 2, (x, y, z))


@subkernel
def _reach(model, body, axis):
    """How far a body's points on a principal axis are from its centre: sqrt(3) of its radius of gyration there [m]."""
    inertia = model.inertia[body]
    others = inertia[0] + inertia[1] + inertia[2] - 2.0 * inertia[axis]
    return math.sqrt(max(1.5 * others / model.mass[body], 0.0))


@subkernel
def _half_on(state, body, h):
    """Pose of a body half a substep on, at its present velocity: position and orientation, 7 numbers."""
    position, velocity = state.position[body], state.velocity[body]
    w, x, y, z = state.orientation[body]
    if state.kind[body] == STATIC:
        return position[0], position[1], position[2], w, x, y, z
    half = 0.5 * h
    p, a, b, c = from_rotation_vector(half * velocity[3], half * velocity[4], half * velocity[5])
    w, x, y, z = multiply(p, a, b, c, w, x, y, z)
    return (
        position[0] + half * velocity[0],
        position[1] + half * velocity[1],
        position[2] + half * velocity[2],
        w,
        x,
        y,
        z,
    )


@subkernel
def _force_on(row, middle, velocity, offset, side, charge, change, system):
    """A field's force on a point of a body; adds the sixth of how it changes with the body's velocity to ``system``."""
    x, y, z = side * offset[0], side * offset[1], side * offset[2]
    u, v, w = velocity[0], velocity[1], velocity[2]
    # also at the distance that the point has from the axis that the body turns about
    u += velocity[4] * z - velocity[5] * y
    v += velocity[5] * x - velocity[3] * z
    w += velocity[3] * y - velocity[4] * x
    at = middle[0] + x, middle[1] + y, middle[2] + z
    fx, fy, fz, c, q, bx, by, bz = force_at(row, at, (u, v, w), charge, change)
    if c > 0.0 or q > 0.0 or bx != 0.0 or by != 0.0 or bz != 0.0:
        c, q = max(c, 0.0) / _POINTS, max(q, 0.0) / _POINTS
        bx, by, bz = bx / _POINTS, by / _POINTS, bz / _POINTS
        # K of the point, row by row, K u = -c u - q v (v . u) + u x B
        _add_change(system, (-c - q * u * u, bz - q * u * v, -by - q * u * w), 0, (x, y, z))
        _add_change(system, (-bz - q * v * u, -c - q * v * v, bx - q * v * w), 1, (x, y, z))
        _add_change(system, (by - q * w * u, -bx - q * w * v, -c - q * w * w), 2, (x, y, z))
    return fx, fy, fz


@subkernel
def _add_change(system, change, axis, arm):
    """Add a row of a point's K to that of its body: the body's velocity moves the point, its force turns the body."""
    k0, k1, k2 = change
    x, y, z = arm
    # (0, omega) moves the point by omega x arm, so the row times that is (arm x row) . omega
    row = k0, k1, k2, y * k2 - z * k1, z * k0 - x * k2, x * k1 - y * k0
    for column in range(6):
        system[axis, column] += row[column]
        # arm x e_axis
        if axis == 0:
            system[4, column] += z * row[column]
            system[5, column] -= y * row[column]
        elif axis == 1:
            system[3, column] -= z * row[column]
            system[5, column] += x * row[column]
        else:
            system[3, column] += y * row[column]
            system[4, column] -= x * row[column]


@subkernel
def _place_field(fields, state, field, when, h):
    """Write a field as it is at a time of the frame, in the world, into ``fields.row``."""
    before, after, row = fields.values[0, field], fields.values[1, field], fields.row
    for column in range(COLUMNS):
        row[column] = after[column]
        if before[column] != after[column] and abs(before[column]) < math.inf and abs(after[column]) < math.inf:
            row[column] = before[column] + when * (after[column] - before[column])
    carrier = fields.carrier[field]
    if carrier >= 0:
        x, y, z, p, a, b, c = _half_on(state, carrier, h)
        place = rotate(p, a, b, c, row[PLACE], row[PLACE + 1], row[PLACE + 2])
        row[PLACE], row[PLACE + 1], row[PLACE + 2] = x + place[0], y + place[1], z + place[2]
        axis = rotate(p, a, b, c, row[AXIS], row[AXIS + 1], row[AXIS + 2])
        row[AXIS], row[AXIS + 1], row[AXIS + 2] = axis
    length = math.sqrt(row[AXIS] ** 2 + row[AXIS + 1] ** 2 + row[AXIS + 2] ** 2)
    for column in range(3):
        row[AXIS + column] /= length if length > 0.0 else 1.0


@kernel
def find_changes(model, state, group, fields, duration, changed):
    """Find the sleeping bodies on which forces are others at the frame's end than at its beginning.

    Parameters
    ----------
    model, state
        Read; kinds as they are, not as the step sees them.
    group : int64 [body_count]
        Of ``SleepArrays``.
    fields : FieldArrays
        Written: row, system.
    duration : float
        Of the frame [s].
    changed : bool [body_count]
        Written.
    """
    for body in range(group.size):
        changed[body] = False
        if group[body] < 0:
            continue
        add_forces(model, state, fields, body, 0.0, 0.0, fields.frame[0])
        before = _copied(fields.system)
        # twice the frame, as half of it is looked ahead
        add_forces(model, state, fields, body, 1.0, 2.0 * duration, fields.frame[0] + 1)
        for column in range(6):
            changed[body] = changed[body] or fields.system[column, 6] != before[column]


@subkernel
def _copied(system):
    return system[0, 6], system[1, 6], system[2, 6], system[3, 6], system[4, 6], system[5, 6]
