"""Registration: switching Cairn on and off leaves Blender as it was, everything has a name and a description, panels
draw in every state, presets apply, and the package works under the name that Blender gives an extension.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from joint_scenes import joint

import cairn
from cairn.addon import settings as bake_settings
from cairn.addon.joint_kinds import JOINT_KINDS
from cairn.addon.settings import BakeSettings
from cairn.addon.ui import matter, navigation, operators, panels, preferences, presets, properties
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.rows import FRICTION_MODELS
from cairn.solver_core.solvers.registry import METHODS, find_method

ROOT = Path(cairn.__file__).resolve().parent


@pytest.fixture(autouse=True)
def registered(maker):
    cairn.register()
    return maker


def test_off_and_on_again_leaves_nothing_behind():
    cairn.register()  # a second call does nothing
    cairn.unregister()
    assert not hasattr(bpy.types.Scene, "cairn")
    assert not hasattr(bpy.types.Object, "cairn")
    assert not hasattr(bpy.types, "CAIRN_OT_bake")
    assert not hasattr(bpy.types, "VIEW3D_PT_cairn")
    assert str(ROOT / "presets" / "cairn") not in bpy.utils.preset_paths("cairn")
    cairn.unregister()
    cairn.register()
    assert bpy.context.scene.cairn.method == "auto"


def test_failure_half_way_leaves_nothing_registered(monkeypatch):
    cairn.unregister()
    monkeypatch.setattr(panels, "register", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cairn.register()
    assert not hasattr(bpy.types.Scene, "cairn")
    monkeypatch.undo()
    cairn.register()


def test_no_handlers_and_no_timers_are_left_to_run():
    """Frame handlers are what crashes renders; Cairn has none. Bookkeeping is looked at with files."""

    def handlers_of_cairn():
        handlers = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
        return [
            (name, handler.__name__)
            for name, listed in handlers.items()
            if isinstance(listed, list)
            for handler in listed
            if "cairn" in getattr(handler, "__module__", "")
        ]

    overlays = [("load_post", "_after_loading"), ("redo_post", "_after_change"), ("undo_post", "_after_change")]
    assert sorted(handlers_of_cairn(), key=lambda found: (found in overlays, found[1] != "note_change", found)) == [
        # these only ask a timer to look at the scene, and without a window not even that
        ("depsgraph_update_post", "note_change"),
        ("depsgraph_update_post", "note_change"),
        ("load_post", "note_change"),
        ("redo_post", "note_change"),
        ("undo_post", "note_change"),
        # Blender's own simulation waits where it cannot be shown, in Undo's steps and in files, too
        ("animation_playback_pre", "_before_playing"),
        ("blend_import_post", "_remember_imported_owners"),
        ("load_post", "_after_opening"),
        ("load_post", "_remember_owners_by_session"),
        ("redo_post", "_after_undo"),
        # ... and checkpoints belong to a file by its name, which may be another one now
        ("save_post", "_after_saving"),
        ("save_post", "_after_saving"),
        ("save_post_fail", "_after_saving"),
        ("save_pre", "_before_saving"),
        ("save_pre", "_make_overrides_comparable"),
        ("save_pre", "_remember_owners_by_name"),
        ("undo_post", "_after_undo"),
        # the overlay and ghosts, which draw nothing while nothing of them is on, are others in another file
        *sorted(2 * overlays),
    ]
    cairn.unregister()
    try:
        assert handlers_of_cairn() == []
    finally:
        cairn.register()


def test_methods_and_friction_models_are_those_of_the_core():
    assert tuple(name for name, _, _ in bake_settings.METHODS) == METHODS
    assert sorted(name for name, _, _ in bake_settings.FRICTION_MODELS) == sorted(FRICTION_MODELS)
    for name in METHODS:
        assert sorted(bake_settings.FRICTIONS_OF[name]) == sorted(find_method(name).frictions), name


def test_defaults_are_those_of_the_core():
    settings, options = BakeSettings.from_scene(bpy.context.scene), SimulationOptions()
    for name in ("method", "friction", "substeps", "tolerance", "max_iterations", "threads"):
        assert getattr(settings, name) == getattr(options, name), name
    assert settings == BakeSettings()


@pytest.mark.parametrize("method", METHODS)
def test_each_solver_has_the_variants_of_the_core(method):
    """In the panel, with the core's own values: nothing else is asked than what the method has anyway."""
    panel = bpy.context.scene.cairn
    panel.method = method
    for panel.friction in bake_settings.FRICTIONS_OF[method]:
        own = find_method(method, panel.friction).options
        if panel.friction != "polyhedral":
            own = {name: value for name, value in own.items() if name != "directions"}
        settings = BakeSettings.from_scene(bpy.context.scene)
        without = {
            name for name in bake_settings.VARIANT_NAMES if bake_settings.why_without(name, method, panel.friction)
        }
        assert set(own) == set(bake_settings.VARIANT_NAMES) - without
        asked = {name: getattr(settings, name) for name in bake_settings.VARIANT_NAMES}
        assert all(asked[name] in (None, value) for name, value in own.items())
        assert all(asked[name] is None for name in without)
        assert settings.mismatch() == ""
        SimulationOptions(**settings.options(24.0))


