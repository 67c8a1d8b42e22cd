"""Machines and what is poured into them: an escalator, a lottery drum, a vending machine, a forklift, a hopper."""

import itertools
import math
import random

import bpy
import scene_objects as make
from played_scenes import played
from truths import (
    always_within,
    ends_within,
    moves,
    no_faster_than,
    nothing_below,
    reaches,
    rests_from,
    stays,
    stays_below,
)


@played(deeper="a step that jumps may arrive where a case lies, and comes out of it gently")
def escalator_that_begins_anew():
    """Keyed steps with a Cycles modifier: each goes back from the top to the bottom in a frame, through the cases."""
    make.new_file(frames=(1, 150))
    make.floor()
    for index in range(10):
        step = make.moved_by_keys(make.cube(f"Step.{index}", (0, 0, 0), (0.6, 1.5, 0.4)), "BOX")
        first = 1 - 10 * index
        make.key(step, "location", {first: (-2.5, 0, 0.0), first + 100: (2.5, 0, 3.0)})
        for curve in _curves(step):
            curve.modifiers.new("CYCLES")
    make.passive(make.cube("Top", (3.6, 0, 2.9), (1.4, 1.5, 0.2)), "BOX")
    for index in range(5):
        make.body(make.cube(f"Case.{index}", (-2.0 + 0.75 * index, 0, 1.6 + 0.45 * index), (0.35, 0.5, 0.6)))
    return [no_faster_than(10), nothing_below(0, slack=0.03), stays_below("Case", 5)]


