"""What an animator sees and presses: the panel in the sidebar and the bake by timer, in a window on an X screen."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from application import Blender

FILES = Path(__file__).resolve().parents[2] / "docs" / "files"
THROW, ROCKS = FILES / "throw.blend", FILES / "settle.blend"

pytestmark = pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set")


def test_panel_is_in_the_sidebar(blender, scene, tmp_path):
    """Take a picture of it, too; set CAIRN_PICTURES to a folder to keep it."""
    picture = tmp_path / "panel.png"
    shown = blender.script("show_panel.py", picture, blend=scene, window=True)
    # Blender takes a tab's name only where a panel of that tab was drawn
    assert shown["tab"] == "Cairn"
    # text has soft edges; a window that was not drawn has one colour
    assert shown["colours"] > 100
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copy(picture, folder)


def test_escape_ends_compiling_at_once(bare_blender, scene):
    """While processes of its own compile, the window lives on; ESC ends them and the bake, and nothing has changed."""
    seen = bare_blender.script("stop_in_window.py", blend=scene, window=True, window_words=["--enable-event-simulate"])
    assert re.fullmatch(r"Preparing the solver, first time only(, .+ left)? \(\d:\d\d\)", seen["text"])
    assert seen["hint"] == "ESC stops"
    assert seen["ticks"] >= 10
    assert seen["at_work"] >= 1
    assert seen["left_at_work"] == 0
    assert seen["seconds_to_end"] < 2.0
    assert not seen["baked"]


def test_bake_in_the_window_is_one_step_of_undo(blender, scene, tmp_path):
    """Bake by the operator's timer: keys and summary are there; Undo, Redo and Delete Bake agree with the panel."""
    picture = tmp_path / "baked.png"
    seen = blender.script("bake_in_window.py", picture, blend=scene, window=True)
    assert seen["started"] == ["RUNNING_MODAL"]
    assert seen["before"] == {"baked": False, "world": True, "action": "", "frame": 1}
    assert seen["after"] == {"baked": True, "world": False, "action": "Upper Cairn", "frame": 1}
    assert seen["undone"] == seen["before"]
    assert seen["redone"] == seen["after"]
    assert seen["deleted"] == seen["before"]
    assert "Baked 48 frames in " in seen["summary"]
    assert abs(seen["height"] - 1.5) < 1e-3  # on the lower box, which lies on the floor
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copy(picture, folder)


def test_the_animators_loop(blender, tmp_path):
    """From an empty scene: add, bake, look, move, duplicate, change, bake again, stop, go to notes, delete."""
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    seen = blender.script("animators_loop.py", pictures, window=True, window_words=["--enable-event-simulate"])

    # before the bake: what is missing, and what would be ignored
    assert not seen["bake_of_nothing"]
    assert seen["why_not"].startswith("No rigid bodies yet")
    assert seen["bake_of_bodies"]

    # the bake: with a warning of the wind, on the floor, and nowhere wrong
    first = seen["first"]
    assert first["range"] == [1, 40]
    assert first["warned"]
    assert first["summary"].startswith("Good: all contacts within tolerance. ")
    assert (first["world"], first["worst"], first["outdated"]) == (False, "", "")
    assert first["high"] == pytest.approx([0.0, 0.0, 1.5], abs=1e-3)
    assert first["side"] == [3.0, 0.0, 1.5]

    # a body that was moved at the start frame starts there, and a copy starts from where it is
    assert seen["moved"][0] == [5.0, 0.0, 1.5]
    assert seen["moved"][1] == pytest.approx([5.0, 0.0, 0.5], abs=1e-3)
    # ... and stays there when the bake is undone
    assert seen["undone"] == [[5.0, 0.0, 1.5], pytest.approx([3.0, 0.0, 0.5], abs=1e-3)]
    assert seen["undone_says"] == "Out of date: start pose of Side"
    side, side_end, copy, copy_end = seen["copied"]
    assert [side, side_end] == seen["moved"]
    assert copy == [8.0, 0.0, 1.5]
    assert copy_end == pytest.approx([8.0, 0.0, 0.5], abs=1e-3)

    # it said where it was; how long it takes is told where the pace is even (test_bake_progress.py)
    assert any(re.match(r"Frame \d+ of 20000", text) for text, _ in seen["progress"])

    # ESC is heard within a second, beside what software in place of a graphics card takes to draw the window before and
    # after it; and the frames so far are kept
    assert seen["seconds_to_answer"] < 1.0 + 2.0 * seen["seconds_to_draw"], seen
    start, end, requested, summary = seen["stopped"]
    assert (start, requested) == (1, 20000)
    assert 10 < end < 20000
    assert summary.startswith("Stopped. ")

    # notes and the worst contact lead to their objects
    assert seen["noted"] == {"selected": ["Wind"], "looks_elsewhere": True}
    assert seen["went"] == ["FINISHED"]
    assert seen["worst"] == seen["at_worst"]
    # ... which is in the middle of the view, with room around it
    assert seen["worst_view"]["beside"] < 0.5
    assert seen["worst_view"]["distance"] > 3.0

    # all is as it was before the first bake, where the user has put it
    deleted = seen["deleted"]
    assert (deleted["baked"], deleted["world"], deleted["actions"]) == (False, True, [])
    assert deleted["places"] == {"Low": [0.0, 0.0, 0.5], "Side": [5.0, 0.0, 1.5], "Copy": [8.0, 0.0, 1.5]}