def test_the_ranges_of_variants_are_those_of_the_core():
    """The least and the largest value of the panel, and every word, are accepted; corners are an even number."""
    panel = bpy.context.scene.cairn
    for method, friction in (("amsor", "box"), ("nncg", "polyhedral"), ("fischer_newton", "polyhedral")):
        panel.method, panel.friction = method, friction
        for name in bake_settings.VARIANT_NAMES:
            prop = panel.bl_rna.properties[name]
            values = [item.identifier for item in getattr(prop, "enum_items", ())]
            for value in values or ((False, True) if prop.type == "BOOLEAN" else (prop.hard_min, prop.hard_max)):
                setattr(panel, name, value)
                SimulationOptions(**BakeSettings.from_scene(bpy.context.scene).options(24.0))
    panel.directions = 5
    assert panel.directions == 6


def test_the_tooltips_of_variants_say_what_the_solvers_take():
    titles = {name: title for name, title, _ in bake_settings.METHODS}
    for option in ("relaxation", "alpha"):
        description = properties.CairnScene.bl_rna.properties[option].description
        owners = next(owners for name, _, owners in bake_settings.VARIANTS if name == option)
        assert all(f"{titles[name]}: {find_method(name).options[option]:g}" in description for name in owners)


def test_the_tooltip_of_iterations_says_what_automatic_takes():
    description = properties.CairnScene.bl_rna.properties["max_iterations"].description
    assert f"(Automatic: {find_method('auto').max_iterations})" in description


def test_everything_has_a_name_and_a_description():
    for group in properties.CLASSES:
        for prop in group.bl_rna.properties:
            if prop.identifier not in {"rna_type", "name"}:
                assert prop.name, prop.identifier
                assert len(prop.description) > 10 or prop.is_hidden, prop.identifier
    for operator in operators.CLASSES + navigation.CLASSES:
        rna = getattr(bpy.ops.cairn, operator.bl_idname.partition(".")[2]).get_rna_type()
        assert rna.name, operator
        assert len(rna.description) > 10, operator
        assert "\n" not in rna.description, operator


@pytest.mark.parametrize("name", ["Preview", "Production", "Exact"])
def test_presets_apply(name):
    """Blender finds the preset, and what it sets is accepted by the core."""
    path = bpy.utils.preset_find(name, "cairn")
    assert path, name
    bpy.ops.script.execute_preset(filepath=path, menu_idname="CAIRN_PT_presets")
    settings = BakeSettings.from_scene(bpy.context.scene)
    SimulationOptions(**settings.options(24.0))
    if name == "Production":
        assert settings == BakeSettings()


