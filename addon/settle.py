"""Settle: some bodies are simulated until they rest, and start where they have come to lie.

Everything else is held where it is at the start of the bake: bodies that were not chosen, and what is animated. Initial
motion counts for nothing, and nothing is keyed. A body whose place is keyed, driven or constrained stays where that has
it: there is no start of its own that could be set.
"""

import dataclasses
import math
from collections.abc import Generator, Iterable

import bpy
import numpy as np

from ..solver_core.model.activation import pack_activation
from ..solver_core.model.model import BodyKind
from .bake_progress import BakeProgress, share_of_bar
from .read.early_notes import nothing_to_bake
from .read.faults import Faults, SceneError
from .read.notes import Note
from .read.writable import check_editable
from .scene_preparation import ScenePreparation
from .settings import BakeSettings
from .write import attach, keyframes, since_bake

# A body that never falls asleep by its own settings does so at Blender's defaults here: settling has an end.
SLEEP_SPEED = (0.4, 0.5)
MAX_SECONDS = 10.0
# Whoever has come to rest is simulated anew from there, so often at most, for so long [s], ...
MOST_PROOFS, SECONDS_OF_PROOF = 5, 0.25
# ... until nothing moves by more than this share of its size; what moves farther than this has come loose.
STILL, LOOSE = 1e-4, 1e-2

NEEDS_START = "its place is keyed, driven or constrained, so it has no start that could be settled: it stays there"
IS_HELD = "it is not dynamic in the first frame, so it stays where it is"


@dataclasses.dataclass(frozen=True)
class SettleResult:
    """What has become of the bodies that were to settle.

    Attributes
    ----------
    at_rest, moving : tuple of str
        Names of those that start at rest now, and of those that were still moving when time was up.
    left_out : tuple of Note
        Those that were held where they are, each with the reason.
    seconds : float
        Simulated time [s].
    """

    at_rest: tuple[str, ...]
    moving: tuple[str, ...]
    left_out: tuple[Note, ...]
    seconds: float


def settle(
    scene: bpy.types.Scene, objects: Iterable[bpy.types.Object] | None = None, max_seconds: float = MAX_SECONDS
) -> SettleResult:
    """Let rigid bodies come to rest, and start there; see the head of this file.

    Parameters
    ----------
    scene : bpy.types.Scene
    objects : iterable of bpy.types.Object, optional
        The bodies; without them all that move.
    max_seconds : float
        Whoever is still moving after so much simulated time starts from where it is then [s].

    Returns
    -------
    SettleResult

    Raises
    ------
    SceneError, RuntimeUnavailable, SimulationError
        Nothing has changed.
    """
    names = None if objects is None else [ob.name for ob in objects]
    steps = settle_steps(scene.name, names, max_seconds)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def settle_steps(
    scene_name: str, names: list[str] | None, max_seconds: float, in_steps: bool = False
) -> Generator[BakeProgress, None, SettleResult]:
    """The same as a generator; between two of its steps the scene is as it was, and closing it leaves it so.

    Parameters
    ----------
    scene_name : str
    names : list of str, or None
        Of the objects.
    max_seconds : float
        [s]
    in_steps : bool
        Read the scene some objects a step, for a window.
    """
    scene = bpy.data.scenes[scene_name]
    if not hasattr(scene, "cairn"):
        raise SceneError(None, "Cairn is not registered; call cairn.register() first")
    if not (math.isfinite(max_seconds) and max_seconds > 0.0):
        raise SceneError(None, f"the longest time to settle is {max_seconds:g} s; it must be more than 0")
    if scene.rigidbody_world is None:
        raise SceneError(None, nothing_to_bake(scene))
    settings = BakeSettings.from_scene(scene, {"hit_keys": False})
    start = scene.rigidbody_world.point_cache.frame_start if settings.start is None else settings.start
    preparation = ScenePreparation(scene_name, dataclasses.replace(settings, start=start, end=start + 1), in_steps)
    yield BakeProgress("export", 0, 0, "Reading the scene")
    yield from preparation.catch_up()
    yield from preparation.read_scene()
    yield from preparation.decompose()
    export = preparation.export
    chosen, left_out = _choose(preparation.scene, export, names)
    yield from preparation.compile()
    yield BakeProgress("compile", 0, 0, "Loading the solver", preparation.bar_filled)
    settling = _Settling(preparation, chosen, max_seconds)
    yield from settling.play()
    names = [body.object_name for body in chosen]
    _start_there(preparation.scene, export, settling.trajectory, set(names))
    return SettleResult(
        tuple(name for name, lies in zip(names, settling.at_rest, strict=True) if lies),
        tuple(name for name, lies in zip(names, settling.at_rest, strict=True) if not lies),
        tuple(left_out),
        settling.seconds,
    )


