"""Capsule, cylinder and cone as shapes: mass properties by integration, bounds by sampling, errors."""

import numpy as np
import pytest
from reference_round import highest

from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import ShapeError, Sphere
from cairn.solver_core.model.builder import ModelBuilder

TURNED = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])
SHAPES = [Capsule(0.3, 0.5), Capsule(0.3, 0.0), Cylinder(0.4, 0.2), Cone(0.5, 0.7)]


def radius_at(shape, z):
    """Radius of the section at height z of the shape's own frame."""
    if isinstance(shape, Capsule):
        beyond = np.maximum(np.abs(z) - shape.half_length, 0.0)
        return np.sqrt(np.maximum(shape.radius**2 - beyond**2, 0.0))
    if isinstance(shape, Cylinder):
        return np.full_like(z, shape.radius)
    return shape.radius * (shape.half_height - z) / (2.0 * shape.half_height)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_mass_properties_are_the_integrals_over_slices(shape):
    """Volume, centre and moments of discs, added up along the axis."""
    half = shape.radius + shape.half_length if isinstance(shape, Capsule) else shape.half_height
    edges = np.linspace(-half, half, 200_001)
    z, dz = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    r = radius_at(shape, z)
    area = np.pi * r**2
    volume = area.sum() * dz
    center = (area * z).sum() * dz / volume
    axial = (0.5 * area * r**2).sum() * dz
    across = (area * (0.25 * r**2 + (z - center) ** 2)).sum() * dz
    properties = shape.mass_properties()
    assert properties.volume == pytest.approx(volume, rel=1e-8)
    np.testing.assert_allclose(properties.center, [0, 0, center], atol=1e-8)
    np.testing.assert_allclose(properties.inertia, np.diag([across, across, axial]), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_a_placed_shape_has_turned_properties_and_exact_bounds(shape):
    """Centre and inertia turn and move along; the bounding box is the support function along the axes."""
    placed = type(shape)(*shape.parameters[:2], position=(1.0, 2.0, 3.0), orientation=TURNED)
    w, x, y, z = TURNED
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    r = np.eye(3) + 2 * w * skew + 2 * skew @ skew
    plain, turned = shape.mass_properties(), placed.mass_properties()
    np.testing.assert_allclose(turned.center, r @ plain.center + (1, 2, 3), atol=1e-12)
    np.testing.assert_allclose(turned.inertia, r @ plain.inertia @ r.T, atol=1e-12)
    lower, upper = placed.bounding_box()
    np.testing.assert_allclose(upper, highest(placed, np.eye(3)), atol=1e-12)
    np.testing.assert_allclose(lower, -highest(placed, -np.eye(3)), atol=1e-12)
    directions = np.random.default_rng(0).normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    farthest = (highest(placed, directions) - directions @ placed.position).max()
    assert farthest * (1 - 1e-12) <= placed.bounding_radius <= farthest * 1.01


@pytest.mark.parametrize("make", [Capsule, Cylinder, Cone])
def test_bad_sizes_are_named(make):
    """Radius or height not above 0, not finite, a zero quaternion."""
    name = make.__name__.lower()
    second = "half length" if make is Capsule else "half height"
    for radius, half, word in (
        (0.0, 1.0, "radius"),
        (1.0, -1.0, second),
        (np.nan, 1.0, "radius"),
        (1.0, np.inf, second),
    ):
        with pytest.raises(ShapeError, match=f"{name}: {word}"):
            make(radius, half)
    if make is not Capsule:
        with pytest.raises(ShapeError, match="half height is 0; it must be above 0"):
            make(1.0, 0.0)
    with pytest.raises(ShapeError, match="orientation is zero"):
        make(1.0, 1.0, orientation=(0, 0, 0, 0))


def test_a_models_frames_follow_the_centre_of_mass():
    """The body frame of a cone lies a quarter of its height above the base."""
    builder = ModelBuilder()
    builder.add_body(shape=Cone(0.5, 0.6), mass=2.0)
    model = builder.build()
    np.testing.assert_allclose(model.frame_position[0], [0, 0, 0.3], atol=1e-12)
    np.testing.assert_allclose(np.sort(model.arrays.inertia[0]), [0.15, 0.18300, 0.18300], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Capsule(radius=1.0, half_height=2.0), "Capsule has no half_height; its half_length is"),
        (
            lambda: Cylinder(radius=1.0, half_length=2.0),
            "Cylinder has no half_length; its half_height is",
        ),
        (lambda: Cone(radius=1.0, height=2.0), "Cone has no height; give half of it as half_height"),
        (lambda: Capsule(radii=1.0, half_length=2.0), r"Capsule has no radii; did you mean radius\?"),
        (lambda: Sphere(size=1.0), "Sphere has no size; it has radius, position"),
    ],
)
def test_a_wrong_keyword_names_the_right_one(make, message):
    with pytest.raises(TypeError, match=message):
        make()
