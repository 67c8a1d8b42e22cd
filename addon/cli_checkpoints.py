"""What ``cairn bake`` is told of checkpoints: ``--checkpoint``, ``--resume`` and ``--until``."""

import argparse
import math
import sys
from pathlib import Path

from .checkpoints import folder as files
from .checkpoints.running import SECONDS, CheckpointPlan


def add_checkpoint_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to those of ``cairn bake``."""
    parser.add_argument(
        "--checkpoint",
        type=interval,
        default=(None, SECONDS),
        metavar="EVERY",
        help="leave a checkpoint beside OUT every N frames, or every so many seconds (30s, the default); 0: none",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on from the checkpoint beside OUT; without one, begin at the start"
    )
    parser.add_argument(
        "--until", type=int, metavar="N", help="stop after this frame with a checkpoint, and save nothing else"
    )


def interval(text: str) -> tuple[int | None, float] | None:
    """Frames, or seconds: "10", "30s"; None for "0"."""
    by_clock = text.endswith("s")
    number = float(text.removesuffix("s")) if by_clock else int(text)
    if number == 0:
        return None
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number of frames or, as in 30s, of seconds")
    return (None, float(number)) if by_clock else (int(number), SECONDS)


def checkpoint_folder(output: Path) -> Path:
    """Where the checkpoints of a bake lie: ``out.checkpoint`` beside ``out.blend``."""
    return output.with_name(f"{output.stem}.checkpoint")


def checkpoint_plan(arguments: argparse.Namespace, output: Path) -> CheckpointPlan | None:
    """What the options ask for; None if there are to be no checkpoints."""
    every = arguments.checkpoint
    if every is None and not arguments.resume and arguments.until is None:
        return None
    frames, seconds = every or (None, math.inf)
    return CheckpointPlan(
        folder=checkpoint_folder(output),
        every_frames=frames,
        every_seconds=seconds,
        resume=arguments.resume,
        until=arguments.until,
    )


def resume_hint(folder: Path) -> str:
    """How to go on, for the end of a message; empty if there is no checkpoint."""
    frame = _stored_frame(folder)
    return "" if frame is None else f"; --resume goes on from frame {frame}"


def say_checkpoint(folder: Path) -> None:
    """Say that a bake that begins at the start will replace the checkpoint of an earlier one."""
    frame = _stored_frame(folder)
    if frame is not None:
        text = f"{folder} holds an earlier bake up to frame {frame}: --resume would go on from there"
        print(f"cairn: {text}", file=sys.stderr, flush=True)


def _stored_frame(folder):
    stored = files.read_text(folder / files.STATE)
    return stored["identity"]["frame_start"] + stored["frame"] if stored else None
