"""Shards, letters, glued walls, panes and what is switched on by keys."""

import math
import random

import scene_objects as make
from played_scenes import played
from truths import ends_within, moves, no_faster_than, nothing_below, rests_from, stays, stays_below


@played()
def letters_fall_on_the_floor():
    """A word, a text object for each letter, converted to meshes; hulls, origins at the base line."""
    make.new_file(frames=(1, 100))
    make.floor()
    for index, text in enumerate("CAIRN"):
        make.body(make.letter(f"Letter.{index}", text, (0.8 * index - 2, 0, 1 + 0.3 * index)))
    # the C stands on its rim and rocks to and fro, for ten seconds and more
    rocks = rests_from(95, "Letter.0", within=0.25)
    rest = [rests_from(95, f"Letter.{index}", within=0.05) for index in range(1, 5)]
    return [nothing_below(0, slack=0.02), no_faster_than(9), rocks, *rest]


@played()
def letters_hit_from_behind():
    """Standing letters of true shape, thick, are hit by a shot ball."""
    make.new_file(frames=(1, 80))
    make.floor()
    for index, text in enumerate("HIT"):
        letter = make.letter(f"Letter.{index}", text, (0.8 * index - 1.2, 0, 0.0), 0.15)
        letter.scale = (1.4, 1.4, 1.4)
        make.body(letter, shape="MESH", mass=2)
    ball = make.body(make.ball("Ball", (0, 6, 0.7), 0.3), shape="SPHERE", mass=4)
    make.shoot(ball, (0, 6, 0.7), (0, 2, 0.7), (1, 8))
    return [nothing_below(0, slack=0.03), stays("Letter", 0.03, until=8), moves("Letter.1", 0.4), no_faster_than(26)]


@played()
def cube_in_cells_falls_apart():
    """A cube in 24 cells of random points, cut so that they touch, falls on its edge."""
    make.new_file(frames=(1, 90))
    make.floor()
    block = make.cube("Block", (0, 0, 3), (1.6, 1.6, 1.6), (30, 20, 0))
    _shatter(block, "Shard", 24, 11, (1.6, 1.6, 1.6))
    return [nothing_below(0, slack=0.04), no_faster_than(14), moves("Shard", -1.2, axis=2)]


@played()
def wall_in_cells_starts_when_hit():
    """A wall of 30 shards whose *Dynamic* is keyed on just before a ball comes; until then it stands in the air."""
    make.new_file(frames=(1, 100))
    make.floor()
    for shard in _shatter(make.cube("Wall", (0, 0, 2.2), (4, 0.3, 3)), "Shard", 30, 12, (4, 0.3, 3)):
        make.key(shard, "rigid_body.enabled", {1: False, 20: True}, "CONSTANT")
    ball = make.body(make.ball("Ball", (0, -8, 2.2), 0.5), shape="SPHERE", mass=30)
    make.shoot(ball, (0, -8, 2.2), (0, -1.2, 2.2), (1, 19))
    return [stays("Shard", 0.001, until=18), moves("Shard", 0.3), nothing_below(0, slack=0.04), no_faster_than(25)]


@played()
def glued_wall_breaks():
    """Bricks glued to their neighbours by fixed constraints with a breaking threshold; a heavy ball breaks a hole."""
    make.new_file(frames=(1, 80))
    # the ball rolls on for 40 m
    make.floor(100)
    bricks = {}
    for row in range(5):
        for column in range(6):
            at = (column - 2.5, 0, 0.25 + 0.5 * row)
            bricks[row, column] = make.body(make.cube(f"Brick.{row}{column}", at, (1, 0.5, 0.5)), mass=2)
    for (row, column), brick in bricks.items():
        for other in ((row + 1, column), (row, column + 1)):
            if other in bricks:
                at = [0.5 * (a + b) for a, b in zip(brick.location, bricks[other].location, strict=True)]
                make.joint(
                    "FIXED",
                    brick,
                    bricks[other],
                    at,
                    use_breaking=True,
                    breaking_threshold=4.0,
                    disable_collisions=False,
                )
    ball = make.body(make.ball("Ball", (0, -8, 1.4), 0.5), shape="SPHERE", mass=80)
    make.shoot(ball, (0, -8, 1.4), (0, -2, 1.4), (1, 10))
    return [stays("Brick", 0.01, until=10), moves("Brick.22", 0.5), nothing_below(0, slack=0.04), no_faster_than(24)]


@played()
def pane_of_flat_shards():
    """A pane of triangles without thickness falls flat out of its frame on a block."""
    make.new_file(frames=(1, 90))
    make.floor()
    make.passive(make.cube("Block", (0, 0, 0.5), (0.6, 0.6, 1)), "BOX")
    rng = random.Random(13)
    grid = {
        (i, j): (0.5 * i - 1 + rng.uniform(-0.1, 0.1), 0.5 * j - 1 + rng.uniform(-0.1, 0.1))
        for i in range(5)
        for j in range(5)
    }
    count = 0
    for i in range(4):
        for j in range(4):
            corners = [grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1]]
            for triple in ((0, 1, 2), (0, 2, 3)):
                points = [corners[k] for k in triple]
                middle = [sum(point[axis] for point in points) / 3 for axis in (0, 1)]
                local = [(0.98 * (x - middle[0]), 0.98 * (y - middle[1]), 0) for x, y in points]
                make.body(make.mesh_object(f"Shard.{count:02}", local, [(0, 1, 2)], (*middle, 2.0)), mass=0.2)
                count += 1
    return [nothing_below(0, slack=0.06), no_faster_than(10), stays_below("Shard", 2.05)]


