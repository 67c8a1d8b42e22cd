"""A scene as data that belongs to no engine: convex parts, bodies, and what is asked of their motion.

Lengths in metres, masses in kilograms, quaternions (w, x, y, z), gravity along -z. The frame of a body has its origin
at the centre of mass.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

GRAVITY = 9.81  # [m/s^2], along -z

FLOOR_HALF_WIDTH = 200.0  # for bodies of 1 m [m]
_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Part:
    """A convex solid in the frame of its body.

    Attributes
    ----------
    kind : {"box", "sphere", "capsule", "cylinder", "cone", "hull"}
    numbers : tuple of float
        Half extents of a box; radius of a sphere; radius and half length along z of the others, of a capsule without
        its round ends [m].
    position, orientation : tuple of float
        Of a cone: of the middle of its height. The apex points along +z.
    points : float64 [point_count, 3], optional
        Corners of a hull [m].
    """

    kind: str
    numbers: tuple = ()
    position: tuple = (0.0, 0.0, 0.0)
    orientation: tuple = _UPRIGHT
    points: np.ndarray | None = None

    def volume(self) -> float:
        """In closed form, a hull's by Qhull [m^3]."""
        if self.kind == "box":
            return float(8.0 * np.prod(self.numbers))
        if self.kind == "hull":
            return float(ConvexHull(self.points).volume)
        radius, half = (*self.numbers, 0.0)[:2]
        ball, rod = 4.0 / 3.0 * np.pi * radius**3, 2.0 * np.pi * radius**2 * half
        return {"sphere": ball, "capsule": ball + rod, "cylinder": rod, "cone": rod / 3.0}[self.kind]

    def center(self) -> np.ndarray:
        """Centre of mass in the body's frame [m]."""
        shift = np.zeros(3)
        if self.kind == "cone":
            shift[2] = -0.5 * self.numbers[1]
        elif self.kind == "hull":
            shift = _centroid(self.points)
        return np.asarray(self.position) + matrix(self.orientation) @ shift

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the body's frame [m]; of a capsule, cylinder or cone those of a box about it."""
        if self.kind == "hull":
            reach = self.points @ matrix(self.orientation).T
            return self.position + reach.min(axis=0), self.position + reach.max(axis=0)
        if self.kind == "box":
            half = np.asarray(self.numbers)
        else:
            radius, length = (*self.numbers, 0.0)[:2]
            half = np.array([radius, radius, {"sphere": radius, "capsule": radius + length}.get(self.kind, length)])
        reach = np.abs(matrix(self.orientation)) @ half
        return np.asarray(self.position) - reach, np.asarray(self.position) + reach

    def scaled(self, factor: float) -> "Part":
        """All lengths times ``factor``."""
        return replace(
            self,
            numbers=tuple(factor * number for number in self.numbers),
            position=tuple(factor * np.asarray(self.position)),
            points=None if self.points is None else factor * self.points,
        )


@dataclass(frozen=True, eq=False)
class Body:
    """Parts that move as one, at one density.

    Attributes
    ----------
    parts : tuple of Part
        They may touch and not overlap. The centre of mass is the origin.
    mass : float
    position, orientation : tuple of float
    velocity, spin : tuple of float
        Of the centre of mass [m/s], and [rad/s], in world axes.
    friction, restitution : float
        A pair has the product of its bodies' values.
    static : bool
    """

    parts: tuple
    mass: float = 1.0
    position: tuple = (0.0, 0.0, 0.0)
    orientation: tuple = _UPRIGHT
    velocity: tuple = (0.0, 0.0, 0.0)
    spin: tuple = (0.0, 0.0, 0.0)
    friction: float = 0.5**0.5
    restitution: float = 0.0
    static: bool = False

    @property
    def size(self) -> float:
        """Longest side of the bounding box in the body's own frame [m]."""
        bounds = [part.bounds() for part in self.parts]
        return float(
            (np.max([upper for _, upper in bounds], axis=0) - np.min([lower for lower, _ in bounds], axis=0)).max()
        )


