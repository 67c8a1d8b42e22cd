"""The command line: ``cairn bake``, ``cairn info`` and ``cairn demo``, inside Blender and with the bpy module.

Inside Blender it is ``blender -b shot.blend --command cairn bake ...``; outside ``cairn bake shot.blend ...``.
Exit codes: 0 done; 1 the simulation failed (what was computed is saved beside OUT); 2 wrong usage, or a scene that
cannot be simulated, with one line on stderr; 130 interrupted. Progress goes to stderr, results to stdout.
"""

import argparse
import json
import math
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import bpy

from .. import __version__
from .checkpoints import folder as checkpoint_files
from .cli_checkpoints import add_checkpoint_arguments, checkpoint_folder, checkpoint_plan, resume_hint, say_checkpoint
from .cli_info import info_dictionary, info_lines, named
from .cli_output import Progress, blender_lines_on_stderr, save_blend, write_json
from .cli_scene import (
    DONE,
    FAILED,
    INTERRUPTED,
    UNUSABLE,
    CommandError,
    add_scene,
    complain,
    count,
    ensure_registered,
    guarded,
    is_same_file,
    open_scene,
    refuse_unwritable,
    scene_path,
    unavailable,
)
from .contacts import contacts_file, write_contacts
from .joint_report import JointBreak, break_lines
from .read.faults import SceneError
from .read.notes import grouped_notes, note_of
from .read.scene_export import export_scene
from .read.scene_notes import starting_overlaps
from .settings import CONJUGACIES, FRICTION_MODELS, METHODS, QUALITIES, STRATEGIES, BakeSettings

_COMMANDS: list = []


def register():
    """Make ``blender --command cairn`` known."""
    _COMMANDS.append(bpy.utils.register_cli_command("cairn", _command_in_blender))


