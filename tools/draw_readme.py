"""Draw the pictures of the README: the loop of Bullet beside Cairn, and the gallery with its numbers.

    pip install -e ".[bench]"
    python tools/draw_readme.py loop       docs/images/loop.webp
    python tools/draw_readme.py gallery    docs/images/gallery/*.webp, and the table between the README's marks
    python tools/draw_readme.py joints     docs/images/gallery/*.webp of the jointed scenes that docs/baking.md shows

The loop plays one file twice: as Blender's own simulation plays it when its frames are stepped through, with Blender's
defaults, and after a bake with Cairn's defaults. Nothing is set for either but what the ready-made scene is made of.
The numbers of the gallery are those of the bakes' reports; times are of one thread, as processor time, so that other
work on the machine counts little. Both commands take some minutes, most of them for rendering.
"""

import argparse
import itertools
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
from PIL import Image, ImageDraw, ImageFont

from cairn.addon import cli_scene, demo
from cairn.addon.bake import bake_scene
from cairn.addon.bake_report import percent_text
from cairn.addon.cli_output import blender_lines_dropped
from cairn.addon.settings import BakeSettings
from cairn.solver_core.scenes import SCENES

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
LOOP = ROOT / "docs" / "images" / "loop.webp"
GALLERY = ROOT / "docs" / "images" / "gallery"
MARKS = "<!-- gallery: written by tools/draw_readme.py -->\n", "<!-- end of gallery -->\n"

# The loop: size of each half, of the band of words above it, and of the gap between the halves [pixels].
HALF, BAND, GAP = (420, 340), 58, 4
# Every so many frames of the scene one is shown: at 24 frames a second, 12 pictures a second.
STRIDE = 2
# The last picture of a clip stays so long [ms].
HOLD = 1500
LOOP_QUALITY, GALLERY_QUALITY = 88, 90
LARGEST_LOOP = 3_000_000  # [bytes]
SAMPLES = "8"
INK, QUIET, PAPER = (30, 34, 40), (95, 102, 112), (250, 250, 248)


@dataclass(frozen=True)
class Clip:
    """One scene of the loop: its words, how long it runs, and the lens that shows it well [mm]."""

    name: str
    words: str
    frames: int
    lens: float


CLIPS = (
    Clip("cards", "A house of cards, left alone for five seconds", 120, 62.0),
    Clip("wrecking_ball", "A ball of 1,200 kg on a chain of 4 kg links", 110, 52.0),
)


@dataclass(frozen=True)
class Exhibit:
    """One scene of the gallery: what it shows, the frame that shows it, and the lens [mm]."""

    name: str
    words: str
    frame: int
    lens: float = 45.0


EXHIBITS = (
    Exhibit("wall", "A wall of 114 bricks, hit by a heavy ball", 34),
    Exhibit("cards", "A house of cards stands", 121, 55.0),
    Exhibit("arch", "An arch of loose stones stands", 121, 50.0),
    Exhibit("dominoes", "Dominoes fall one after the other", 200, 62.0),
    Exhibit("gears", "Gears turn each other by their teeth", 60, 48.0),
    Exhibit("chain", "A chain of concave rings swings", 22),
    Exhibit("bridge", "A heavy box lands on a hanging bridge", 60, 42.0),
    Exhibit("ragdoll", "A figure tumbles down the stairs", 50, 58.0),
)
# Likewise of docs/baking.md.
JOINTED = (
    Exhibit("wrecking_ball", "A wrecking ball goes through a wall", 46, 52.0),
    Exhibit("car", "A car over bumps and into boxes", 101, 58.0),
    Exhibit("drawbridge", "A ball rolls onto a drawbridge", 130, 42.0),
)
GALLERY_SIZE = (480, 360)
GALLERY_COLUMNS = 4


def draw_loop(pictures: Path):
    """Write the loop; ``pictures`` is a folder for its frames, of which those that are there are not made again."""
    shown, lasting = [], []
    for clip in CLIPS:
        blend = pictures / f"{clip.name}.blend"
        _save(clip.name, blend)
        numbers = list(range(demo.FRAME_START, demo.FRAME_START + clip.frames + 1, STRIDE))
        left = _frames(blend, pictures / f"{clip.name}-bullet", clip, numbers, bake=False)
        right = _frames(blend, pictures / f"{clip.name}-cairn", clip, numbers, bake=True)
        for number, *paths in zip(numbers, left, right, strict=True):
            shown.append(_side_by_side(clip, (number - demo.FRAME_START) / 24.0, paths))
            lasting.append(round(1000 * STRIDE / 24.0))
        lasting[-1] = HOLD
    shown[0].save(
        LOOP, save_all=True, append_images=shown[1:], duration=lasting, loop=0, quality=LOOP_QUALITY, method=6
    )
    size = LOOP.stat().st_size
    print(f"{LOOP.relative_to(ROOT)}: {len(shown)} pictures, {size:,} bytes")
    if size > LARGEST_LOOP:
        sys.exit(f"the loop is larger than {LARGEST_LOOP:,} bytes")


def _save(name, blend):
    scene = demo.build_scene(SCENES[name]())
    scene.render.resolution_x, scene.render.resolution_y = HALF
    scene.display.render_aa = SAMPLES
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True)


