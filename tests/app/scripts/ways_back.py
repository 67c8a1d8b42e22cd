"""In a window: every way by which Blender's own simulation comes back at a late frame, in a file of many kinds of body.

Tells after each way which bodies do not stand where their channels have them, and whether one that is moved is all that
moves. Files and pictures go to the folder after ``--``.
"""

import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
import tour
from tour import in_view, nothing_runs, part_of_cairn, pause, picture_here, play, press, seen, until

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
tour.INTERVAL = 0.05
FRAMES, LATE = 8, 20
# Blender's world waits a look later, which comes a few times a second [s].
TO_LOOK = 0.7
CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
expected: dict = {}
seen["displaced"], seen["places"] = {}, {}
replaced: dict = {}


def scene():
    return bpy.data.scenes["Shot"]


# The file


def start_anew():
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def add_object(name, data=None, **values):
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    for key, value in values.items():
        setattr(ob, key, value)
    return ob


def add_body(name, kind="ACTIVE", **values):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(CORNERS, [], FACES)
    ob = add_object(name, mesh, **values)
    bpy.context.scene.rigidbody_world.collection.objects.link(ob)
    ob.rigid_body.type, ob.rigid_body.collision_shape = kind, "BOX"
    return ob


def key(ob, path, values):
    owner, _, attribute = path.rpartition(".")
    for frame, value in values.items():
        setattr(ob.path_resolve(owner) if owner else ob, attribute, value)
        ob.keyframe_insert(path, frame=frame)


def build():
    """Free and hung bodies, children, one that is let go, one that is keyed, and an override."""
    shot = bpy.context.scene
    shot.name = "Shot"
    with in_view():
        bpy.ops.rigidbody.world_add()
    shot.rigidbody_world.collection = bpy.data.collections.new("RigidBodyWorld")
    add_body("Floor", "PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    for number in range(2):
        add_body(f"Box {number}", location=(number, 0, 3 + number), rotation_euler=(0.1, 0.2, 0.3))
    hung = add_body("Hung", location=(5, 0, 4))
    hook = add_object("Hook", location=(5, 0, 4.5))
    bpy.context.view_layer.objects.active = hook
    with in_view():
        bpy.ops.rigidbody.constraint_add(type="POINT")
    hook.rigid_body_constraint.object2 = hung
    stand = add_object("Stand", location=(-3, 2, 1), rotation_euler=(0, 0, 1))
    child = add_body("Child", location=(1, 2, 3), rotation_euler=(0.3, 0.2, 0.1))
    child.parent = stand
    add_body("Grandchild", location=(0, 0, 2)).parent = child
    thrown = add_body("Thrown", location=(0, 8, 5))
    key(thrown, "location", {1: (0, 8, 5), 4: (1, 8, 5)})
    key(thrown, "rigid_body.kinematic", {1: True, 4: False})
    key(add_body("Plate", "PASSIVE", location=(9, 9, 1)), "location", {1: (9, 9, 1), 8: (9, 9, 3)})
    borrow(shot)
    shot.frame_end, shot.rigidbody_world.point_cache.frame_end = 300, FRAMES
    entry = shot.cairn_wedge.entries.add()
    entry.path, entry.values = "friction", "0.2,0.7"
    shot.cairn_wedge.seeds, shot.cairn_wedge.jitter = 2, 0.1


def borrow(shot):
    source, library = add_body("Borrowed", location=(4, 4, 6)), str(FOLDER / "library.blend")
    bpy.data.libraries.write(library, {source})
    bpy.data.objects.remove(source)
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.objects = ["Borrowed"]
    linked = bpy.data.objects["Borrowed"]
    shot.collection.objects.link(linked)
    shot.rigidbody_world.collection.objects.link(linked.override_create(remap_local_usages=True))


def note_places():
    """Where bodies stand without any simulation, at the late frame; then save."""
    shot = scene()
    shot.rigidbody_world.enabled = False
    shot.frame_set(LATE)
    expected.update(poses(shot))
    shot.frame_set(1)
    shot.rigidbody_world.enabled = True
    shot.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "ways.blend"))


def reopen():
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "ways.blend"))


# What is seen


def poses(owner):
    return {ob.name: [value for row in ob.matrix_world for value in row] for ob in owner.objects if ob.rigid_body}


def displaced(owner, but=()):
    found = poses(owner)
    far = {name: max(abs(a - b) for a, b in zip(found[name], expected[name], strict=True)) for name in expected}
    return sorted(name for name in expected if far[name] > 2e-4 and name not in but)


