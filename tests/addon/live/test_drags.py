"""Bodies that are dragged while *Live* is on: what the hand does is recorded, and gives the same bits again."""

import time

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.live.drags import Drags, Spring
from cairn.addon.live.session import QUIET, Session
from cairn.addon.read.scene_digest import scene_digest, scene_digest_steps
from cairn.addon.settings import BakeSettings
from cairn.solver_core import Simulation, SimulationOptions

FRAMES = 40
SPRING = Spring()
PATIENCE = 60.0


@pytest.fixture
def scene(maker):
    """A box that lies on a plate, one upon it, and a keyed one that comes from the side."""
    cairn.register()
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    pusher = maker.body("Pusher", shape="BOX", type="PASSIVE", location=(-6, 0, 0.5))
    pusher.rigid_body.kinematic = True
    maker.key(pusher, "location", {1: (-6, 0, 0.5), 20: (-6, 0, 0.5), 35: (-4, 0, 0.5)})
    maker.body("Box", shape="BOX", location=(0, 0, 0.5))
    maker.body("Upon", shape="BOX", location=(0, 0, 1.5))
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    maker.scene.frame_set(1)
    return maker.scene


class Hand:
    """Somebody with a mouse at a scene with *Live* on."""

    def __init__(self, scene):
        self.scene, self.now = scene, 0.0
        self.session = Session(scene.name, self._settings, self._look, lambda: self.now)

    def _settings(self):
        return BakeSettings.from_scene(self.scene)

    def _look(self):
        yield from scene_digest_steps(self.scene.name)
        yield scene_digest(self.scene)

    def tick(self):
        begin = time.perf_counter()
        self.session._clock = lambda: self.now + 1e-6 * (time.perf_counter() - begin)
        self.session.tick(2e-9)
        if self.session.waits:
            time.sleep(0.002)

    def until(self, done):
        begin = time.monotonic()
        while not done():
            self.tick()
            assert time.monotonic() - begin < PATIENCE
        return self

    def to_the_end(self):
        return self.until(lambda: self.session.is_done)

    def newest(self):
        return self.session.frames[1]

    def grab(self, name, frame, point=(0.0, 0.0, 0.5)):
        model = self.session.picture(frame).model
        body = model.names.index(name)
        place = self.session.picture(frame).poses[0][body] + point
        return self.session.grab(frame, body, point, place, SPRING)

    def drag(self, begin, end, place, step=(0.1, 0.0, 0.05)):
        """Move the hand by a step a frame, and wait for each frame as a window does."""
        for frame in range(begin + 1, end + 1):
            place = np.add(place, step)
            self.session.drags.move(place)
            self.session.reach(frame)
            self.until(lambda frame=frame: self.newest() == frame)
        return place

    def poses(self):
        trajectory = self.session._run.memory.trajectory
        return trajectory.position.copy(), trajectory.orientation.copy()


@pytest.fixture
def hand(scene):
    made = Hand(scene)
    yield made
    made.session.close()


def same(a, b, frames=slice(None)):
    return all(np.array_equal(one[frames], other[frames]) for one, other in zip(a, b, strict=True))


def test_what_is_dragged_goes_with_the_hand(hand):
    """The frames before it stay; no frame is simulated before the hand has been there; the rest comes after it."""
    hand.to_the_end()
    before, runs = hand.poses(), hand.session.runs
    assert hand.grab("Upon", 10)
    assert hand.session.runs == runs + 1
    place = hand.drag(10, 30, (0.0, 0.0, 2.0))
    for _ in range(50):
        hand.tick()
    assert hand.newest() == 30
    row = hand.session.picture(30).model.names.index("Upon")
    position = hand.session.picture(30).poses[0][row]
    # it hangs from the middle of its top, and comes after the hand by some centimetres
    assert np.linalg.norm(position + (0.0, 0.0, 0.5) - place) < 0.3
    hand.session.drags.release()
    hand.to_the_end()
    assert hand.newest() == FRAMES
    after = hand.poses()
    assert same(before, after, slice(0, 10))  # frame 10 is the tenth pose
    assert not same(before, after)
    assert hand.poses()[0][-1, row, 2] < place[2]


@pytest.mark.parametrize("beside", [True, False])
def test_a_run_from_the_start_has_the_same_bits(scene, hand, beside):
    """Another session that is given what was dragged, whoever simulates."""
    if not beside:
        hand.session._beside.wanted = False
    hand.to_the_end()
    assert hand.grab("Upon", 13)
    hand.drag(13, 25, (0.0, 0.0, 2.0))
    hand.session.drags.release()
    hand.to_the_end()
    again = Hand(scene)
    again.session.drags.frames = dict(hand.session.drags.frames)
    again.to_the_end()
    assert same(hand.poses(), again.poses())
    again.session.close()


