"""Hinges of one door have one axis.

Two hinges between the same two bodies whose axes are off by a hair are, taken exactly, a lock. Nobody means that, but
files have it: positions are rounded to single precision, and empties are placed by hand. A spectrum of the dynamics
cannot tell such a lock from a soft mode; geometry can. So of the joints between two bodies that turn about an axis,
and the points on it, the frames are moved to the line that is nearest to all,

    min over (c, u)   sum of |(p_i - c) x u|^2  +  L^2 sum of |a_i x u|^2,      |u| = 1

with origins p_i, axes a_i and the size L: c is the mean of p_i, and u the eigenvector of the largest eigenvalue of
sum (p_i - c)(p_i - c)' + L^2 sum a_i a_i'. Then their rows are redundant to rounding, and share the load. Likewise the
axes of sliders are given one direction. What is off by more than ``RATIO_SAME`` is meant as it is.
"""

import dataclasses

import numpy as np

from ...geometry import rotations
from ...geometry.small_matrices import symmetric_eigen
from .coordinates import ALIGN, LINEAR, TURN

# Distances below this share of the size, and angles below it [rad], are none.
RATIO_SAME = 1e-2
# What is off by less is on one line already, but for rounding.
_RATIO_EXACT = 1e-14

_POINT, _HINGE, _SLIDER = range(3)
_AXES = np.eye(3)


def share_axes(joints, stands, size):
    """Let joints of the same two bodies have one axis where theirs are nearly the same.

    Parameters
    ----------
    joints : sequence of PlacedJoint
    stands : sequence of bool
        By body: it never moves, as the world.
    size : float64 [body_count]
        [m]

    Returns
    -------
    list of PlacedJoint
    """
    result = list(joints)
    groups: dict[frozenset[int], list[int]] = {}
    for index, joint in enumerate(joints):
        ends = frozenset(-1 if body < 0 or stands[body] else body for body in _ends_of(joint))
        groups.setdefault(ends, []).append(index)
    for group in groups.values():
        if len(group) < 2:
            continue
        kinds = {index: _kind_of(joints[index].joint) for index in group}
        length = min(size[body] for index in group for body in _ends_of(joints[index]) if body >= 0)
        hinges = [index for index in group if kinds[index] is not None and kinds[index][0] == _HINGE]
        on_axis = [index for index in group if kinds[index] is not None and kinds[index][0] != _SLIDER]
        if hinges and len(on_axis) > 1:
            _share_line(result, on_axis, hinges, kinds, length)
        sliders = [index for index in group if kinds[index] is not None and kinds[index][0] == _SLIDER]
        if len(sliders) > 1:
            _share_direction(result, sliders, kinds)
    return result


def _ends_of(joint):
    return joint.body_a, joint.body_b


def _kind_of(joint):
    """Whether a joint holds a point, turns about an axis or slides along one, and which; None: nothing of these."""
    held = [coordinate for coordinate in joint.coordinates() if coordinate.range.is_locked]
    lines = {c.axis for c in held if c.kind == LINEAR and c.range.lower == 0.0}
    aligned = [c.about for c in held if c.kind == ALIGN]
    turned = [c for c in held if c.kind == TURN]
    if len(aligned) == 2 and lines >= {0, 1, 2} - {aligned[0]}:
        return _HINGE, aligned[0]
    if len(turned) == 3 and len(lines) == 2:
        return _SLIDER, next(iter({0, 1, 2} - lines))
    if not aligned and not turned and len(lines) == 3 and len(held) == 3:
        return _POINT, 0
    return None


def _axis_of(joint, axis):
    return rotations.rotate(joint.orientation, _AXES[axis])


def _farthest(vectors, line):
    """The largest distance of vectors [n, 3] from a line through the origin."""
    return float(np.max(np.linalg.norm(np.cross(vectors, line), axis=1)))


def _nearest_direction(vectors):
    """The direction [3] nearest to vectors [n, 3] of either sign, the longer the more."""
    products = sum(np.multiply.outer(vector, vector) for vector in vectors)
    return symmetric_eigen(products[None])[1][0, :, 2]


def _share_line(joints, on_axis, hinges, kinds, length):
    """Move the frames of joints to the line nearest to them, if none is far from it."""
    points = np.array([joints[index].position for index in on_axis])
    axes = np.array([_axis_of(joints[index], kinds[index][1]) for index in hinges])
    center = points.mean(axis=0)
    away = points - center
    line = _nearest_direction(np.concatenate([away, length * axes]))
    off = max(_farthest(away, line) / length, _farthest(axes, line))
    if off > RATIO_SAME or off <= _RATIO_EXACT:
        return
    for index, point in zip(on_axis, points, strict=True):
        moved = center + ((point - center) @ line) * line - point
        joint = joints[index]
        joints[index] = dataclasses.replace(joint, position=point + moved, anchor_b=np.asarray(joint.anchor_b) + moved)
    for index in hinges:
        joints[index] = _turned_to(joints[index], kinds[index][1], line)


def _share_direction(joints, sliders, kinds):
    """Turn the axes of sliders to their mean direction, if none is far from it."""
    axes = np.array([_axis_of(joints[index], kinds[index][1]) for index in sliders])
    line = _nearest_direction(axes)
    off = _farthest(axes, line)
    if off > RATIO_SAME or off <= _RATIO_EXACT:
        return
    for index in sliders:
        joints[index] = _turned_to(joints[index], kinds[index][1], line)


def _turned_to(joint, axis, line):
    """A joint turned the short way to where one of its axes lies along a line."""
    own = _axis_of(joint, axis)
    wanted = line if own @ line > 0.0 else -line
    across = np.cross(own, wanted)
    sine = np.linalg.norm(across)
    if sine == 0.0:
        return joint
    turn = rotations.from_rotation_vector(across / sine * np.arctan2(sine, own @ wanted))
    return dataclasses.replace(joint, orientation=rotations.multiply(turn, joint.orientation))