def look(name, owner="Shot"):
    def step():
        graph = bpy.context.evaluated_depsgraph_get()
        graph.update()
        seen["displaced"][name] = displaced(bpy.data.scenes[owner])

    return step


def push():
    bpy.ops.ed.undo_push(message="Before")


def move(name):
    """As with the key G, and back."""

    def step():
        for ob in bpy.context.view_layer.objects:
            ob.select_set(ob == scene().objects["Box 0"])
        bpy.context.view_layer.objects.active = scene().objects["Box 0"]
        with in_view():
            bpy.ops.transform.translate("EXEC_DEFAULT", True, value=(0.5, 0, 0))
        seen["places"][name] = [round(value, 4) for value in scene().objects["Box 0"].location]
        seen["displaced"][name + ", moved"] = displaced(scene(), but=["Box 0"])

    return step


def note_place(name):
    def step():
        seen["places"][name] = [round(value, 4) for value in scene().objects["Box 0"].location]

    return step


def looked(name):
    return [pause(TO_LOOK), look(name), push, move(name), undo, pause(TO_LOOK), look(name + ", undone")]


# What is done


def go():
    scene().frame_set(LATE)
    push()


def show(name):
    def step():
        tour.window().scene = bpy.data.scenes[name]

    return step


def start(operator="bake", **words):
    def step():
        with in_view():
            getattr(bpy.ops.cairn, operator)("INVOKE_DEFAULT", True, **words)

    return step


def undo():
    with in_view():
        bpy.ops.ed.undo()


def delete():
    with in_view():
        bpy.ops.cairn.delete_bake("EXEC_DEFAULT", True)


def escape():
    press("ESC")


def switch_on():
    scene().rigidbody_world.enabled = True


def copy_scene():
    other = scene().copy()
    other.name = "Other"
    other.frame_set(LATE)


def bake_class():
    return sys.modules[part_of_cairn("operators").__name__.replace(".ui.operators", ".bake")].Bake


def fail_at(frame):
    """Let the simulation fail in a frame."""

    def step():
        bake = bake_class()
        simulate = replaced["simulate"] = bake._simulate_frame
        core = sys.modules[bake.__module__.removesuffix(".addon.bake") + ".solver_core.simulation"]

        def failing(self, simulation, at, last):
            if at == frame:
                raise core.SimulationError("it fails for a test")
            return (yield from simulate(self, simulation, at, last))

        bake._simulate_frame = failing

    return step


def be_slow():
    bake = bake_class()
    simulate = replaced["simulate"] = bake._simulate_frame

    def slowly(self, *words):
        time.sleep(0.15)
        return (yield from simulate(self, *words))

    bake._simulate_frame = slowly


def be_as_before():
    bake_class()._simulate_frame = replaced.pop("simulate")


def frames_are_there():
    running = part_of_cairn("operators").running
    return running is None or running["text"].startswith(("Frame 4 ", "Frame 5 ", "Frame 6 "))


def show_variants():
    panel = part_of_cairn("wedge_panel")
    panel._shown.clear()
    panel._shown.update(file=bpy.data.filepath, folder=FOLDER, plan=panel.plan_of(scene()), icons={})


BAKE = (start(), until(nothing_runs))
OPEN = (reopen, pause(0.5))
STOPPED = (be_slow, start(), until(frames_are_there), escape, until(nothing_runs), be_as_before)
play(
    [
        *(start_anew, pause(), build, note_places, *OPEN, go, *looked("a jump")),
        *(*OPEN, go, *BAKE, undo, *looked("undo of a bake")),
        *(*BAKE, delete, *looked("a deletion"), *picture_here("ways-back")),
        *(start(), escape, until(nothing_runs), *looked("a stop before the first frame")),
        *(fail_at(2), *BAKE, be_as_before, *looked("a failure in the first frame")),
        *(fail_at(5), *BAKE, be_as_before, delete, *looked("a failure later")),
        *(*STOPPED, start("continue_bake"), until(nothing_runs), undo, undo, *looked("undo of Continue")),
        *(*BAKE, switch_on, pause(0.1), delete, *looked("a script")),
        *(*OPEN, show_variants, go, start("wedge_use", number=2), until(nothing_runs), note_place("variant")),
        *(start("wedge_use", number=3), escape, until(nothing_runs), undo, pause(TO_LOOK), note_place("stopped")),
        *(undo, *looked("undo of a variant")),
        *(*OPEN, copy_scene, go, *BAKE, delete, *looked("one of two scenes")),
        *(show("Other"), pause(TO_LOOK), look("the other scene", "Other")),
    ]
)
