"""Velocities of what is animated, at the beginning and the end of each frame, from where it is at the frames around.

From pose to pose at constant velocity the velocity of what is animated would jump at each frame. So its places at
frames are joined by cubics whose velocities agree where one frame ends and the next begins. Let d be the steps from
frame to frame, and D = d_j - d_(j-1) at frame j. Three estimates of the velocity at a frame (a frame's unit of time):

    from both sides    (d_-1 + d_0) / 2 - T / 6            T: mean of D_0 - D_-1 and D_1 - D_0
    from before        d_-1 + D_-1 / 2 + (D_-1 - D_-2) / 3
    from after         d_0 - D_1 / 2 + (D_2 - D_1) / 3

Where motion is smooth, they agree to the third order, and the first one holds on both sides. At a *kink*, where a key
of linear animation turns or stops, it would bend the motion before the key and let it overshoot; there each side has
its own, so that the velocity jumps as it was keyed. A kink shows in D: of a smooth motion D_0 lies between D_-1 and
D_1, or near; at a kink it does not, by a share of itself that is 1 for all that is linear before and after. What
stands still for two frames stands still to their ends.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.model.model import BodyKind
from .exported_scene import FrameSample, SceneExport

# Frames after the one that is simulated, and before it, from which its velocities are found.
FRAMES_AHEAD, FRAMES_BEFORE = 3, 4
# Shares of itself by which D_0 lies off: up to the first one there is no kink, from the second one on there is, and
# between them it is partly one. A sine of nine frames a period has the first.
_RATIO_SMOOTH, _RATIO_KINK = 0.25, 0.5
# Likewise how much D may change from one frame to the next, as a share of itself, so that its change says anything.
_CHANGE_KNOWN, _CHANGE_UNKNOWN = 1.0, 2.0


def node_velocities(
    steps: np.ndarray, known: np.ndarray, has_kinks: np.ndarray | bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities just before and just after a frame, in units a frame.

    Parameters
    ----------
    steps : float64 [6, n, k]
        Steps d from frame to frame of n things, three before the frame and three after it.
    known : bool [6, n]
        Which steps are there: not beyond the first frame, and not across a jump.
    has_kinks : bool [n] or bool
        Whether a thing's motion may have kinks, at which both sides differ.

    Returns
    -------
    before, after : float64 [n, k]
        NaN where the step on that side is not known.
    """
    known = known.copy()
    # what lies beyond something unknown says nothing
    known[1] &= known[2]
    known[0] &= known[1]
    known[4] &= known[3]
    known[5] &= known[4]
    change = steps[1:] - steps[:-1]
    has_change = known[1:] & known[:-1]
    smooth = [1.0 - np.where(has_kinks, _kink(change, has_change, node), 0.0) for node in (1, 2, 3)]
    before = _from_one_side(steps[2], change[1], change[0], smooth[0] * has_change[1], has_change[0])
    after = _from_one_side(steps[3], -change[3], -change[4], smooth[2] * has_change[3], has_change[4])
    both = 0.5 * (steps[2] + steps[3])
    weights = smooth[0] * has_change[1], smooth[2] * has_change[3]
    total = np.maximum(weights[0] + weights[1], np.finfo(float).tiny)
    third = weights[0][:, None] * (change[2] - change[1]) + weights[1][:, None] * (change[3] - change[2])
    both -= third / total[:, None] / 6.0

    # a step of a hold is one without way beside another one
    still = known & ~np.any(steps, axis=2)
    stands_before = still[2] & (still[1] | still[3])
    stands_after = still[3] & (still[4] | still[2])
    share = (smooth[1] * has_change[2] * ~(stands_before | stands_after))[:, None]
    before = np.where(stands_before[:, None], 0.0, share * both + (1.0 - share) * before)
    after = np.where(stands_after[:, None], 0.0, share * both + (1.0 - share) * after)
    return np.where(known[2][:, None], before, np.nan), np.where(known[3][:, None], after, np.nan)


