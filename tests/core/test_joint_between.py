"""Which bodies joints connect, beside sets that are joined one joint after the other."""

import itertools

import numpy as np
import pytest

from cairn.solver_core import BodyKind, ModelBuilder, Point, Sphere
from cairn.solver_core.diagnostics import joint_between


def random_model(seed):
    """Ten bodies, some of which stand, and joints between some, a few of them switched off or to the world."""
    random, builder = np.random.default_rng(seed), ModelBuilder()
    for place in range(10):
        kind = BodyKind.STATIC if random.random() < 0.3 else BodyKind.DYNAMIC
        builder.add_body(kind=kind, shape=Sphere(0.1), position=(place, 0.0, 0.0))
    for _ in range(7):
        a, b = random.choice(10, 2, replace=False).tolist()
        other = None if random.random() < 0.2 else b
        builder.add_joint(Point(), a, other, position=(a, 0.0, 0.0), enabled=bool(random.random() < 0.8))
    return builder.build()


def are_connected(model, a, b):
    """By a set that moves, or by two that are joined to the same body that stands."""
    moves = model.initial_state.kind == BodyKind.DYNAMIC
    joints = model.arrays.joints
    pairs = [(p, q) for p, q, on in zip(joints.body_a, joints.body_b, joints.enabled, strict=True) if on and q >= 0]
    sets = [{body} for body in range(10) if moves[body]]
    for p, q in pairs:
        if moves[p] and moves[q]:
            one, other = (next(s for s in sets if end in s) for end in (p, q))
            if one is not other:
                one |= other
                sets.remove(other)
    held = {body: {p + q - body for p, q in pairs if body in (p, q)} for body in range(10) if not moves[body]}

    def set_of(body):
        return next(s for s in sets if body in s)

    if not (moves[a] or moves[b]):
        return False
    if moves[a] and moves[b]:
        return b in set_of(a) or any(set_of(a) & ends and set_of(b) & ends for ends in held.values())
    moving, standing = (a, b) if moves[a] else (b, a)
    return bool(set_of(moving) & held[standing])


@pytest.mark.parametrize("seed", range(40))
def test_joint_between_is_there_where_joints_connect(seed):
    """For all pairs that touch in a step; and it is a joint of the first body that is on."""
    model = random_model(seed)
    moves, joints = model.initial_state.kind == BodyKind.DYNAMIC, model.arrays.joints
    for a, b in itertools.permutations(range(10), 2):
        if not moves[a]:
            continue
        joint = joint_between(model, a, b)
        assert (joint is not None) == are_connected(model, a, b)
        if joint is not None:
            assert a in (joints.body_a[joint], joints.body_b[joint])
            assert joints.enabled[joint]
