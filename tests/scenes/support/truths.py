"""What must be true of a scene, whoever plays it: each truth looks at a play and returns what it finds wrong."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from playing import joint_gap


@dataclass(frozen=True)
class Truth:
    """A sentence, and the function that finds what contradicts it in a play (an empty text: nothing)."""

    words: str
    fault: Callable


def nothing_below(height, names="", slack=0.01):
    """No vertex of an active body lower than ``height`` by more than ``slack`` of the body's size, in any frame."""

    def fault(play):
        found = []
        for name in play.chosen(names):
            depth = height - play.points(name)[:, :, 2].min(axis=1)
            if depth.max() > slack * play.size(name):
                found.append(f"{name} is {depth.max():.3g} m below at frame {play.first_frame + int(depth.argmax())}")
        return _some(found)

    return Truth(f"nothing falls below {height:g} m", fault)


def no_faster_than(speed, names=""):
    """No vertex moves faster than so many metres a second."""

    def fault(play):
        found = []
        for name in play.chosen(names):
            fastest = play.speed(name)
            if fastest.max() > speed:
                frame = play.first_frame + 1 + int(fastest.argmax())
                found.append(f"{name} moves at {fastest.max():.3g} m/s at frame {frame}")
        return _some(found)

    return Truth(f"no {names or 'body'} is faster than {speed:g} m/s", fault)


def rests_from(frame, names="", within=0.002):
    """From a frame on no vertex goes farther than a share of the body's size."""

    def fault(play):
        found = []
        for name in play.chosen(names):
            points = play.points(name)[play.frame(frame) :]
            moved = np.linalg.norm(points - points[0], axis=2).max()
            if moved > within * play.size(name):
                found.append(f"{name} still moves by {moved / play.size(name):.2g} of its size")
        return _some(found)

    return Truth(f"{names or 'all'} rests from frame {frame} on", fault)


def stays(names, within=0.02, until=None):
    """No vertex ever goes farther from its start than a share of the body's size."""

    def fault(play):
        found = []
        last = None if until is None else play.frame(until) + 1
        for name in play.chosen(names):
            points = play.points(name)[:last]
            moved = np.linalg.norm(points - points[0], axis=2).max()
            if moved > within * play.size(name):
                found.append(f"{name} moves by {moved / play.size(name):.2g} of its size")
        return _some(found)

    return Truth(f"{names} stays where it is", fault)


def falls_over(names, degrees=60.0, axis=2, all_but=0):
    """At the end the bodies' own axis has turned by at least so much."""

    def fault(play):
        upright = [name for name in play.chosen(names) if _turned(play, name, axis)[-1] < degrees]
        return _some([f"{name} stands" for name in upright]) if len(upright) > all_but else ""

    return Truth(f"{names} falls over", fault)


def falls_in_order(names, degrees=20.0, axis=2):
    """Bodies tilt by so much one after the other, in the order of their names."""

    def fault(play):
        times = []
        for name in sorted(play.chosen(names)):
            tilted = np.flatnonzero(_turned(play, name, axis) > degrees)
            if not len(tilted):
                return f"{name} never falls"
            times.append(tilted[0])
        wrong = int((np.diff(times) < 0).sum())
        return f"{wrong} fall before the one before them" if wrong else ""

    return Truth(f"{names} falls in order", fault)


def ends_within(names, low, high, all_but=0):
    """At the end the middle of each body lies in a box (None: no bound)."""

    def fault(play):
        outside = []
        for name in play.chosen(names):
            end = play.middle(name)[-1]
            if any(a is not None and x < a for x, a in zip(end, low, strict=True)) or any(
                b is not None and x > b for x, b in zip(end, high, strict=True)
            ):
                outside.append(f"{name} ends at {np.round(end, 3).tolist()}")
        return _some(outside) if len(outside) > all_but else ""

    return Truth(f"{names} ends where it belongs", fault)


def always_within(names, low, high):
    """In every frame the middle of each body lies in a box (None: no bound)."""

    def fault(play):
        outside = []
        for name in play.chosen(names):
            path = play.middle(name)
            out = np.zeros(len(path), bool)
            for axis in range(3):
                if low[axis] is not None:
                    out |= path[:, axis] < low[axis]
                if high[axis] is not None:
                    out |= path[:, axis] > high[axis]
            if out.any():
                frame = int(np.flatnonzero(out)[0])
                outside.append(f"{name} is at {np.round(path[frame], 3).tolist()} in frame {play.first_frame + frame}")
        return _some(outside)

    return Truth(f"{names} stays inside", fault)


def moves(names, least, axis=None):
    """Each body ends at least so far from its start (along an axis, with its sign)."""

    def fault(play):
        found = []
        for name in play.chosen(names):
            path = play.middle(name)
            way = path[-1] - path[0]
            far = np.linalg.norm(way) if axis is None else way[axis] * np.sign(least)
            if far < abs(least):
                found.append(f"{name} ends {far:.3g} m from its start")
        return _some(found)

    return Truth(f"{names} goes {least:g} m or more", fault)


def reaches(names, height, by_frame=None):
    """Some body's middle rises above a height."""

    def fault(play):
        last = None if by_frame is None else play.frame(by_frame) + 1
        top = max(play.middle(name)[:last, 2].max() for name in play.chosen(names))
        return "" if top >= height else f"the highest is at {top:.3g} m"

    return Truth(f"{names} comes up to {height:g} m", fault)


def stays_below(names, height):
    """No body's middle rises above a height."""

    def fault(play):
        found = []
        for name in play.chosen(names):
            top = play.middle(name)[:, 2].max()
            if top > height:
                found.append(f"{name} is {top:.3g} m high")
        return _some(found)

    return Truth(f"{names} never rises above {height:g} m", fault)


def joints_hold(gap):
    """Points that a joint holds together are never farther apart."""

    def fault(play):
        worst = joint_gap(play)
        return "" if worst <= gap else f"a joint is open by {worst:.3g} m"

    return Truth(f"no joint opens by more than {gap:g} m", fault)


def turns(name, least, axis=2, at_most=np.inf):
    """The way that a body turns about its own axis, over all frames, in degrees, is so large."""

    def fault(play):
        matrix = play.matrix(name)[:, :3, :3]
        matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        step = np.einsum("fji,fjk->fik", matrix[:-1], matrix[1:])
        one, two = (axis + 1) % 3, (axis + 2) % 3
        turn = np.degrees(np.arctan2(step[:, two, one], step[:, one, one])).sum()
        turn *= np.sign(least)
        return "" if abs(least) <= turn <= at_most else f"{name} turns by {turn:.4g} degrees"

    return Truth(f"{name} turns by {least:g} degrees or more", fault)


def _turned(play, name, axis):
    """Angle of a body's own axis from its direction at the start [frame_count], in degrees."""
    direction = play.matrix(name)[:, :3, axis]
    direction = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return np.degrees(np.arccos(np.clip(direction @ direction[0], -1.0, 1.0)))


def _some(found):
    """The first three of what is wrong, and how many more there are."""
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return "; ".join(found[:3]) + more
