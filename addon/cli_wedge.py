"""``cairn wedge``: many variants of a scene, on this machine, on a cluster, or written down for a farm."""

import argparse
import math
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import bpy

from .cli_output import Progress, check_writable
from .cli_scene import (
    DONE,
    FAILED,
    CommandError,
    add_scene,
    complain,
    count,
    ensure_registered,
    guarded,
    open_scene,
    scene_path,
)
from .read.faults import SceneError
from .wedge import dask_engine, flamenco, openjd
from .wedge.local import TaskEnd, own_command, run_locally
from .wedge.plan import WedgePlan, file_hash, read_plan
from .wedge.table import write_sheet, write_table
from .wedge.task import bake_variant, set_up
from .wedge.variants import WedgeError, make_variants, parse_vary, read_table


def add_wedge(commands) -> None:
    """Add the command to the others."""
    wedge = commands.add_parser("wedge", help="bake many variants of a scene, here or on a farm")
    add_scene(wedge, optional=True)
    what = wedge.add_argument_group("what to vary")
    what.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="PROPERTY=VALUES",
        help='as in "friction=0.3:0.8:6", "object:Ball.mass=1,10,100" or "solver=auto,nncg"; more than once: all '
        "combinations",
    )
    what.add_argument("--zip", action="store_true", help="the first values together, then the second ones ...")
    what.add_argument("--table-of-variants", type=Path, metavar="FILE.csv", help="a line for each variant instead")
    what.add_argument("--seeds", type=count, metavar="N", help="each with N random starts, --jitter apart")
    what.add_argument("--jitter", type=_length, metavar="X", help="how far starts are moved at most, in metres")
    what.add_argument("--start", type=int, metavar="N", help="first frame of each bake; default: the scene's")
    what.add_argument("--end", type=int, metavar="N", help="last frame; likewise")
    where = wedge.add_argument_group("where")
    where.add_argument("-o", "--output", metavar="FOLDER", type=Path, required=True, help="what comes of it")
    where.add_argument("--replace", action="store_true", help="FOLDER may hold another wedge")
    where.add_argument("--trajectories", action="store_true", help="write poses (.npz), no .blend")
    where.add_argument("--no-pictures", action="store_true", help="no pictures and no contact sheet")
    how = wedge.add_argument_group("how")
    how.add_argument(
        "--jobs",
        type=count,
        metavar="N",
        help="bakes at a time; default: as many as there are cores; with --emit one, of all cores",
    )
    how.add_argument("--engine", default="local", metavar="ENGINE", help="local; dask, or dask:ADDRESS of a scheduler")
    how.add_argument("--emit", choices=("openjd", "flamenco"), help="write a job for a farm, and bake nothing")
    how.add_argument(
        "--cairn",
        metavar="COMMAND",
        help="how other machines call Cairn; default: as here with dask, cairn with openjd",
    )
    how.add_argument("--chunk", type=count, metavar="N", help="with --emit: divide bakes into tasks of N frames")
    how.add_argument("--quiet", action="store_true", help="no progress and no summary")
    farm = wedge.add_argument_group("what a farm calls")
    farm.add_argument("--task", type=count, metavar="N", help="bake variant N of the wedge in FOLDER")
    farm.add_argument("--until", type=int, metavar="N", help="with --task: stop after this frame with a checkpoint")
    farm.add_argument("--table", action="store_true", help="make table and contact sheet of what is in FOLDER")
    wedge.set_defaults(run=run_wedge)


def _length(text) -> float:
    number = float(text)
    if not (math.isfinite(number) and number > 0.0):
        raise argparse.ArgumentTypeError(f"{text} is not a length above 0")
    return number


def run_wedge(arguments) -> int:
    """``cairn wedge``."""
    _refuse_what_would_be_ignored(arguments)
    try:
        if arguments.task is not None:
            return _run_task(arguments)
        if arguments.table:
            return _finish(_stored_plan(arguments.output), arguments)
        return _run_all(arguments)
    except WedgeError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        # a file that is still to take its place has a name that says nothing
        named = error.filename and not Path(error.filename).name.startswith(".")
        place = error.filename if named else arguments.output
        raise CommandError(f"{place}: {error.strerror or error}", FAILED) from error