def _kink(change, has_change, node):
    """How much of a kink a frame is [n], from 0 to 1: how far its D lies off the segment between its neighbours'.

    Where one of these is not known, off that from 0 to twice the other.
    """
    here = change[node]
    has_left, has_right = has_change[node - 1][:, None], has_change[node + 1][:, None]
    left = np.where(has_left, np.where(has_right, change[node - 1], 2.0 * change[node - 1]), 0.0)
    right = np.where(has_right, np.where(has_left, change[node + 1], 2.0 * change[node + 1]), 0.0)
    along = right - left
    square = np.einsum("nk,nk->n", along, along)
    share = np.einsum("nk,nk->n", here - left, along) / np.where(square > 0.0, square, 1.0)
    nearest = left + np.clip(share, 0.0, 1.0)[:, None] * along
    size = np.linalg.norm(here, axis=1)
    ratio = np.linalg.norm(here - nearest, axis=1) / np.where(size > 0.0, size, 1.0)
    is_told = has_change[node] & (has_change[node - 1] | has_change[node + 1])
    return np.where(is_told, _between(ratio, _RATIO_SMOOTH, _RATIO_KINK), 0.0)


def _from_one_side(step, change, change_before, weight, has_change_before):
    """d + D / 2 + (D - D') / 3 of the side where D and D' lie, each part as far as the motion is smooth there."""
    third = change - change_before
    size = np.linalg.norm(change, axis=1)
    ratio = np.linalg.norm(third, axis=1) / np.maximum(size, np.finfo(float).tiny)
    tells = has_change_before * (1.0 - _between(ratio, _CHANGE_KNOWN, _CHANGE_UNKNOWN))
    return step + weight[:, None] * (0.5 * change + tells[:, None] * third / 3.0)


def _between(value, low, high):
    """0 up to ``low``, 1 from ``high`` on, and straight between."""
    return np.clip((value - low) / (high - low), 0.0, 1.0)


