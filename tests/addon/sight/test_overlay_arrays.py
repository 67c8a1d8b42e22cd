"""What the overlay draws, against closed forms: arrows, colours, crosses, joints where they are, limits as they are."""

import numpy as np
import pytest

from cairn.addon.sight import known_scenes, overlay_arrays
from cairn.addon.sight.overlay_arrays import LONGEST, SLIP_COLOUR, STICK_COLOUR, arrows, limit_strokes
from cairn.solver_core import Axis, ConeTwist, Hinge, Slider
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.coordinates import LINEAR, SWING, TWIST
from cairn.solver_core.model.model import BodyKind

AXES = np.eye(3)


def random_contacts(count, seed=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 3)), rng.normal(size=(count, 3))


def ends_of(surface):
    """Base and tip of each needle."""
    corners = surface.place[:, :3].reshape(-1, 4, 3).astype(float)
    return corners[:, :3].mean(axis=1), corners[:, 3]


def test_an_arrow_leads_from_its_contact_along_the_impulse():
    """Base at the place, length in proportion: so the sum of all arrows is that of the impulses."""
    start, impulse = random_contacts(40)
    surface, left_out = arrows(start, impulse, np.ones((40, 4)), 0.01, 1.0)
    base, tip = ends_of(surface)
    assert left_out == 0
    assert base == pytest.approx(start, abs=1e-6)
    assert (tip - base) / 0.01 == pytest.approx(impulse, abs=1e-3)
    assert ((tip - base) / 0.01).sum(axis=0) == pytest.approx(impulse.sum(axis=0), abs=1e-3)


def test_arrows_are_cut_and_the_weakest_left_out():
    start, impulse = random_contacts(100)
    impulse[7] = [0.0, 0.0, 1e6]
    impulse[8] = 0.0
    surface, left_out = arrows(start, impulse, np.ones((100, 4)), 0.01, 0.5, most=30)
    base, tip = ends_of(surface)
    assert (len(base), left_out) == (30, 69)
    strongest = np.sort(np.argsort(-np.linalg.norm(impulse, axis=1))[:30])
    assert base == pytest.approx(start[strongest], abs=1e-6)
    longest = np.linalg.norm(tip - base, axis=1).max()
    assert longest == pytest.approx(LONGEST * 0.5, rel=1e-5)


def test_nothing_pushed_is_no_arrow():
    surface, left_out = arrows(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 4)), 1.0, 1.0)
    assert (len(surface.place), len(surface.triangles), left_out) == (0, 0, 0)
    assert overlay_arrays.metres_per_impulse(np.zeros((3, 3)), 1.0) == 0.0


def test_half_of_the_arrows_are_longer_than_a_share_of_a_body():
    impulse = np.zeros((101, 3))
    impulse[:, 0] = np.linspace(0.1, 10.1, 101)
    scale = overlay_arrays.metres_per_impulse(impulse, 0.4)
    assert scale * 5.1 == pytest.approx(0.4 * overlay_arrays.MEDIAN_LENGTH)


def test_colours_go_from_stick_to_slip():
    slip = np.array([[0, 0, 0], [1e-4, 0, 0], [0, 0.0316228, 0], [0, 3.0, 4.0]])
    colours = overlay_arrays.slip_colours(slip)
    assert colours[0] == pytest.approx(STICK_COLOUR)
    assert colours[1] == pytest.approx(STICK_COLOUR)
    assert colours[2] == pytest.approx(0.5 * (STICK_COLOUR + SLIP_COLOUR), abs=1e-5)
    assert colours[3] == pytest.approx(SLIP_COLOUR)


def test_crosses_have_their_centre_and_size():
    centre = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    surface = overlay_arrays.crosses(centre, np.array([2.0, 0.5]))
    ends = surface.place[surface.edges][:, :, :3].astype(float)
    assert ends.mean(axis=1) == pytest.approx(np.repeat(centre, 3, axis=0))
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) == pytest.approx([2, 2, 2, 0.5, 0.5, 0.5])