def _refuse_what_would_be_ignored(arguments):
    """An option that does nothing beside another one is a mistake, which is said before hours are spent."""
    what_to_vary = ("vary", "zip", "table_of_variants", "seeds", "jitter", "start", "end")
    where_and_how = ("replace", "trajectories", "no_pictures", "jobs", "emit", "cairn", "chunk")
    for name, others in (
        ("task", (*what_to_vary, *where_and_how, "table")),
        ("table", (*what_to_vary, *where_and_how, "until")),
        ("table_of_variants", ("vary", "zip", "seeds")),
        ("emit", ("until",)),
    ):
        idle = next((other for other in others if getattr(arguments, other)), None)
        if getattr(arguments, name) and idle:
            raise CommandError(f"{_option(name)} makes no use of {_option(idle)}; leave one of them away")
    for name, needed in (("until", "task"), ("chunk", "emit"), ("zip", "vary")):
        if getattr(arguments, name) and not getattr(arguments, needed):
            raise CommandError(f"{_option(name)} is of use with {_option(needed)} only")
    engine, _, address = arguments.engine.partition(":")
    if arguments.emit and engine != "local":
        raise CommandError("--emit bakes nothing, so it makes no use of --engine; leave one of them away")
    if engine not in {"local", "dask"} or (engine == "local" and address):
        raise CommandError(f"there is no engine {arguments.engine!r}; there are local, dask and dask:ADDRESS")
    if arguments.start is not None and arguments.end is not None and arguments.start >= arguments.end:
        raise CommandError(f"the start frame, {arguments.start}, must lie before the end frame, {arguments.end}")


def _option(name) -> str:
    return f"--{name.replace('_', '-')}"


# All of it


def _run_all(arguments) -> int:
    source, folder = scene_path(arguments.scene), arguments.output
    plan = _plan(arguments, source)
    open_scene(arguments.scene)
    for variant in plan.variants:  # what cannot be set is refused before anything is written
        _check(plan, variant)
    folder.mkdir(parents=True, exist_ok=True)
    _keep_apart(plan, folder, arguments.replace)
    plan.write(folder)
    if arguments.emit:
        return _emit(plan, arguments)
    waiting = [variant for variant in plan.variants if plan.result(folder, variant) is None]
    failed = []
    with Progress(quiet=arguments.quiet, check=arguments.interruption.check) as progress:
        total = len(plan.variants)
        progress.show("wedge", total - len(waiting), total, f"{len(waiting)} of {total} variants to bake")
        for end in _engine(arguments, waiting):
            waiting.remove(end.variant)
            if end.code != 0:
                failed.append(end)
            done = total - len(waiting)
            progress.show(f"variant {end.variant.number}", done, total, f"{done} of {total}: {end.variant.text}")
    code = _finish(plan, arguments)
    for end in failed:
        complain(f"variant {end.variant.number} ({end.variant.text}) has failed: {end.said or end.code}", FAILED)
    return FAILED if failed else code


