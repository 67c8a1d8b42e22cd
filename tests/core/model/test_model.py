"""Models: frames, masses and the errors that name what is wrong."""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder, ModelError
from cairn.solver_core.model.model import BodyKind


def random_rotation(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def build(**settings):
    builder = ModelBuilder()
    builder.add_body(**{"shape": Box((0.5, 0.5, 0.5)), "name": "Crate"} | settings)
    return builder.build()


@pytest.mark.parametrize("seed", range(20))
def test_rotations_agree_with_matrices(seed):
    """Products, turns and conversions agree with 3 x 3 matrices, also near half turns."""
    rng = np.random.default_rng(seed)
    a, b = random_rotation(rng), random_rotation(rng)
    if seed % 3 == 0:
        a = rotations.from_rotation_vector((math.pi - 1e-9) * a[1:] / np.linalg.norm(a[1:]))
    vector = rng.normal(size=3)
    assert rotations.matrix(a) @ rotations.matrix(a).T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(rotations.matrix(a)) == pytest.approx(1.0)
    product = rotations.matrix(a) @ rotations.matrix(b)
    assert rotations.matrix(rotations.multiply(a, b)) == pytest.approx(product, abs=1e-14)
    assert rotations.rotate(a, vector) == pytest.approx(rotations.matrix(a) @ vector, abs=1e-14)
    assert abs(rotations.from_matrix(rotations.matrix(a)) @ a) == pytest.approx(1.0)
    turn = rotations.to_rotation_vector(a)
    assert np.linalg.norm(turn) <= math.pi + 1e-12
    assert abs(rotations.from_rotation_vector(turn) @ a) == pytest.approx(1.0)


def test_small_turns_keep_their_digits():
    """A rotation vector of 1e-12 survives the way there and back."""
    turn = np.array([1e-12, -2e-12, 3e-12])
    assert rotations.to_rotation_vector(rotations.from_rotation_vector(turn)) == pytest.approx(turn, rel=1e-9, abs=0)


@pytest.mark.parametrize("seed", range(10))
def test_user_frames_come_back(seed):
    """Poses given in the user frame are the poses that the model gives back, wherever the centre of mass lies."""
    rng = np.random.default_rng(seed)
    position, orientation = rng.normal(size=3), random_rotation(rng)
    model = build(
        shape=ConvexHull.from_points(np.array([3.0, 0.0, 1.0]) + rng.normal(size=(20, 3))),
        position=position,
        orientation=orientation,
    )
    state = model.initial_state
    back_position, back_orientation = model.user_poses(state.position, state.orientation)
    assert back_position[0] == pytest.approx(position, abs=1e-12)
    assert abs(back_orientation[0] @ orientation) == pytest.approx(1.0)
    assert np.linalg.norm(state.position[0] - position) > 1.0


@pytest.mark.parametrize("seed", range(10))
def test_inertia_is_that_of_the_volume(seed):
    """Principal moments and axes of a slanted, shifted box agree with the closed form."""
    rng = np.random.default_rng(seed)
    half, place, tilt = rng.uniform(0.2, 1.0, 3), rng.normal(size=3), random_rotation(rng)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = rotations.rotate(tilt, signs * half) + place
    as_hull = build(shape=ConvexHull.from_points(corners), mass=3.0)
    as_box = build(shape=Box(half, position=place, orientation=tilt), mass=3.0)
    moments = 3.0 / 3.0 * (half @ half - half**2)
    for model in (as_hull, as_box):
        inertia = model.arrays.inertia[0]
        assert np.sort(inertia) == pytest.approx(np.sort(moments), rel=1e-9)
        assert model.initial_state.position[0] == pytest.approx(place, abs=1e-9)
        axes = rotations.matrix(model.initial_state.orientation[0])
        exact = rotations.matrix(tilt) @ np.diag(moments) @ rotations.matrix(tilt).T
        assert axes @ np.diag(inertia) @ axes.T == pytest.approx(exact, abs=1e-9)


def test_an_upright_box_keeps_its_axes():
    """No turn of the principal axes where the inertia is diagonal already: corners stay exact."""
    model = build(shape=Box((0.5, 0.5, 0.5)), position=(1.0, 2.0, 3.0))
    assert np.array_equal(model.initial_state.orientation[0], [1.0, 0.0, 0.0, 0.0])
    assert np.array_equal(model.initial_state.position[0], [1.0, 2.0, 3.0])


def test_center_of_mass_at_the_origin_moves_the_inertia():
    """Steiner's theorem for bodies whose centre of mass is put at the user frame's origin."""
    shifted = build(shape=Sphere(0.5, position=(2.0, 0.0, 0.0)), mass=2.0, center_of_mass="origin")
    own = 0.4 * 2.0 * 0.25
    assert np.sort(shifted.arrays.inertia[0]) == pytest.approx([own, own + 8.0, own + 8.0])
    assert shifted.initial_state.position[0] == pytest.approx([0.0, 0.0, 0.0])


@pytest.mark.parametrize("seed", range(3))
def test_an_own_center_of_mass_is_where_it_is_put(seed):
    """The body's frame begins there, the user's frame stays, and the inertia is the shape's about that point."""
    rng = np.random.default_rng(seed)
    center, at, turn = rng.normal(size=3), rng.normal(size=3), random_rotation(rng)
    model = build(shape=Box((0.5, 0.4, 0.3)), mass=2.0, center_of_mass=center, position=at, orientation=turn)
    assert model.initial_state.position[0] == pytest.approx(at + rotations.rotate(turn, center))
    position, orientation = model.user_poses(model.initial_state.position, model.initial_state.orientation)
    assert position[0] == pytest.approx(at)
    assert abs(orientation[0] @ turn) == pytest.approx(1.0)
    sides = 4.0 * np.array([0.25, 0.16, 0.09])
    own = 2.0 / 12.0 * (sides.sum() - sides)
    assert model.arrays.inertia[0].sum() == pytest.approx(own.sum() + 4.0 * center @ center)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mass": 0.0}, "Crate: mass is 0; it must be finite and above 0"),
        ({"mass": math.nan}, "Crate: mass is nan"),
        ({"mass": math.inf}, "Crate: mass is inf"),
        ({"friction": -1.0}, "Crate: friction is -1; it must be finite and at least 0"),
        ({"restitution": 1.5}, "Crate: restitution is 1.5; it must be finite and from 0 to 1"),
        ({"linear_damping": 2.0}, "Crate: linear damping is 2"),
        ({"position": (0.0, math.nan, 0.0)}, "Crate: position is .* it must be 3 finite numbers"),
        ({"position": (0.0, 1.0)}, "Crate: position is"),
        ({"position": "here"}, "Crate: position is 'here'"),
        ({"orientation": (0.0, 0.0, 0.0, 0.0)}, "Crate: orientation is zero"),
        ({"linear_velocity": (math.inf, 0.0, 0.0)}, "Crate: linear velocity is"),
        ({"shape": "cube"}, "Crate: shape is 'cube'; it must be one of Box"),
        ({"shape": Box((1.0, 1.0, 0.0))}, "Crate: the shape is flat and has no volume"),
        ({"center_of_mass": "middle"}, "Crate: center_of_mass is 'middle'"),
        ({"center_of_mass": (0.0, math.nan, 0.0)}, "Crate: center of mass is .* it must be 3 finite numbers"),
        ({"density": -2.0}, "Crate: density is -2; it must be finite and above 0"),
        ({"density": math.nan}, "Crate: density is nan"),
        ({"density": 1.0, "mass": 1.0}, "Crate: mass and density are given"),
        (
            {"density": 1.0, "shape": Box((1.0, 1.0, 0.0)), "kind": BodyKind.STATIC},
            "Crate: density is given, and the shape has no volume",
        ),
        ({"sliding_friction": -0.1}, "Crate: sliding friction is -0.1; it must be finite and at least 0"),
        ({"friction_rule": "most"}, "Crate: friction rule is 'most'; it must be one of product, mean, least, largest"),
        ({"restitution_rule": 1}, "Crate: restitution rule is 1"),
        ({"surface_velocity": (math.inf, 0.0, 0.0)}, "Crate: surface velocity is"),
        ({"rolling_friction": -0.1}, "Crate: rolling friction is -0.1; it must be finite and at least 0"),
        ({"spinning_friction": math.nan}, "Crate: spinning friction is nan"),
        ({"largest_speed": 0.0}, "Crate: largest speed is 0; it must be finite and above 0"),
    ],
)
def test_a_bad_body_is_named(settings, message):
    """One line: the body, the value, what is allowed."""
    with pytest.raises(ModelError, match=message) as caught:
        build(**settings)
    assert "\n" not in str(caught.value)


def test_a_scene_needs_a_body_and_finite_gravity():
    """Errors of the scene itself."""
    with pytest.raises(ModelError, match="the scene has no body"):
        ModelBuilder().build()
    with pytest.raises(ModelError, match="the scene: gravity is"):
        ModelBuilder(gravity=(0.0, 0.0, math.nan))


def test_unnamed_bodies_get_a_number_and_a_sheet_may_stand_still():
    """Names for reports; flat shapes are fine where nothing moves them."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((1.0, 1.0, 0.0)), kind=BodyKind.STATIC)
    builder.add_body(shape=Sphere(1.0))
    model = builder.build()
    assert model.names == ("body 0", "body 1")
    assert np.all(np.isfinite(model.arrays.inverse_inertia))
