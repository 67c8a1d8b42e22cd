"""What Cairn stores: the solver's settings and the last bake's facts on the scene, a bake's bookkeeping on objects.

Nothing here says that a bake is running; only the running operator knows that (operators.py). What the window shows
until it is cleared (the last error, what the scene holds) lives on the window manager and is never saved.
"""

import bpy
from bpy.app.handlers import persistent
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..joint_kinds import JOINT_KINDS
from ..settings import CONJUGACIES, FRICTION_MODELS, METHODS, QUALITIES, STRATEGIES, BakeSettings
from ..takes import book
from ..write import earlier_animation, since_bake
from .activation_properties import ActivationProperties
from .follow_properties import FollowProperties
from .force_properties import ForceProperties
from .glue_properties import CairnGlue, CairnGluePiece
from .matter_properties import MatterProperties
from .overlay_properties import CairnOverlay, SightProperties
from .start_motion_properties import OVERRIDABLE, StartMotionProperties
from .takes_properties import CairnTake, CairnTakeBody, TakesProperties


def _suggest_range(settings, context):
    """Start an own range from the one that was used so far."""
    world = settings.id_data.rigidbody_world
    if settings.use_custom_range and world is not None and settings.frame_end < settings.frame_start:
        settings.frame_start = world.point_cache.frame_start
        settings.frame_end = world.point_cache.frame_end


def _make_even(settings, context):
    """A polygon of friction has opposite corners."""
    if settings.directions % 2:
        settings.directions += 1


