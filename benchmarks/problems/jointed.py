"""Frozen problems of joints, made by hand: redundant and conflicting rows, mass ratios, motors, limits, with contacts.

Each is one substep of something that moves: free velocities hold gravity over the substep, biases the openings of
joints over it. ``PROBLEMS`` names them all.
"""

import math

import numpy as np

from cairn.solver_core.problem.problem import ContactProblem
from cairn.solver_core.problem.rows import allocate_rows

_H = 1.0 / 240.0
_GRAVITY = 9.81
_X, _Y, _Z = np.eye(3)


class Mechanism:
    """Bodies and blocks of rows between them; body 0 is the world.

    Attributes
    ----------
    position : list of float64 [3]
        Centres of mass [m].
    inverse_mass : list of float64 [6, 6]
    velocity : list of float64 [6]
        With gravity over the substep.
    blocks : list of (a, b, jacobian, bias, lower, upper, compliance, friction)
        ``friction`` is the coefficient of a contact, None for other rows.
    """

    def __init__(self):
        self.position, self.inverse_mass, self.velocity = [np.zeros(3)], [np.zeros((6, 6))], [np.zeros(6)]
        self.blocks = []

    def add_box(self, position, size, mass=1.0, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), turn=None):
        """A box of this size [m, m, m], turned by a rotation matrix; returns its number."""
        x, y, z = np.square(size)
        turn = np.eye(3) if turn is None else turn
        inverse = np.zeros((6, 6))
        inverse[:3, :3] = np.eye(3) / mass
        inverse[3:, 3:] = turn @ np.diag(12.0 / (mass * np.array([y + z, x + z, x + y]))) @ turn.T
        self.position.append(np.asarray(position, float))
        self.inverse_mass.append(inverse)
        self.velocity.append(np.concatenate([np.asarray(velocity) - _GRAVITY * _H * _Z, spin]))
        return len(self.position) - 1

    def add_rows(self, a, b, jacobian, bias=0.0, lower=-np.inf, upper=np.inf, compliance=0.0, friction=None):
        """A block; numbers hold for all of its rows."""
        count = len(jacobian)
        spread = (np.broadcast_to(np.asarray(value, float), count) for value in (bias, lower, upper, compliance))
        self.blocks.append((a, b, np.asarray(jacobian, float), *spread, friction))

    def pushes(self, a, b, point, directions):
        """Jacobian of the relative velocity of b against a at a point, along directions."""
        directions, point = np.atleast_2d(directions), np.asarray(point, float)
        arm_a, arm_b = point - self.position[a], point - self.position[b]
        return np.hstack([-directions, -np.cross(arm_a, directions), directions, np.cross(arm_b, directions)])

    @staticmethod
    def turns(directions):
        """Jacobian of the relative spin about directions."""
        directions = np.atleast_2d(directions)
        jacobian = np.zeros((len(directions), 12))
        jacobian[:, 3:6], jacobian[:, 9:12] = -directions, directions
        return jacobian

    def add_point(self, a, b, point, opening=(0.0, 0.0, 0.0)):
        """Hold two bodies together at a point, which is open by ``opening`` [m]."""
        self.add_rows(a, b, self.pushes(a, b, point, np.eye(3)), np.asarray(opening) / _H)

    def add_hinge(self, a, b, point, axis, opening=(0.0, 0.0, 0.0)):
        """Hold a point, and every turn but that about ``axis``."""
        axis = np.asarray(axis, float) / np.linalg.norm(axis)
        first = np.cross(axis, _X if abs(axis[0]) < 0.7 else _Y)
        first /= np.linalg.norm(first)
        jacobian = np.vstack([self.pushes(a, b, point, np.eye(3)), self.turns([first, np.cross(axis, first)])])
        self.add_rows(a, b, jacobian, np.concatenate([np.asarray(opening) / _H, np.zeros(2)]))

    def add_fixed(self, a, b, point):
        """Hold everything."""
        self.add_rows(a, b, np.vstack([self.pushes(a, b, point, np.eye(3)), self.turns(np.eye(3))]))

    def add_motor(self, a, b, axis, speed, torque):
        """Turn b against a about ``axis`` at a speed [rad/s] with at most this torque [N m]."""
        self.add_rows(a, b, self.turns(axis), -speed, -torque * _H, torque * _H)

    def add_limit(self, a, b, axis, left):
        """Let b turn against a by no more than ``left`` [rad] against ``axis``."""
        self.add_rows(a, b, self.turns(axis), left / _H, 0.0)

    def add_spring(self, a, b, point, direction, stretch, stiffness):
        """A spring, implicit in time."""
        jacobian = self.pushes(a, b, point, direction)
        self.add_rows(a, b, jacobian, stretch / _H, compliance=1.0 / (_H * _H * stiffness))

    def add_contact(self, a, b, point, normal=_Z, friction=0.5, gap=0.0):
        """Contact at a point, with the normal from a to b."""
        normal = np.asarray(normal, float)
        first = np.cross(normal, _X if abs(normal[0]) < 0.7 else _Y)
        first /= np.linalg.norm(first)
        jacobian = self.pushes(a, b, point, [normal, first, np.cross(normal, first)])
        self.add_rows(a, b, jacobian, [gap / _H, 0.0, 0.0], 0.0, [np.inf, 0.0, 0.0], friction=friction)

    def problem(self) -> ContactProblem:
        """All blocks as rows."""
        counts = [len(block[2]) for block in self.blocks]
        total, bodies = sum(counts), len(self.position)
        rows = allocate_rows(len(counts), total, bodies)
        rows.count[:] = len(counts), total
        rows.block_row[:] = np.concatenate([[0], np.cumsum(counts)])
        for block, (a, b, jacobian, bias, lower, upper, compliance, friction) in enumerate(self.blocks):
            first = rows.block_row[block]
            span = slice(first, rows.block_row[block + 1])
            rows.body_a[block], rows.body_b[block] = a, b
            rows.jacobian[span] = jacobian
            rows.response[span] = np.hstack(
                [jacobian[:, :6] @ self.inverse_mass[a], jacobian[:, 6:] @ self.inverse_mass[b]]
            )
            rows.bias[span], rows.lower[span], rows.upper[span] = bias, lower, upper
            rows.compliance[span] = compliance
            if friction is not None:
                rows.normal_row[first + 1 : first + 3] = first
                rows.friction[first + 1 : first + 3] = friction
        rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1) + rows.compliance
        for body in range(1, bodies):
            rows.body_mass[body] = np.linalg.inv(self.inverse_mass[body])
        return ContactProblem(rows, np.array(self.velocity))