@played()
def lottery_drum_with_vanes():
    """A keyed sphere to which three closed vanes were joined, one mesh: balls within it, also right before a vane."""
    make.new_file(frames=(1, 120))
    sphere = make.ball("Drum", (0, 0, 2), 1.0, 32)
    vanes = []
    for index in range(3):
        angle = 2 * math.pi * index / 3
        at = (0.85 * math.cos(angle), 0, 2 + 0.85 * math.sin(angle))
        vanes.append(make.cube("Vane", at, (0.28, 0.6, 0.03), (0, -math.degrees(angle), 0)))
    drum = make.moved_by_keys(_joined([sphere, *vanes]), "MESH")
    drum.display_type = "WIRE"
    drum.hide_render = True
    make.key(drum, "rotation_euler", {1: (0, 0, 0), 120: make.radians(0, 900, 0)})
    one = make.body(make.ball("Ball.00", (-0.4, -0.4, 1.6), 0.11), shape="SPHERE", mass=0.05, restitution=0.4)
    for index in range(1, 24):
        layer, place = divmod(index, 16)
        make.copy_of(
            one, f"Ball.{index:02}", (-0.4 + 0.26 * (place % 4), -0.4 + 0.26 * (place // 4), 1.6 + 0.26 * layer)
        )
    return [no_faster_than(9), always_within("Ball", (-1, -1, 1), (1, 1, 3)), reaches("Ball", 2.3)]


@played(deeper="a pencil that sticks in the hole takes 2 cm of others in a frame in which they hit it")
def pencils_in_a_cup():
    """Pencils with a point fall into a narrow cup with a hole in its bottom: the first sticks in it, others push."""
    make.new_file(frames=(1, 110))
    make.floor()
    make.passive(make.lathe("Cup", [(0.01, 0.02), (0.3, 0.02), (0.33, 0.8)]))
    one = make.lathe("Pencil.00", [(0.001, 0), (0.035, 0.12), (0.035, 1.2), (0.001, 1.2)], (0, 0, 0.3), 6)
    make.body(one, mass=0.01)
    rng = random.Random(3)
    for index in range(1, 14):
        angle = 2.4 * index
        at = (0.16 * math.cos(angle), 0.16 * math.sin(angle), 0.3 + 0.35 * index)
        make.copy_of(one, f"Pencil.{index:02}", at, (rng.uniform(-5, 5), rng.uniform(-5, 5), 0))
    return [
        no_faster_than(11),
        nothing_below(0, slack=0.005),
        ends_within("Pencil", (-0.4, -0.4, 0), (0.4, 0.4, 0.8)),
    ]


@played()
def vending_machine():
    """A keyed coil, a bevelled curve made a mesh, turns and pushes packs over the edge of their shelf."""
    make.new_file(frames=(1, 160))
    make.floor()
    make.passive(make.cube("Shelf", (0, 0, 0.95), (3.0, 1.0, 0.1)), "BOX")
    for side in (-1, 1):
        make.passive(make.cube(f"Side{side}", (0, 0.5 * side, 1.3), (3.0, 0.05, 0.8)), "BOX").hide_render = True
    curve = bpy.data.curves.new("Coil", "CURVE")
    curve.dimensions, curve.bevel_depth, curve.bevel_resolution = "3D", 0.03, 1
    spline, turns = curve.splines.new("POLY"), 6
    spline.points.add(20 * turns)
    for index, point in enumerate(spline.points):
        angle = 2 * math.pi * index / 20
        point.co = (-1.5 + 0.5 * index / 20, 0.38 * math.cos(angle), 0.38 * math.sin(angle), 1)
    coil = bpy.data.objects.new("Coil", curve)
    bpy.context.scene.collection.objects.link(coil)
    coil.location = (0, 0, 1.42)
    coil = make.moved_by_keys(make.as_mesh(coil), "MESH")
    make.key(coil, "rotation_euler", {1: (0, 0, 0), 160: make.radians(-720, 0, 0)})
    for index in range(5):
        make.body(make.cube(f"Pack.{index}", (-0.875 + 0.5 * index, 0, 1.305), (0.2, 0.6, 0.6)), mass=0.2)
    return [
        no_faster_than(8),
        nothing_below(0, slack=0.03),
        moves("Pack", 0.4, axis=0),
        ends_within("Pack.4", (1.4, None, 0), (None, None, 0.7)),
    ]


@played()
def snooker_break():
    """Balls of 52.5 mm, a cue ball let go at 5 m/s, cushions of boxes on a plane; 25 frames a second."""
    make.new_file(fps=25, frames=(1, 75))
    make.passive(make.plane("Cloth", (0, 0, 0), 4.0), friction=0.3)
    for at, size in (
        ((0, 0.9), (3.4, 0.05)),
        ((0, -0.9), (3.4, 0.05)),
        ((1.75, 0), (0.05, 1.7)),
        ((-1.75, 0), (0.05, 1.7)),
    ):
        make.passive(make.cube(f"Cushion{at}", (*at, 0.025), (*size, 0.05)), "BOX", restitution=0.8)
    radius = 0.02625
    red = make.ball("Red.00", (0.9, 0, radius), radius, 24)
    make.body(red, shape="SPHERE", mass=0.142, restitution=0.95, friction=0.1, angular_damping=0.3)
    spots = [(row, column) for row in range(1, 5) for column in range(row + 1)]
    for index, (row, column) in enumerate(spots, 1):
        at = (0.9 + row * radius * 1.7325, (column - row / 2) * 2 * radius * 1.0005, radius)
        make.copy_of(red, f"Red.{index:02}", at)
    cue = make.copy_of(red, "Cue", (-1.2, 0.01, radius))
    make.shoot(cue, (-1.2, 0.01, radius), (-0.8, 0.004, radius), (1, 3))
    return [no_faster_than(5.5), always_within("Red", (-1.73, -0.88, 0), (1.73, 0.88, 0.1)), moves("Red.10", 0.05)]


@played()
def bucket_poured_into_a_bowl():
    """A keyed bucket without thickness tips fifty marbles into a bowl with a Solidify modifier; some fall beside it."""
    make.new_file(frames=(1, 140))
    make.floor()
    bowl = make.lathe("Bowl", [(0.01, 0.05), (0.6, 0.1), (1.0, 0.5), (1.2, 1.0)], (1.2, 0, 0))
    make.modifier(bowl, "SOLIDIFY", thickness=0.06)
    make.passive(bowl, mesh_source="FINAL")
    bucket = make.moved_by_keys(make.lathe("Bucket", [(0.01, 0.0), (0.45, 0.0), (0.6, 1.0)], (-0.5, 0, 1.8)), "MESH")
    make.key(bucket, "rotation_euler", {1: (0, 0, 0), 35: (0, 0, 0), 90: make.radians(0, 150, 0)}, "BEZIER")
    one = make.body(make.ball("Marble.00", (-0.7, -0.2, 1.95), 0.1), shape="SPHERE")
    for index in range(1, 50):
        layer, place = divmod(index, 9)
        at = (-0.7 + 0.21 * (place % 3), -0.2 + 0.21 * (place // 3), 1.95 + 0.21 * layer)
        make.copy_of(one, f"Marble.{index:02}", at)
    return [
        no_faster_than(8),
        nothing_below(0, slack=0.03),
        # 11 to 22 of them beside it, from starts that differ by a hundredth of a millimetre
        ends_within("Marble", (0, -1.2, 0), (2.4, 1.2, 2), all_but=26),
    ]


@played()
def forklift_and_a_pallet():
    """Keyed forks go into an active pallet, planks joined to one concave mesh, lift it with its boxes and carry it."""
    make.new_file(frames=(1, 140))
    make.floor()
    parts = [make.cube("Block", (0, -0.5 + 0.5 * index, 0.09), (1.2, 0.1, 0.14)) for index in range(3)]
    for index, z in itertools.product(range(5), (0.01, 0.17)):
        parts.append(make.cube("Plank", (-0.54 + 0.27 * index, 0, z), (0.14, 1.1, 0.02)))
    pallet = _joined(parts)
    pallet.name = "Pallet"
    make.body(pallet, "ACTIVE", "MESH", mass=20)
    for index, (z, y, x) in enumerate(itertools.product((0.381, 0.781), (-0.26, 0.26), (-0.28, 0.28))):
        make.body(make.cube(f"Box.{index}", (x, y, z), (0.5, 0.5, 0.4)), mass=5)
    ways = {1: (-2.5, 0.09), 40: (-0.2, 0.09), 50: (-0.2, 0.09), 80: (-0.2, 1.0), 130: (-2.5, 1.0)}
    for side in (-1, 1):
        fork = make.moved_by_keys(make.cube(f"Fork{side}", (-2.5, 0.25 * side, 0.09), (1.4, 0.14, 0.05)), "BOX")
        make.key(fork, "location", {frame: (x, 0.25 * side, z) for frame, (x, z) in ways.items()}, "BEZIER")
    return [no_faster_than(3), reaches("Pallet", 0.95), moves("Box", -2.0, axis=0), rests_from(135, "Box")]


@played()
def gift_boxes_on_a_turntable():
    """Open boxes with lids, concave active meshes, on a keyed disc that turns faster and faster: lids stay on."""
    make.new_file(frames=(1, 120))
    make.floor()
    table = make.moved_by_keys(make.cylinder("Table", (0, 0, 0.25), 1.6, 0.5, vertices=48), "CYLINDER")
    make.key(table, "rotation_euler", {1: (0, 0, 0), 120: make.radians(0, 0, 600)}, "QUAD")
    box = make.body(make.mesh_object("Gift.0", *_open_box(0.5, 0.4, 0.04), at=(0.4, 0, 0.5)), "ACTIVE", "MESH")
    lid = make.mesh_object("Lid.0", *_open_box(0.6, 0.12, 0.04), at=(0.4, 0, 0.94))
    lid.rotation_euler = (math.pi, 0, 0)
    make.body(lid, "ACTIVE", "MESH", mass=0.2)
    for index in range(1, 3):
        angle = 2 * math.pi * index / 3
        x, y = 0.7 * math.cos(angle), 0.7 * math.sin(angle)
        make.copy_of(box, f"Gift.{index}", (x, y, 0.5), (0, 0, math.degrees(angle)))
        make.copy_of(lid, f"Lid.{index}", (x, y, 0.94), (180, 0, math.degrees(angle)))
    return [no_faster_than(6), nothing_below(0, slack=0.03), ends_within("Lid", (-4, -4, 0.3), (4, 4, 1.1), all_but=1)]


@played()
def building_of_slabs_is_demolished():
    """Six storeys of slabs of 200 t on columns of 5 t stand, until four columns of the lowest are keyed away."""
    make.new_file(frames=(1, 100))
    make.floor(400.0)
    for storey in range(6):
        z = 4.0 * storey
        for index in range(6):
            x, y = -8 + 8 * (index % 3), -4 + 8 * (index // 3)
            column = make.cube(f"Column.{storey}.{index}", (x, y, z + 1.75), (0.8, 0.8, 3.5))
            if storey == 0 and index % 3 < 2:
                make.moved_by_keys(column, "BOX")
                make.key(column, "location", {1: (x, y, 1.75), 20: (x, y, 1.75), 24: (x - 3, y, -2.5)})
            else:
                make.body(column, mass=5000)
        make.body(make.cube(f"Slab.{storey}", (0, 0, z + 3.75), (18, 10, 0.5)), mass=200000)
    # a free fall from the roof is 22 m/s
    return [
        stays("Slab", 0.002, until=19),
        stays("Column.5", 0.01, until=19),
        no_faster_than(30),
        nothing_below(0, slack=0.03),
        moves("Slab.5", -5, axis=2),
    ]


@played()
def dice_far_from_the_origin():
    """Dice of 2 cm fall on a floor of 10 km, three kilometres from the origin, where single precision is 0.2 mm."""
    make.new_file(frames=(1, 60))
    make.passive(make.cube("Ground", (0, 0, -5), (10000, 10000, 10)), "BOX")
    for index in range(12):
        at = (3000 + 0.03 * (index % 4), 2000 + 0.03 * (index // 4), 0.05 + 0.02 * index)
        make.body(make.cube(f"Die.{index:02}", at, (0.02, 0.02, 0.02), (20 * index, 33 * index, 0)))
    return [no_faster_than(4), nothing_below(0, slack=0.05), rests_from(50, "Die", within=0.05)]


@played()
def screw_conveyor():
    """A keyed flight, an edge with a Screw modifier, lifts balls in a tilted tube of a mesh without thickness."""
    make.new_file(frames=(1, 120))
    make.floor(z=-2.0)
    tilt = math.radians(65)
    bpy.ops.object.empty_add(location=(0, 0, 0), rotation=(0, tilt, 0))
    frame = bpy.context.object
    tube = make.child_of(make.cone("Tube", (0, 0, 0), 0.52, 0.52, 5.0, ends="NOTHING", vertices=32), frame, keep=False)
    make.passive(tube).hide_render = True
    make.passive(make.child_of(make.cylinder("Cap", (0, 0, -2.3), 0.52, 0.1), frame, keep=False), "CYLINDER")
    flight = make.mesh_object("Flight", [(0.05, 0, 0), (0.49, 0, 0)], [])
    flight.data.edges.add(1)
    flight.data.edges[0].vertices = (0, 1)
    make.modifier(flight, "SCREW", angle=2 * math.pi, screw_offset=-0.6, iterations=7, steps=24, render_steps=24)
    flight.location = (0, 0, 2.0)
    make.moved_by_keys(make.child_of(flight, frame, keep=False), "MESH", mesh_source="FINAL")
    make.key(flight, "rotation_euler", {1: (0, 0, 0), 120: make.radians(0, 0, 1350)})
    # one in each turn, at the tube's bottom, between two turns of the flight
    for index in range(4):
        along, aside = -0.55 + 0.6 * index, 0.36
        x, z = along * math.sin(tilt) - aside * math.cos(tilt), along * math.cos(tilt) - aside * math.sin(tilt)
        make.body(make.ball(f"Ball.{index}", (x, 0.0, z), 0.13), shape="SPHERE", mass=0.2)
    return [no_faster_than(5), nothing_below(-2.0, slack=0.05), reaches("Ball", 0.6)]


@played(nightly=True)
def nuts_and_bolts_from_a_hopper():
    """Bolts and nuts with a hole, concave meshes, pour out of an open hopper whose gate is keyed away."""
    make.new_file(frames=(1, 100))
    make.floor()
    make.passive(make.lathe("Hopper", [(0.45, 1.5), (0.45, 1.8), (1.0, 2.6), (1.0, 4.2)])).hide_render = True
    gate = make.moved_by_keys(make.cube("Gate", (0, 0, 1.45), (1.2, 1.2, 0.1)), "BOX")
    make.key(gate, "location", {1: (0, 0, 1.45), 30: (0, 0, 1.45), 36: (1.4, 0, 1.45)})
    nut = make.torus("Nut.00", (0, 0, 2.4), 0.15, 0.06, (0, 0, 0), (6, 4))
    make.body(nut, "ACTIVE", "MESH")
    profile = [(0.001, 0), (0.18, 0), (0.18, 0.1), (0.08, 0.1), (0.08, 0.5), (0.001, 0.5)]
    bolt = make.body(make.lathe("Bolt.00", profile, (0.3, 0.2, 2.3), 12), "ACTIVE", "MESH")
    rng = random.Random(3)
    for index, (kind, one) in itertools.product(range(1, 14), (("Nut", nut), ("Bolt", bolt))):
        at = (rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), 2.4 + 0.2 * index + 0.3 * (kind == "Bolt"))
        make.copy_of(one, f"{kind}.{index:02}", at, [rng.uniform(0, 360) for _ in range(3)])
    return [no_faster_than(12), nothing_below(0, slack=0.03), always_within("Nut", (-6, -6, 0), (6, 6, 6))]


def _curves(ob):
    """F-curves of an object's action."""
    animation = ob.animation_data
    for layer in animation.action.layers:
        for strip in layer.strips:
            yield from strip.channelbag(animation.action_slot).fcurves


def _joined(parts):
    """Objects joined into the first one (Ctrl J)."""
    for ob in bpy.context.selected_objects:
        ob.select_set(False)
    for part in parts:
        part.select_set(True)
    bpy.context.view_layer.objects.active = parts[0]
    bpy.ops.object.join()
    return bpy.context.object


def _open_box(wide, high, thick):
    """Points and faces of a box without a lid that stands on z = 0."""
    points, faces = [], []
    for reach, z in ((wide / 2, 0), (wide / 2, high), (wide / 2 - thick, high), (wide / 2 - thick, thick)):
        points += [(-reach, -reach, z), (reach, -reach, z), (reach, reach, z), (-reach, reach, z)]
    for ring in (0, 4, 8):
        for corner in range(4):
            after = (corner + 1) % 4
            faces.append((ring + corner, ring + after, ring + 4 + after, ring + 4 + corner))
    return points, [*faces, (3, 2, 1, 0), (12, 13, 14, 15)]