class CairnScene(SightProperties, TakesProperties, bpy.types.PropertyGroup):
    """Settings of the solver, and facts about the last bake."""

    method: EnumProperty(
        name="Solver",
        description="Choose the method that finds the forces between touching bodies in each step",
        items=METHODS,
        default=BakeSettings.method,
    )
    quality: EnumProperty(
        name="Quality",
        description="Choose how exactly bodies in motion are solved; it counts for the solver Automatic",
        items=QUALITIES,
        default=BakeSettings.quality,
    )
    friction: EnumProperty(
        name="Friction Model",
        description="Choose the law by which friction acts at a contact; how strong it is, is set by the Friction of "
        "the bodies",
        items=FRICTION_MODELS,
        default=BakeSettings.friction,
    )
    substeps: IntProperty(
        name="Substeps",
        description="Set how many simulation steps a frame has at least. More steps follow fast motion and hard "
        "impacts better; the time of a bake grows in proportion",
        default=BakeSettings.substeps,
        min=1,
        max=1000,
        soft_max=40,
    )
    max_substeps: IntProperty(
        name="At Most",
        description="Set how many substeps a frame may have in which something small or fast moves: a coin of 24 mm "
        "asks for 18 at 24 frames a second; what is larger than 10 cm and does not roll on its rim, or rests, asks for "
        "no more than 4. "
        "With 1 all frames have the number of Substeps",
        default=BakeSettings.max_substeps,
        min=1,
        max=1000,
        soft_max=100,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Set the error at which the solver stops, relative to the forces of the step (without unit). "
        "A smaller one is more accurate and slower; bodies at rest on each other need 1e-4 or less",
        default=BakeSettings.tolerance,
        min=1e-12,
        max=0.1,
        precision=10,
        step=1,
    )
    max_iterations: IntProperty(
        name="Iterations",
        description="Limit the iterations of the solver in a step; 0 leaves it to the solver (Automatic: 500). "
        "Steps that end above the tolerance are counted and named",
        default=BakeSettings.max_iterations or 0,
        min=0,
        max=1000000,
        soft_max=10000,
    )
    use_checkpoints: BoolProperty(
        name="Checkpoints",
        description="Keep the bake in a folder beside the file, so that it can go on after ESC or a crash, and be "
        "baked anew from any frame",
        default=True,
    )
    threads: IntProperty(
        name="Threads",
        description="Limit the threads that a bake of many bodies uses; 0 uses all cores of the processor. "
        "The motion is the same with any number",
        default=BakeSettings.threads,
        min=0,
        max=1024,
    )
    directions: IntProperty(
        name="Corners",
        description="Set how many corners the polygon has that stands for the friction circle, an even number: more "
        "are nearer to the same friction in every direction, and slower",
        default=8,
        min=4,
        max=64,
        step=2,
        update=_make_even,
    )
    relaxation: FloatProperty(
        name="Relaxation",
        description="Multiply each step of the sweeps by this factor, below 2; 0 leaves it to the solver "
        "(Over-Relaxation: 1.3, Accelerated Over-Relaxation: 1.1)",
        default=0.0,
        min=0.0,
        max=1.99,
        precision=2,
        step=5,
    )
    alpha: FloatProperty(
        name="Alpha",
        description="Set the share of the accelerated splitting: a larger one takes shorter steps; 0 leaves it to "
        "the solver (Accelerated Gauss-Seidel: 0.3, Accelerated Over-Relaxation: 0.35)",
        default=0.0,
        min=0.0,
        max=10.0,
        precision=2,
        step=5,
    )
    conjugacy: EnumProperty(
        name="Conjugacy",
        description="Choose how much of its last direction the Conjugate Gradient solver keeps in each iteration",
        items=CONJUGACIES,
        default="fletcher_reeves",
    )
    line_search: BoolProperty(
        name="Line Search",
        description="Shorten each step of the Conjugate Gradient solver until the error falls, with a sweep for each "
        "trial, instead of taking the full step",
        default=False,
    )
    strategy: EnumProperty(
        name="Strategy",
        description="Choose the derivative that Newton's method takes where Fischer's function has none: where a "
        "force and its speed are both zero",
        items=STRATEGIES,
        default="perturbation",
    )
    warm_start_sweeps: IntProperty(
        name="Sweeps Before",
        description="Set how many sweeps of Gauss-Seidel are made before Newton's method begins",
        default=10,
        min=0,
        max=10000,
        soft_max=100,
    )
    seed: IntProperty(
        name="Seed",
        description="Choose which random numbers the Strategy Random takes; the same seed gives the same motion",
        default=0,
        min=0,
    )
    use_custom_range: BoolProperty(
        name="Custom Range",
        description="Bake a range of its own instead of the Simulation Start and End of Rigid Body World > Cache",
        default=False,
        update=_suggest_range,
    )
    frame_start: IntProperty(
        name="Simulation Start",
        description="Set the first frame of the bake; the bodies start from the pose that they have in it",
        default=1,
        min=-1048574,
        max=1048574,
    )
    frame_end: IntProperty(
        name="End",
        description="Set the last frame that the bake simulates",
        default=0,
        min=-1048574,
        max=1048574,
    )

    # Facts about the last bake
    is_baked: BoolProperty(name="Baked", description="Cairn's keyframes are in this scene", options={"HIDDEN"})
    baked_start: IntProperty(name="First Baked Frame", options={"HIDDEN"})
    baked_end: IntProperty(name="Last Baked Frame", options={"HIDDEN"})
    requested_end: IntProperty(
        name="Requested End", description="Last frame that the bake was asked for", options={"HIDDEN"}
    )
    summary: StringProperty(name="Summary", description="The last bake in a sentence", options={"HIDDEN"})
    worst_object: StringProperty(
        name="Worst Object", description="Object at the contact with the largest remaining error", options={"HIDDEN"}
    )
    worst_frame: IntProperty(name="Worst Frame", description="Frame of the largest remaining error", options={"HIDDEN"})
    fingerprint: StringProperty(
        name="Fingerprint", description="Hash of all physical settings that the bake has read", options={"HIDDEN"}
    )
    has_warnings: BoolProperty(
        name="Has Warnings", description="The last bake had warnings, or has failed", options={"HIDDEN"}
    )
    ingredients: StringProperty(
        name="Ingredients",
        description="What the bake was made from, in numbers: says later what has changed since",
        options={"HIDDEN"},
    )
    version: StringProperty(name="Version", description="Version of Cairn that made the bake", options={"HIDDEN"})
    report: StringProperty(
        name="Report", description="Options and totals of the last bake, as JSON", options={"HIDDEN"}
    )
    bake_id: StringProperty(
        name="Bake", description="Tells the checkpoint of the last bake from those of others", options={"HIDDEN"}
    )
    checkpoint_folder: StringProperty(
        name="Checkpoint Folder",
        description="Where the last bake has left its checkpoint: the file may have got another name since",
        options={"HIDDEN"},
    )
    world_was_enabled: BoolProperty(
        name="World Was Enabled",
        description="Whether Blender's own simulation was on before the bake; Delete Bake puts it back",
        options={"HIDDEN"},
    )
    world_waits: BoolProperty(
        name="World Waits",
        description="Blender's own simulation is off, and goes on when a frame is shown at which it can begin",
        options={"HIDDEN"},
    )
    world_collection: PointerProperty(
        name="World Collection",
        description="Collection of the rigid body world, where a bake had to take it out; Delete Bake puts it back",
        type=bpy.types.Collection,
        options={"HIDDEN"},
    )