def door(conflict=0.0) -> ContactProblem:
    """A door on two hinges on one line, of which the upper one hangs lower by ``conflict`` [m]."""
    mechanism = Mechanism()
    body = mechanism.add_box((0.5, 0.0, 1.0), (1.0, 0.05, 2.0), 30.0, spin=(0.0, 0.0, 2.0), velocity=(0.0, 1.0, 0.0))
    mechanism.add_hinge(0, body, (0.0, 0.0, 0.2), _Z)
    mechanism.add_hinge(0, body, (0.0, 0.0, 1.8), _Z, (0.0, 0.0, -conflict))
    return mechanism.problem()


def plank(conflict=0.0) -> ContactProblem:
    """A plank that eight points hold, one of them off by ``conflict`` [m]."""
    mechanism = Mechanism()
    body = mechanism.add_box((0.0, 0.0, 0.0), (4.0, 0.3, 0.1), 20.0, spin=(0.1, 0.2, 0.3))
    for place in range(8):
        point = (-1.75 + 0.5 * place, 0.1 * (-1) ** place, 0.05)
        mechanism.add_point(0, body, point, (0.0, 0.0, conflict if place == 3 else 0.0))
    return mechanism.problem()


def ring(count=16, conflict=0.0) -> ContactProblem:
    """A closed ring of links with parallel hinges, which holds its plane many times over; it turns and falls.

    Each link spins a little by itself, too.
    """
    mechanism = Mechanism()
    spins = 0.1 * np.random.default_rng(5).normal(size=(count, 3))
    angles = 2.0 * math.pi * np.arange(count) / count
    radius = 0.5 * 0.3 / math.sin(math.pi / count)
    links = []
    for angle, spin in zip(angles, spins, strict=True):
        middle = angle + math.pi / count
        turn = np.array(
            [[math.cos(middle), 0.0, math.sin(middle)], [0.0, 1.0, 0.0], [-math.sin(middle), 0.0, math.cos(middle)]]
        )
        place = radius * math.cos(math.pi / count) * np.array([math.sin(middle), 0.0, math.cos(middle)])
        links.append(mechanism.add_box(place, (0.3, 0.1, 0.1), 1.0, np.cross(_Y, place), spin + _Y, turn))
    for place, angle in enumerate(angles):
        point = radius * np.array([math.sin(angle), 0.0, math.cos(angle)])
        opening = (0.0, conflict if place == 5 else 0.0, 0.0)
        mechanism.add_hinge(links[place - 1], links[place], point, _Y, opening)
    return mechanism.problem()


