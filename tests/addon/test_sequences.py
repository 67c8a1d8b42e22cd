"""What users do in any order: after each step the file says what a model of it says, and so does the panel.

Steps are bake, stop, continue, edit, bake from the current frame, save as, reopen, undo and redo (five at a time) and
delete, at frames before, within and beyond the bake. The model knows where bodies start, what was set and keyed, the
poses of the bake that the file carries, what it was made from, and which checkpoints lie on the disk. No pose, key,
setting or checkpoint may be lost, and no button may offer what it does not do.
"""

import copy
import json
import random
from collections import deque

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import BakeStopped, bake_frames
from cairn.addon.checkpoints import in_window
from cairn.addon.settings import BakeSettings
from cairn.addon.ui import watch
from cairn.addon.write import since_bake

SEEDS = [pytest.param(seed, marks=() if seed < 4 else pytest.mark.nightly) for seed in range(200)]
STEPS = 12
AT_ONCE = 5
NAMES = ("Low", "High")
ENDS = (6, 9)
FRAMES = (1, 3, 5, 20)


class Played:
    """The application and the model of its file side by side.

    Attributes
    ----------
    file : dict
        What the open file says: "start" and "keys" of each body, "made_from" (what the motion depends on), "end", and
        "bake", None or {"id", "made_from", "last", "requested", "poses"}.
    disk : dict
        By folder the checkpoints: {"state" or "next": {"id", "made_from", "last"}}.
    undo : list of dict
        Files that Undo and Redo lead to; ``at`` is where the present one is.
    """

    def __init__(self, maker, folder, seed):
        cairn.register()
        maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
        for height, name in enumerate(NAMES):
            box = maker.body(name, shape="BOX", location=(0.2 * height, 0, 0.6 + 1.1 * height))
            box.keyframe_insert("hide_render", frame=1)
        world = maker.scene.rigidbody_world
        maker.scene.frame_end = world.point_cache.frame_end = ENDS[0]
        maker.scene.cairn.substeps = 1
        self.random, self.folder, self.files, self.disk = random.Random(seed), folder, 0, {}
        self.digests: dict = {}  # of whole bakes by what they were made from
        self.path = maker.save(folder / "shot.blend")
        self.saved: dict = {}
        self.file = {
            "start": {name: tuple(maker.scene.objects[name].location) for name in NAMES},
            "keys": dict.fromkeys(NAMES, 1),
            "made_from": {"friction": 0.5, "mass": 1.0, "substeps": 1},
            "end": ENDS[0],
            "bake": None,
        }
        self.undo: list = []
        self.at = -1
        self.save()
        self.open()

    @property
    def scene(self):
        return bpy.context.scene

    @property
    def place(self):
        return self.disk.setdefault(self.path.stem, {})

    def made_from(self):
        return {**self.file["made_from"], "start": dict(self.file["start"])}

    def push(self, message):
        bpy.ops.ed.undo_push(message=message)
        del self.undo[self.at + 1 :]
        self.undo.append(copy.deepcopy(self.file))
        self.at += 1

    def save(self):
        bpy.ops.wm.save_as_mainfile(filepath=str(self.path))
        self.saved[self.path] = copy.deepcopy(self.file)

    def settle(self):
        """As an operator does before it changes anything: a step of Undo for what the user has moved."""
        changed = since_bake.catch_up(self.scene)
        deque(since_bake.record_steps(self.scene.name), maxlen=0)
        if changed:
            del self.undo[self.at + 1 :]
            self.undo.append(copy.deepcopy(self.file))
            self.at += 1

    # Steps: each changes the application and the model, and returns whether it could be done

    def bake(self):
        assert bpy.ops.cairn.bake() == {"FINISHED"}
        self.note_bake(self.file["end"], self.made_from())
        self.push("Bake")

    def stop(self):
        steps = bake_frames(
            self.scene, BakeSettings.from_scene(self.scene), in_window.plan_of(self.scene), keeps_earlier=True
        )
        while next(steps).frame != 4:
            pass
        try:
            steps.throw(BakeStopped())
            while True:
                next(steps)
        except StopIteration as end:
            result = end.value
        earlier = self.file["bake"]
        keeps = earlier is not None and earlier["last"] > 4
        assert result.kept_earlier == keeps
        if keeps:
            self.place["next"] = {"id": self.next_id(), "made_from": self.made_from(), "last": 4}
        else:
            self.note_bake(4, self.made_from())
            self.push("Stopped bake")

    def resume(self):
        offer = self.offer()
        if offer is None or not self.status()["checkpoint"]["fits"]:
            return
        shown = bool(self.status()["fetch"]) or offer["last"] < self.file["end"]
        if shown:
            assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
            self.note_bake(self.file["end"], self.made_from(), source=offer)
            self.push("Continue")

    def bake_from_here(self):
        recorded, frame = self.status()["recorded"], self.scene.frame_current
        if not recorded or not recorded[0] < frame <= recorded[1] or frame >= self.file["end"]:
            return
        kept = {number: poses for number, poses in self.file["bake"]["poses"].items() if number <= frame}
        assert bpy.ops.cairn.bake_from_current() == {"FINISHED"}
        self.note_bake(self.file["end"], self.made_from(), pure=False)
        for number in range(2, frame + 1):
            for name in NAMES:
                assert self.file["bake"]["poses"][number][name] == pytest.approx(kept[number][name], abs=1e-6)
        self.push("Bake from here")

    def edit(self):
        kind = self.random.choice(("friction", "mass", "substeps", "end", "key", "start"))
        name, high = self.random.choice(NAMES), self.scene.objects["High"]
        if kind == "friction":
            high.rigid_body.friction = value = self.random.choice((0.25, 0.5, 0.75))
            self.file["made_from"][kind] = value
        elif kind == "mass":
            high.rigid_body.mass = value = self.random.choice((1.0, 2.0))
            self.file["made_from"][kind] = value
        elif kind == "substeps":
            self.scene.cairn.substeps = value = self.random.choice((1, 2))
            self.file["made_from"][kind] = value
        elif kind == "end":
            self.scene.rigidbody_world.point_cache.frame_end = self.file["end"] = self.random.choice(ENDS)
        elif kind == "key":
            self.scene.objects[name].keyframe_insert("hide_render", frame=self.file["keys"][name] + 1)
            self.file["keys"][name] += 1
        else:
            if self.file["bake"] is not None:  # later ones are keyed
                self.scene.frame_set(1)
            ob = self.scene.objects[name]
            ob.location.x += self.random.choice((0.25, -0.25, 0.5))
            bpy.context.view_layer.update()
            self.file["start"][name] = tuple(ob.location)
            if self.file["bake"] is not None:
                self.file["bake"]["poses"][1][name] = tuple(ob.location)
        self.settle()
        self.push(f"Edit {kind}")

    def save_as(self):
        self.files += 1
        self.path = self.folder / f"shot_{self.files}.blend"
        self.save()

    def reopen(self):
        """With all that was saved, or what was saved last."""
        if self.random.random() < 0.5:
            self.save()
        self.open()

    def open(self):
        bpy.ops.wm.open_mainfile(filepath=str(self.path))
        self.file = copy.deepcopy(self.saved[self.path])
        self.undo, self.at = [], -1
        self.push("Open")

    def undo_some(self):
        for _ in range(AT_ONCE):
            if self.at > 0:
                assert bpy.ops.ed.undo() == {"FINISHED"}
                self.at -= 1
                self.file = copy.deepcopy(self.undo[self.at])

    def redo_some(self):
        for _ in range(AT_ONCE):
            if self.at < len(self.undo) - 1:
                assert bpy.ops.ed.redo() == {"FINISHED"}
                self.at += 1
                self.file = copy.deepcopy(self.undo[self.at])

    def delete(self):
        if self.file["bake"] is None:
            assert not bpy.ops.cairn.delete_bake.poll()
            return
        assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
        self.file["bake"] = None
        self.push("Delete")

    # What the model knows of bakes

    def next_id(self):
        """What tells the checkpoint that was just written from others."""
        stored = in_window.stored_text(in_window.folder_of(self.scene) / "next.npz")
        return stored["bake"]

    def note_bake(self, last, made_from, *, pure=True, source=None):
        """A bake has been written: its poses are what the keys say now."""
        facts = self.scene.cairn
        assert facts.is_baked
        assert (facts.baked_start, facts.baked_end) == (1, last)
        poses = {frame: self.poses(frame) for frame in range(1, last + 1)}
        if source is not None:
            pure = source["pure"]
            assert facts.bake_id == source["id"]
        whole = last == self.file["end"] and pure
        if whole:
            digest = json.loads(facts.report)["totals"]["digest"]
            key = json.dumps([made_from, last], sort_keys=True)
            assert self.digests.setdefault(key, digest) == digest, "the same scene gives other bits"
        self.file["bake"] = {
            "id": facts.bake_id,
            "made_from": copy.deepcopy(made_from),
            "last": last,
            "requested": self.file["end"],
            "poses": poses,
            "folder": self.path.stem,
        }
        self.disk[self.path.stem] = {
            "state": {
                "id": facts.bake_id,
                "made_from": copy.deepcopy(made_from),
                "last": max(last, source["last"]) if source else last,
                "pure": pure,
            }
        }

    def sources(self):
        places = [self.path.stem]
        if self.file["bake"] is not None:
            places.append(self.file["bake"]["folder"])
        for place in dict.fromkeys(places):
            for name in ("next", "state"):
                if name in self.disk.get(place, {}):
                    yield {"pure": True, **self.disk[place][name]}

    def offer(self):
        """The checkpoint that *Continue* goes on from, or None."""
        fitting = [found for found in self.sources() if found["made_from"] == self.made_from()]
        return max(fitting, key=lambda found: found["last"], default=None)

    def status(self):
        watch.look_at(self.scene, bpy.context.window_manager.cairn)
        return json.loads(bpy.context.window_manager.cairn.status)

    # What is compared

    def poses(self, frame):
        self.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        return {name: tuple(self.scene.objects[name].evaluated_get(graph).matrix_world.translation) for name in NAMES}

    def check(self):
        scene, file, bake = self.scene, self.file, self.file["bake"]
        assert scene.objects["High"].rigid_body.friction == file["made_from"]["friction"]
        assert scene.objects["High"].rigid_body.mass == file["made_from"]["mass"]
        assert scene.cairn.substeps == file["made_from"]["substeps"]
        assert scene.rigidbody_world.point_cache.frame_end == file["end"]
        assert scene.cairn.is_baked == (bake is not None)
        assert scene.rigidbody_world.enabled + scene.cairn.world_waits == (bake is None)
        said = self.status()
        self.check_poses(scene, said)
        for name in NAMES:
            data = scene.objects[name].animation_data
            bag = data.action.layers[0].strips[0].channelbags[0]
            assert len(bag.fcurves.find("hide_render").keyframe_points) == file["keys"][name], name
        self.check_buttons(said)

    def check_poses(self, scene, said):
        file, bake, shown = self.file, self.file["bake"], scene.frame_current
        if bake is None:
            assert self.poses(shown) == {name: pytest.approx(at, abs=1e-6) for name, at in file["start"].items()}
            for name, at in file["start"].items():
                assert tuple(scene.objects[name].location) == at
            return
        for frame in range(1, bake["last"] + 2):
            expected = bake["poses"][min(frame, bake["last"])]
            found = self.poses(frame)
            for name in NAMES:
                assert np.allclose(found[name], expected[name], atol=1e-6), (name, frame)
        scene.frame_set(shown)

    def check_buttons(self, said):
        bake, offer = self.file["bake"], self.offer()
        is_current = bake is None or (bake["made_from"] == self.made_from() and bake["requested"] == self.file["end"])
        assert (said["outdated"] == "") == is_current, said["outdated"]
        checkpoint = said["checkpoint"]
        assert bool(checkpoint and checkpoint["fits"]) == (offer is not None)
        if offer is not None:
            assert (checkpoint["frame"], checkpoint["end"]) == (offer["last"], self.file["end"])
        whole = offer is not None and offer["last"] >= self.file["end"]
        carried = bake is not None and offer is not None and bake["id"] == offer["id"]
        carried = carried and bake["last"] >= self.file["end"]
        assert said["fetch"] == (self.file["end"] if whole and not carried else 0)
        own = bake is not None and any(found["id"] == bake["id"] for found in self.sources())
        assert said["recorded"] == ([1, bake["last"]] if own else [])
        if bake is not None:
            assert bool(said["why_not"]) == (not own)


KINDS = (
    Played.bake,
    Played.stop,
    Played.resume,
    Played.edit,
    Played.edit,
    Played.bake_from_here,
    Played.save_as,
    Played.reopen,
    Played.undo_some,
    Played.redo_some,
    Played.delete,
)


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_in_any_order(maker, tmp_path, seed):
    played = Played(maker, tmp_path, seed)
    done = []
    for _ in range(STEPS):
        frame = played.random.choice(FRAMES)
        played.scene.frame_set(frame)
        step = played.random.choice(KINDS)
        done.append((step.__name__, frame))
        try:
            step(played)
            played.scene.frame_set(played.random.choice(FRAMES))
            played.check()
        except Exception as error:
            error.add_note(f"seed {seed}: {done}")
            raise