def _frames(blend, folder, clip, numbers, *, bake):
    """Pictures of a file's frames, by Blender's own simulation or after a bake."""
    paths = [folder / f"{number:04d}.png" for number in numbers]
    if all(path.is_file() for path in paths):
        return paths
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    scene = bpy.context.scene
    scene.camera.data.lens = clip.lens
    if bake:
        print(clip.name, bake_scene(scene, BakeSettings.from_scene(scene)).summary, flush=True)
    else:
        world = scene.rigidbody_world
        print(
            clip.name, f"Bullet: {world.substeps_per_frame} substeps, {world.solver_iterations} iterations", flush=True
        )
    # Blender simulates a frame only right after the one before it
    for number in range(numbers[0], numbers[-1] + 1):
        scene.frame_set(number)
        if number in numbers:
            _render(scene, paths[numbers.index(number)])
    return paths


def _render(scene, path):
    scene.render.filepath, scene.render.image_settings.file_format = str(path), "PNG"
    with blender_lines_dropped():
        bpy.ops.render.render(write_still=True, scene=scene.name)


def _side_by_side(clip, seconds, paths):
    width, height = HALF
    sheet = Image.new("RGB", (2 * width + GAP, BAND + height), PAPER)
    pen = ImageDraw.Draw(sheet)
    large, small = ImageFont.load_default(17), ImageFont.load_default(13)
    engines = (
        ("Blender's own (Bullet)", "defaults: 10 substeps, 10 iterations"),
        ("Cairn", f"defaults: {BakeSettings().substeps} substeps, solved to a tolerance"),
    )
    for place, (name, settings) in enumerate(engines):
        x = place * (width + GAP)
        sheet.paste(Image.open(paths[place]).convert("RGB"), (x, BAND))
        pen.text((x + 12, 6), name, INK, large)
        pen.text((x + width - 12, 9), settings, QUIET, small, anchor="ra")
    pen.text((12, 34), f"Same file: {clip.words[0].lower()}{clip.words[1:]}", QUIET, small)
    pen.text((2 * width + GAP - 12, 34), f"{seconds:.1f} s", QUIET, small, anchor="ra")
    return sheet


def draw_gallery():
    """Write the pictures of the gallery, and the README's table of them with the numbers of their bakes."""
    GALLERY.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
        numbers = [_exhibit(exhibit, Path(folder, f"{exhibit.name}.png")) for exhibit in EXHIBITS]
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    if not after:
        sys.exit(f"{README.name} lacks the marks of the gallery")
    README.write_text(before + MARKS[0] + _table(numbers) + MARKS[1] + after, encoding="utf-8")


def draw_jointed():
    """Write the pictures of the scenes with joints that the README does not show."""
    with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
        for exhibit in JOINTED:
            _exhibit(exhibit, Path(folder, f"{exhibit.name}.png"))


def _exhibit(exhibit, path):
    """Bake a scene and draw its picture; returns what the table says of it, in words."""
    scene = demo.build_scene(SCENES[exhibit.name]())
    settings = replace(BakeSettings.from_scene(scene), threads=1)
    spent = []
    began = time.process_time()
    result = bake_scene(scene, settings, lambda progress: spent.append((progress.stage, time.process_time())))
    print(exhibit.name, result.summary, f"{time.process_time() - began:.1f} s of processor time", flush=True)
    seconds = _seconds_of("simulate", spent)
    scene.camera.data.lens = exhibit.lens
    scene.render.resolution_x, scene.render.resolution_y = GALLERY_SIZE
    scene.frame_set(exhibit.frame)
    _render(scene, path)
    Image.open(path).convert("RGB").save(GALLERY / f"{exhibit.name}.webp", quality=GALLERY_QUALITY, method=6)
    totals = result.report["totals"]
    joints = sum(totals["joints"].values())
    return {
        "bodies": f"{totals['bodies']}" + (f", {joints} joints" if joints else ""),
        "contacts": f"{totals['contacts']:,}",
        "time": f"{1000.0 * seconds / totals['frames']:.1f} ms",
        "overlap": f"{1000.0 * totals['max_penetration']:.2g} mm",
        "residual": percent_text(totals["worst"]["residual"]),
    }


def _seconds_of(stage, spent):
    """Processor time between the messages of a stage and the next message [s]."""
    pairs = itertools.pairwise(spent)
    return sum(after - before for (name, before), (_, after) in pairs if name == stage)


def _table(numbers):
    """The gallery in Markdown: rows of pictures with words below, then a row of numbers for each scene."""
    lines = []
    for start in range(0, len(EXHIBITS), GALLERY_COLUMNS):
        row = EXHIBITS[start : start + GALLERY_COLUMNS]
        pictures = [f"![{one.words}](docs/images/gallery/{one.name}.webp)" for one in row]
        words = [f"{one.words} (`{one.name}`)" for one in row]
        if not lines:
            lines += ["| " + " | ".join(pictures) + " |", "|" + "---|" * len(row)]
        else:
            lines.append("| " + " | ".join(pictures) + " |")
        lines.append("| " + " | ".join(words) + " |")
    lines += [
        "",
        "| | bodies | most contacts | time a frame | worst overlap | worst residual |",
        "|---|---|---|---|---|---|",
    ]
    for exhibit, said in zip(EXHIBITS, numbers, strict=True):
        lines.append(f"| `{exhibit.name}` | " + " | ".join(said.values()) + " |")
    return "\n".join(["", *lines, "", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("loop", "gallery", "joints"))
    parser.add_argument("--frames", type=Path, help="keep the frames of the loop here, and use those that are here")
    arguments = parser.parse_args()
    cli_scene.ensure_registered()
    if arguments.what == "gallery":
        draw_gallery()
    elif arguments.what == "joints":
        draw_jointed()
    elif arguments.frames:
        arguments.frames.mkdir(parents=True, exist_ok=True)
        draw_loop(arguments.frames.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
            draw_loop(Path(folder))


if __name__ == "__main__":
    main()