def test_it_is_the_simulation_with_these_pulls(hand):
    """The library, told of the recorded hand, gives the same bits."""
    hand.to_the_end()
    assert hand.grab("Upon", 5)
    hand.drag(5, 20, (0.0, 0.0, 2.0))
    hand.session.drags.release()
    hand.to_the_end()
    run = hand.session._run
    simulation = Simulation(run.export.model, SimulationOptions(**run.options))
    poses = [simulation.poses()]
    for frame in range(2, FRAMES + 1):
        simulation.advance_frame(run._given_sample_of(frame).frame_input)
        poses.append(simulation.poses())
    assert same(hand.poses(), [np.array(part) for part in zip(*poses, strict=True)])


@pytest.mark.parametrize("released", [True, False])
def test_keep_writes_what_was_seen(scene, hand, released):
    """To the bit, also where a body is still held: then it is let go; and the notes say what was dragged when."""
    hand.to_the_end()
    assert hand.grab("Upon", 10)
    hand.drag(10, 22, (0.0, 0.0, 2.0))
    if released:
        hand.session.drags.release()
        hand.to_the_end()
    seen = hand.poses()
    run, steps = hand.session.take(scene_digest(scene))
    steps = run.keep_steps(steps, keeps_earlier=True)
    while True:
        try:
            if next(steps).waits:
                time.sleep(0.002)
        except StopIteration as end:
            result = end.value
            break
    kept = result.trajectory.position, result.trajectory.orientation
    assert same(seen, kept, slice(0, len(seen[0])))
    assert len(kept[0]) == FRAMES
    (note,) = (note for note in run.export.notes if note.object_name == "Upon")
    assert note.text == "was dragged by hand in frames 11 to 22; another bake moves without that"
    scene.frame_set(20)
    row = run.export.model.names.index("Upon")
    assert np.allclose(scene.objects["Upon"].location, kept[0][19, row], atol=1e-6)
    assert not np.array_equal(bake_scene(scene, BakeSettings.from_scene(scene)).trajectory.position, kept[0])


def test_to_take_it_back_leaves_all_as_it_was(hand):
    """Also what had been dragged later before, and had given way to it."""
    hand.to_the_end()
    assert hand.grab("Box", 15)
    hand.drag(15, 20, (0.0, 0.0, 1.0))
    hand.session.drags.release()
    hand.to_the_end()
    before, frames = hand.poses(), dict(hand.session.drags.frames)
    assert hand.grab("Upon", 10)
    hand.drag(10, 14, (0.0, 0.0, 2.0))
    assert set(hand.session.drags.frames) == {11, 12, 13, 14}
    hand.session.cancel_drag()
    hand.to_the_end()
    assert hand.session.drags.frames == frames
    assert same(before, hand.poses())


def test_a_changed_scene_has_the_same_hand(scene, hand):
    """A run of another friction is dragged as before; without the body it is let alone."""
    hand.to_the_end()
    assert hand.grab("Upon", 10)
    hand.drag(10, 20, (0.0, 0.0, 2.0))
    scene.objects["Floor"].rigid_body.friction = 0.1
    hand.session.note_change()
    hand.now += QUIET + 1e-3
    hand.until(lambda: not hand.session.drags.is_held)
    hand.to_the_end()
    row = hand.session.picture(20).model.names.index("Upon")
    assert hand.session.picture(20).poses[0][row, 0] > 0.5
    bpy.data.objects.remove(scene.objects["Upon"])
    hand.session.note_change()
    hand.now += QUIET + 1e-3
    hand.to_the_end()
    assert hand.session.error is None
    assert np.array_equal(hand.poses()[0], bake_scene(scene, BakeSettings.from_scene(scene)).trajectory.position)


def test_to_forget_drags_is_a_run_without(scene, hand):
    hand.to_the_end()
    before = hand.poses()
    assert hand.grab("Upon", 10)
    hand.drag(10, 20, (0.0, 0.0, 2.0))
    hand.session.forget_drags()
    hand.to_the_end()
    assert same(before, hand.poses())


@pytest.mark.parametrize(("name", "frame"), [("Floor", 10), ("Pusher", 10), ("Upon", FRAMES)])
def test_what_cannot_be_dragged(hand, name, frame):
    """What never moves by simulation, and at the last frame anything."""
    hand.to_the_end()
    runs = hand.session.runs
    assert not hand.grab(name, frame)
    assert (hand.session.runs, hand.session.drags.is_held) == (runs, False)


def test_nothing_is_held_before_there_are_poses(hand):
    assert not hand.session.grab(1, 3, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), SPRING)


def test_where_frames_are_left_out_the_hand_goes_on_a_straight_way():
    """A window that draws late sees only some frames."""
    drags = Drags()
    drags.grab(10, "Box", (0, 0, 0), (0, 0, 0), SPRING)
    drags.move((4, 0, 0))
    drags.reach(12)
    drags.move((5, 0, 0))
    drags.reach(13)
    drags.release()
    assert [(drags.frames[frame].begin[0], drags.frames[frame].end[0]) for frame in (11, 12, 13)] == [
        (0, 2),
        (2, 4),
        (4, 5),
    ]
    assert drags.spans() == [("Box", 11, 13)]
    assert drags.is_known(99)
