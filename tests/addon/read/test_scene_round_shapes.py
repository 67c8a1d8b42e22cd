"""Capsules, cylinders and cones as Blender sizes them: by the bounding box, where its own Bullet lets them rest."""

import math

import bpy
import numpy as np
import pytest
from scene_maker import CUBE_CORNERS, quaternion_matrix
from test_scene_export import texts

from cairn.addon.read.scene_export import export_scene
from cairn.solver_core.geometry.shapes import ShapeKind

KINDS = {"CAPSULE": ShapeKind.CAPSULE, "CYLINDER": ShapeKind.CYLINDER, "CONE": ShapeKind.CONE}
# Half sides of the mesh.
HALF = np.array([0.5, 0.4, 0.6])
SCALES = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (1.5, -0.5, -2)]


def sizes(kind, scale):
    """Radius and half height (of a capsule: of its axis) by the rule of rigidbody.cc and Bullet's local scaling."""
    x, y, z = np.abs(scale)
    if kind == "CAPSULE":
        return 0.5 * y, 0.1 * z
    return (0.5 * x if kind == "CYLINDER" else 0.25 * (x + y)), 0.6 * z


def add(maker, kind, half=HALF, center=(0, 0, 0), **values):
    return maker.body(data=maker.mesh(2.0 * half * CUBE_CORNERS + np.asarray(center)), shape=kind, **values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_sizes_are_those_of_the_bounding_box(maker, kind, scale):
    """Radius from the wider of X and Y, height along Z, both scaled as Bullet scales them; placed where the mesh is."""
    add(maker, kind, center=(0.3, 0.2, -0.1), scale=scale)
    export = export_scene(maker.scene)
    shapes = export.model.arrays.shapes
    assert shapes.kind[0] == KINDS[kind]
    assert shapes.parameters[0, :2] == pytest.approx(sizes(kind, scale), rel=1e-6)
    turn = quaternion_matrix(export.model.initial_state.orientation[0])
    middle = turn @ shapes.position[0] + export.model.initial_state.position[0]
    assert middle == pytest.approx(np.multiply(scale, (0.3, 0.2, -0.1)), abs=1e-6)
    # The apex is at the mesh's upper end, which a mirrored scale turns down.
    axis = turn @ quaternion_matrix(shapes.orientation[0]) @ (0, 0, 1)
    if kind == "CONE":
        assert axis == pytest.approx((0, 0, math.copysign(1.0, scale[2])), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("scale", "uneven"), [((1, 1, 1), False), ((2, 2, 2), False), ((2, 1, 1), True)])
def test_uneven_scale_is_noted(maker, kind, scale, uneven):
    """Only where the shape does not follow the mesh."""
    add(maker, kind, scale=scale)
    notes = texts(export_scene(maker.scene), "Body", "info")
    assert any("uneven scale" in text for text in notes) == uneven
    assert not any("for now" in text for text in notes)


def bullet_rests_at(maker, kind, scale, rotation, height):
    """Height at which Blender's own simulation lets the body rest on a floor at 0."""
    ob = add(maker, kind, scale=scale, rotation_euler=rotation, location=(0, 0, height))
    floor = maker.body("Floor", data=maker.mesh(np.multiply(CUBE_CORNERS, (20, 20, 2))), shape="BOX", type="PASSIVE")
    floor.location.z = -1.0
    for each in (ob, floor):
        each.rigid_body.use_margin, each.rigid_body.collision_margin = True, 0.0
        each.rigid_body.friction = 1.0
    ob.rigid_body.linear_damping, ob.rigid_body.angular_damping = 0.3, 0.9
    for frame in range(1, 100):
        maker.scene.frame_set(frame)
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [(1, 1, 1), (1, 2, 1), (1, 1, 2)])
def test_bullet_stands_them_as_high(maker, kind, scale):
    """Upright on Blender's own floor: half height, and a capsule's round end."""
    radius, half = sizes(kind, scale)
    expected = half + (radius if kind == "CAPSULE" else 0.0)
    assert bullet_rests_at(maker, kind, scale, (0, 0, 0), expected + 0.05) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(
    ("kind", "scale"),
    [("CAPSULE", (1, 1, 1)), ("CAPSULE", (1, 2, 1)), ("CYLINDER", (1, 1, 1)), ("CYLINDER", (1, 2, 1))]
    + [("CYLINDER", (2, 1, 1)), ("CONE", (1, 1, 1)), ("CONE", (2, 1, 1)), ("CONE", (1, 2, 1))],
)
def test_bullet_lays_them_as_low(maker, kind, scale):
    """On their sides: the radius, and of a cone the distance of its middle from its side."""
    radius, half = sizes(kind, scale)
    expected = half * radius / math.hypot(2 * half, radius) if kind == "CONE" else radius
    tilt = math.pi / 2 + (math.atan2(radius, 2 * half) if kind == "CONE" else 0.0)
    rests = bullet_rests_at(maker, kind, scale, (0, tilt, 0), expected + 0.05)
    assert rests == pytest.approx(expected, abs=5e-3)


def test_a_capsule_lower_than_wide_is_a_ball(maker):
    """As in Blender, and said."""
    add(maker, "CAPSULE", np.array([0.5, 0.5, 0.2]))
    export = export_scene(maker.scene)
    assert export.model.arrays.shapes.parameters[0, :2] == pytest.approx((0.5, 0.0))
    assert any("ball" in text for text in texts(export, "Body", "info"))


@pytest.mark.parametrize("kind", ["CYLINDER", "CONE"])
def test_flat_ones_are_plates_that_move_and_sheets_that_do_not(maker, kind):
    """A disc has no height: a coin of 1/200 of its width, or a sheet."""
    half = np.array([0.5, 0.5, 0.0])
    add(maker, kind, half)
    sheet = add(maker, kind, half, name="Sheet", type="PASSIVE")
    export = export_scene(maker.scene)
    shapes = export.model.arrays.shapes
    assert shapes.kind[0] == ShapeKind.CYLINDER
    assert shapes.parameters[0, :2] == pytest.approx((0.5, 0.0025))
    assert shapes.kind[1] == ShapeKind.HULL
    assert any("is flat: simulated as a plate" in text for text in texts(export, "Body", "info"))
    assert any("is flat: simulated as a sheet" in text for text in texts(export, sheet.name, "info"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_along_the_axis_is_a_rod(maker, kind):
    """What lacks a width is as thick as a plate."""
    add(maker, kind, np.array((0, 0, 0.5), float))
    export = export_scene(maker.scene)
    assert export.model.arrays.shapes.parameters[0, 0] == pytest.approx(0.5 * 1.0 / 200)
    assert any("is a line: simulated as a rod 0.005 thick" in text for text in texts(export, "Body", "info"))


def test_round_children_of_a_compound_stay_round(maker):
    """A dumb-bell: two cylinders on a parent."""
    parent = maker.body("Parent", shape="COMPOUND", location=(0, 0, 2))
    for x in (-1, 1):
        add(maker, "CYLINDER", name=f"Part{x}", location=(x, 0, 0), rotation_euler=(0, math.pi / 2, 0), parent=parent)
    shapes = export_scene(maker.scene).model.arrays.shapes
    assert list(shapes.kind) == [ShapeKind.CYLINDER] * 2
    assert shapes.parameters[:, :2] == pytest.approx(np.array([[0.5, 0.6]] * 2))