def test_at_late_frames_bodies_stand_at_their_start_without_a_bake(blender, tmp_path):
    """Delete Bake, undo, redo, a jump from the first frame, a file opened again: seen, and moved with G, from there."""
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    seen = blender.script("late_world.py", pictures, window=True)
    start = seen["start"]["shown"]
    first = next(iter(start))
    for name in ("deleted", "unmoved", "deleted_again", "at_start", "jumped", "reopened", "switched_on"):
        assert seen[name]["shown"] == seen[name]["place"] == start, name
        assert not seen[name]["baked"], name
    for name, by in (("moved", 1.0), ("moved_late", 0.5)):
        moved = start | {first: [start[first][0] + by, *start[first][1:]]}
        assert seen[name]["shown"] == seen[name]["place"] == moved, name
    worlds = {name: (found["world"], found["waits"]) for name, found in seen.items() if name != "progress"}
    assert worlds["start"] == worlds["at_start"] == (True, False)
    for name in ("deleted", "moved", "deleted_again", "moved_late", "reopened"):
        assert worlds[name] == (False, True), name
    # who switches it on at a late frame gets it
    assert worlds["switched_on"] == (True, False)


def test_after_every_way_back_bodies_stand_where_they_were(blender, tmp_path):
    """Joints, parents, keys, an override and two scenes; undo, stops, failures, Continue, variants and a script."""
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    words = ["--enable-event-simulate", "--window-geometry", 0, 0, 700, 600]
    seen = blender.script("ways_back.py", pictures, window=True, window_words=words)
    ways = ["a jump", "undo of a bake", "a deletion", "a stop before the first frame", "a failure in the first frame"]
    ways += ["a failure later", "undo of Continue", "a script", "undo of a variant", "one of two scenes"]
    looks = [f"{way}{then}" for way in ways for then in ("", ", moved", ", undone")]
    assert seen["displaced"] == {look: [] for look in [*looks, "the other scene"]}
    assert {way: seen["places"][way] for way in ways} == {way: [0.5, 0.0, 3.0] for way in ways}
    # a variant whose bake is stopped leaves one step of undo, which brings back the variant before it
    assert seen["places"]["stopped"] == seen["places"]["variant"]


def test_the_panel_says_what_is_true_and_offers_what_can_be_done(blender, tmp_path):
    """After a bake, a stop, a right click, a file that was not saved, and edits; at once where it is known."""
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    words = ["--enable-event-simulate"]
    seen = blender.script("what_the_panel_says.py", pictures, THROW, window=True, window_words=words)

    baked = seen["baked"]
    assert (baked["baked"], baked["outdated"], baked["recorded"], baked["fetch"]) == ([1, 48], "", [1, 48], 0)
    assert [["Ball"], "leaves at 6 m/s in frame 6"] in baked["check"]
    # the notes are those of the bake
    assert seen["reopened"]["check"] == baked["check"]
    assert seen["reopened"]["recorded"] == [1, 48]

    # the finished bake stays
    assert seen["answer"] == "Only looking around works while a bake runs; ESC stops it"
    assert seen["escaped"]["baked"] == [1, 48]
    assert seen["escaped"]["outdated"] == "Out of date: substeps, substeps at most, range"

    assert (seen["unsaved"]["baked"], seen["unsaved"]["fetch"]) == ([], 48)
    fetched = seen["fetched"]
    assert (fetched["baked"], fetched["recorded"], fetched["fetch"]) == ([1, 48], [1, 48], 0)

    assert seen["outside"][2] == ["Box.2"]
    assert seen["left_out"] == [[], False]
    assert seen["range"]


def test_rocks_settle_and_escape_or_undo_puts_them_back(blender, tmp_path):
    """ESC on the way changes nothing; at the end they lie, without a key; one undo brings all back."""
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    words = ["--enable-event-simulate"]
    seen = blender.script("settle_in_window.py", pictures, ROCKS, window=True, window_words=words)
    assert seen["in_menu"]
    assert re.match(r"Settling, \d+ of 50 at rest after \d+\.\d s of at most 10 s", seen["text"])
    assert seen["hint"] == "ESC stops and changes nothing"
    assert seen["escaped"] == seen["before"]
    settled = seen["settled"]
    assert (settled["actions"], settled["baked"]) == (0, False)
    rocks = {name: place for name, place in settled["places"].items() if name.startswith("Rock")}
    assert len(rocks) == 50
    assert all(place[2] < 2.0 for place in rocks.values())
    still = ("Floor", "Terrain")
    assert [settled["places"][name] for name in still] == [seen["before"]["places"][name] for name in still]
    assert seen["undone"] == seen["before"]


