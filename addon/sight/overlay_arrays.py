"""What the overlay draws, as plain arrays: contacts and loads as arrows, joints and their limits as lines, crosses.

An arrow is a needle: its base lies at the contact, its tip where the impulse points to. Everything is in world axes, so
that it can be tested against closed forms, and drawn as the surface of one body at the origin.
"""

import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.model.joints.coordinates import DISTANCE, EULER, GEAR, LINEAR, RACK, SWING, TWIST
from ...solver_core.model.joints.joint_arrays import RANGE, SOFT_RANGE, WORLD
from .shape_surfaces import Surface

# Arrows that are drawn of a frame; where it has more contacts, the strongest.
MOST_ARROWS = 20_000
# An arrow is cut at so many sizes of a body, and as wide as this share of a size, or of its length if that is less.
LONGEST, WIDTH, SLIMNESS = 3.0, 0.06, 0.2
# Half of a bake's contacts have arrows longer than this share of a body; hits are a hundred times as strong.
MEDIAN_LENGTH = 0.4
# Speeds of slip from which and up to which colours change, by factors [m/s].
STICKS, SLIPS = 1e-3, 1.0
STICK_COLOUR = np.array([0.15, 0.5, 1.0, 1.0])
SLIP_COLOUR = np.array([1.0, 0.5, 0.05, 1.0])
JOINT_COLOUR, LIMIT_COLOUR = (0.3, 0.85, 0.45, 1.0), (1.0, 0.85, 0.2, 1.0)
LOAD_COLOUR, CENTRE_COLOUR = np.array([0.85, 0.35, 0.75, 1.0]), (1.0, 1.0, 1.0, 1.0)
# Joints, as shares of their size: anchors and arcs; and turns of an arc between two of its points [rad].
_ANCHOR, _ARC, _STEP = 0.15, 0.45, np.pi / 24

# A needle has three sides and no base: there are many, and the way they point is what is seen.
_BASE = np.array([(np.cos(angle), np.sin(angle)) for angle in 2.0 * np.pi / 3.0 * np.arange(3)])
_NEEDLE = np.array([(0, 1, 3), (1, 2, 3), (2, 0, 3)])
_CORNERS = 4


def slip_colours(slip: np.ndarray) -> np.ndarray:
    """Colours of contacts by how fast they slip [n, 3] [m/s], float [n, 4]: the logarithm of the speed counts."""
    speed = np.linalg.norm(slip, axis=1)
    share = np.log(np.maximum(speed, STICKS) / STICKS) / np.log(SLIPS / STICKS)
    return STICK_COLOUR + np.minimum(share, 1.0)[:, None] * (SLIP_COLOUR - STICK_COLOUR)


def metres_per_impulse(impulse: np.ndarray, size: float) -> float:
    """The scale at which the median of impulses [n, 3] is ``MEDIAN_LENGTH`` of a ``size`` [m / (N s)]."""
    strength = np.linalg.norm(impulse, axis=1)
    strength = strength[strength > 0.0]
    return MEDIAN_LENGTH * size / float(np.median(strength)) if len(strength) else 0.0


