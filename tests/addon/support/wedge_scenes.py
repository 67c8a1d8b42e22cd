"""A small scene for wedges: boxes that slide down a slope, and what a single bake of a variant gives."""

import json

import bpy


def make_slope(maker, path, frames=10):
    """A ball and two boxes above a slope, saved; Ball has a custom property, Keyed a keyed place."""
    maker.body(
        "Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), rotation_euler=(0.4, 0, 0), scale=(20, 20, 1)
    )
    ball = maker.body("Ball", shape="SPHERE", location=(0, 0, 1.2))
    ball["glow"] = 1.0
    maker.body("Box.001", shape="BOX", location=(2, 0, 1.0))
    keyed = maker.body("Keyed", shape="BOX", location=(-2, 0, 1.0))
    maker.key(keyed, "location", {1: (-2, 0, 1), 4: (-2, 0, 1.1)})
    maker.key(keyed, "rigid_body.kinematic", {1: True, 4: False})
    maker.scene.frame_end = maker.world.point_cache.frame_end = frames
    return maker.save(path)


def single_bake(scene_path, change, report, **settings):
    """Digest of the motion of a scene that is changed by hand and baked as any other."""
    from dataclasses import replace

    from cairn.addon.bake import bake_scene
    from cairn.addon.settings import BakeSettings

    bpy.ops.wm.open_mainfile(filepath=str(scene_path), load_ui=False)
    scene = bpy.context.scene
    change(scene)
    result = bake_scene(scene, replace(BakeSettings.from_scene(scene), **settings))
    report.append(result.report["totals"]["digest"])
    return report[-1]


def digests(folder):
    """Of all variants that are finished in a wedge's folder, by number."""
    return {
        int(path.stem[1:]): json.loads(path.read_text())["totals"]["digest"]
        for path in sorted(folder.glob("v????.json"))
    }