@pytest.mark.parametrize("press", ["preset", "range"])
def test_what_a_button_sets_is_a_change_that_is_looked_at(press):
    """Blender itself reports none where a script has set settings or the range of a cache."""
    scene = bpy.context.scene
    if scene.rigidbody_world is None:
        bpy.ops.rigidbody.world_add()
    for _ in range(2):  # what was added is evaluated in two steps
        bpy.context.view_layer.update()
    changed = []

    def note(_, depsgraph):
        changed.extend(update.id.original for update in depsgraph.updates)

    bpy.app.handlers.depsgraph_update_post.append(note)
    try:
        if press == "preset":
            path = bpy.utils.preset_find("Exact", "cairn")
            bpy.ops.script.execute_preset(filepath=path, menu_idname="CAIRN_PT_presets")
        else:
            bpy.ops.cairn.use_scene_range()
        bpy.context.view_layer.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(note)
    assert scene in changed


def test_presets_hold_what_the_preset_menu_saves():
    saved = {value.rpartition(".")[2] for value in presets.CAIRN_OT_preset_add.preset_values}
    for path in (ROOT / "presets" / "cairn").glob("*.py"):
        lines = [line for line in path.read_text().splitlines() if line.startswith("settings.")]
        assert {line.split("=")[0].strip().removeprefix("settings.") for line in lines} == saved, path.name


@pytest.mark.parametrize("name", ["Wood", "Stone", "Steel", "Rubber", "Ice", "Paper", "Glass", "Plastic"])
def test_presets_of_matter_apply(name):
    """Each sets what the menu saves, and no other, on the active body; sliding friction is the smaller one."""
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.rigidbody.object_add()
    ob = bpy.context.object
    path = bpy.utils.preset_find(name, "cairn_matter")
    assert path, name
    bpy.ops.script.execute_preset(filepath=path, menu_idname="CAIRN_PT_matter_presets")
    assert ob.cairn.use_density
    assert 0.0 <= ob.cairn.sliding_friction < ob.rigid_body.friction
    lines = Path(path).read_text().splitlines()
    sets = {line.split("=")[0].strip() for line in lines if line.startswith(("body.", "matter."))}
    assert sets == set(matter.CAIRN_OT_matter_preset_add.preset_values)
    bpy.data.objects.remove(ob)


class Layout:
    """Stands for a panel's layout: checks what it is asked to draw, and keeps the texts."""

    def __init__(self, texts=None, greyed=None):
        self.texts = [] if texts is None else texts
        self.greyed = [] if greyed is None else greyed
        self.enabled = True

    def _part(self, **arguments):
        return Layout(self.texts, self.greyed)

    row = column = box = split = _part

    def prop(self, data, name, **arguments):
        assert name in data.bl_rna.properties, name
        self.texts.append(name)
        if not self.enabled:
            self.greyed.append(name)

    def label(self, text="", **arguments):
        self.texts.append(text)

    def menu(self, name, text="", **arguments):
        assert hasattr(bpy.types, name)
        self.texts.append(text)

    def progress(self, factor, text):
        assert 0.0 <= factor <= 1.0
        self.texts.append(text)

    def operator(self, name, text=None, **arguments):
        module, _, function = name.partition(".")
        getattr(getattr(bpy.ops, module), function).get_rna_type()
        self.texts.append(name if text is None else text)
        return SimpleNamespace()


PANELS = [
    panels.SCENE_PT_cairn,
    panels.SCENE_PT_cairn_solver,
    panels.SCENE_PT_cairn_check,
    panels.VIEW3D_PT_cairn,
    panels.VIEW3D_PT_cairn_solver,
    panels.VIEW3D_PT_cairn_check,
]


def layout_of(panel, width=400):
    """What a panel draws; None if it is not shown."""
    region = SimpleNamespace(width=width)
    names = ("scene", "view_layer", "window_manager", "preferences")
    area = SimpleNamespace(type="VIEW_3D")
    context = SimpleNamespace(region=region, area=area, **{name: getattr(bpy.context, name) for name in names})
    if not panel.poll(context):
        return None
    layout = Layout()
    panel.draw(SimpleNamespace(layout=layout), context)
    return layout


def drawn(panel, width=400):
    """Texts that a panel draws; None if it is not shown."""
    layout = layout_of(panel, width)
    return None if layout is None else layout.texts


