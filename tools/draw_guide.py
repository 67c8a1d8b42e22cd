"""Draw the pictures of docs/guide/how-do-i.md, from bakes of the files beside it.

    pip install -e ".[bpy,bench]"
    python tools/draw_guide.py [NAME ...]

That of *shot* shows what a command prints: CAIRN_BLENDER names a Blender that has Cairn. All are rendered with Cycles
on the processor, in the same light.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import bpy
from make_guide_files import FILES_FOLDER
from mathutils import Matrix, Vector
from PIL import Image, ImageDraw, ImageFont

from cairn.addon.bake import bake_scene
from cairn.addon.cli_output import blender_lines_dropped
from cairn.addon.settings import BakeSettings
from cairn.addon.settle import settle, settled_sentence

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guide"
WIDTH = 1280  # of a picture [pixels]
GAP, BAND = 8, 26
QUALITY = 86
INK, PAPER = (30, 34, 40), (250, 250, 248)
TERMINAL, PROMPT = (30, 34, 40), (226, 230, 235)
SKY = (0.34, 0.37, 0.42)
BEYOND = (200, 205, 214)  # above the floor's end
SAMPLES = 48
# Of a dot that shows where a body was, over the body's size.
DOT = 0.16
# Where the camera looks from, seen from the middle of what it shows.
FRONT = (-0.12, -1.0, 0.28)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(PICTURES), metavar="NAME")
    import cairn

    cairn.register()
    for name in parser.parse_args().names:
        with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
            PICTURES[name](name, Path(folder))
        path = GUIDE / f"how-{name}.webp"
        print(f"{path.name}: {path.stat().st_size:,} bytes", flush=True)
    return 0


# What the pictures show


def frames(*numbers, direction=FRONT, ratio=0.75):
    """A picture of frames of a bake, side by side."""

    def draw(name, folder):
        scene = opened(name)
        bake(scene)
        stage(scene, numbers, direction, (len(numbers), ratio))
        shown = [render(scene, number, folder) for number in numbers]
        write(name, [[(f"frame {number}", picture) for number, picture in zip(numbers, shown, strict=True)]])

    return draw


def settling(name, folder):
    """Rocks where they hang, and where they have settled."""
    scene = opened(name)
    stage(scene, (1,), (-0.5, -1.0, 0.62), (2, 0.8), box=((-2.4, -2.4, 0.0), (2.4, 2.4, 2.9)))
    before = render(scene, 1, folder)
    print(settled_sentence(settle(scene)), flush=True)
    write(name, [[("before", before), ("after Settle", render(scene, 1, folder))]])


def slow(name, folder):
    """What each frame shows of the same half second, with the speed as it is and with a quarter of it."""
    rows = []
    for file, last, word in (
        ("throw", 15, "Speed 1: a dot for each of 15 frames"),
        ("slow", 57, "Speed 0.25: 57 frames, each with a pose of its own"),
    ):
        scene = opened(file)
        bake(scene)
        thrown = scene.objects["Ball"]
        stage(scene, range(1, last + 1), (-0.05, -1.0, 0.2), (1, 0.22))
        scene.frame_set(last)
        for number in range(1, last):
            scene.frame_set(number)
            place = thrown.matrix_world.copy()
            ghost = bpy.data.objects.new("Ghost", thrown.data)
            ghost.matrix_world = place @ Matrix.Scale(DOT, 4)
            scene.collection.objects.link(ghost)
        rows.append([(word, render(scene, last, folder))])
    write(name, rows)


def blur(name, folder):
    """A fast spin in three ways: not blurred, with a pose a frame alone, and as Cairn keys it."""
    number = 9
    shown = []
    for word in ("Motion Blur off", "One pose a frame, as others key it", "Cairn: all of the turn"):
        scene = opened(name)
        bake(scene)
        stage(scene, [number], (0.0, -1.0, 0.12), (3, 0.75), room=1.15)
        scene.render.use_motion_blur = word != "Motion Blur off"
        scene.render.motion_blur_shutter = 0.5
        scene.cycles.samples = 4 * SAMPLES
        bar = scene.objects["Bar"]
        if word.startswith("One"):
            pose_a_frame(scene, bar, range(number - 1, number + 2))
        shown.append((word, render(scene, number, folder)))
    write(name, [shown])


def bounce(name, folder):
    """The frame of a bounce blurred: as a bake without keys at hits leaves it, and with them."""
    number, shown = 6, []
    for word, wanted in (("Keys at frames alone", False), ("Keys at Hits", True)):
        scene = opened(name)
        scene.cairn.hit_keys = wanted
        bake(scene)
        box = (-1.0, -0.3, 0.0), (1.0, 0.3, 0.9)
        stage(scene, [number], (0.0, -1.0, 0.12), (2, 0.5), box=box)
        scene.cycles.samples = 4 * SAMPLES
        shown.append((word, render(scene, number, folder)))
    write(name, [shown])


def pose_a_frame(scene, ob, numbers):
    """Key the poses of whole frames by the shorter turn, as a bake without keys in between does."""
    poses = []
    for number in numbers:
        scene.frame_set(number)
        poses.append(ob.matrix_world.decompose()[:2])
    ob.animation_data_clear()
    ob.rotation_mode = "QUATERNION"
    before = None
    for number, (place, turn) in zip(numbers, poses, strict=True):
        if before is not None:
            turn.make_compatible(before)
        before = turn
        ob.location, ob.rotation_quaternion = place, turn
        for path in ("location", "rotation_quaternion"):
            ob.keyframe_insert(path, frame=number)


def centimetres(name, folder):
    """The same frames with gravity in metres and in centimetres."""
    rows = []
    numbers = (1, 6, 10, 24)
    for gravity, word in ((-9.81, "Gravity -9.81: a hundredth"), (-981.0, "Gravity -981")):
        scene = opened(name)
        scene.gravity.z = gravity
        bake(scene)
        stage(scene, numbers, FRONT, (len(numbers), 0.62), box=((-24, -6, 0), (30, 6, 26)))
        rows.append([(f"{word}, frame {number}", render(scene, number, folder)) for number in numbers])
    write(name, rows)


def export(name, folder):
    """A bake in Blender, and what an empty file shows of it that has read its Alembic and its USD."""
    number = 30
    scene = opened(name)
    bake(scene)
    paths = {"Alembic": folder / "ring.abc", "USD": folder / "ring.usdc"}
    span = {"start": scene.frame_start, "end": scene.frame_end}
    bpy.ops.wm.alembic_export(filepath=str(paths["Alembic"]), as_background_job=False, **span)
    bpy.ops.wm.usd_export(filepath=str(paths["USD"]), export_animation=True)
    direction, shape = (-0.25, -1.0, 0.6), (3, 0.75)
    stage(scene, [number], direction, shape)
    shown = [("the bake, frame 30", render(scene, number, folder))]
    for word, read in (("Alembic", bpy.ops.wm.alembic_import), ("USD", bpy.ops.wm.usd_import)):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        read(filepath=str(paths[word]), **({"as_background_job": False} if word == "Alembic" else {}))
        scene = bpy.context.scene
        stage(scene, [number], direction, shape)
        shown.append((f"{word}, read into an empty file", render(scene, number, folder)))
    write(name, [shown])


def shot(name, folder):
    """What the command prints, and a frame of its file in a Blender that has no Cairn."""
    blender = os.environ.get("CAIRN_BLENDER")
    if not blender:
        sys.exit("name a Blender that has Cairn in CAIRN_BLENDER")
    source, baked = FILES_FOLDER / f"{name}.blend", folder / "baked.blend"
    words = [blender, "-b", source, "--command", "cairn", "bake", "-o", baked]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    said = [line for line in (done.stderr + done.stdout).splitlines() if line.startswith("cairn: ")]
    said = [line.replace(str(folder) + "/", "").replace(str(source.parent) + "/", "") for line in said]
    asked = f"$ blender -b {name}.blend --command cairn bake -o baked.blend"
    numbers = (12, 20)
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    scene = bpy.context.scene
    stage(scene, (1, *numbers), (-1.0, -0.9, 0.45), (3, 0.75))
    shown = [(f"baked.blend, frame {number}", render(scene, number, folder)) for number in numbers]
    write(name, [[("the other machine", terminal([asked, *said], shown[0][1].size)), *shown]])


def terminal(lines, size):
    """Lines of a command as a picture."""
    picture = Image.new("RGB", size, TERMINAL)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(13)
    wrapped = [part for line in lines for part in textwrap.wrap(line, 62, subsequent_indent="  ")]
    for row, line in enumerate(wrapped):
        pen.text((14, 14 + 21 * row), line, PROMPT, font)
    return picture


PICTURES = {
    "begin": frames(1, 7, 14, 24, direction=(-0.8, -1.0, 0.4), ratio=0.6),
    "throw": frames(1, 5, 12, 24, ratio=0.5),
    "hold": frames(1, 8, 14, 30, ratio=0.55),
    "hang": frames(1, 24, 46, 68, direction=(-0.25, -1.0, 0.35), ratio=0.75),
    "wait": frames(1, 24, 48, 90, direction=(-0.25, -1.0, 0.45), ratio=0.7),
    "matter": frames(1, 28, 96, direction=(-0.25, -1.0, 0.5)),
    "wind": frames(1, 17, 28, 48, direction=(-0.35, -1.0, 0.35)),
    "settle": settling,
    "glued": frames(1, 10, 14, 30, direction=(-0.7, -1.0, 0.35)),
    "clusters": frames(1, 12, 26, 44, direction=(-1.0, -0.75, 0.3)),
    "figure": frames(1, 20, 32, 72, direction=(0.9, -1.0, 0.3)),
    "follow": frames(15, 22, 55, 92, direction=(0.9, -1.0, 0.3), ratio=0.8),
    "slow": slow,
    "blur": blur,
    "bounce": bounce,
    "centimetres": centimetres,
    "large": frames(1, 24, 72, direction=(-0.4, -1.0, 1.0)),
    "export": export,
    "shot": shot,
}


# How they are made


def opened(name):
    bpy.ops.wm.open_mainfile(filepath=str(FILES_FOLDER / f"{name}.blend"))
    return bpy.context.scene


def bake(scene):
    print(scene.name, bake_scene(scene, BakeSettings.from_scene(scene)).summary, flush=True)


def stage(scene, numbers, direction, shape, *, box=None, room=1.04):
    """Light, floor, and a camera that sees all that some frames show, or a box of two corners.

    ``shape`` is how many pictures stand side by side, and their height over their width.
    """
    count, ratio = shape
    scene.render.resolution_x = (WIDTH - GAP * (count - 1)) // count
    scene.render.resolution_y = round(scene.render.resolution_x * ratio)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = SAMPLES, True
    scene.view_settings.view_transform = "Standard"
    scene.render.film_transparent = True
    meshes = [ob for ob in scene.objects if ob.type == "MESH"]
    floors = [ob for ob in meshes if ob.dimensions.z == 0.0]
    for floor in floors:  # a larger one takes its place
        floor.hide_render = True
    corners = [Vector(corner) for corner in box or ()]
    for number in () if box else numbers:
        scene.frame_set(number)
        graph = bpy.context.evaluated_depsgraph_get()
        for ob in meshes:
            if ob not in floors and not ob.hide_render:
                seen = ob.evaluated_get(graph)
                corners += [seen.matrix_world @ Vector(corner) for corner in seen.bound_box]
    least = Vector(min(corner[axis] for corner in corners) for axis in range(3))
    most = Vector(max(corner[axis] for corner in corners) for axis in range(3))
    size = (most - least).length
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = 60.0
    camera.data.clip_end = 100.0 * size
    camera.rotation_euler = (-Vector(direction)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    bpy.context.view_layer.update()
    middle = 0.5 * (least + most)
    around = [middle + room * (corner - middle) for corner in corners]
    graph = bpy.context.evaluated_depsgraph_get()
    place, _ = camera.camera_fit_coords(graph, [value for corner in around for value in corner])
    camera.location = place
    light = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    light.data.energy, light.data.angle = 2.3, 0.12
    light.rotation_euler = (0.75, 0.15, 0.35)
    scene.collection.objects.link(light)
    ground = bpy.data.objects.new("Ground", ground_mesh(60.0 * size, -2e-3 * size))
    scene.collection.objects.link(ground)
    scene.world = bpy.data.worlds.new("Sky")
    node_of(scene.world, "BACKGROUND").inputs["Color"].default_value = (*SKY, 1.0)


def ground_mesh(size, height):
    mesh = bpy.data.meshes.new("Ground")
    corners = [(x * size, y * size, height) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    material = bpy.data.materials.new("Ground")
    node_of(material, "BSDF_PRINCIPLED").inputs["Base Color"].default_value = (0.66, 0.68, 0.72, 1.0)
    mesh.materials.append(material)
    return mesh


def node_of(owner, kind):
    if owner.node_tree is None:  # before Blender 5.0 nodes are there only once they are switched on
        owner.use_nodes = True
    return next(node for node in owner.node_tree.nodes if node.type == kind)


def render(scene, number, folder):
    path = folder / "frame.png"
    scene.frame_set(number)
    scene.render.filepath, scene.render.image_settings.file_format = str(path), "PNG"
    scene.render.image_settings.color_mode = "RGBA"
    with blender_lines_dropped(errors=True):
        bpy.ops.render.render(write_still=True, scene=scene.name)
    seen = Image.open(path).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", seen.size, (*BEYOND, 255)), seen).convert("RGB")


def write(name, rows):
    """Rows of (words, picture), one below the other."""
    heights = [row[0][1].height + BAND for row in rows]
    sheet = Image.new("RGB", (WIDTH, sum(heights)), PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    for row, top in zip(rows, [sum(heights[:index]) for index in range(len(rows))], strict=True):
        left = 0
        for words, picture in row:
            pen.text((left + 4, top + 4), words, INK, font)
            sheet.paste(picture, (left, top + BAND))
            left += picture.width + GAP
    sheet.save(GUIDE / f"how-{name}.webp", quality=QUALITY, method=6)


if __name__ == "__main__":
    sys.exit(main())