def test_a_deletion_of_thousands_is_seen_and_goes_on_to_its_end(blender, tmp_path):
    """The panel says how far it is; ESC leaves nothing half done, and one undo brings all back."""
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    words = ["--enable-event-simulate"]
    seen = blender.script("delete_in_window.py", pictures, window=True, window_words=words)
    count = seen["before"]["carrying"]
    assert count == 2000
    # a view that shows no meshes hides none of them in the scene
    assert not seen["before"]["hidden"]
    assert seen["started"] == ["RUNNING_MODAL"]
    assert (seen["hint"], seen["stop_can_be_pressed"]) == ("It goes on to the end", False)
    # in between some have the bake and the others what they had; the scene says that it is baked
    assert seen["middle"]["baked"]
    assert 0 < seen["middle"]["carrying"] < count
    assert seen["deleted"] == {"baked": False, "world": True, "carrying": 0, "actions": 0, "hidden": False}
    assert seen["undone"] == seen["before"]


@pytest.mark.nightly
def test_thousands_of_bodies_keep_the_window_alive(blender):
    """An edit is told at once and in short steps, of one body and of all; ESC ends the simulation at once."""
    seen = blender.script("thousands_in_window.py", window=True, window_words=["--enable-event-simulate"])
    one, every = seen["one"], seen["all"]
    assert one["says"] == "Out of date: mass of Box7"
    assert one["ours"] < 0.2
    assert every["says"] == "Out of date: friction of 2,000 bodies, mass of Box7"
    assert max(one["longest_step"], every["longest_step"]) < 0.1
    # a step may be waited for, and what is drawn before and after it
    assert seen["heard"] < 0.3 + 2.0 * seen["longest_before_escape"], seen
    is_baked, end, summary = seen["stopped"]
    assert is_baked
    assert 5 < end < 4000
    assert summary.startswith("Stopped. ")


def test_the_arrow_of_initial_motion_is_pulled_and_undone_in_one_step(blender, tmp_path):
    """Its tip follows the mouse, across the view; one undo takes the whole pull back."""
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    seen = blender.script("start_arrow.py", pictures, window=True, window_words=["--enable-event-simulate"])
    assert seen["before"] == [4.0, 0.0, 8.0]
    # pressed a pixel beside it, and pulled 80 to the right and 64 up from where it was
    assert seen["tip_pulled"] == pytest.approx([seen["tip"][0] + 79, seen["tip"][1] + 63], abs=3)
    assert seen["let_go"] == seen["pulled"]
    assert seen["undone"] == seen["before"]


def test_a_window_is_drawn_for_what_changes_alone(blender, scene):
    """At rest never, though Cairn looks at the scene; and not for each frame that is read of a keyed body."""
    seen = blender.script("quiet_window.py", blend=scene, window=True)
    assert (seen["at_rest"], seen["at_rest_baked"]) == (0, 0)
    # the copy in which frames are read comes with the reading of the scene, and goes with the writing
    assert seen["scenes"] == 2
    assert seen["while_baking"]["Frame"] == 0
    assert seen["while_baking"]["Reading"] <= 1
    assert seen["scenes_left"] == ["Scene"]
    assert "Baked 48 frames in " in seen["pushed"]
    # between two times that a key is heard; of this thread, since other work on the machine makes the clock run
    assert seen["longest"] < 0.6


def test_wedge_from_a_right_click_to_the_variant_that_is_taken(blender, scene, tmp_path):
    """Bakes in child processes, pictures in the panel, and the bits of the variant; Undo takes it back in one step."""
    shot = tmp_path / "shot.blend"
    shutil.copy(scene, shot)
    pictures = Path(os.environ.get("CAIRN_PICTURES") or tmp_path)
    events = ["--enable-event-simulate"]
    seen = blender.script("wedge_in_window.py", pictures, blend=shot, window=True, window_words=events)
    assert seen["entries"] == [["substeps", "4,8"]]
    assert seen["started"] == ["RUNNING_MODAL"]
    assert [text for text, _ in seen["progress"] if text.startswith("0 of 2 variants done, ")]
    assert Path(seen["folder"]) == tmp_path / "shot.wedge"
    assert seen["icons"] == {"1": True, "2": True}
    assert seen["used"] == ["FINISHED"]
    report = json.loads((tmp_path / "shot.wedge" / "v0002.json").read_text())
    assert seen["taken"] == {"baked": True, "substeps": 8, "digest": report["totals"]["digest"]}
    assert seen["undone"] == {"baked": False, "substeps": 4, "digest": ""}


@pytest.mark.nightly
def test_from_the_zip_to_a_baked_house_of_cards(plain_blender, archive, tmp_path):
    """What README says, in an empty profile: install from disk, Add > Cairn, Bake; it takes minutes at most."""
    new = Blender(plain_blender.executable, tmp_path / "empty")
    seen = new.script("first_minutes.py", archive, window=True)
    assert seen["summary"].startswith("Good: all contacts within tolerance. ")
    assert seen["frames"] == 121
    assert abs(seen["fallen"]) < 1e-4
    assert seen["seconds"]["baked"] < 180.0
