"""A wall of Voronoi cells that is glued in one press and hit by a tonne: what it costs, and what breaks where.

The wall, 4 x 3 x 0.3 m of concrete, is cut by random points; it stands on the ground, is glued to it, and falls asleep.
Then a ball is thrown at its middle. Told are the times of gluing, of reading and of a frame in each phase, and how much
breaks at some strengths, for some cuts of the wall.
"""

import argparse
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import bpy
import numpy as np
from scipy.spatial import Voronoi

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.scene_digest import scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings

from .report import Claim, Report

SIZE = np.array((4.0, 0.3, 3.0))
DENSITY = 2400.0
BALL_MASS, BALL_RADIUS, BALL_HEIGHT = 1000.0, 0.4, 1.8
PIECES, QUICK_PIECES = 500, 60
# The ball is held, then led by keys for some frames, and hits as a free body.
HELD, FREE, HITS, END = 40, 46, 48, 72
# What is asked of the times of a frame [s].
AT_REST, AWAKE = 1e-3, 30e-3
# A hole is where the ball was, if no bond breaks farther away from where it hits than this [m].
HOLE = 3.0 * BALL_RADIUS
SUBSTEPS = 4


def add_arguments(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    """Options of this benchmark."""
    parser.add_argument("--seeds", type=int, default=2, help="of so many cuts of the wall")
    parser.add_argument("--speed", type=float, default=3.0, help="of the ball [m/s]")
    parser.add_argument("--strengths", type=float, nargs="+", default=(1.0, 2.0), help="factors of that of concrete")
    parser.add_argument("--end", type=int, default=END, help="last frame")
    return "seeds", "speed", "strengths", "end"


def run(
    quick: bool = False,
    plots: Path | None = None,
    seeds: int = 2,
    speed: float = 3.0,
    strengths: tuple[float, ...] = (1.0, 2.0),
    end: int = END,
) -> Report:
    """Glue, bake and count."""
    rows, claims, details = [], [], []
    cairn.register()
    for seed in range(1 if quick else seeds):
        broken = []
        for strength in sorted(strengths):
            row = _measure(QUICK_PIECES if quick else PIECES, seed, speed, strength, end, details)
            print(row, {**details[-1], "all": ""}, flush=True)
            rows.append(row)
            broken.append(row["broken"])
        fewer = all(first > second or first == 0 for first, second in pairwise(broken))
        claims.append(Claim(f"seed {seed}: stronger glue, fewer broken bonds", "fewer", str(broken), fewer))
    claims += [
        Claim("a frame at rest [ms]", 1e3 * AT_REST, _worst(rows, "rest ms"), _worst(rows, "rest ms") <= 1.0, True),
        Claim("a frame awake, before the hit [ms]", 1e3 * AWAKE, _worst(rows, "awake ms"), False, True),
        Claim("farthest bond broken from the hit [m]", HOLE, _worst(rows, "farthest m"), False),
    ]
    claims[-2:] = [Claim(c.claim, c.reference, c.ours, c.ours <= c.reference, c.timed) for c in claims[-2:]]
    return Report("glued_wall", rows, claims, details=details)


def _worst(rows, name):
    return max(row[name] for row in rows)


def _measure(count, seed, speed, strength, end, details):
    scene = make_scene(count, seed, speed, end)
    began = time.perf_counter()
    if bpy.ops.cairn.glue_neighbours(material="CONCRETE") != {"FINISHED"}:
        raise RuntimeError("nothing was glued")
    glued = time.perf_counter() - began
    glue = bpy.context.object
    glue.cairn.glue.strength = strength
    began = time.perf_counter()
    scene_digest(scene)
    looked = time.perf_counter() - began
    began = time.perf_counter()
    export_scene(scene)
    read = time.perf_counter() - began
    result = bake_scene(scene, BakeSettings(substeps=SUBSTEPS, max_substeps=SUBSTEPS))
    frames = {entry["frame"]: sum(entry["seconds"].values()) for entry in result.report["frames"]}
    breaks = result.report["breaks"]
    at = np.array((0.0, -0.5 * SIZE[1], BALL_HEIGHT))
    away = [float(np.linalg.norm(np.array(entry["place"]) - at)) for entry in breaks]
    hit = min((entry["frame"] for entry in breaks), default=HITS)
    before = [seconds for frame, seconds in frames.items() if frame < HITS - 1]
    asleep = [frames[frame] for frame in range(32, HELD) if frame in frames]
    worst = max(result.report["frames"], key=lambda entry: sum(entry["seconds"].values()))
    kept = {
        name: worst[name] for name in ("frame", "contacts", "iterations", "fallbacks", "missed", "detection_passes")
    }
    stages = {stage: round(seconds, 3) for stage, seconds in worst["seconds"].items() if seconds > 1e-3}
    details.append({"seed": seed, "strength": strength, **kept, "seconds": stages, "all": frames})
    return {
        "pieces": count,
        "seed": seed,
        "strength": strength,
        "bonds": len(glue.data.edges),
        "glue s": round(glued, 2),
        "look s": round(looked, 3),
        "read s": round(read, 2),
        "awake ms": round(1e3 * median(before[2:20]), 1),
        "rest ms": round(1e3 * median(asleep), 2),
        "hit s": round(max(frames.values()), 1),
        "after ms": round(1e3 * median(s for f, s in frames.items() if f > hit) if hit < end else 0.0, 1),
        "broken": len(breaks),
        "before hit": sum(entry["frame"] < HITS - 2 for entry in breaks),
        "median m": round(float(np.median(away)), 2) if away else 0.0,
        "farthest m": round(max(away, default=0.0), 2),
    }


def make_scene(count, seed, speed, end=END):
    """A wall of cells, the ground and the ball, as rigid bodies in a fresh file; all but the ball are selected."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    world = scene.rigidbody_world
    world.collection = bpy.data.collections.new("RigidBodyWorld")
    scene.frame_end = world.point_cache.frame_end = end
    for number, points in enumerate(voronoi_cells(SIZE, count, np.random.default_rng(seed))):
        middle = points.mean(axis=0)
        ob = bpy.data.objects.new(f"Piece.{number:03d}", _hull_mesh(points - middle))
        ob.location = middle + (0.0, 0.0, 0.5 * SIZE[2])
        _add(scene, ob, "CONVEX_HULL", DENSITY * _volume(points))
        ob.rigid_body.use_deactivation = True
    ground = bpy.data.objects.new("Ground", _hull_mesh(_corners(np.array((20.0, 20.0, 1.0)))))
    ground.location = 0.0, 0.0, -0.5
    _add(scene, ground, "BOX", 1.0)
    ground.rigid_body.type = "PASSIVE"
    for ob in scene.objects:
        ob.select_set(True)
    bpy.context.view_layer.objects.active = ground
    _add_ball(scene, speed)
    bpy.context.view_layer.update()
    return scene


def voronoi_cells(size, count, random):
    """Corners of the Voronoi cells of random points in a box about the origin: those of mirrored points clip them."""
    points = random.uniform(-0.5, 0.5, (count, 3)) * size
    mirrored = [points]
    for axis in range(3):
        for side in (-1.0, 1.0):
            other = points.copy()
            other[:, axis] = side * size[axis] - other[:, axis]
            mirrored.append(other)
    diagram = Voronoi(np.concatenate(mirrored))
    return [diagram.vertices[diagram.regions[diagram.point_region[row]]] for row in range(count)]


def _corners(size):
    return np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size


def _volume(points):
    from scipy.spatial import ConvexHull

    return float(ConvexHull(points).volume)


def _hull_mesh(points):
    import bmesh

    shape = bmesh.new()
    for point in points:
        shape.verts.new(point)
    made = bmesh.ops.convex_hull(shape, input=shape.verts)
    bmesh.ops.delete(shape, geom=[one for one in made["geom_interior"] if one.is_valid], context="VERTS")
    mesh = bpy.data.meshes.new("Piece")
    shape.to_mesh(mesh)
    shape.free()
    return mesh


def _add(scene, ob, shape, mass):
    scene.collection.objects.link(ob)
    scene.rigidbody_world.collection.objects.link(ob)
    ob.rigid_body.collision_shape, ob.rigid_body.mass = shape, mass


def _add_ball(scene, speed):
    """Held at a distance until the wall has fallen asleep, then led, let go, and free when it hits."""
    import bmesh

    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=3, radius=BALL_RADIUS)
    mesh = bpy.data.meshes.new("Ball")
    shape.to_mesh(mesh)
    shape.free()
    ball = bpy.data.objects.new("Ball", mesh)
    _add(scene, ball, "SPHERE", BALL_MASS)
    a_frame = speed / scene.render.fps
    near = -0.5 * SIZE[1] - BALL_RADIUS - 0.01
    keys = {HELD: near - (HITS - HELD) * a_frame, FREE: near - (HITS - FREE) * a_frame}
    for frame, place in keys.items():
        ball.location = 0.0, place, BALL_HEIGHT
        ball.keyframe_insert("location", frame=frame)
    for frame, held in ((1, True), (FREE, False)):
        ball.rigid_body.kinematic = held
        ball.keyframe_insert("rigid_body.kinematic", frame=frame)
    bags = (bag for layer in ball.animation_data.action.layers for strip in layer.strips for bag in strip.channelbags)
    for curve in next(bags).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
