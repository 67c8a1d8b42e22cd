"""The command line: exit codes, one clear line for everything that is wrong, and files that are whole or untouched."""

import hashlib
import json
import math
import os
import signal
import subprocess
import sys

import bpy
import pytest
from joint_scenes import joint

from cairn.addon import bake, cli
from cairn.addon.settings import BakeSettings
from cairn.solver_core.options import SimulationOptions

FRAMES = 6


@pytest.fixture
def shot(maker, tmp_path):
    """A saved scene: a ball above a floor, six frames."""
    maker.body("Ball", shape="SPHERE", location=(0, 0, 3))
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.scene.frame_end = maker.world.point_cache.frame_end = 1 + FRAMES
    return maker.save(tmp_path / "shot.blend")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run(capsys, *arguments):
    """Exit code, stdout, and Cairn's lines on stderr."""
    capsys.readouterr()
    code = cli.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, [line for line in err.splitlines() if line.startswith("cairn: ")]


def keyed_heights(path, name="Ball"):
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    scene, heights = bpy.context.scene, []
    for frame in range(1, 2 + FRAMES):
        scene.frame_set(frame)
        heights.append(bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world[2][3])
    return heights


# Done


def test_bake_saves_a_falling_ball(shot, capsys):
    """The saved file plays free fall: g t^2 / 2, less what Blender's damping of 0.04 a second takes to first order."""
    before = digest(shot)
    code, out, lines = run(capsys, "bake", shot)
    assert code == 0, lines
    assert names(shot.parent) == ["shot.blend", "shot.cairn.blend"]
    assert digest(shot) == before
    assert "shot.cairn.blend" in out
    heights = keyed_heights(shot.with_name("shot.cairn.blend"))
    time = FRAMES / 24
    assert heights[0] == pytest.approx(3.0, abs=1e-6)
    assert 3.0 - heights[-1] == pytest.approx(0.5 * 9.81 * time**2 * (1 + math.log(1 - 0.04) * time / 3), rel=0.002)


def test_bake_twice_gives_the_same_motion(shot, capsys):
    """The digest of the trajectory repeats; one of other settings differs."""
    digests = []
    for number, extra in enumerate(([], [], ["--substeps", 2])):
        report = shot.with_name(f"{number}.json")
        assert run(capsys, "bake", shot, "--report", report, "--quiet", *extra)[0] == 0
        digests.append(json.loads(report.read_text())["totals"]["digest"])
    assert digests[0] == digests[1] != digests[2]


def test_report_has_every_frame(shot, capsys):
    """The report's fields, as documented."""
    path = shot.with_name("report.json")
    assert run(capsys, "bake", shot, "--report", path, "--start", 2, "--end", 5, "--substeps", 3)[0] == 0
    report = json.loads(path.read_text())
    assert {"cairn", "blender", "scene", "options", "frames", "totals"} <= set(report)
    assert report["scene"] == str(shot)
    assert [frame["frame"] for frame in report["frames"]] == [3, 4, 5]
    assert report["options"]["substeps"] == 3
    fields = {
        "contacts",
        "islands",
        "substeps",
        "detection_passes",
        "iterations",
        "residual",
        "max_penetration",
        "kinetic_energy",
        "potential_energy",
        "fallbacks",
        "seconds",
    }
    assert all(fields <= set(frame) for frame in report["frames"])


def test_output_may_be_the_scene_itself(shot, capsys):
    """Only if it is named."""
    before = digest(shot)
    assert run(capsys, "bake", shot, "-o", shot, "--quiet")[0] == 0
    assert digest(shot) != before
    assert names(shot.parent) == ["shot.blend"]


def test_quiet_and_progress(shot, capsys):
    """Progress goes to stderr and says the last frame; quiet says nothing at all."""
    _, _, lines = run(capsys, "bake", shot)
    assert any(f"Frame {1 + FRAMES} of {1 + FRAMES}" in line for line in lines)
    assert run(capsys, "bake", shot, "--quiet") == (0, "", [])