def _choose(scene, export, names):
    """Bodies that are to settle, and notes on those that cannot."""
    by_name = {body.object_name: body for body in export.bodies}
    faults, objects = Faults(), attach.objects_by_name(scene)
    for name in names or ():
        if name not in by_name:
            faults.add(SceneError(name, "is no rigid body of this scene; add it in Physics > Rigid Body first"))
    faults.raise_any()
    wanted = [body.object_name for body in export.bodies if body.moves] if names is None else dict.fromkeys(names)
    chosen, left_out = [], []
    for body in map(by_name.__getitem__, wanted):
        ob = objects[body.object_name]
        check_editable(ob, faults)
        if export.default_sample.kind[body.index] != BodyKind.DYNAMIC:
            left_out.append(Note("info", body.object_name, IS_HELD))
        elif keyframes.own_pose(ob) is None:
            left_out.append(Note("warning", body.object_name, NEEDS_START))
        else:
            chosen.append(body)
    faults.raise_any()
    if not chosen:
        if left_out:
            raise SceneError(left_out[0].object_name, left_out[0].text)
        raise SceneError(None, "nothing is to settle; select Active rigid bodies")
    return chosen, left_out


class _Settling:
    """Bodies on their way to rest.

    What has come to rest has overlaps and contacts of its past, which a bake does not know that begins there. So it is
    simulated anew from where it lies, until nothing moves by that.
    """

    def __init__(self, preparation, chosen, max_seconds):
        from ..solver_core.options import FrameInput, SimulationOptions
        from ..solver_core.simulation import Simulation
        from ..solver_core.trajectory import Trajectory

        sample = preparation.export.default_sample
        if sample.duration <= 0.0:
            raise SceneError(None, "Speed of the Rigid Body World is 0, so nothing settles")
        self._rows = np.array([body.index for body in chosen])
        self._model = _at_rest_but_for(preparation.export.model, self._rows)
        self._simulation = Simulation(self._model, SimulationOptions(**preparation.options))
        kind = self._model.initial_state.kind
        self._given = FrameInput(duration=sample.duration, gravity=sample.gravity, kind=kind)
        self._frame, self._most = 0, math.ceil(max_seconds / sample.duration)
        self._words, self._share, self._bar = f"of at most {max_seconds:g} s", 0.0, (preparation.bar_filled, 1.0)
        self._report = None
        self.trajectory = Trajectory(*self._simulation.poses())
        self.at_rest = self._simulation.sleeping[self._rows]

    @property
    def seconds(self):
        """Simulated so far [s]."""
        return self._frame * self._given.duration

    def play(self):
        """Go on until all rest or time is up, and prove it; a generator of BakeProgress."""
        yield from self._play(self._most, until_rest=True)
        proof = math.ceil(SECONDS_OF_PROOF / self._given.duration)
        for _ in range(MOST_PROOFS):
            if not self.at_rest.all():
                break
            begin = self._begin_anew()
            yield from self._play(proof)
            moved = np.linalg.norm(self._simulation.state.position[self._rows] - begin, axis=1)
            moved /= self._model.arrays.size[self._rows]
            if moved.max() <= STILL:
                break
            if moved.max() > LOOSE:
                yield from self._play(self._most, until_rest=True)
        self.trajectory.append(*self._simulation.poses(), self._report)

    def _begin_anew(self):
        """Simulate from here as a bake would; returns where the bodies are [n, 3]."""
        state = self._simulation.state
        start = self._model.initial_state._replace(position=state.position.copy(), orientation=state.orientation.copy())
        model = dataclasses.replace(self._model, initial_state=start)
        self._simulation = type(self._simulation)(model, self._simulation.options)
        return state.position[self._rows]

    def _play(self, frames, until_rest=False):
        for _ in range(frames):
            steps, progress = self._simulation.frame_steps(self._given), self._progress()
            while True:
                yield progress
                try:
                    next(steps)
                except StopIteration as end:
                    self._report = end.value
                    break
            self._frame += 1
            if until_rest:
                self.at_rest = self._simulation.sleeping[self._rows]
                if self.at_rest.all():
                    return

    def _progress(self):
        lying, count = int(np.count_nonzero(self.at_rest)), len(self._rows)
        self._share = min(max(self._share, self._frame / self._most, lying / count), 1.0)
        text = f"Settling, {lying:,} of {count:,} at rest after {self.seconds:.1f} s {self._words}"
        factor = share_of_bar(self._share, 1, self._bar)
        return BakeProgress("simulate", self._frame, self._most, text, factor)