class CairnJoint(bpy.types.PropertyGroup):
    """What Blender's rigid body constraints lack."""

    kind: EnumProperty(
        name="Kind",
        description="Choose what the constraint is for Cairn in place of its type; Blender itself simulates its type",
        items=JOINT_KINDS,
        default="BLENDER",
        override=OVERRIDABLE,
    )
    friction_force: FloatProperty(
        name="Friction Force",
        description="Set the largest force [N] with which the joint resists sliding along its free axes",
        default=0.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    friction_torque: FloatProperty(
        name="Friction Torque",
        description="Set the largest torque [N m] with which the joint resists turning about its free axes",
        default=0.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    use_soft_limits: BoolProperty(
        name="Soft Limits",
        description="Push the joint back by a spring where it goes beyond its limits, in place of a hard stop",
        default=False,
        override=OVERRIDABLE,
    )
    limit_stiffness_lin: FloatProperty(
        name="Stiffness",
        description="Set the force for each metre beyond the linear limits [N/m] that pushes the joint back",
        default=1000.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    limit_damping_lin: FloatProperty(
        name="Damping",
        description="Set how the joint is damped [N s/m] where it is beyond its linear limits",
        default=10.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    limit_stiffness_ang: FloatProperty(
        name="Angular Stiffness",
        description="Set the torque for each radian beyond the angular limits [N m/rad] that turns the joint back",
        default=100.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    limit_damping_ang: FloatProperty(
        name="Angular Damping",
        description="Set how the joint is damped [N m s/rad] where it is beyond its angular limits",
        default=1.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    use_servo_lin: BoolProperty(
        name="Linear Servo",
        description="Drive the joint to a position, which may be keyed",
        default=False,
        override=OVERRIDABLE,
    )
    servo_position: FloatProperty(
        name="Position",
        description="Set the position that the servo drives the joint to, counted as its limits are; 0 is the start",
        default=0.0,
        subtype="DISTANCE",
        override=OVERRIDABLE,
    )
    servo_force: FloatProperty(
        name="Largest Force",
        description="Limit the force [N] with which the servo drives the joint to its position",
        default=100.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    use_servo_ang: BoolProperty(
        name="Angular Servo",
        description="Drive the joint to an angle, which may be keyed",
        default=False,
        override=OVERRIDABLE,
    )
    servo_angle: FloatProperty(
        name="Angle",
        description="Set the angle that the servo turns the joint to, counted as its limits are; 0 is the start",
        default=0.0,
        subtype="ANGLE",
        override=OVERRIDABLE,
    )
    servo_torque: FloatProperty(
        name="Largest Torque",
        description="Limit the torque [N m] with which the servo turns the joint to its angle",
        default=100.0,
        min=0.0,
        override=OVERRIDABLE,
    )
    cone_angle: FloatProperty(
        name="Cone",
        description="Set half the opening angle of the cone in which the second object's Z axis may swing",
        default=0.785398,
        min=0.0,
        max=3.14159,
        subtype="ANGLE",
        override=OVERRIDABLE,
    )
    twist_angle: FloatProperty(
        name="Twist",
        description="Set how far the second object may twist about its Z axis, either way",
        default=0.349066,
        min=0.0,
        max=3.14159,
        subtype="ANGLE",
        override=OVERRIDABLE,
    )
    use_rope_length: BoolProperty(
        name="Custom Length",
        description="Give the rope a length of its own instead of the distance of its ends at the start",
        default=False,
        override=OVERRIDABLE,
    )
    rope_length: FloatProperty(
        name="Length",
        description="Set the largest distance that the two ends of the rope may have",
        default=1.0,
        min=0.0,
        subtype="DISTANCE",
        override=OVERRIDABLE,
    )
    rope_end: PointerProperty(
        name="Far End",
        description="Choose the object at whose origin the rope is tied to the second object; without one it is tied "
        "at the second object's own origin. The near end of the rope is the constraint itself",
        type=bpy.types.Object,
        override=OVERRIDABLE,
    )
    gear_ratio: FloatProperty(
        name="Ratio",
        description="Set the teeth of the second object over the teeth of the first; a negative ratio is a gear that "
        "meshes inside the other, so that both turn the same way",
        default=1.0,
        override=OVERRIDABLE,
    )
    rack_radius: FloatProperty(
        name="Radius",
        description="Set the radius of the pinion, the first object, which turns about the Z axis; the rack, the "
        "second one, moves along X. A negative radius is for a rack that lies on the side of Y",
        default=0.5,
        subtype="DISTANCE",
        override=OVERRIDABLE,
    )


class CairnObject(
    StartMotionProperties,
    MatterProperties,
    ActivationProperties,
    ForceProperties,
    FollowProperties,
    bpy.types.PropertyGroup,
):
    """How a body begins and how its shape is made, and what Delete Bake needs to put it back as it was."""

    concavity: FloatProperty(
        name="Concavity",
        description="Set the deepest hollow that a convex part may fill, as a share of the object's size. A smaller "
        "one follows the mesh more closely, with more parts; decomposing and the bake take longer",
        default=0.05,
        min=0.01,
        max=1.0,
        precision=3,
        step=1,
        override=OVERRIDABLE,
    )
    maximal_parts: IntProperty(
        name="Maximum Parts",
        description="Limit the convex parts that the mesh is made of; 0 allows as many as Concavity needs",
        default=0,
        min=0,
        max=10000,
        soft_max=100,
        override=OVERRIDABLE,
    )
    repair_resolution: IntProperty(
        name="Repair Resolution",
        description="Set how many cells the grid has along its longest side from which a mesh with large holes, or "
        "one of more than 50,000 triangles, is made anew before it is decomposed",
        default=30,
        min=20,
        max=100,
        override=OVERRIDABLE,
    )
    is_baked: BoolProperty(
        name="Baked",
        description="Cairn has written this object's location and rotation",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    # A pointer counts as a user, so the action is saved with the file.
    earlier_action: PointerProperty(
        name="Earlier Action",
        description="The object's action before the bake; Delete Bake brings it back",
        type=bpy.types.Action,
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    earlier_slot: IntProperty(
        name="Earlier Slot", description="Handle of the earlier action's slot", options={"HIDDEN"}, override=OVERRIDABLE
    )
    joint: PointerProperty(
        name="Joint",
        description="Hold what Blender's rigid body constraints lack",
        type=CairnJoint,
        override=OVERRIDABLE,
    )
    glue: PointerProperty(
        name="Glue",
        description="Hold the pieces that the object glues, and how strong its bonds are",
        type=CairnGlue,
        override=OVERRIDABLE,
    )
    earlier_state: StringProperty(
        name="Earlier State",
        description="Transform, constraints and drivers that the bake has switched off, as JSON",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    owner_name: StringProperty(
        name="Owner",
        description="Name of the object that was baked; a copy of it has another, and starts from where it is",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )
    owner_session: StringProperty(
        name="Owner in This Session",
        description="Number of the object that was baked in the present session, which survives renaming",
        options={"HIDDEN"},
        override=OVERRIDABLE,
    )


class CairnWindowManager(bpy.types.PropertyGroup):
    """What the panel shows in this session."""

    error: StringProperty(name="Error", description="Why the last bake did not work", options={"HIDDEN"})
    error_object: StringProperty(name="Object", description="Object that the error is about", options={"HIDDEN"})
    faults: StringProperty(
        name="Faults", description="All that is wrong with the scene, by kind, as JSON", options={"HIDDEN"}
    )
    error_digest: StringProperty(
        name="Scene of the Error", description="The scene that the error is about, in numbers", options={"HIDDEN"}
    )
    show_all_notes: BoolProperty(
        name="All Notes",
        description="List all kinds of notes on the scene, or the first half dozen",
        default=False,
    )
    check: StringProperty(name="Check", description="What the next bake would simulate, as JSON", options={"HIDDEN"})
    status: StringProperty(
        name="Status",
        description="What the scene has been found to be since its last change, as JSON",
        options={"HIDDEN"},
    )


_PARTS = (CairnOverlay, CairnTakeBody, CairnTake, CairnJoint, CairnGluePiece, CairnGlue)
CLASSES = (*_PARTS, CairnScene, CairnObject, CairnWindowManager)
OWNERS = (
    (bpy.types.Scene, CairnScene, "Cairn settings and bake"),
    (bpy.types.Object, CairnObject, "Cairn's bookkeeping of a bake"),
    (bpy.types.WindowManager, CairnWindowManager, "What Cairn's panel shows in this session"),
)


@persistent
def _make_overrides_comparable(*_):
    """Where an override has Cairn's group, let its origin have one too, which reading it creates.

    On saving, Blender compares every override with its origin. Where the origin has no group at all, it notes a change
    of the group as a whole, which it cannot make when the file is opened again: what the bake has kept would be lost.
    """
    for obj in bpy.data.objects:
        override = obj.override_library
        if override is not None and override.reference is not None and obj.is_property_set("cairn"):
            _ = override.reference.cairn


@persistent
def _remember_owners_by_name(*_):
    """On saving: numbers of a session are not those of the next one, and opening would put copies where the bake is."""
    for scene in bpy.data.scenes:
        since_bake.catch_up(scene)
        book.follow_names(scene)
    for obj in bpy.data.objects:
        earlier_animation.follow_name(obj)


@persistent
def _remember_owners_by_session(*_):
    """On opening a file: by names, and forget the numbers of another session, which somebody else may have now."""
    for obj in bpy.data.objects:
        if obj.cairn.is_baked and obj.is_editable:
            owned = obj.cairn.owner_name == obj.name
            obj.cairn.owner_session = str(obj.session_uid) if owned else ""
    for scene in bpy.data.scenes:
        book.find_by_name(scene)


@persistent
def _remember_imported_owners(imported, *_):
    """On appending: an object whose name is taken gets another one, and is the baked object all the same."""
    for item in imported.import_items:
        obj = item.id
        baked = isinstance(obj, bpy.types.Object) and obj.is_editable and obj.cairn.is_baked
        if baked and obj.cairn.owner_name == item.name:
            obj.cairn.owner_name, obj.cairn.owner_session = obj.name, str(obj.session_uid)


HANDLERS = (
    ("save_pre", _make_overrides_comparable),
    ("save_pre", _remember_owners_by_name),
    ("load_post", _remember_owners_by_session),
    ("blend_import_post", _remember_imported_owners),
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for owner, group, description in OWNERS:
        owner.cairn = PointerProperty(name="Cairn", description=description, type=group, override=OVERRIDABLE)
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).append(handler)


def unregister():
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).remove(handler)
    for owner, _, _ in OWNERS:
        del owner.cairn
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