def test_loading_is_one_line(shot, capsys):
    """A stage of which nothing is counted does not repeat itself in a log."""
    _, _, lines = run(capsys, "bake", shot)
    assert lines.count("cairn: Loading the solver") <= 1
    assert not [line for line in lines if "warning:" in line]


def test_bake_says_warnings_once(shot, maker, capsys):
    """A line for each on stderr, objects with the same one together; not with --quiet, but always in the report."""
    for name in ("Hinge", "Pin"):
        joint(maker, name, maker.scene.objects["Ball"], None, kind="HINGE")
    maker.scene.render.frame_map_new = 50
    maker.save(shot)
    report = shot.with_name("report.json")
    _, out, lines = run(capsys, "bake", shot, "--report", report)
    assert "warning:" not in out
    assert sorted(line for line in lines if line.startswith("cairn: warning")) == [
        "cairn: warning: Hinge, Pin: ties its body to the world, as one of its objects is empty; Blender ignores such "
        "a constraint: set both objects, or switch it off",
        "cairn: warning: Time Remapping is not supported: set Old and New to the same value",
    ]
    assert sum(note["level"] == "warning" for note in json.loads(report.read_text())["notes"]) == 3
    assert run(capsys, "bake", shot, "--quiet") == (0, "", [])


def test_info_says_which_kinds_change(maker, tmp_path, capsys):
    """A body that comes loose is not just what it is at the start."""
    ball = maker.body("Ball", shape="SPHERE")
    maker.key(ball, "rigid_body.kinematic", {1: True, 11: False})
    _, out, _ = run(capsys, "info", maker.save(tmp_path / "shot.blend"))
    assert "1 body (0 dynamic, 1 kinematic, 0 static at the start)" in out
    assert "Ball: is simulated in frames 11 to 250 only, as Animated or Dynamic is keyed" in out


def test_info_lists_bodies_and_notes(maker, tmp_path, capsys):
    """What is simulated and what is ignored, without simulating."""
    maker.body("Rock", shape="COMPOUND", settings={"mass": 12.5}, location=(0, 0, 0.75))
    maker.body("Floor", type="PASSIVE", shape="BOX")
    path = maker.save(tmp_path / "shot.blend")
    code, out, _ = run(capsys, "info", path)
    assert code == 0
    assert "2 bodies (1 dynamic, 0 kinematic, 1 static)" in out
    assert "frames 1 to 250" in out
    assert "Rock: is a Compound Parent without children" in out
    assert "Rock: starts 0.25 deep in Floor, 25 %" in out
    assert names(tmp_path) == ["shot.blend"]


def test_info_of_a_baked_file_is_that_of_the_scene(shot, capsys):
    """A bake does not turn its bodies into animated ones."""
    first = json.loads(run(capsys, "info", shot, "--json")[1])
    assert run(capsys, "bake", shot, "--quiet")[0] == 0
    second = json.loads(run(capsys, "info", shot.with_name("shot.cairn.blend"), "--json")[1])
    assert [body["kind"] for body in second["bodies"]] == ["dynamic", "static"]
    assert second["bodies"] == first["bodies"]


def test_version_and_help(capsys):
    """Both end with 0."""
    assert run(capsys, "--version")[0] == 0
    code, out, _ = run(capsys, "bake", "--help")
    assert code == 0
    assert "--report" in out
    assert "--contacts FILE.npz" in out


# Wrong usage and scenes that cannot be simulated: 2, one line, nothing touched


def corrupt_text(shot):
    shot.write_text("this is not a scene")
    return [shot], "shot.blend"


def corrupt_empty(shot):
    shot.write_bytes(b"")
    return [shot], "shot.blend"