def unregister():
    """Take the command away again."""
    while _COMMANDS:
        bpy.utils.unregister_cli_command(_COMMANDS.pop())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Default: the process's arguments.

    Returns
    -------
    int
        The exit code.
    """
    try:
        with _Interruption() as interruption:
            arguments = _parser().parse_args(argv, argparse.Namespace(interruption=interruption))
            return arguments.run(arguments)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else DONE
    except KeyboardInterrupt:
        print("cairn: interrupted; nothing was saved", file=sys.stderr)
        return INTERRUPTED
    except CommandError as error:
        return complain(error, error.code)
    except (SceneError, unavailable()) as error:
        return complain(error, UNUSABLE)


def _command_in_blender(argv) -> int:
    return main(list(argv))


class _Interruption:
    """Ctrl-C as KeyboardInterrupt, and remembered.

    Blender in the background has a handler of its own that raises nothing, and what is raised while Blender calls a
    handler of an add-on is printed and forgotten; so ``check`` raises it again at the next occasion.
    """

    def __init__(self):
        self.happened = False

    def __enter__(self):
        try:
            self._earlier = signal.signal(signal.SIGINT, self._on_signal)
        except ValueError:  # not the main thread: whoever started it decides
            self._earlier = None
        return self

    def __exit__(self, *exception):
        # None also stands for a handler that Blender installed from C, which Python cannot put back.
        if self._earlier is not None:
            signal.signal(signal.SIGINT, self._earlier)

    def _on_signal(self, *_):
        self.happened = True
        raise KeyboardInterrupt

    def check(self):
        if self.happened:
            raise KeyboardInterrupt


# Arguments


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        raise CommandError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="cairn", description="Contact-rich rigid-body animation for Blender.")
    parser.add_argument("--version", action="version", version=f"cairn {__version__}, Blender {bpy.app.version_string}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_bake(commands)
    _add_info(commands)
    _add_demo(commands)
    from .cli_wedge import add_wedge  # with what a bake needs, which Blender does not load when it starts

    add_wedge(commands)
    return parser


def _add_bake(commands):
    bake = commands.add_parser("bake", help="simulate a scene's rigid bodies and save the motion as keyframes")
    add_scene(bake)
    bake.add_argument(
        "-o", "--output", metavar="OUT.blend", type=Path, help="default: SCENE.cairn.blend beside the scene"
    )
    bake.add_argument(
        "--start", type=int, metavar="N", help="first frame, the start pose; default: the world's cache's"
    )
    bake.add_argument("--end", type=int, metavar="N", help="last frame; default: the world's cache's")
    bake.add_argument(
        "--solver",
        dest="method",
        choices=[name for name, *_ in METHODS],
        help="default for this and the following: the scene's",
    )
    bake.add_argument("--quality", choices=[name for name, *_ in QUALITIES], help="of the solver auto, for what moves")
    bake.add_argument("--friction", choices=[name for name, *_ in FRICTION_MODELS], help="friction model")
    bake.add_argument("--substeps", type=count, metavar="N", help="simulation steps per frame, at least")
    bake.add_argument("--max-substeps", type=count, metavar="N", help="at most, where something small or fast moves")
    bake.add_argument("--tolerance", type=_positive, metavar="X", help="the solver's, relative, for example 1e-6")
    bake.add_argument("--max-iterations", type=count, metavar="N", help="of the solver, per step")
    bake.add_argument(
        "--threads", type=_whole, metavar="N", help="at most; 0: one per core. Does not change the motion"
    )
    _add_variants(bake.add_argument_group("variants of solvers", "a solver refuses those that it does not have"))
    add_checkpoint_arguments(bake)
    bake.add_argument(
        "--contacts", dest="contacts_file", type=Path, metavar="FILE.npz", help="write what pushes what in every frame"
    )
    bake.add_argument(
        "--hit-keys",
        action=argparse.BooleanOptionalAction,
        help="keys between frames where a body is hit, for motion blur; default: the scene's",
    )
    bake.add_argument("--report", type=Path, metavar="FILE.json", help="write a report of every frame")
    bake.add_argument("--quiet", action="store_true", help="no progress, warnings and summary")
    bake.set_defaults(run=run_bake)


def _add_variants(group):
    group.add_argument("--corners", dest="directions", type=_corners, metavar="N", help="of the friction polygon: even")
    group.add_argument(
        "--relaxation", type=_relaxation, metavar="X", help="psor, amsor: factor on a step, between 0 and 2"
    )
    group.add_argument("--alpha", type=_positive, metavar="X", help="amgs, amsor: share of the accelerated splitting")
    group.add_argument("--conjugacy", choices=[name for name, *_ in CONJUGACIES], help="nncg: rule of the directions")
    group.add_argument(
        "--line-search", action=argparse.BooleanOptionalAction, help="nncg: shorten steps until the error falls"
    )
    group.add_argument(
        "--strategy", choices=[name for name, *_ in STRATEGIES], help="fischer_newton: derivative where there is none"
    )
    group.add_argument(
        "--warm-start-sweeps", type=_whole, metavar="N", help="fischer_newton: sweeps before the first step"
    )
    group.add_argument("--seed", type=_whole, metavar="N", help="fischer_newton: of the strategy random")


def _add_info(commands):
    info = commands.add_parser("info", help="what would be simulated, and what Cairn ignores")
    add_scene(info)
    info.add_argument("--json", action="store_true", help="for programs")
    info.set_defaults(run=run_info)


def _add_demo(commands):
    demo = commands.add_parser("demo", help="make a ready-made scene, bake it, save .blend, report and pictures")
    demo.add_argument("name", nargs="?", default="wall", metavar="NAME", help="default: wall")
    demo.add_argument("-o", "--output", metavar="FOLDER", type=Path, default=Path("demo"), help="default: demo")
    demo.add_argument("--quiet", action="store_true", help="no progress and warnings")
    demo.set_defaults(run=run_demo)


def _whole(text) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is not 0 or more")
    return number


def _corners(text) -> int:
    number = int(text)
    if number < 4 or number % 2:
        raise argparse.ArgumentTypeError(f"{text} is not an even number from 4 on")
    return number


def _relaxation(text) -> float:
    number = float(text)
    if not 0.0 < number < 2.0:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2")
    return number


def _positive(text) -> float:
    number = float(text)
    if not (math.isfinite(number) and number > 0.0):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number


# Commands


def run_bake(arguments) -> int:
    """``cairn bake``: everything that can be refused is refused before the scene is simulated."""
    if arguments.start is not None and arguments.end is not None and arguments.start >= arguments.end:
        raise CommandError(f"the start frame, {arguments.start}, must lie before the end frame, {arguments.end}")
    source = scene_path(arguments.scene)
    output = arguments.output or source.with_name(f"{source.stem}.cairn.blend")
    refuse_unwritable(output)
    refuse_unwritable(_partial(output))
    taken = [source, output, _partial(output)]
    for what, path in (("the report", arguments.report), ("the file of contacts", arguments.contacts_file)):
        if path is not None:
            refuse_unwritable(path)
            for other in taken:
                if is_same_file(other, path):
                    raise CommandError(f"{what} would take the place of {other}; give it another name")
            taken.append(path)
    arguments.contacts = True if arguments.contacts_file is not None else None
    open_scene(arguments.scene)
    arguments.interruption.check()
    from .bake import bake_scene

    scene, plan = bpy.context.scene, checkpoint_plan(arguments, output)
    if not (arguments.resume or arguments.quiet):
        say_checkpoint(checkpoint_folder(output))
    with Progress(quiet=arguments.quiet, check=arguments.interruption.check) as progress:
        result = guarded(bake_scene, scene, _bake_settings(scene, arguments), progress, plan)
    if result.paused:
        if not arguments.quiet:
            print(f"cairn: stopped after frame {result.frame_end}; --resume goes on from there", flush=True)
        return DONE
    return finish_bake(result, source, output, arguments.report, arguments.contacts_file, quiet=arguments.quiet)


def run_info(arguments) -> int:
    """``cairn info``."""
    with blender_lines_on_stderr(arguments.json):
        source = scene_path(arguments.scene)
        open_scene(arguments.scene)
        from .write.earlier_animation import earlier_animation

        scene = bpy.context.scene
        with earlier_animation(scene):
            export = export_scene(scene)
        export.notes.extend(starting_overlaps(export.model, export.surfaces))
    if arguments.json:
        print(json.dumps(info_dictionary(export, source), indent=1))
    else:
        print("\n".join(info_lines(export, source)))
    return DONE


def run_demo(arguments) -> int:
    """``cairn demo``."""
    from .demo import DemoError, demo_names, make_demo

    if arguments.name not in demo_names():
        raise CommandError(f"there is no demo {arguments.name!r}; there are: {', '.join(demo_names())}")
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot make the folder {arguments.output}: {error.strerror or error}") from error
    for ending in (".blend", ".json", ".png"):
        refuse_unwritable(arguments.output / f"{arguments.name}{ending}")
    ensure_registered()
    with Progress(quiet=arguments.quiet, check=arguments.interruption.check) as progress:
        try:
            result, files = guarded(make_demo, arguments.name, arguments.output, progress)
        except DemoError as error:
            raise CommandError(str(error), FAILED) from error
    for path in files:
        print(f"cairn: saved {path}")
    if result.stopped:
        raise KeyboardInterrupt
    _warn(result, arguments.quiet)
    print(f"cairn: {result.summary}", flush=True)
    return FAILED if result.error else DONE


def finish_bake(result, source, output, report_path, contacts_path=None, *, quiet=False) -> int:
    """Save what a bake gave and say so; only a bake that ran to its end touches OUT."""
    if result.stopped:
        raise KeyboardInterrupt
    _warn(result, quiet)
    if result.error:
        output = _partial(output)
    try:
        save_blend(output)
        if report_path is not None:
            write_json(report_path, result.report | {"scene": str(source)})
        if contacts_path is not None:
            write_contacts(contacts_path, contacts_file(result.export, result.trajectory))
    except OSError as error:
        hint = resume_hint(checkpoint_folder(output))
        text = f"could not save {error.filename or output}: {error.strerror or error}{hint}"
        raise CommandError(text, FAILED) from error
    if result.error:
        raise CommandError(f"{result.error}; the frames so far are in {output}", FAILED)
    checkpoint_files.clear(checkpoint_folder(output))
    if not quiet:
        print(f"cairn: {result.summary}\ncairn: saved {output}", flush=True)
    return DONE


def _partial(output):
    """Where the frames of a bake that failed are saved."""
    return output.with_name(f"{output.stem}.partial.blend")


def _warn(result, quiet):
    """Say what broke and what a bake warns of, a line each; the report has all of it, and what else to know."""
    if quiet:
        return
    for line in break_lines([JointBreak(**entry) for entry in result.report["breaks"]]):
        print(f"cairn: {line}", file=sys.stderr, flush=True)
    for level, text, names in grouped_notes(note_of(entry) for entry in result.report["notes"]):
        if level == "warning":
            print(f"cairn: warning: {named(text, names)}", file=sys.stderr, flush=True)


def _bake_settings(scene, arguments) -> BakeSettings:
    """What the scene's panel holds, with the options that were given in its place."""
    given = {field.name: getattr(arguments, field.name) for field in fields(BakeSettings)}
    return BakeSettings.from_scene(scene, {name: value for name, value in given.items() if value is not None})