def draw_all():
    return {panel.__name__: drawn(panel) for panel in PANELS}


def test_panels_draw_in_every_state(registered):
    bpy.context.window_manager.cairn.error = ""
    assert "Ready-Made Scene" in drawn(panels.VIEW3D_PT_cairn)
    assert "Add Active" in drawn(panels.VIEW3D_PT_cairn)
    registered.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5))
    registered.body("Box", shape="BOX", location=(0, 0, 0.5))
    registered.world.point_cache.frame_end = 5
    assert "2 rigid bodies" in draw_all()["SCENE_PT_cairn"]
    assert "Bake" in draw_all()["VIEW3D_PT_cairn"]

    bpy.ops.cairn.check_scene()
    assert "2 rigid bodies, 1 of them moves" in draw_all()["VIEW3D_PT_cairn_check"]

    operators.running = {"text": "Frame 3 of 5", "factor": 0.5, "hint": "ESC stops", "task": "A bake", "remark": ""}
    assert "Frame 3 of 5" in draw_all()["VIEW3D_PT_cairn"]
    assert "Bake" not in draw_all()["VIEW3D_PT_cairn"]
    operators.running = None

    bpy.ops.cairn.bake()
    texts = draw_all()["SCENE_PT_cairn"]
    assert "Frames 1-5" in texts
    assert "Bake Again" in texts
    bpy.context.scene.cairn.requested_end = 9
    assert "Frames 1-5 of 9" in drawn(panels.VIEW3D_PT_cairn, width=150)

    bpy.context.window_manager.cairn.error = "Box: its mass is 0 kg"
    bpy.context.window_manager.cairn.error_object = "Box"
    assert "Select Box" in draw_all()["VIEW3D_PT_cairn"]
    bpy.context.window_manager.cairn.error = ""


@pytest.mark.parametrize(("width", "beside"), [(400, True), (200, False)])
def test_names_stand_within_the_fields_of_a_narrow_sidebar(width, beside):
    """Beside the values they would be cut."""
    assert layout_of(panels.VIEW3D_PT_cairn, width).use_property_split == beside
    assert layout_of(panels.VIEW3D_PT_cairn_solver, width).use_property_split == beside


def test_the_panel_begins_with_what_animators_choose(registered):
    """Quality, substeps and range; what is for those who compare solvers is in a closed panel of its own."""
    assert drawn(panels.VIEW3D_PT_cairn)[:4] == ["quality", "substeps", "max_substeps", "use_custom_range"]
    assert drawn(panels.VIEW3D_PT_cairn)[4:6] == ["frame_start", "frame_end"]
    assert drawn(panels.VIEW3D_PT_cairn_solver)[:5] == ["method", "friction", "tolerance", "max_iterations", "threads"]
    assert "DEFAULT_CLOSED" in panels.VIEW3D_PT_cairn_solver.bl_options
    bpy.context.scene.cairn.method = "amgs"
    assert any("does not know Cone friction" in text for text in drawn(panels.VIEW3D_PT_cairn, width=2000))


def test_settings_of_other_solvers_are_not_shown():
    settings = bpy.context.scene.cairn
    assert not set(bake_settings.VARIANT_NAMES) & set(drawn(panels.VIEW3D_PT_cairn_solver))
    settings.method, settings.friction = "nncg", "polyhedral"
    shown = [name for name in drawn(panels.VIEW3D_PT_cairn_solver) if name in bake_settings.VARIANT_NAMES]
    assert shown == ["directions", "conjugacy", "line_search"]
    settings.friction = "cone"
    shown = [name for name in drawn(panels.VIEW3D_PT_cairn_solver) if name in bake_settings.VARIANT_NAMES]
    assert shown == ["conjugacy", "line_search"]