def _at_rest_but_for(model, rows):
    """A model in which all is held but these bodies, which begin without velocity and awake."""
    kind = np.full(model.body_count, int(BodyKind.STATIC))
    kind[rows] = BodyKind.DYNAMIC
    speeds = model.arrays.sleep_speed.copy()
    speeds[rows] = np.where(speeds[rows] > 0.0, speeds[rows], SLEEP_SPEED)
    state = model.initial_state._replace(kind=kind, velocity=np.zeros_like(model.initial_state.velocity))
    return dataclasses.replace(
        model,
        arrays=model.arrays._replace(sleep_speed=speeds, activation=pack_activation([], [])),
        initial_state=state,
        starts_asleep=np.zeros_like(model.starts_asleep),
        guides=np.zeros((0, 5)),
    )


def _start_there(scene, export, trajectory, names):
    """Let bodies start at the last poses of a trajectory, and what moves and is parented to them where it was."""
    objects = attach.objects_by_name(scene)
    moving = {body.object_name for body in export.bodies if body.moves}
    carried = {name for name in moving - names if _is_below(objects[name], names)}
    carried = {name for name in carried if keyframes.own_pose(objects[name]) is not None}
    for name, start in keyframes.last_channels(scene, export, trajectory, names | carried):
        since_bake.start_at(objects[name], start)
    attach.refresh(scene)


def _is_below(ob, names):
    while ob.parent is not None:
        ob = ob.parent
        if ob.name in names:
            return True
    return False


def settled_sentence(result: SettleResult) -> str:
    """What has become of the bodies, in a sentence or two."""
    count = len(result.at_rest) + len(result.moving)
    if not result.moving:
        text = f"{_bodies(count)} at rest after {result.seconds:.1f} s"
    else:
        shown = ", ".join(result.moving[:3]) + (f" and {len(result.moving) - 3} more" if len(result.moving) > 3 else "")
        text = f"{len(result.at_rest):,} of {count:,} at rest after {result.seconds:.1f} s. Still moving: {shown}"
    if result.left_out:
        text += f". Left where it is: {result.left_out[0].object_name}"
        if len(result.left_out) > 1:
            text += f" and {len(result.left_out) - 1} more"
    return text


def _bodies(count):
    return "1 body is" if count == 1 else f"{count:,} bodies are"