def jointed(joint, turn=(0.0, 0.0, 0.0)):
    """Two boxes whose joint lies between them, the second one turned about it since."""
    builder = ModelBuilder()
    first = builder.add_body(shape=Box([0.5, 0.5, 0.5]), mass=1.0, name="A", kind=BodyKind.STATIC)
    second = builder.add_body(shape=Box([0.5, 0.5, 0.5]), mass=1.0, name="B", position=[2.0, 0.0, 0.0])
    builder.add_joint(joint, first, second, position=[1.0, 0.0, 0.0], name="J")
    model = builder.build()
    position, orientation = model.initial_state.position.copy(), model.initial_state.orientation.copy()
    since = rotations.from_rotation_vector(np.array(turn, float))
    position[1] = [1.0, 0.0, 0.0] + rotations.rotate(since, position[1] - [1.0, 0.0, 0.0])
    orientation[1] = rotations.multiply(since, orientation[1])
    return model, position, orientation


def test_a_joint_is_where_both_bodies_have_it():
    model, position, orientation = jointed(Hinge(), [0.0, 0.0, 0.7])
    (place_a, turn_a), (place_b, turn_b) = overlay_arrays.joint_frames(model.arrays.joints, position, orientation)
    assert place_a == pytest.approx(np.array([[1.0, 0.0, 0.0]]))
    assert place_b == pytest.approx(place_a)
    between = rotations.multiply(rotations.conjugate(turn_a), turn_b)
    assert rotations.to_rotation_vector(between)[0] == pytest.approx([0.0, 0.0, 0.7])


def test_a_joint_to_the_world_stays_there():
    builder = ModelBuilder()
    body = builder.add_body(shape=Box([0.5, 0.5, 0.5]), mass=1.0, name="A")
    builder.add_joint(Hinge(), body, None, position=[0.5, 0.0, 0.0], name="J")
    model = builder.build()
    position = model.initial_state.position + [0.0, 0.0, 4.0]
    ends = overlay_arrays.joint_frames(model.arrays.joints, position, model.initial_state.orientation)
    assert ends[0][0][0] == pytest.approx([0.5, 0.0, 4.0])
    assert ends[1][0][0] == pytest.approx([0.5, 0.0, 0.0])
    surface = overlay_arrays.joint_lines(model.arrays.joints, position, model.initial_state.orientation)
    lines = surface.place[surface.edges][:, :, :3]
    assert any(line == pytest.approx(np.array([[0.5, 0, 4], [0.5, 0, 0]]), abs=1e-6) for line in lines)


@pytest.mark.parametrize(
    ("joint", "more"),
    [
        (Hinge(), 0),
        (Hinge(Axis(lower=-0.5, upper=1.0)), 12 + 3),
        (Slider(Axis(lower=-0.2, upper=0.4)), 3),
        (ConeTwist(swing=0.6, twist=0.3), 24 + 4 + 5 + 3),
    ],
)
def test_limits_are_lines_where_there_are_any(joint, more):
    """Beside two to the bodies, three of the anchor and one of the opening."""
    model, position, orientation = jointed(joint)
    surface = overlay_arrays.joint_lines(model.arrays.joints, position, orientation)
    assert len(surface.edges) == 2 + 3 + 1 + more


def test_a_range_of_a_slide_is_as_long_as_it_is():
    frames = np.array([1.0, 2.0, 3.0]), AXES, np.zeros(3), AXES
    strokes = limit_strokes(LINEAR, 1, -0.5, 2.0, frames, 1.0)
    assert strokes[0] == pytest.approx(np.array([[1.0, 1.5, 3.0], [1.0, 4.0, 3.0]]))
    assert len(limit_strokes(LINEAR, 1, -np.inf, 2.0, frames, 1.0)) == 0