def corrupt_truncated(shot):
    shot.write_bytes(shot.read_bytes()[: shot.stat().st_size // 2])
    return [shot], "shot.blend"


def corrupt_middle(shot):
    content = bytearray(shot.read_bytes())
    content[20:2000] = b"\0" * 1980
    shot.write_bytes(content)
    return [shot], "shot.blend"


def missing_scene(shot):
    return [shot.with_name("no.blend")], "no.blend"


def folder_as_scene(shot):
    return [shot.parent], "not a file"


def no_scene(shot):
    return [], "SCENE.blend"


def missing_folder(shot):
    return [shot, "-o", shot.parent / "no" / "out.blend"], "no folder"


def file_as_folder(shot):
    return [shot, "-o", shot / "out.blend"], "no folder"


def folder_as_output(shot):
    return [shot, "-o", shot.parent], "folder"


def unwritable_folder(shot):
    return [shot, "-o", "/proc/out.blend"], "cannot write /proc/out.blend"


def unwritable_report(shot):
    return [shot, "--report", shot.parent / "no" / "report.json"], "report.json"


def start_after_end(shot):
    return [shot, "--start", "9", "--end", "5"], "9"


def start_after_the_scenes_end(shot):
    return [shot, "--start", "900"], "900"


def unknown_solver(shot):
    return [shot, "--solver", "magic"], "nncg"


def friction_the_solver_does_not_know(shot):
    return [shot, "--solver", "amgs", "--friction", "cone"], "Accelerated Gauss-Seidel does not know Cone friction"


def variant_of_another_solver(shot):
    return [shot, "--solver", "pgs", "--line-search"], "Line Search is only for the solver Conjugate Gradient"


def odd_corners(shot):
    return [shot, "--friction", "polyhedral", "--corners", "5"], "5 is not an even number from 4 on"


def too_much_relaxation(shot):
    return [shot, "--solver", "psor", "--relaxation", "2"], "2 is not between 0 and 2"


def unknown_option(shot):
    return [shot, "--impulses", "file.npz"], "--impulses"


def no_number(shot):
    return [shot, "--start", "soon"], "soon"


def no_substeps(shot):
    return [shot, "--substeps", "0"], "substeps"


def no_tolerance(shot):
    return [shot, "--tolerance", "nan"], "tolerance"


WRONG = [
    corrupt_text,
    corrupt_empty,
    corrupt_truncated,
    corrupt_middle,
    missing_scene,
    folder_as_scene,
    no_scene,
    missing_folder,
    file_as_folder,
    folder_as_output,
    pytest.param(unwritable_folder, marks=pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")),
    unwritable_report,
    start_after_end,
    start_after_the_scenes_end,
    unknown_solver,
    friction_the_solver_does_not_know,
    variant_of_another_solver,
    odd_corners,
    too_much_relaxation,
    unknown_option,
    no_number,
    no_substeps,
    no_tolerance,
]


@pytest.mark.parametrize("mistake", WRONG, ids=lambda mistake: mistake.__name__)
def test_wrong_usage_ends_with_2(shot, capsys, mistake):
    """One line that names the culprit; an earlier result stays, nothing is left behind."""
    earlier = shot.with_name("shot.cairn.blend")
    earlier.write_bytes(b"earlier")
    arguments, word = mistake(shot)
    before = names(shot.parent)
    code, out, lines = run(capsys, "bake", *arguments)
    assert (code, out) == (2, "")
    assert len([line for line in lines if line != "cairn: Reading the scene"]) == 1
    assert word in lines[-1]
    assert earlier.read_bytes() == b"earlier"
    assert names(shot.parent) == before


def nothing(maker):
    pass


def nan_mass(maker):
    maker.body("Bad", settings={"mass": float("nan")})


def shear(maker):
    maker.body("Bad", rotation_euler=(0, 0, 0.7), parent=maker.object("Parent", scale=(1, 3, 1)))


def zero_scale(maker):
    maker.body("Bad", scale=(1, 1, 0))


def nan_location(maker):
    maker.body("Bad", location=(float("nan"), 0, 0))


@pytest.mark.parametrize("command", ["bake", "info"])
@pytest.mark.parametrize("damage", [nothing, nan_mass, shear, zero_scale, nan_location])
def test_scene_that_cannot_be_simulated_ends_with_2(maker, tmp_path, capsys, command, damage):
    """The object is named, in the saved file as in the open one."""
    damage(maker)
    path = maker.save(tmp_path / "shot.blend")
    code, out, lines = run(capsys, command, path, *(["--quiet"] if command == "bake" else []))
    assert (code, out, len(lines)) == (2, "", 1)
    assert ("Bad: " in lines[0]) == (damage is not nothing)
    assert names(tmp_path) == ["shot.blend"]


def test_numba_not_importable_ends_with_2(shot, capsys, monkeypatch):
    """Numba's absence is said in a line, and nothing is written."""
    monkeypatch.setitem(sys.modules, "numba", None)
    code, out, lines = run(capsys, "bake", shot, "--quiet")
    assert (code, out, len(lines)) == (2, "", 1)
    assert "numba" in lines[0]
    assert names(shot.parent) == ["shot.blend"]


def test_unknown_demo_ends_with_2(tmp_path, capsys):
    """The names that there are are listed."""
    code, _, lines = run(capsys, "demo", "nothing", "-o", tmp_path / "demo")
    assert (code, len(lines)) == (2, 1)
    assert "wall" in lines[0]


# Failures and interruptions


@pytest.fixture
def at_frame_4(monkeypatch):
    """Calls a function just before the third frame is simulated."""
    from cairn.solver_core.simulation import Simulation

    steps = Simulation.frame_steps

    def install(function):
        def frame_steps(self, *arguments, **options):
            if self.frame == 2:
                function()
            return steps(self, *arguments, **options)

        monkeypatch.setattr(Simulation, "frame_steps", frame_steps)

    return install


def test_failed_simulation_ends_with_1(shot, capsys, at_frame_4):
    """What was computed is saved beside OUT, which stays as it was."""
    from cairn.solver_core.simulation import SimulationError

    def fail():
        raise SimulationError("Ball: its velocity is nan")

    at_frame_4(fail)
    out = shot.with_name("out.blend")
    out.write_bytes(b"earlier")
    report = shot.with_name("report.json")
    code, _, lines = run(capsys, "bake", shot, "-o", out, "--report", report, "--quiet")
    assert (code, len(lines)) == (1, 1)
    assert "Ball: its velocity is nan" in lines[0]
    assert "out.partial.blend" in lines[0]
    assert out.read_bytes() == b"earlier"
    assert len(json.loads(report.read_text())["frames"]) == 2
    heights = keyed_heights(shot.with_name("out.partial.blend"))
    assert heights[0] > heights[1] > heights[2] == heights[3]


def test_interrupt_ends_with_130(shot, capsys, at_frame_4):
    """Ctrl-C in the middle of a bake saves nothing."""
    at_frame_4(lambda: os.kill(os.getpid(), signal.SIGINT))
    code, out, lines = run(capsys, "bake", shot, "--quiet")
    assert (code, out) == (130, "")
    assert "interrupted" in lines[-1]
    assert names(shot.parent) == ["shot.blend"]


def test_interrupt_while_blender_reads_the_file(shot, capsys):
    """Blender prints and forgets what is raised in a handler of an add-on; the bake ends all the same."""

    def handler(*_):
        os.kill(os.getpid(), signal.SIGINT)

    bpy.app.handlers.load_post.append(bpy.app.handlers.persistent(handler))
    try:
        code, out, lines = run(capsys, "bake", shot, "--quiet")
    finally:
        bpy.app.handlers.load_post.remove(handler)
    assert (code, out) == (130, "")
    assert "interrupted" in lines[-1]
    assert names(shot.parent) == ["shot.blend"]


def test_failed_save_ends_with_1(shot, capsys, monkeypatch):
    """A disk that fills up during the bake: the earlier result stays."""
    earlier = shot.with_name("shot.cairn.blend")
    earlier.write_bytes(b"earlier")

    def full(source, target):
        raise OSError(28, "No space left on device", target)

    monkeypatch.setattr(os, "replace", full)
    code, _, lines = run(capsys, "bake", shot, "--quiet")
    assert code == 1
    assert "No space left" in lines[-1]
    assert earlier.read_bytes() == b"earlier"
    assert names(shot.parent) == ["shot.blend", "shot.cairn.blend"]


def test_options_reach_the_bake(shot, capsys, monkeypatch):
    """What is not given is the scene's."""
    seen = []

    def look(scene, settings, progress, checkpoints):
        seen.append(settings)
        raise bake.SceneError(None, "seen")

    monkeypatch.setattr(bake, "bake_scene", look)
    options = "--start 3 --end 9 --solver pgs --quality exact --friction box --substeps 7 --tolerance 1e-3"
    limits = ("--max-substeps", "9", "--max-iterations", "50", "--threads", "2")
    assert run(capsys, "bake", shot, *options.split(), *limits)[0] == 2
    assert run(capsys, "bake", shot)[0] == 2
    expected = {"start": 3, "end": 9, "method": "pgs", "quality": "exact", "friction": "box"}
    expected |= {"substeps": 7, "max_substeps": 9, "tolerance": 1e-3, "max_iterations": 50, "threads": 2}
    assert seen[0] == BakeSettings(**expected)
    assert seen[1] == BakeSettings.from_scene(bpy.context.scene)


VARIANTS = (
    (["--solver", "psor", "--relaxation", "0.9"], {"relaxation": 0.9}),
    (["--solver", "amsor", "--friction", "box", "--alpha", "0.4"], {"alpha": 0.4, "relaxation": None}),
    (["--solver", "nncg", "--conjugacy", "polak_ribiere", "--line-search"], {"line_search": True}),
    (["--solver", "auto", "--friction", "polyhedral", "--corners", "12"], {"directions": 12, "conjugacy": None}),
    (
        "--solver fischer_newton --friction polyhedral --strategy random --warm-start-sweeps 0 --seed 7".split(),
        {"strategy": "random", "warm_start_sweeps": 0, "seed": 7, "directions": 8},
    ),
)


@pytest.mark.parametrize(("words", "expected"), VARIANTS, ids=[words[1] for words, _ in VARIANTS])
def test_variants_reach_the_bake(shot, capsys, monkeypatch, words, expected):
    """Of the scene's own settings those that the solver has; the core takes what comes."""
    seen = []

    def look(scene, settings, progress, checkpoints):
        seen.append(settings)
        raise bake.SceneError(None, settings.mismatch() or "seen")

    monkeypatch.setattr(bake, "bake_scene", look)
    assert run(capsys, "bake", shot, *words)[2][-1] == "cairn: seen"
    assert {name: getattr(seen[0], name) for name in expected} == expected
    SimulationOptions(**seen[0].options(24.0))


# Processes


def process(*arguments, code="from cairn.__main__ import main; main()"):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


def test_process_prints_clean_json(shot):
    """``cairn info --json | jq``: stdout holds JSON and nothing else, and the exit code is the process's."""
    ended = process("info", shot, "--json")
    assert ended.returncode == 0
    assert [body["name"] for body in json.loads(ended.stdout)["bodies"]] == ["Ball", "Floor"]


def test_process_exit_code_and_imports(shot):
    """``info`` loads no Numba."""
    code = (
        "import sys; from cairn.addon import cli; status = cli.main(sys.argv[1:]);"
        "print('numba' in sys.modules, status); sys.stdout.flush(); import os; os._exit(0)"
    )
    assert process("info", shot, code=code).stdout.splitlines()[-1] == "False 0"
    assert process("info", shot.with_name("no.blend")).returncode == 2


def test_without_bpy(shot):
    """One line says where to get it."""
    ended = process(
        "info", shot, code="import sys; sys.modules['bpy'] = None; from cairn.__main__ import main; sys.exit(main())"
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "pip install bpy" in ended.stderr