def test_notes_are_drawn_by_kind_with_a_button_each():
    """A number of objects instead of names, a capital at the beginning; more than half a dozen kinds on demand."""
    kinds = [
        *(("warning", "is flat: simulated as a plate 0.003 to 0.02 thick", [f"Card{i}" for i in range(90)]),),
        *(("warning", "its origin is not its centre of mass", ["Axe", "Pan"]),),
        *(("info", "has no shape", ["Dust"]), ("info", "the scene plays 1 to 9", [])),
        *(("info", f"kind {chr(65 + i)}", []) for i in range(10)),
    ]
    session = bpy.context.window_manager.cairn
    session.check = json.dumps({"scene": "Scene", "bodies": 93, "moving": 3, "joints": {}, "notes": kinds})
    texts = drawn(panels.VIEW3D_PT_cairn_check, width=2000)
    assert "Each of 90 objects is flat: simulated as a plate 0.003 to 0.02 thick" in texts
    assert "Each of 2 objects: its origin is not its centre of mass" in texts
    assert {"Dust: has no shape", "The scene plays 1 to 9", "Kind B"} < set(texts)
    assert "Kind C" not in texts
    assert len([text for text in texts if text == ""]) == 3  # buttons without a text, of the notes with objects
    session.show_all_notes = True
    assert "Kind J" in drawn(panels.VIEW3D_PT_cairn_check)
    session.show_all_notes, session.check = False, ""


def test_notes_above_bake_are_folded_too(registered):
    """Bake, Solver and Wedge stay in sight."""
    registered.body("Box", shape="BOX", location=(0, 0, 0.5))
    notes = [["warning", f"kind {chr(65 + i)}", []] for i in range(10)]
    session = bpy.context.window_manager.cairn
    session.status = json.dumps({"scene": "Scene", "notes": notes})
    texts = drawn(panels.VIEW3D_PT_cairn)
    assert "Kind F" in texts
    assert "Kind G" not in texts
    assert texts.index("show_all_notes") < texts.index("Bake")
    session.show_all_notes = True
    assert "Kind J" in drawn(panels.VIEW3D_PT_cairn)
    session.show_all_notes, session.status = False, ""


def drawn_joint(panel, ob):
    """Texts of the panel of a constraint; None if it is not shown."""
    names = ("scene", "preferences")
    values = {name: getattr(bpy.context, name) for name in names}
    context = SimpleNamespace(object=ob, region=SimpleNamespace(width=400), **values)
    if not panel.poll(context):
        return None
    layout = Layout()
    panel.draw(SimpleNamespace(layout=layout), context)
    return layout.texts


SOFT_LIN, SOFT_ANG = (
    ("use_soft_limits", "limit_stiffness_lin", "limit_damping_lin"),
    ("use_soft_limits", "limit_stiffness_ang", "limit_damping_ang"),
)
JOINT_PANELS = {
    "FIXED": ["kind", "Nothing more for this type"],
    "POINT": ["kind", "friction_torque"],
    "HINGE": ["kind", "friction_torque", "use_servo_ang", "servo_angle", "servo_torque", *SOFT_ANG],
    "SLIDER": [
        "kind",
        "friction_force",
        "use_servo_lin",
        "servo_position",
        "servo_force",
        *SOFT_LIN,
    ],
    "GENERIC": ["kind", "friction_force", "friction_torque", *SOFT_LIN, *SOFT_ANG[1:]],
    "GENERIC_SPRING": ["kind", "friction_force", "friction_torque", *SOFT_LIN, *SOFT_ANG[1:]],
    "MOTOR": [
        "kind",
        *("use_servo_lin", "servo_position", "servo_force"),
        *("use_servo_ang", "servo_angle", "servo_torque"),
    ],
    "CONE_TWIST": ["kind", "cone_angle", "twist_angle", "friction_torque"],
    "ROPE": ["kind", "rope_end", "use_rope_length", "rope_length"],
    "GEAR": ["kind", "gear_ratio"],
    "RACK_AND_PINION": ["kind", "rack_radius"],
}