def four_bar(speed=1.0) -> ContactProblem:
    """A parallelogram of hinges stretched flat, where it could go on in two ways."""
    mechanism = Mechanism()
    crank = mechanism.add_box((0.25, 0.0, 0.0), (0.5, 0.05, 0.05), 1.0, (0.0, 0.0, 0.25 * speed), (0.0, -speed, 0.0))
    coupler = mechanism.add_box((1.0, 0.0, 0.0), (1.0, 0.05, 0.05), 1.0, (0.0, 0.0, 0.5 * speed))
    rocker = mechanism.add_box((1.25, 0.0, 0.0), (0.5, 0.05, 0.05), 1.0, (0.0, 0.0, 0.25 * speed), (0.0, -speed, 0.0))
    mechanism.add_hinge(0, crank, (0.0, 0.0, 0.0), _Y)
    mechanism.add_hinge(crank, coupler, (0.5, 0.0, 0.0), _Y)
    mechanism.add_hinge(coupler, rocker, (1.5, 0.0, 0.0), _Y)
    mechanism.add_hinge(0, rocker, (1.0, 0.0, 0.0), _Y)
    return mechanism.problem()


def chain(count=50, load=1e6, joint="point", heavy=-1) -> ContactProblem:
    """A level chain, let go, with one link ``load`` times as heavy as the others; openings of a swing."""
    mechanism = Mechanism()
    random = np.random.default_rng(1)
    last = 0
    for place in range(count):
        mass = load if place == heavy % count else 1.0
        link = mechanism.add_box((0.3 * place + 0.15, 0.0, 0.0), (0.3, 0.1, 0.1), mass, (0.0, 0.0, -0.3 * place))
        opening = 1e-6 * random.normal(size=3)
        if joint == "point":
            mechanism.add_point(last, link, (0.3 * place, 0.0, 0.0), opening)
        else:
            mechanism.add_hinge(last, link, (0.3 * place, 0.0, 0.0), _Y, opening)
        last = link
    return mechanism.problem()


def cantilever(count=10) -> ContactProblem:
    """Fixed cubes in a row, held at one end."""
    mechanism = Mechanism()
    last = 0
    for place in range(count):
        cube = mechanism.add_box((place + 0.5, 0.0, 0.0), (1.0, 1.0, 1.0), 10.0)
        mechanism.add_fixed(last, cube, (float(place), 0.0, 0.0))
        last = cube
    return mechanism.problem()


def robot_arm(count=8) -> ContactProblem:
    """Links with hinges in turn about y and z, motors of which some slip, and limits of which some are reached."""
    mechanism = Mechanism()
    last = 0
    for place in range(count):
        link = mechanism.add_box(
            (0.4 * place + 0.2, 0.0, 0.0), (0.4, 0.1, 0.1), 4.0 / (place + 1), spin=(0.0, 0.5, 0.2)
        )
        axis = _Y if place % 2 == 0 else _Z
        mechanism.add_hinge(last, link, (0.4 * place, 0.0, 0.0), axis)
        mechanism.add_motor(last, link, axis, (-1.0) ** place * 2.0, 400.0 / (place + 1) ** 2)
        mechanism.add_limit(last, link, axis, 0.0 if place % 3 == 0 else 1e-3)
        last = link
    return mechanism.problem()