@dataclass(frozen=True, eq=False)
class Scene:
    """Bodies, and what is asked of them.

    Attributes
    ----------
    family : str
    bodies : tuple of Body
    stands : bool
        Whether a static equilibrium exists with room to spare, so that nothing may move.
    play : float
        How far what stands may go until it does, as a share of its size.
    overlap : float
        Deepest overlap at the start that the scene may have, as a share of the smaller body's size.
    seed : int
    frames : int or None
        Frames of 1/24 s, where the scene wants a certain number.
    scale : float
        Factor of all lengths that the scene was drawn with.
    """

    family: str
    bodies: tuple
    stands: bool = False
    play: float = 0.0
    overlap: float = 0.0
    seed: int = 0
    frames: int | None = None
    scale: float = 1.0
    notes: dict = field(default_factory=dict)

    @property
    def dynamic(self) -> np.ndarray:
        """Which bodies move, bool [body_count]."""
        return np.array([not body.static for body in self.bodies])

    @property
    def sizes(self) -> np.ndarray:
        """Longest sides of the bodies [m]."""
        return np.array([body.size for body in self.bodies])

    @property
    def size(self) -> float:
        """Median of the longest sides of what moves [m]."""
        return float(np.median(self.sizes[self.dynamic]))

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions [body_count, 3] and orientations [body_count, 4] at the start."""
        return (
            np.array([body.position for body in self.bodies], float),
            np.array([body.orientation for body in self.bodies], float),
        )


def scaled(scene: Scene, factor: float) -> Scene:
    """All lengths times ``factor`` under the same gravity: masses grow with its cube and speeds with its root.

    So a hit has the same Froude number v^2 / (g l) at each scale, and the motion is the same in units of sqrt(l / g).
    Only the frame of 1/24 s stays: in these units it is thirty times as long at 1 cm as at 10 m, as users have it.
    """
    root = float(np.sqrt(factor))
    bodies = [
        replace(
            body,
            parts=tuple(part.scaled(factor) for part in body.parts),
            mass=body.mass * factor**3,
            position=tuple(factor * np.asarray(body.position)),
            velocity=tuple(root * np.asarray(body.velocity)),
            spin=tuple(np.asarray(body.spin) / root),
        )
        for body in scene.bodies
    ]
    return replace(scene, bodies=tuple(bodies), scale=scene.scale * factor)


# ---- bodies of one part, and of several


def box(half_extents, **body) -> Body:
    """A box as a body."""
    return Body((Part("box", tuple(float(half) for half in half_extents)),), **body)


def ball(radius, **body) -> Body:
    """A ball as a body."""
    return Body((Part("sphere", (float(radius),)),), **body)


def hull(points, position=(0.0, 0.0, 0.0), **body) -> Body:
    """The convex hull of points, which are given about ``position``; the body's origin is its centre of mass."""
    points = np.asarray(points, float)
    points = points[ConvexHull(points).vertices]
    center = _centroid(points)
    return Body((Part("hull", points=points - center),), position=tuple(np.asarray(position) + center), **body)


def compound(parts, position=(0.0, 0.0, 0.0), orientation=_UPRIGHT, **body) -> Body:
    """Several parts in one frame at ``position``; the body's origin is their common centre of mass."""
    volumes = [part.volume() for part in parts]
    center = np.average([part.center() for part in parts], axis=0, weights=volumes)
    moved = tuple(replace(part, position=tuple(np.asarray(part.position) - center)) for part in parts)
    position = np.asarray(position) + matrix(orientation) @ center
    return Body(moved, position=tuple(position), orientation=tuple(orientation), **body)


def floor(**body) -> Body:
    """A static box whose upper side is z = 0."""
    return box((FLOOR_HALF_WIDTH, FLOOR_HALF_WIDTH, 1.0), position=(0.0, 0.0, -1.0), static=True, **body)


# ---- rotations, and Qhull


def matrix(orientation) -> np.ndarray:
    """Rotation matrices [..., 3, 3] of unit quaternions [..., 4]."""
    w, x, y, z = np.moveaxis(np.asarray(orientation, float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion(axes) -> tuple:
    """Unit quaternion of a rotation matrix [3, 3]."""
    x, y, z, w = Rotation.from_matrix(axes).as_quat()
    return (w, x, y, z)


def turn(axis, angle) -> tuple:
    """Quaternion of a turn by ``angle`` [rad] about an axis "x", "y" or "z"."""
    turned = np.zeros(4)
    turned[0], turned[1 + "xyz".index(axis)] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    return tuple(turned)


def product(first, second) -> tuple:
    """Quaternion of the rotation ``second`` followed by ``first``."""
    w1, v1 = first[0], np.asarray(first[1:])
    w2, v2 = second[0], np.asarray(second[1:])
    return (float(w1 * w2 - v1 @ v2), *(w1 * v2 + w2 * v1 + np.cross(v1, v2)))


def random_turn(random) -> tuple:
    """Unit quaternion, uniform over all rotations."""
    turned = random.normal(size=4)
    return tuple(turned / np.linalg.norm(turned))


def _centroid(points) -> np.ndarray:
    """Centre of mass of a convex hull, as the mean over tetrahedra from an inner point."""
    inner = points.mean(axis=0)
    triangles = points[ConvexHull(points).simplices] - inner
    volumes = np.abs(np.linalg.det(triangles))
    return inner + 0.25 * np.average(triangles.sum(axis=1), axis=0, weights=volumes)