@pytest.mark.parametrize("kind", JOINT_PANELS)
@pytest.mark.parametrize("panel", [panels.PHYSICS_PT_cairn_joint, panels.VIEW3D_PT_cairn_joint])
def test_the_panel_of_a_joint_shows_what_counts(registered, panel, kind):
    """Only what has an effect on the constraint's type, or on the kind that takes its place."""
    body = registered.body()
    assert drawn_joint(panel, body) is None
    ob = joint(registered, "Joint", body, None)
    if kind in {name for name, _, _ in JOINT_KINDS}:
        ob.cairn.joint.kind = kind
    else:
        ob.rigid_body_constraint.type = kind
    assert drawn_joint(panel, ob) == JOINT_PANELS[kind]


def test_the_panel_of_a_joint_says_at_what_load_it_breaks(registered):
    """In the unit of the notes on what broke, whatever Blender's substeps make of its threshold."""
    ob = joint(registered, "Joint", registered.body(), None, kind="FIXED")
    ob.rigid_body_constraint.breaking_threshold = 20.0
    assert "Breaks at 4.8 kN, or 4.8 kN m" not in drawn_joint(panels.VIEW3D_PT_cairn_joint, ob)
    ob.rigid_body_constraint.use_breaking = True
    assert "Breaks at 4.8 kN, or 4.8 kN m" in drawn_joint(panels.VIEW3D_PT_cairn_joint, ob)
    registered.world.substeps_per_frame = 1
    assert "Breaks at 480 N, or 480 N m" in drawn_joint(panels.PHYSICS_PT_cairn_joint, ob)


def test_the_panel_of_a_joint_says_what_it_bore_in_the_last_bake(registered):
    """So that a threshold can be chosen: of joints that can break, and only while there is the bake."""
    ob = joint(registered, "Joint", registered.body(), None, kind="FIXED")
    ob.rigid_body_constraint.use_breaking = True
    facts = registered.scene.cairn
    facts.report = json.dumps({"peaks": {"Joint": {"force": 2100.0, "torque": 300.0}}})
    bore = "Bore up to 2.1 kN and 0.3 kN m in the last bake"
    assert bore not in drawn_joint(panels.VIEW3D_PT_cairn_joint, ob)
    facts.is_baked = True
    assert bore in drawn_joint(panels.VIEW3D_PT_cairn_joint, ob)
    ob.rigid_body_constraint.use_breaking = False
    assert bore not in drawn_joint(panels.VIEW3D_PT_cairn_joint, ob)
    facts.is_baked, facts.report = False, ""


def test_the_check_counts_joints_by_kind(registered):
    """Blender's types, and Cairn's in their place."""
    first, second = registered.body("First", shape="BOX"), registered.body("Second", shape="BOX", location=(3, 0, 0))
    for number, kind in enumerate(("HINGE", "POINT", "HINGE", "GENERIC_SPRING")):
        joint(registered, f"Joint{number}", first, second, kind=kind)
    joint(registered, "Rope", first, second, extras={"kind": "ROPE"})
    bpy.ops.cairn.check_scene()
    assert "5 joints: 1 Point, 2 Hinge, 1 Generic Spring, 1 Rope" in " ".join(draw_all()["VIEW3D_PT_cairn_check"])


def test_without_a_world_the_sidebar_offers_one():
    bpy.ops.rigidbody.world_remove()
    shown = drawn(panels.VIEW3D_PT_cairn, width=2000)
    assert shown[0].startswith("To try it: Add > Cairn, then Bake.")
    assert shown[1:] == ["Ready-Made Scene", "Add Active", "Add Passive"]
    assert drawn(panels.SCENE_PT_cairn) is None  # the panel above it has the button


def test_a_bake_whose_world_was_removed_can_be_deleted(registered):
    registered.body("Box", shape="BOX", location=(0, 0, 0.5))
    registered.world.point_cache.frame_end = 3
    bpy.ops.cairn.bake()
    bpy.ops.rigidbody.world_remove()
    assert drawn(panels.VIEW3D_PT_cairn)[-1] == "cairn.delete_bake"
    bpy.ops.cairn.delete_bake()
    assert "cairn.delete_bake" not in drawn(panels.VIEW3D_PT_cairn)


