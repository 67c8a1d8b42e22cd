"""Kinds of joints: Blender's types of rigid body constraints, and those that Cairn adds. Loads no bpy and no Numba."""

# What a rigid body constraint is for Cairn: name, title and description of each.
JOINT_KINDS = (
    ("BLENDER", "Blender's Type", "The constraint's own type, in Physics > Rigid Body Constraint"),
    (
        "CONE_TWIST",
        "Cone and Twist",
        "A ball joint that swings within a cone and twists so far: shoulders, hips, necks",
    ),
    ("ROPE", "Rope", "Keeps two points within a distance; they may come closer"),
    (
        "GEAR",
        "Gear",
        "Two objects turn about the constraint's Z axis in a fixed ratio; each has a hinge of its own",
    ),
    (
        "RACK_AND_PINION",
        "Rack and Pinion",
        "The first object turns about the constraint's Z axis while the second moves along its X axis",
    ),
)
# Names of the kinds that a scene's joints are counted by: Blender's types, and Cairn's in their place.
JOINT_LABELS = {
    "FIXED": "Fixed",
    "POINT": "Point",
    "HINGE": "Hinge",
    "SLIDER": "Slider",
    "PISTON": "Piston",
    "GENERIC": "Generic",
    "GENERIC_SPRING": "Generic Spring",
    "MOTOR": "Motor",
    "LOCKED_AXES": "Locked Axes",
    "BOND": "Bond",
} | {name: title for name, title, _ in JOINT_KINDS[1:]}


# Axes that a type of constraint leaves free or limits, by their place among x, y, z, rx, ry, rz.
OPEN_AXES: dict[str, tuple[int, ...]] = {
    "HINGE": (5,),
    "SLIDER": (0,),
    "PISTON": (0, 3),
    "GENERIC": (0, 1, 2, 3, 4, 5),
    "GENERIC_SPRING": (0, 1, 2, 3, 4, 5),
    "MOTOR": (0, 3),
}
# Those that Cairn can drive to a position or an angle.
SERVO_AXES: dict[str, tuple[int, ...]] = {"HINGE": (5,), "SLIDER": (0,), "PISTON": (0, 3), "MOTOR": (0, 3)}


def joint_counts(kinds) -> dict[str, int]:
    """How many joints there are of each kind, in the order of ``JOINT_LABELS``."""
    kinds = list(kinds)
    return {kind: kinds.count(kind) for kind in JOINT_LABELS if kind in kinds}


def joints_sentence(counts: dict[str, int]) -> str:
    """All of them in words, "5 joints: 3 Hinge, 2 Point"; empty without joints."""
    total = sum(counts.values())
    if not total:
        return ""
    parts = ", ".join(f"{count:,} {JOINT_LABELS[kind]}" for kind, count in counts.items())
    return f"{total:,} joint{'' if total == 1 else 's'}: {parts}"