def test_a_range_of_a_turn_is_an_arc_from_limit_to_limit():
    """About x: the angle counts from y towards z; the spoke within is where the second body is."""
    now = rotations.matrix(rotations.from_rotation_vector(np.array([0.4, 0.0, 0.0])))
    strokes = limit_strokes(TWIST, 0, -0.5, 1.0, (np.zeros(3), AXES, np.zeros(3), now), 2.0)
    arc, (first, last, spoke) = strokes[:-3], strokes[-3:]
    assert np.linalg.norm(arc.reshape(-1, 3), axis=1) == pytest.approx(2.0)
    assert arc[0, 0] == pytest.approx(2.0 * np.array([0.0, np.cos(-0.5), np.sin(-0.5)]))
    assert arc[-1, 1] == pytest.approx(2.0 * np.array([0.0, np.cos(1.0), np.sin(1.0)]))
    assert (first[1], last[1]) == (pytest.approx(arc[0, 0]), pytest.approx(arc[-1, 1]))
    assert np.arctan2(spoke[1, 2], spoke[1, 1]) == pytest.approx(0.4)


def test_a_cone_has_its_angle():
    strokes = limit_strokes(SWING, 2, 0.0, 0.6, (np.zeros(3), AXES, np.zeros(3), AXES), 1.0)
    rim = strokes[:24].reshape(-1, 3)
    assert np.arccos(rim[:, 2]) == pytest.approx(0.6)
    assert len(limit_strokes(SWING, 2, 0.0, np.inf, (np.zeros(3), AXES, np.zeros(3), AXES), 1.0)) == 0


def test_surfaces_are_joined_in_order():
    one = overlay_arrays.crosses(np.zeros((1, 3)), np.ones(1))
    two, _ = arrows(np.ones((1, 3)), np.ones((1, 3)), np.ones((1, 4)), 1.0, 1.0)
    surface = overlay_arrays.joined([one, two])
    assert len(surface.place) == 6 + 4
    assert surface.triangles.min() == 6
    assert surface.edges.max() == 5
    assert surface.triangles.dtype == surface.edges.dtype == np.int32


# What is known of scenes and bakes


def test_what_keeps_its_pose_to_the_bit_is_at_rest():
    position, orientation = np.zeros((4, 2, 3)), np.tile([1.0, 0, 0, 0], (4, 2, 1))
    position[2:, 0, 2] = 1e-17
    orientation[3, 1, 1] = 1e-9
    assert known_scenes.rests(position, orientation).tolist() == [[True, True], [False, True], [True, False]]


def test_contacts_of_a_frame_are_found():
    arrays = {"frame": np.array([2, 2, 3, 5, 5, 5])}
    found = [known_scenes.contacts_at(arrays, frame) for frame in range(1, 7)]
    assert [(part.start, part.stop) for part in found] == [(0, 0), (0, 2), (2, 3), (3, 3), (3, 6), (6, 6)]


def test_poses_are_those_of_objects_without_scale_and_mirror():
    turn = rotations.from_rotation_vector(np.array([[0.2, 0.4, -0.3], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[:, :3, :3] = rotations.matrix(turn)
    matrices[:, :3, 3] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    matrices[0, :3, :3] = matrices[0, :3, :3] * [2.0, 3.0, 0.5]
    matrices[1, :3, :3] = matrices[1, :3, :3] * [-1.0, -1.0, -1.0]
    start = np.full((3, 3), -1.0), np.tile([1.0, 0, 0, 0], (3, 1))
    objects = [("A", None), ("B", None), ("Gone", None)]
    rows = {("A", None): 0, ("B", None): 1, ("C", None): 2}
    position, orientation = known_scenes.poses_of(objects, matrices.swapaxes(1, 2), rows, start)
    assert position.tolist() == [[1, 2, 3], [4, 5, 6], [-1, -1, -1]]
    assert orientation == pytest.approx(np.array([turn[0], turn[1], [1, 0, 0, 0]]))