def test_bodies_of_nested_collections_are_counted(registered):
    inner = bpy.data.collections.new("Inner")
    registered.world.collection.children.link(inner)
    box = registered.body("Box", shape="BOX", location=(0, 0, 0.5))
    registered.world.collection.objects.unlink(box)
    inner.objects.link(box)
    assert "1 rigid body" in drawn(panels.VIEW3D_PT_cairn)


def drawn_preferences():
    preferences.documentation.cache_clear()
    layout = Layout()
    preferences.CairnPreferences.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.texts


def test_preferences_lead_to_the_documentation(tmp_path, monkeypatch):
    """To the website of the zip, else to the guide beside the sources; where there is neither, a line says so."""
    assert "Documentation" in drawn_preferences()
    assert preferences.documentation().endswith("/docs/guide/README.md")
    monkeypatch.setattr(preferences.runtime, "ROOT", tmp_path)
    manifest = tmp_path / "blender_manifest.toml"
    manifest.write_text('id = "cairn"\n')
    assert any(text.startswith("Documentation: docs/guide in the repository") for text in drawn_preferences())
    manifest.write_text('website = "https://example.org/cairn"\n')
    assert "Documentation" in drawn_preferences()
    assert preferences.documentation() == "https://example.org/cairn"
    preferences.documentation.cache_clear()


def test_preferences_show_versions():
    layout = Layout()
    preferences.CairnPreferences.draw(SimpleNamespace(layout=layout), bpy.context)
    assert any("numba" in text for text in layout.texts)
    assert {"cairn.prepare", "cairn.copy_system_information"} <= set(layout.texts)
    assert any(text.startswith("Ready-made kernels: ") for text in layout.texts)


def test_as_an_extension_under_blenders_name(tmp_path):
    """``bl_ext.<repository>.cairn``: registers, finds its preferences, and loads neither Numba nor SciPy."""
    (tmp_path / "cairn").symlink_to(ROOT, target_is_directory=True)
    code = (
        "import bpy, importlib, sys, types\n"
        "for name, path in (('bl_ext', []), ('bl_ext.user_default', [sys.argv[1]])):\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        "    sys.modules[name].__path__ = path\n"
        "extension = importlib.import_module('bl_ext.user_default.cairn')\n"
        "extension.register()\n"
        "runtime = sys.modules['bl_ext.user_default.cairn.addon.runtime']\n"
        "assert runtime.EXTENSION == 'bl_ext.user_default.cairn'\n"
        "preferences = sys.modules['bl_ext.user_default.cairn.addon.ui.preferences']\n"
        "assert preferences.CairnPreferences.bl_idname == runtime.EXTENSION\n"
        "assert bpy.context.scene.cairn.method == 'auto'\n"
        "assert not [name for name in sys.modules if name == 'cairn' or name.startswith('cairn.')]\n"
        "assert not {'numba', 'llvmlite', 'scipy'} & set(sys.modules)\n"
        "extension.unregister()\n"
        "extension.register()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_importing_the_package_needs_no_bpy():
    code = (
        "import sys\n"
        "sys.modules['bpy'] = None\n"
        "import cairn, cairn.solver_core.model.model\n"
        "assert cairn.__version__\n"
        "assert not {'numba', 'scipy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_notes_of_a_bake_are_there_after_reopening(registered, tmp_path):
    """With the triangle of the summary its reason, and the button that selects what it is about."""
    registered.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5))
    registered.body("Box", shape="BOX", location=(0, 0, 0.4))  # in the floor
    registered.world.point_cache.frame_end = 3
    bpy.ops.cairn.bake()
    before = drawn(panels.VIEW3D_PT_cairn_check, width=2000)
    assert bpy.context.scene.cairn.has_warnings
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.context.window_manager.cairn.check == ""
    assert drawn(panels.VIEW3D_PT_cairn_check, width=2000) == before
    notes = operators.check_of(bpy.context)["notes"]
    place = next(place for place, (level, _, names) in enumerate(notes) if level == "warning" and names)
    assert bpy.ops.cairn.select_noted(source="check", place=place) == {"FINISHED"}
    bpy.ops.cairn.delete_bake()
    assert operators.check_of(bpy.context) == {}