def _plan(arguments, source) -> WedgePlan:
    if arguments.table_of_variants:
        variants = read_table(arguments.table_of_variants)
    else:
        if not arguments.vary and not arguments.seeds:
            raise WedgeError("nothing varies; give --vary PROPERTY=VALUES, --seeds N or --table-of-variants FILE.csv")
        varied = [parse_vary(text) for text in arguments.vary]
        variants = make_variants(varied, side_by_side=arguments.zip, seeds=arguments.seeds)
    seeded = any(variant.seed is not None for variant in variants)
    if seeded != (arguments.jitter is not None):
        raise WedgeError("--seeds and --jitter go together: how many random starts, and how far apart")
    # a machine of a farm has one task at a time, which may use all its cores, unless --jobs says how many there are
    all_cores = arguments.emit and not arguments.jobs
    return WedgePlan(
        scene=str(source.resolve()),
        scene_hash=file_hash(source),
        variants=variants,
        jitter=arguments.jitter or 0.0,
        start=arguments.start,
        end=arguments.end,
        threads=0 if all_cores else max(1, (os.cpu_count() or 1) // _jobs(arguments)),
        trajectories=arguments.trajectories,
        pictures=not arguments.no_pictures,
    )


def _jobs(arguments) -> int:
    return arguments.jobs or os.cpu_count() or 1


def _check(plan, variant):
    """Set a variant up in the scene that is open, one after the other: what each sets is set by all."""
    try:
        set_up(bpy.context.scene, plan, variant)
    except SceneError as error:
        raise WedgeError(f"variant {variant.number}: {error}") from error


def _keep_apart(plan, folder, replaces):
    stored = read_plan(folder) if not replaces else None
    if stored is not None and {plan.key(v) for v in plan.variants} != {stored.key(v) for v in stored.variants}:
        raise WedgeError(f"{folder} holds another wedge (or its scene has changed); give --replace, or another folder")


def _engine(arguments, waiting) -> Iterator[TaskEnd]:
    name, _, address = arguments.engine.partition(":")
    folder, check = arguments.output, arguments.interruption.check
    if name == "local":
        return run_locally(folder, list(waiting), _jobs(arguments), check)
    return dask_engine.run_on_dask(
        folder, list(waiting), _jobs(arguments), address, _command(arguments, own_command()), check
    )


def _command(arguments, default) -> list[str]:
    """How the machines of a farm call Cairn."""
    return shlex.split(arguments.cairn, posix=os.name == "posix") if arguments.cairn else default


def _emit(plan, arguments) -> int:
    folder, until = arguments.output.resolve(), _divisions(plan, arguments.chunk)
    if arguments.emit == "openjd":
        written = openjd.write_bundle(plan, folder, _command(arguments, ["cairn"]), until)
    else:
        written = flamenco.write_job(plan, folder, until)
    for path in written:
        print(f"cairn: wrote {path}")
    return DONE


def _divisions(plan, chunk) -> list[int | None]:
    """Last frames of the tasks that a bake is divided into; None for the last one."""
    scene = bpy.context.scene
    cache = scene.rigidbody_world.point_cache
    panel = scene.cairn
    own = (panel.frame_start, panel.frame_end) if panel.use_custom_range else (cache.frame_start, cache.frame_end)
    start = own[0] if plan.start is None else plan.start
    end = own[1] if plan.end is None else plan.end
    return [*range(start + chunk, end, chunk), None] if chunk else [None]


def _finish(plan, arguments) -> int:
    """Write table and contact sheet, and say how many variants are done."""
    ensure_registered()
    folder = arguments.output
    written = [write_table(plan, folder)]
    sheet = write_sheet(plan, folder) if plan.pictures else None
    written += [sheet] if sheet else []
    done = sum(plan.result(folder, variant) is not None for variant in plan.variants)
    if not arguments.quiet:
        print(f"cairn: {done} of {len(plan.variants)} variants are baked")
        for path in written:
            print(f"cairn: saved {path}", flush=True)
    return DONE if done == len(plan.variants) else FAILED


# One task


def _stored_plan(folder) -> WedgePlan:
    plan = read_plan(folder)
    if plan is None:
        raise WedgeError(f"there is no wedge in {folder}; make one with cairn wedge SCENE.blend --vary ... -o {folder}")
    return plan


def _run_task(arguments) -> int:
    folder = arguments.output
    plan = _stored_plan(folder)
    variant = plan.variant(arguments.task)
    if plan.result(folder, variant) is not None:
        return _say(arguments, f"variant {variant.number} is finished")
    source = _scene_of_task(arguments, plan)
    if file_hash(source) != plan.scene_hash:
        raise WedgeError(f"{source} has changed since the wedge was made; call cairn wedge with --replace")
    for path in (plan.output(folder, variant), folder / f"{variant.name}.json"):
        check_writable(path)
    if bpy.data.filepath != str(source.resolve()):
        open_scene(source)
    ensure_registered()
    parent, interruption = os.getppid(), arguments.interruption

    def check():
        interruption.check()
        if os.name == "posix" and os.getppid() != parent:  # nobody waits for it any more
            raise KeyboardInterrupt

    with Progress(quiet=arguments.quiet, check=check) as progress:
        result = guarded(bake_variant, plan, variant, folder, progress, arguments.until)
    if result.stopped:
        raise KeyboardInterrupt
    if result.error:
        raise CommandError(f"variant {variant.number} ({variant.text}): {result.error}", FAILED)
    if result.paused:
        return _say(arguments, f"variant {variant.number} stopped after frame {result.frame_end}")
    return _say(arguments, f"variant {variant.number} ({variant.text}): {result.summary}")


def _scene_of_task(arguments, plan: WedgePlan) -> Path:
    if arguments.scene is not None or (not bpy.app.module and bpy.data.filepath):
        return scene_path(arguments.scene)
    return scene_path(Path(plan.scene))


def _say(arguments, text) -> int:
    if not arguments.quiet:
        print(f"cairn: {text}", flush=True)
    return DONE
