"""Play scenes by Bullet and by Cairn, tell the times and what is untrue of each, and draw both as strips of frames.

    python tests/scenes/compare.py [NAME ...] [-o FOLDER] [--no-pictures]

The upper row of a strip is Bullet's, the lower one Cairn's, at the same frames from the same camera.
"""

import argparse
import json
import sys
from pathlib import Path

import bpy
import numpy as np

import cairn
from cairn.addon.pictures import GAP, read_pixels, telling_frames, write_png

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("support", "library")]
from all_scenes import SCENES  # noqa: E402
from mathutils import Vector  # noqa: E402
from playing import joint_gap, opened_again, overlaps, play_bullet, play_cairn  # noqa: E402

_PICTURES = 7
_WIDTH, _HEIGHT = 260, 220


def main(arguments) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenes; without, all of them")
    parser.add_argument("-o", "--output", type=Path, default=Path("scenes"), metavar="FOLDER")
    parser.add_argument("--no-pictures", action="store_true")
    options = parser.parse_args(arguments)
    cairn.register()
    options.output.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.names or SCENES:
        row = compare(SCENES[name], None if options.no_pictures else options.output / f"{name}.png")
        rows.append(row)
        print(json.dumps(row, ensure_ascii=False), flush=True)
    (options.output / "scenes.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    ratios = [row["time"] for row in rows]
    print(f"{len(rows)} scenes; time of Cairn over Bullet's: median {np.median(ratios):.2f}, largest {max(ratios):.2f}")


def compare(scene, picture) -> dict:
    """A row of the table, and the picture."""
    plays, faults, pixels = {}, {}, {}
    scene.make()
    play_cairn(opened_again())  # loads and compiles
    for engine, play_by in (("Cairn", play_cairn), ("Bullet", play_bullet)):
        truths = scene.make()
        plays[engine] = play = play_by(opened_again())
        faults[engine] = {truth.words: fault for truth in truths if (fault := truth.fault(play))}
        if picture is not None:
            frames = telling_frames(plays["Cairn"].matrices[:, :, :3, 3], _PICTURES)
            pixels[engine] = _pictures(scene, plays["Cairn"], [play.first_frame + frame for frame in frames])
    if picture is not None:
        write_png(np.concatenate([pixels["Cairn"], pixels["Bullet"]]), picture)
    scene.make()
    row = {"scene": scene.name, "time": round(plays["Cairn"].seconds / plays["Bullet"].seconds, 2)}
    row["ms"] = {name: round(1e3 * play.seconds / (len(play.matrices) - 1), 2) for name, play in plays.items()}
    row["overlap"] = {name: _overlap(play) for name, play in plays.items()}
    row["fastest"] = {
        name: round(float(max(play.speed(body).max() for body in play.active)), 2) for name, play in plays.items()
    }
    row["joint"] = {name: float(f"{joint_gap(play):.2g}") for name, play in plays.items() if play.anchors}
    row["missed"] = plays["Cairn"].missed
    return row | {"untrue of Cairn": faults["Cairn"], "untrue of Bullet": faults["Bullet"]}


def _overlap(play):
    """The deepest overlap over the smallest active body's size; None where the scene cannot be read that way."""
    depths = overlaps(bpy.context.scene, play)
    return float(f"{depths.max() / min(play.size(name) for name in play.active):.2g}")


def _pictures(scene, play, frames):
    """Frames side by side [height, width, channels]."""
    _set_up(scene, play)
    pictures = []
    path = Path(bpy.app.tempdir) / "frame.png"
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bpy.context.scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True)
        pictures += [read_pixels(path), np.ones((_HEIGHT, GAP, 4), np.float32)]
    row = np.concatenate(pictures[:-1], axis=1)
    return np.concatenate([row, np.ones((GAP, *row.shape[1:]), np.float32)])


def _set_up(scene, play):
    """A camera that sees where the active bodies go, but for those that leave, and Workbench with random colours."""
    paths = np.concatenate([play.points(name)[::5].reshape(-1, 3) for name in play.active])
    low, high = np.percentile(paths, 2, axis=0), np.percentile(paths, 98, axis=0)
    middle, radius = Vector(0.5 * (low + high)), 0.5 * float(np.linalg.norm(high - low))
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    direction = Vector(scene.view).normalized()
    camera.location = middle + 2.6 * radius * direction
    camera.rotation_euler = direction.to_track_quat("Z", "Y").to_euler()
    camera.data.clip_start, camera.data.clip_end = 0.01 * radius, 100 * radius
    bpy.context.scene.camera = camera
    for ob in bpy.context.scene.objects:
        if ob.rigid_body and ob.rigid_body.type == "PASSIVE" and len(ob.data.polygons) == 1 and ob.name != "Floor":
            ob.display_type = "WIRE"
    render, shading = bpy.context.scene.render, bpy.context.scene.display.shading
    render.engine, render.resolution_x, render.resolution_y = "BLENDER_WORKBENCH", _WIDTH, _HEIGHT
    render.image_settings.file_format = "PNG"
    shading.light, shading.color_type, shading.show_cavity = "STUDIO", "RANDOM", True


if __name__ == "__main__":
    main(sys.argv[1:])