@played()
def shards_burst_from_overlap():
    """Cells that overlap by a few millimetres, as Remesh and scale leave them, are let go: they do not fly apart."""
    make.new_file(frames=(1, 80))
    make.floor()
    block = make.cube("Block", (0, 0, 0.8), (1.6, 1.6, 1.6))
    for shard in _shatter(block, "Shard", 20, 14, (1.6, 1.6, 1.6)):
        shard.scale = (1.02, 1.02, 1.02)
    return [no_faster_than(6.5), stays_below("Shard", 1.7), nothing_below(0, slack=0.05)]


@played()
def column_of_cells_collapses():
    """A column of 25 cells on a keyed trap door falls into a heap, at 30 frames a second in slow motion."""
    make.new_file(fps=30, frames=(1, 150), speed=0.5)
    make.floor()
    trap = make.moved_by_keys(make.cube("Trap", (0, 0, 0.9), (2, 2, 0.2)), "BOX")
    make.key(trap, "location", {1: (0, 0, 0.9), 40: (0, 0, 0.9), 43: (-5, 0, 0.9)})
    _shatter(make.cylinder("Column", (0, 0, 2.25), 0.6, 2.5, vertices=16), "Shard", 25, 15, (1.2, 1.2, 2.5))
    return [moves("Shard", -0.5, axis=2), nothing_below(0, slack=0.04), no_faster_than(16)]


@played()
def presents_under_an_array_of_stairs():
    """Boxes slide down stairs by an Array modifier (mesh source Final), linked copies."""
    make.new_file(frames=(1, 120))
    make.floor()
    step = make.cube("Stairs", (0, 0, 1.8), (0.6, 2, 0.4))
    make.modifier(step, "ARRAY", count=5, use_relative_offset=True, relative_offset_displace=(1, 0, -0.8))
    make.passive(step, mesh_source="FINAL")
    first = None
    for index in range(6):
        at = (-0.1 + 0.05 * index, 0.5 * (index % 3 - 1), 2.6 + 0.5 * index)
        if first is None:
            first = make.body(make.cube("Present.0", at, (0.4, 0.4, 0.3), (10, 20, 30)))
        else:
            make.copy_of(first, f"Present.{index}", at, (30 * index, 20, 10))
    return [nothing_below(0, slack=0.03), no_faster_than(12)]


@played()
def gate_of_planks_on_hinges_is_rammed():
    """Two wings of a gate on hinges with limits; a ram (a keyed log, let go) bursts them open."""
    make.new_file(frames=(1, 90))
    make.floor()
    for side in (-1, 1):
        post = make.passive(make.cube(f"Post{side}", (2.2 * side, 0, 1.25), (0.3, 0.3, 2.5)), "BOX")
        wing = make.body(make.cube(f"Wing{side}", (1.02 * side, 0, 1.3), (1.96, 0.15, 2.2)), mass=20)
        hinge = make.joint("HINGE", post, wing, (2.0 * side, 0, 1.3), name=f"Hinge{side}", disable_collisions=True)
        constraint = hinge.rigid_body_constraint
        constraint.use_limit_ang_z = True
        constraint.limit_ang_z_lower, constraint.limit_ang_z_upper = math.radians(-110), math.radians(110)
    log = make.body(make.cylinder("Log", (0, -5, 1.2), 0.25, 3, (90, 0, 0)), shape="CYLINDER", mass=60)
    make.shoot(log, (0, -6, 1.2), (0, -2.2, 1.2), (1, 14))
    return [moves("Log", 4, axis=1), moves("Wing", 0.5, axis=1), nothing_below(0, slack=0.02), no_faster_than(16)]


@played()
def egg_boxes_of_hulls_on_an_incline():
    """Hulls with their origins far off their centres slide and roll down a plane turned by 35 degrees."""
    make.new_file(frames=(1, 100))
    make.floor(60)
    make.passive(make.plane("Slope", (0, 0, 2.6), 8, (0, 35, 0)))
    for index in range(8):
        egg = make.icosphere(f"Egg.{index}", (-1.5, 0.6 * index - 2.1, 4.6), 0.25, scale=(1, 1, 1.35))
        for vertex in egg.data.vertices:
            vertex.co.x += 0.6
        make.body(egg, mass=0.1)
    return [nothing_below(0, slack=0.02), moves("Egg", 3, axis=0), no_faster_than(14)]


@played()
def crates_from_a_collection_rotated_by_parents():
    """Crates are children of a tilted, mirrored empty; they fall on a floor, with 3 substeps."""
    import bpy

    make.new_file(frames=(1, 100), substeps=3)
    make.floor()
    bpy.ops.object.empty_add(location=(0, 0, 3), rotation=(0.3, 0.2, 0.5))
    parent = bpy.context.object
    parent.scale = (-0.5, 0.5, 0.5)
    for index in range(6):
        crate = make.body(
            make.cube(f"Crate.{index}", (1.6 * (index % 3 - 1), 1.6 * (index // 3), 0), (1, 1, 1)), mass=3
        )
        make.child_of(crate, parent, keep=False)
    return [
        nothing_below(0, slack=0.02),
        no_faster_than(11),
        ends_within("Crate", (-4, -4, 0), (4, 4, 1.2)),
        rests_from(95),
    ]


def _shatter(block, name, count, seed, extent):
    """Cells of random points in a block's box, as rigid bodies with hulls; masses by their volumes."""
    import bpy

    bpy.context.view_layer.update()
    rng = random.Random(seed)
    turn = block.matrix_basis.to_quaternion()
    sites = [
        block.location + turn @ block.location.__class__([rng.uniform(-0.5, 0.5) * side for side in extent])
        for _ in range(count)
    ]
    shards = make.voronoi_shards(block, name, sites)
    return [make.body(shard, mass=1.0) for shard in shards]