def bridge(planks=40, load=100.0, conflict=0.0) -> ContactProblem:
    """Planks that hang from each other and from both banks at two points a seam, with a box on them."""
    mechanism = Mechanism()
    last, length, width = 0, 0.25, 1.0
    numbers = [
        mechanism.add_box(((place + 0.5) * length, 0.0, 0.0), (length, width, 0.05), 2.0) for place in range(planks)
    ]
    for place in range(planks + 1):
        body = numbers[place] if place < planks else 0
        for side in (-0.5, 0.5):
            opening = (conflict * side, 0.0, 0.0)
            mechanism.add_point(last, body, (place * length, side * width, 0.0), opening)
        last = body
    middle, size = 0.5 * planks * length + 0.07, 0.6
    box = mechanism.add_box((middle, 0.1, 0.025 + 0.5 * size), (size,) * 3, load, (0.3, 0.0, -1.0))
    for place, number in enumerate(numbers):
        low = max(place * length, middle - 0.5 * size)
        high = min((place + 1) * length, middle + 0.5 * size)
        if high > low:
            for x in (low, high):
                for y in (-0.2, 0.4):
                    mechanism.add_contact(number, box, (x, y, 0.025))
    return mechanism.problem()


# Ragdoll: name, centre, size, mass.
_LIMBS = (
    ("pelvis", (0.0, 0.0, 1.00), (0.20, 0.30, 0.15), 12.0),
    ("spine", (0.0, 0.0, 1.17), (0.18, 0.28, 0.18), 10.0),
    ("chest", (0.0, 0.0, 1.38), (0.20, 0.34, 0.22), 18.0),
    ("neck", (0.0, 0.0, 1.53), (0.08, 0.08, 0.08), 1.5),
    ("head", (0.0, 0.0, 1.68), (0.18, 0.16, 0.22), 5.0),
    *(
        (f"{name} {side}", (0.0, sign * y, z), size, mass)
        for side, sign in (("left", 1.0), ("right", -1.0))
        for name, y, z, size, mass in (
            ("upper arm", 0.32, 1.43, (0.08, 0.28, 0.08), 2.5),
            ("forearm", 0.58, 1.43, (0.07, 0.24, 0.07), 1.5),
            ("thigh", 0.10, 0.70, (0.14, 0.14, 0.42), 8.0),
            ("shin", 0.10, 0.28, (0.10, 0.10, 0.40), 4.0),
            ("foot", 0.10, 0.04, (0.24, 0.09, 0.07), 1.0),
        )
    ),
)
_JOINTS = (
    ("pelvis", "spine", (0.0, 0.0, 1.08)),
    ("spine", "chest", (0.0, 0.0, 1.27)),
    ("chest", "neck", (0.0, 0.0, 1.49)),
    ("neck", "head", (0.0, 0.0, 1.57)),
    *(
        joint
        for side, sign in (("left", 1.0), ("right", -1.0))
        for joint in (
            ("chest", f"upper arm {side}", (0.0, sign * 0.18, 1.43)),
            (f"upper arm {side}", f"forearm {side}", (0.0, sign * 0.46, 1.43)),
            ("pelvis", f"thigh {side}", (0.0, sign * 0.10, 0.92)),
            (f"thigh {side}", f"shin {side}", (0.0, sign * 0.10, 0.48)),
            (f"shin {side}", f"foot {side}", (0.0, sign * 0.10, 0.08)),
        )
    ),
)


def ragdoll(limits=True) -> ContactProblem:
    """Fifteen limbs that lie across stairs: points or hinges, limits of which a third are reached, joint friction."""
    mechanism = Mechanism()
    random = np.random.default_rng(3)
    # lies on its back, head up the stairs: z of the standing figure becomes x
    laid = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    numbers, sizes = {}, {}
    for name, place, size, mass in _LIMBS:
        center = laid @ np.array(place)
        sizes[name] = np.abs(laid @ np.array(size))
        numbers[name] = mechanism.add_box(center, sizes[name], mass, (0.5, 0.0, -0.3), random.normal(size=3))
    for a, b, place in _JOINTS:
        point, opening = laid @ np.array(place), 1e-5 * random.normal(size=3)
        if "shin" in b or "forearm" in b:
            mechanism.add_hinge(numbers[a], numbers[b], point, _Y, opening)
            axes = [_Y]
        else:
            mechanism.add_point(numbers[a], numbers[b], point, opening)
            axes = [_X, _Y, _Z]
        for axis in axes:
            mechanism.add_rows(numbers[a], numbers[b], mechanism.turns(axis), 0.0, -0.02, 0.02)
            if limits:
                for sign in (-1.0, 1.0):
                    left = 0.0 if random.uniform() < 0.33 else random.uniform(0.01, 0.5)
                    mechanism.add_limit(numbers[a], numbers[b], sign * axis, left)
    for name, number in numbers.items():
        center, half = mechanism.position[number], 0.5 * sizes[name]
        if half[2] > 0.05:
            for x in (-1.0, 1.0):
                for y in (-1.0, 1.0):
                    point = center + half * np.array([x, y, -1.0])
                    mechanism.add_contact(0, number, point, gap=random.choice([0.0, 0.0, 1e-4, 1e-2]))
    return mechanism.problem()