def turns_between(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Rotation vectors [n, 3] from one orientation to another, the shorter way; exactly 0 where they are the same."""
    turn = rotations.multiply(after, rotations.conjugate(before))
    vector = rotations.to_rotation_vector(np.where(turn[:, :1] < 0.0, -turn, turn))
    return np.where(np.all(before == after, axis=1)[:, None], 0.0, vector)


class MotionWindow:
    """The frames around the one to be simulated, of which its velocities are found.

    Parameters
    ----------
    export : SceneExport
    """

    def __init__(self, export: SceneExport):
        self._start = export.frame_start
        self._follows = np.array([body.follows for body in export.bodies])
        self._is_guided = np.array([body.is_guided for body in export.bodies])
        self._places: dict[int, dict[Any, np.ndarray]] = {}
        self._samples: dict[int, FrameSample] = {}
        self._jumps: dict[int, np.ndarray | None] = {}
        self._far_turns: dict[int, dict] = {}
        self._nodes: dict[tuple[int, Any], tuple[np.ndarray, np.ndarray]] = {}
        self._needs_start = any(body.deforming_vertices or body.grows or body.growing_parts for body in export.bodies)
        self._is_needed = self._needs_start or bool(self._follows.any())
        self.add(export.default_sample)

    @property
    def needs_start(self) -> bool:
        """Whether the first frame is to be added as well: of what changes its shape, the export tells no places."""
        return self._needs_start

    @property
    def is_needed(self) -> bool:
        """Whether anything moves by animation, or changes its shape."""
        return self._is_needed

    def add(self, sample: FrameSample) -> None:
        """Take over a frame, the one after the last, or the first one."""
        places: dict[Any, np.ndarray] = {}
        places["position"], places["orientation"] = sample.position, sample.orientation
        # a sample forgets these once its frame is simulated
        self._jumps[sample.frame], self._far_turns[sample.frame] = sample.jumps, sample.turns
        places.update({("vertices", key): vertices for key, vertices in sample.vertices.items()})
        for key, shape in sample.shapes.items():
            place = np.append(shape.parameters[:2], shape.position)
            places["shapes", key] = place[None]
        self._places[sample.frame] = places
        self._samples[sample.frame] = sample

    def give_velocities(self, frame: int) -> None:
        """Write into the sample of a frame the velocities at its two ends; frames long before are forgotten."""
        if not self._is_needed:
            return
        sample = self._samples[frame]
        if sample.duration > 0.0:
            self._give_bodies(frame, sample)
            sample.vertex_velocities = self._rates(frame, sample.vertices, "vertices", sample.duration)
            rates = self._rates(frame, sample.shapes, "shapes", sample.duration)
            sample.shape_rates = {key: ends[:, 0] for key, ends in rates.items()}
        for old in [at for at in self._places if at <= frame - FRAMES_BEFORE]:
            for remembered in (self._places, self._samples, self._jumps, self._far_turns):
                del remembered[old]
        self._nodes = {node: ends for node, ends in self._nodes.items() if node[0] >= frame}

    def _give_bodies(self, frame, sample):
        rows = np.flatnonzero(self._follows & self._is_led(sample))
        if frame - 1 > self._start:
            # what is led again from where it was let go goes there as it can
            rows = rows[self._is_led(self._samples[frame - 1])[rows]]
        if not len(rows):
            return
        known = self._known(frame, rows)
        # what a servo leads could not follow a kink, and that of one bone alone would tear at its joints
        has_kinks = sample.kind[rows] == BodyKind.KINEMATIC
        moves = self._steps(frame, lambda one, other: other["position"][rows] - one["position"][rows], (len(rows), 3))
        turns = self._turns(frame, rows)
        velocity = np.full((2, len(self._follows), 6), np.nan)
        for first, steps in ((0, moves), (3, turns)):
            ends = _ends(steps, known, has_kinks)
            velocity[:, rows, first : first + 3] = ends / sample.duration
        for row, let_go in sample.let_go.items():
            velocity[1, row] = let_go / sample.duration
        # at constant velocity, as what stands still
        steady = ~np.any(moves[3], axis=1) & ~np.any(turns[3], axis=1) & ~np.any(velocity[:, rows], axis=(0, 2))
        velocity[:, rows[steady]] = np.nan
        if np.any(np.isfinite(velocity).all(axis=(0, 2))):
            sample.velocity = velocity

    def _is_led(self, sample):
        return (sample.kind == BodyKind.KINEMATIC) | self._is_guided

    def _turns(self, frame, rows):
        def between(one, other):
            return turns_between(one["orientation"][rows], other["orientation"][rows])

        turns = self._steps(frame, between, (len(rows), 3))
        for step, at in enumerate(self._frames(frame)):
            for row, turn in self._far_turns.get(at, {}).items():
                turns[step, rows == row] = turn
        return turns

    def _rates(self, frame, present, what, duration):
        """Rates at both ends [2, n, k] of what changes its shape, by its key."""
        found = {}
        for key in present:
            name = (what, key)
            one, other = self._places[frame - 1].get(name), self._places[frame][name]
            if one is not None and not np.array_equal(one, other):
                (_, first), (last, _) = self._node(frame - 1, name), self._node(frame, name)
                found[key] = np.array([first, last]) / duration
        return found

    def _node(self, frame, name):
        """Velocities of what changes its shape just before and just after a frame, which two frames ask for."""
        if (frame, name) not in self._nodes:
            size = self._places[frame][name].shape
            steps = self._steps(frame + 1, lambda one, other: other[name] - one[name], size, name)[:6]
            known = np.repeat(self._known(frame + 1, None, name)[:6], size[0], axis=1)
            self._nodes[frame, name] = node_velocities(steps, known)
        return self._nodes[frame, name]

    def _frames(self, frame):
        """The frames at which the seven steps end that say how things move in the one that ends at ``frame``."""
        return range(frame - 3, frame + FRAMES_AHEAD + 1)

    def _steps(self, frame, difference: Callable, size, name="position"):
        """Steps [7, n, k] to these frames; 0 where they are not known."""
        steps = np.zeros((7, *size))
        for step, at in enumerate(self._frames(frame)):
            one, other = self._places.get(at - 1), self._places.get(at)
            if one is not None and other is not None and name in one and name in other:
                steps[step] = difference(one, other)
        return steps

    def _known(self, frame, rows, name="position"):
        """Which of these steps are there [7, n]: n bodies, or one thing."""
        known = np.zeros((7, 1 if rows is None else len(rows)), bool)
        for step, at in enumerate(self._frames(frame)):
            one, other = self._places.get(at - 1), self._places.get(at)
            known[step] = one is not None and other is not None and name in one and name in other
            jumps = self._jumps.get(at)
            if rows is not None and jumps is not None:
                known[step] &= ~jumps[rows]
        return known


def _ends(steps, known, has_kinks):
    """Velocities at the two ends [2, n, k] of the frame that is the fourth of seven steps."""
    _, first = node_velocities(steps[:6], known[:6], has_kinks)
    last, _ = node_velocities(steps[1:], known[1:], has_kinks)
    return np.array([first, last])
