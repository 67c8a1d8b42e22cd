"""Bodies whose convex parts overlap although their meshes do not are told apart from bodies that overlap."""

import numpy as np
import pytest

from cairn.addon.read.scene_notes import starting_overlaps
from cairn.addon.read.surfaces import StartSurfaces, are_apart, parts_fill_play, surface_of
from cairn.solver_core import Box, ConvexHull, ModelBuilder, Point, Sphere
from cairn.solver_core.model.compound import Compound

TURN = 2.0 * np.pi / 32


def ring(inner, outer, height=1.0, corners=32):
    """A closed ring about z: vertices and triangles."""
    angles = TURN * np.arange(corners)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    profile = [(inner, 0.0), (outer, 0.0), (outer, height), (inner, height)]
    vertices = [(*(radius * point), z) for point in circle for radius, z in profile]
    faces = []
    for k in range(corners):
        for side in range(4):
            a, b = 4 * k + side, 4 * k + (side + 1) % 4
            c, d = (4 * k + 4 + (side + 1) % 4) % (4 * corners), (4 * k + 4 + side) % (4 * corners)
            faces += [(a, b, c), (a, c, d)]
    return np.array(vertices), np.array(faces)


def pin(radius, height=1.0):
    angles = TURN * np.arange(32)
    return ConvexHull.from_points([(radius * np.cos(a), radius * np.sin(a), z) for a in angles for z in (-0.1, height)])


def filled_ring(inner, outer):
    """Four convex parts that fill the hole as far as a chord reaches in."""
    vertices, _ = ring(inner, outer)
    corners = vertices.reshape(32, 4, 3)
    return Compound(
        [ConvexHull.from_points(corners[np.arange(8 * k, 8 * k + 9) % 32].reshape(-1, 3)) for k in range(4)]
    )


@pytest.mark.parametrize(("radius", "apart"), [(0.95, True), (1.05, False), (1.3, False)])
def test_a_pin_in_a_ring_is_apart_from_it_if_there_is_play(radius, apart):
    """Also one that crosses the hole's wall only, and none where one lies within the other."""
    surface = surface_of(pin(radius))
    assert are_apart(ring(1.0, 1.5), (surface.vertices, surface.triangles)) is apart


def test_what_lies_within_another_is_not_apart():
    """Without any crossing of surfaces."""
    small, large = (surface_of(Box(half_extents=(half, half, half))) for half in (0.1, 1.0))
    assert not are_apart(small[:2], large[:2])
    assert not are_apart(large[:2], small[:2])
    assert surface_of(Sphere(1.0)) is None


def ring_on_pin(radius):
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    turn = (np.cos(0.4), np.sin(0.4), 0.0, 0.0)
    builder.add_body(name="Ring", shape=filled_ring(1.0, 1.5), position=(3, 1, 2), orientation=turn)
    builder.add_body(name="Pin", shape=pin(radius), position=(3, 1, 2), orientation=turn)
    surfaces = StartSurfaces()
    surfaces.add(0, filled_ring(1.0, 1.5), ring(1.0, 1.5))
    surfaces.add(1, pin(radius))
    return builder.build(), surfaces


@pytest.mark.parametrize(("radius", "only_parts"), [(0.95, True), (1.05, False)])
def test_the_check_says_whether_meshes_or_parts_overlap(radius, only_parts):
    """In any pose; and without known surfaces it does not guess."""
    model, surfaces = ring_on_pin(radius)
    assert parts_fill_play(surfaces, model, (0, 1)) is parts_fill_play(surfaces, model, (1, 0)) is only_parts
    assert not parts_fill_play(StartSurfaces(), model, (0, 1))
    (note,) = starting_overlaps(model, surfaces)
    assert ("by its convex parts only" in note.text) is only_parts
    assert "moved apart gently" in starting_overlaps(model)[0].text


def test_the_check_names_the_joint_that_holds_bodies_in_each_other():
    """They are not moved apart, so the note does not say so; a third one is."""
    builder = ModelBuilder()
    names = "Arm", "Hub", "Leg", "Stranger"
    places = (0.0, 0.0, 0.0), (1.5, 0.0, 0.0), (1.5, 1.5, 0.0), (0.0, 0.0, 1.9)
    arm, hub, leg, _ = (
        builder.add_body(name=name, shape=Box((1.0, 1.0, 1.0)), position=place)
        for name, place in zip(names, places, strict=True)
    )
    builder.add_joint(Point(), arm, hub, position=(0.75, 0.0, 0.0), name="Shoulder")
    builder.add_joint(Point(), hub, leg, position=(1.5, 0.75, 0.0), name="Hip")
    told = {(note.object_name, note.others[0]): note for note in starting_overlaps(builder.build())}
    assert told["Arm", "Leg"].others == ("Leg", "Shoulder")
    assert "Shoulder connects them: they stay so" in told["Arm", "Leg"].text
    assert "moved apart gently" in told["Arm", "Stranger"].text