def net(count=12) -> ContactProblem:
    """A square net of balls on points, held at its corners: loops everywhere."""
    mechanism = Mechanism()
    numbers = {}
    for i in range(count):
        for j in range(count):
            numbers[i, j] = mechanism.add_box((0.2 * i, 0.2 * j, 0.0), (0.1, 0.1, 0.1), 0.3)
    for (i, j), number in numbers.items():
        for di, dj in ((1, 0), (0, 1)):
            if (i + di, j + dj) in numbers:
                point = (0.2 * i + 0.1 * di, 0.2 * j + 0.1 * dj, 0.0)
                mechanism.add_point(number, numbers[i + di, j + dj], point)
    for corner in ((0, 0), (0, count - 1), (count - 1, 0), (count - 1, count - 1)):
        mechanism.add_point(0, numbers[corner], mechanism.position[numbers[corner]])
    return mechanism.problem()


def car() -> ContactProblem:
    """A body on four wheels: hinges with motors, springs and limits of the suspension, two contacts a wheel."""
    mechanism = Mechanism()
    body = mechanism.add_box((0.0, 0.0, 0.8), (3.0, 1.4, 0.5), 1000.0, (3.0, 0.0, 0.0))
    for x in (-1.1, 1.1):
        for y in (-0.75, 0.75):
            hub = mechanism.add_box((x, y, 0.35), (0.2, 0.2, 0.2), 15.0, (3.0, 0.0, 0.0))
            wheel = mechanism.add_box((x, y, 0.35), (0.6, 0.2, 0.6), 25.0, (3.0, 0.0, 0.0), (0.0, 8.0, 0.0))
            point = (x, y, 0.35)
            slides = np.vstack([mechanism.pushes(body, hub, point, [_X, _Y]), mechanism.turns(np.eye(3))])
            mechanism.add_rows(body, hub, slides)
            mechanism.add_spring(body, hub, point, _Z, 0.12, 2e4)
            mechanism.add_rows(body, hub, mechanism.pushes(body, hub, point, _Z), 0.05 / _H, 0.0)
            mechanism.add_rows(body, hub, mechanism.pushes(body, hub, point, -_Z), 0.0, 0.0)
            mechanism.add_hinge(hub, wheel, point, _Y)
            mechanism.add_motor(hub, wheel, _Y, 20.0, 300.0 if x < 0.0 else 0.0)
            for side in (-0.1, 0.1):
                mechanism.add_contact(0, wheel, (x, y + side, 0.0), friction=0.9)
    return mechanism.problem()


PROBLEMS = {
    "door on two hinges": door,
    "door, 1e-4 m off": lambda: door(1e-4),
    "plank on 8 points": plank,
    "plank, 1e-4 m off": lambda: plank(1e-4),
    "ring of 16": ring,
    "ring of 16, 1e-4 m off": lambda: ring(conflict=1e-4),
    "four-bar, flat": four_bar,
    "chain of 50, 1e6 at the end": chain,
    "chain of 50, 1e6 in the middle": lambda: chain(heavy=25),
    "chain of 50 hinges, 1e3 at the end": lambda: chain(load=1e3, joint="hinge"),
    "cantilever of 10": cantilever,
    "cantilever of 40": lambda: cantilever(40),
    "arm with motors": robot_arm,
    "bridge of 40 with a box": bridge,
    "bridge, seams 1e-4 m off": lambda: bridge(conflict=1e-4),
    "ragdoll on stairs": ragdoll,
    "net of 12 x 12": net,
    "car": car,
}