def arrows(
    start: np.ndarray, impulse: np.ndarray, colour: np.ndarray, scale: float, size: float, most: int = MOST_ARROWS
) -> tuple[Surface, int]:
    """Needles from points along impulses.

    Parameters
    ----------
    start, impulse : float [n, 3]
        [m], [N s]
    colour : float [n, 4]
    scale : float
        [m / (N s)]
    size : float
        Of a body: what is longer than ``LONGEST`` of it is cut [m].
    most : int

    Returns
    -------
    Surface, int
        And how many weaker ones are left out.
    """
    strength = np.linalg.norm(impulse, axis=1)
    left_out = max(int((strength > 0.0).sum()) - most, 0)
    shown = np.flatnonzero(strength > 0.0)
    if left_out:
        shown = np.sort(shown[np.argpartition(-strength[shown], most)[:most]])
    start, strength = np.asarray(start, float)[shown], strength[shown]
    along = np.asarray(impulse, float)[shown] / strength[:, None]
    length = np.minimum(scale * strength, LONGEST * size)
    width = np.minimum(WIDTH * size, SLIMNESS * length)
    helper = np.where(np.abs(along[:, 2:]) < 0.9, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    across = rotations.cross(along, helper)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    other = rotations.cross(along, across)
    vertices = np.empty((len(shown), _CORNERS, 3))
    for corner, (one, two) in enumerate(_BASE):
        vertices[:, corner] = start + width[:, None] * (one * across + two * other)
    vertices[:, -1] = start + length[:, None] * along
    triangles = _CORNERS * np.arange(len(shown))[:, None, None] + _NEEDLE
    colours = np.repeat(np.asarray(colour, float)[shown], _CORNERS, axis=0)
    return _surface(vertices.reshape(-1, 3), colours, triangles.reshape(-1, 3), np.zeros((0, 2), int)), left_out


def arrow_count(surface: Surface) -> int:
    """How many needles a surface of arrows has."""
    return len(surface.place) // _CORNERS


def crosses(centre: np.ndarray, size: np.ndarray, colour=CENTRE_COLOUR) -> Surface:
    """Three strokes along the world's axes through each of some points [n, 3], so long as ``size`` [n] [m]."""
    arms = 0.5 * np.concatenate([np.eye(3), -np.eye(3)])
    vertices = centre[:, None] + np.asarray(size)[:, None, None] * arms
    edges = 6 * np.arange(len(centre))[:, None, None] + np.array([(0, 3), (1, 4), (2, 5)])
    return _surface(vertices.reshape(-1, 3), np.tile(colour, (6 * len(centre), 1)), None, edges.reshape(-1, 2))


def joint_frames(joints, position: np.ndarray, orientation: np.ndarray):
    """Where the frames A and B of joints are, for poses of the body frames: (place, turn) of each."""
    ends = []
    for body, place, turn in (
        (joints.body_a, joints.position_a, joints.orientation_a),
        (joints.body_b, joints.position_b, joints.orientation_b),
    ):
        at_world = (body == WORLD)[:, None]
        carrier = np.where(at_world, 0, body[:, None])[:, 0]
        moved = position[carrier] + rotations.rotate(orientation[carrier], place)
        turned = rotations.multiply(orientation[carrier], turn)
        ends.append((np.where(at_world, place, moved), np.where(at_world, turn, turned)))
    return ends


def joint_lines(joints, position: np.ndarray, orientation: np.ndarray) -> Surface:
    """Joints as lines: to the centres of what they join, an anchor, and their limits.

    Parameters
    ----------
    joints : JointArrays
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Poses of the body frames.
    """
    (place_a, turn_a), (place_b, turn_b) = joint_frames(joints, position, orientation)
    lines: list = []
    for body, place in ((joints.body_a, place_a), (joints.body_b, place_b)):
        to_body = body != WORLD
        lines.append((np.stack([place[to_body], position[body[to_body]]], axis=1), JOINT_COLOUR))
    arms = _ANCHOR * joints.size[:, None, None] * rotations.matrix(turn_a).swapaxes(1, 2)
    for axis in range(3):
        arm = arms[:, axis]
        lines.append((np.stack([place_a - arm, place_a + arm], axis=1), JOINT_COLOUR))
    lines.append((np.stack([place_a, place_b], axis=1), LIMIT_COLOUR))
    for row in np.flatnonzero(np.isin(joints.role, (RANGE, SOFT_RANGE))):
        joint = int(np.searchsorted(joints.row_first, row, side="right")) - 1
        frames = place_a[joint], rotations.matrix(turn_a[joint]), place_b[joint], rotations.matrix(turn_b[joint])
        size = _ARC * joints.size[joint]
        strokes = limit_strokes(joints.kind[row], joints.axis[row], joints.lower[row], joints.upper[row], frames, size)
        if len(strokes):
            lines.append((strokes, LIMIT_COLOUR))
    vertices = np.concatenate([strokes.reshape(-1, 3) for strokes, _ in lines])
    colours = np.concatenate([np.tile(colour, (2 * len(strokes), 1)) for strokes, colour in lines])
    return _surface(vertices, colours, None, np.arange(len(vertices)).reshape(-1, 2))


def limit_strokes(kind: int, axis: int, lower: float, upper: float, frames, size: float) -> np.ndarray:
    """The range of one coordinate as lines, float64 [n, 2, 3]; none where it has no end.

    Parameters
    ----------
    kind, axis : int
        Of the coordinate (``model.joints.coordinates``).
    lower, upper : float
        [m], [rad]
    frames : tuple
        Origin and axes (columns) of frame A, and of frame B.
    size : float
        Radius of arcs [m].
    """
    place, axes, _place_b, axes_b = frames
    none = np.zeros((0, 2, 3))
    if kind in (GEAR, RACK, DISTANCE):
        return none
    if kind == LINEAR:
        if not (np.isfinite(lower) and np.isfinite(upper)):
            return none
        ends = place + np.outer([lower, upper], axes[:, axis])
        tick = 0.3 * size * axes[:, (axis + 1) % 3]
        return np.array([ends, (ends[0] - tick, ends[0] + tick), (ends[1] - tick, ends[1] + tick)])
    if kind == SWING:
        return _cone(place, axes, upper, size) if np.isfinite(upper) else none
    if kind not in (TWIST, EULER) or not (np.isfinite(lower) and np.isfinite(upper)) or upper - lower >= 2.0 * np.pi:
        return none
    first, second = axes[:, (axis + 1) % 3], axes[:, (axis + 2) % 3]
    angle = np.linspace(lower, upper, max(int(np.ceil((upper - lower) / _STEP)), 1) + 1)
    rim = place + size * (np.outer(np.cos(angle), first) + np.outer(np.sin(angle), second))
    arc = np.stack([rim[:-1], rim[1:]], axis=1)
    spokes = np.array([(place, rim[0]), (place, rim[-1]), (place, place + 0.8 * size * axes_b[:, (axis + 1) % 3])])
    return np.concatenate([arc, spokes])


def _cone(place, axes, half_angle, size):
    around = np.linspace(0.0, 2.0 * np.pi, 25)
    across = np.outer(np.cos(around), axes[:, 0]) + np.outer(np.sin(around), axes[:, 1])
    rim = place + size * (np.cos(half_angle) * axes[:, 2] + np.sin(half_angle) * across)
    spokes = np.stack([np.broadcast_to(place, (4, 3)), rim[:24:6]], axis=1)
    return np.concatenate([np.stack([rim[:-1], rim[1:]], axis=1), spokes])


def joined(surfaces) -> Surface:
    """Several surfaces as one."""
    first = np.cumsum([0, *(len(surface.place) for surface in surfaces)], dtype=np.int32)
    return Surface(
        np.concatenate([surface.place for surface in surfaces]),
        np.concatenate([surface.colour for surface in surfaces]),
        np.concatenate([surface.triangles + start for surface, start in zip(surfaces, first, strict=False)]),
        np.concatenate([surface.edges + start for surface, start in zip(surfaces, first, strict=False)]),
        sum(surface.boxed for surface in surfaces),
    )


def _surface(vertices, colours, triangles, edges) -> Surface:
    place = np.zeros((len(vertices), 4), np.float32)
    place[:, :3] = vertices
    triangles = np.zeros((0, 3)) if triangles is None else triangles
    return Surface(place, np.asarray(colours, np.float32), triangles.astype(np.int32), edges.astype(np.int32), 0)
