"""Texts of the window: tooltips stand alone, everything goes through Blender's translation, and nothing is cut at the
default width of a sidebar.
"""

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from joint_scenes import joint

import cairn
from cairn.addon.joint_kinds import JOINT_KINDS
from cairn.addon.settings import METHODS, VARIANT_NAMES
from cairn.addon.ui import operators, panels, takes_panel, wedge_panel, words

ADDON = Path(cairn.__file__).resolve().parent / "addon"
# Width of a sidebar as Blender opens it, and of the names of its tabs [pixels at a scale of 1].
DEFAULT_WIDTH = 280


@pytest.fixture(autouse=True)
def registered(maker):
    cairn.register()
    bpy.context.window_manager.cairn.property_unset("error")
    yield maker
    operators.running = None
    session = bpy.context.window_manager.cairn
    session.error = session.error_object = session.faults = session.check = session.status = ""
    session.show_all_notes = False


def own_classes():
    found = (getattr(bpy.types, name) for name in dir(bpy.types))
    return [cls for cls in found if getattr(cls, "__module__", "").startswith("cairn.")]


def described():
    """(where, description) of all operators, their properties, menus and settings that a user can see."""
    groups = {owner.cairn.bl_rna for owner in (bpy.context.scene, bpy.context.window_manager)}
    ob = bpy.data.objects.new("Described", None)
    entry = bpy.context.scene.cairn_wedge.entries.add()
    take = bpy.context.scene.cairn.takes.add()
    groups |= {
        ob.cairn.bl_rna,
        ob.cairn.joint.bl_rna,
        ob.cairn.glue.bl_rna,
        bpy.context.scene.cairn_wedge.bl_rna,
        entry.bl_rna,
        take.bl_rna,
    }
    assert len(groups) == 8
    for name in dir(bpy.ops.cairn):
        rna = getattr(bpy.ops.cairn, name).get_rna_type()
        yield name, rna.description
        groups.add(rna)
    for cls in own_classes():
        if issubclass(cls, bpy.types.Menu):
            yield cls.__name__, cls.bl_description if hasattr(cls, "bl_description") else cls.__doc__
    for group in groups:
        for prop in group.properties:
            # Blender's own, of all presets and of all groups
            if prop.identifier in {"rna_type", "name", "remove_name", "remove_active"} or prop.is_hidden:
                continue
            yield f"{group.identifier}.{prop.identifier}", prop.description
            for item in getattr(prop, "enum_items", ()):
                yield f"{group.identifier}.{prop.identifier}.{item.identifier}", item.description


# Beginnings that only go on from a label, or from the tooltip before.
_FRAGMENTS = ("of ", "the same", "as ", "how ", "where ", "which ", "what ", "and ", "also ", "it ", "they ", "a list")


def test_tooltips_stand_alone():
    """Whoever reads one without its label knows what it is about: a sentence, without the stop that Blender adds."""
    for where, text in described():
        assert len(text.split()) >= 4, (where, text)
        assert text[0].isupper(), (where, text)
        assert not text.lower().startswith(_FRAGMENTS), (where, text)
        assert text == text.strip().removesuffix("."), (where, text)
        assert "\n" not in text, (where, text)
        assert not re.search(r"\b\d+: ", text), (where, text)  # "0: none"


def test_units_of_numbers_are_told():
    """Where Blender does not show one: forces, torques, springs."""
    for name, prop in bpy.data.objects.new("Joint", None).cairn.joint.bl_rna.properties.items():
        if prop.type == "FLOAT" and prop.subtype == "NONE" and name != "gear_ratio":
            assert re.search(r"\[N[^\]]*\]", prop.description), name


class Layout:
    """Keeps what is drawn: (text, whether Blender looks it up, what it is part of)."""

    def __init__(self, drawn=None):
        self.drawn = [] if drawn is None else drawn

    def _part(self, **_):
        return Layout(self.drawn)

    row = column = box = split = grid_flow = _part

    def _keep(self, text, translate, kind):
        if text:
            self.drawn.append((text, translate, kind))

    def label(self, text="", translate=True, **_):
        self._keep(text, translate, "label")

    def menu(self, name, text="", translate=True, **_):
        self._keep(text, translate, "button")

    def progress(self, factor, text, **_):
        self._keep(text, False, "bar")

    def separator(self, **_):
        pass

    def template_icon(self, **_):
        pass

    def template_list(self, name, _, owner, prop, *__, **___):
        for index, entry in enumerate(getattr(owner, prop)):
            getattr(bpy.types, name).draw_item(None, bpy.context, self, owner, entry, 0, None, "", index)

    def prop(self, owner, name, text=None, translate=True, **_):
        prop = owner.bl_rna.properties[name]
        # beside its value a name has the panel's part for names, but a checkbox stands before its own
        kind = "beside" if prop.type != "BOOLEAN" else prop.type
        self._keep(prop.name if text is None else text, translate, kind)

    def operator(self, name, text=None, translate=True, **_):
        rna = getattr(bpy.ops.cairn if name.startswith("cairn.") else bpy.ops.rigidbody, name.split(".")[1])
        self._keep(rna.get_rna_type().name if text is None else text, translate, "button")
        return SimpleNamespace()


def draw(width):
    """What all panels of a sidebar draw, that is wide so many pixels."""
    names = ("scene", "view_layer", "window_manager", "preferences", "object", "mode")
    values = {name: getattr(bpy.context, name) for name in names}
    context = SimpleNamespace(region=SimpleNamespace(width=width), area=SimpleNamespace(type="VIEW_3D"), **values)
    layout = Layout()
    for cls in own_classes():
        if issubclass(cls, bpy.types.Panel) and cls.__name__.startswith("VIEW3D_PT_") and cls.poll(context):
            panel = SimpleNamespace(layout=layout, _draw_results=lambda context: None)
            cls.draw(panel, context)
    return layout.drawn


def empty(maker):
    pass


def checked(maker):
    """Notes of bodies and joints."""
    floor = maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5))
    plate = maker.mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    box = maker.body("Box", data=plate, shape="MESH", location=(0, 0, 0.5))
    for name in ("First", "Second"):
        maker.body(name, shape="BOX", location=(0, 0, 3), settings={"collision_collections": [False] * 20})
    joint(maker, "Hinge", floor, box, kind="HINGE")
    bpy.context.view_layer.objects.active = box
    bpy.ops.cairn.check_scene()
    bpy.context.window_manager.cairn.show_all_notes = True


def refused(maker):
    checked(maker)
    maker.scene.objects["Box"].rigid_body.mass = 0
    maker.scene.objects["First"].scale.x = 0
    with pytest.raises(RuntimeError):
        bpy.ops.cairn.bake()


def running(maker):
    checked(maker)
    # the operator has looked it up; one of many words
    text = "«Preparing the solver, first time only, about 1 minute left (0:24)»"
    operators.running = {"text": text, "factor": 0.5, "hint": "ESC stops", "task": "A bake", "remark": ""}


def baked(maker):
    checked(maker)
    facts = maker.scene.cairn
    facts.is_baked, facts.baked_start, facts.baked_end, facts.requested_end = True, 1, 5, 9
    facts.summary = "Good: all contacts within tolerance. Baked 5 frames in 1.2 s"
    facts.worst_object = "Box"
    status = {
        "scene": maker.scene.name,
        "notes": [],
        "outdated": "Out of date: friction of 3 bodies",
        "checkpoint": {"fits": True, "frame": 5, "end": 9},
        "recorded": [1, 5],
        "why_not": "This bake cannot go on: it was made by another version",
    }
    bpy.context.window_manager.cairn.status = json.dumps(status)


def taken(maker):
    """A take that plays, and one whose keys lie beside; the start is shown."""
    baked(maker)
    for uid, name in (("1", "«First»"), ("2", "«Second»")):
        take = maker.scene.cairn.takes.add()
        take.uid, take.name, take.quality, take.date, take.seconds = uid, name, "preview", "2026-03-04T15:06", 12.0
    maker.scene.cairn.take = "2"
    maker.scene.rigidbody_world.enabled = maker.scene.cairn.is_baked = False


STATES = [empty, checked, refused, running, baked, taken]


def string_constants():
    """All strings in the add-on's files."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in ADDON.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_all_that_panels_draw_goes_through_the_translation(registered, state, monkeypatch):
    """What Blender looks up stands in the sources as it is drawn; all else has been looked up before."""
    state(registered)
    asked = []

    def marked(text):
        asked.append(text)
        return f"«{text}»" if text else text

    for module in (words, panels, takes_panel, wedge_panel, operators):
        for name in ("iface_", "rpt_", "tip_"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, marked)
    known = string_constants() | {"Active", "Passive"}
    names = {ob.name for ob in bpy.data.objects}
    inside = False
    drawn = draw(2000)
    assert drawn
    for text, looked_up, kind in drawn:
        if looked_up:
            assert text in known, (text, kind)
        else:
            rest = text
            while "«" in rest:  # marks lie in each other
                inside, rest = True, re.sub(r"«[^«»]*»", "", rest)
            left = re.sub("|".join(map(re.escape, sorted(names, key=len, reverse=True))) or "(?!)", "", rest)
            assert not re.search(r"[A-Za-z]{2,}", left), (text, kind)
    assert inside or state is empty
    assert all(not re.search(r"\d", text) for text in asked if text.startswith("its ")), asked  # numbers are holes


def test_numbers_and_names_of_a_text_are_holes(monkeypatch):
    """So that a text is translated once, whatever numbers it has; names keep theirs."""
    forms = {
        "is flat: simulated as a plate {} thick": "ist flach: als Platte von {} gerechnet",
        "Baked {} frames in {}": "{1} fuer {0} Bilder",
        "Baked frames {} to {} in {} after compiling for {}": "Bilder {0} bis {1} in {2}, nach {3}",
        "{} min {} s": "{} Min. {} Sek.",
        "{} s": "{} Sek.",
        "Good: {} solves above tolerance, the worst off by {} % ({}, frame {})": "{2}: {1} {0} {3}",
        "cannot write {}: Permission denied": "kein Platz: {}",
        "there is no property {}, perhaps {}": "nicht {}, eher {}",
        "its object {} is gone; choose another than {}": "{} weg, nicht {}",
        "starts {} deep in {}": "steckt in {1}, {0} tief",
    }
    monkeypatch.setattr(words, "iface_", lambda text: forms.get(text, text))
    assert words.told("is flat: simulated as a plate 0.003 thick") == "ist flach: als Platte von 0.003 gerechnet"
    assert words.told("Good. Baked 1,250 frames in 8.1 s") == "Good. 8.1 Sek. fuer 1,250 Bilder"
    text = "Baked frames 20 to 48 in 3 min 20 s after compiling for 41 s"
    assert words.told(text) == "Bilder 20 bis 48 in 3 Min. 20 Sek., nach 41 Sek."
    text = "Good: 2 solves above tolerance, the worst off by 3.4 % (Cube.014 on Floor, frame 88)"
    assert words.told(text, ["Cube.014 on Floor"]) == "Cube.014 on Floor: 3.4 2 88"
    for place in ("/shots/a b.blend".replace(" ", "_"), "C:\\shots\\a.blend"):
        assert words.told(f"cannot write {place}: Permission denied") == f"kein Platz: {place}"
    assert words.told("there is no property 'masss', perhaps 'mass'") == "nicht 'masss', eher 'mass'"
    assert words.told("its object Box is gone; choose another than Boxes", ["Box", "Boxes"]) == "Box weg, nicht Boxes"
    assert words.told("starts 0.2 deep in Cube.003", ["Cube.003"]) == "steckt in Cube.003, 0.2 tief"
    assert words.told("has 3 {odd} names 5") == "has 3 {odd} names 5"


def test_a_list_at_the_end_of_a_sentence_is_told_entry_by_entry(monkeypatch):
    """Its head is one form, and each entry another, however many there are; an unknown entry stays as it is."""
    forms = {
        "Out of date: {}": "Veraltet: {}",
        "friction of {} bodies": "Reibung von {} Koerpern",
        "mass of {}": "Masse von {}",
        "{} and {} more": "{} und {} weitere",
        "{} joints: {}": "{} Gelenke: {}",
        "{} Hinge": "{} Scharnier",
        "{} to {}": "{} bis {}",
        "is simulated in these frames only, as Animated or Dynamic is keyed: {}": "nur in {}",
    }
    monkeypatch.setattr(words, "iface_", lambda text: forms.get(text, text))
    text = "Out of date: friction of 1,200 bodies, mass of Box, substeps and 2 more"
    assert words.told(text, ["Box"]) == "Veraltet: Reibung von 1,200 Koerpern, Masse von Box, substeps und 2 weitere"
    assert words.told("17 joints: 15 Hinge, 2 Point") == "17 Gelenke: 15 Scharnier, 2 Point"
    text = "is simulated in these frames only, as Animated or Dynamic is keyed: 2 to 10, 31 to 250"
    assert words.told(text) == "nur in 2 bis 10, 31 bis 250"
    unknown = "Simulated to frame 48, but not for the scene as it is: 1 removed body"
    assert words.told(unknown) == unknown
    bpy.data.objects.new("Box", None)
    assert words.names_told("Out of date: mass of Box, friction of 3 bodies") == ["Box"]


@pytest.mark.parametrize(
    "operator", ["bake", "check_scene", "delete_bake", "wedge", "prepare", "continue_bake", "show"]
)
def test_what_is_at_work_is_told_in_whole_sentences(operator):
    """Why nothing else begins, and what a click is answered, for each operator that works in steps."""
    cls = next(
        cls for cls in own_classes() if getattr(cls, "bl_idname", "") in {f"cairn.{operator}", f"CAIRN_OT_{operator}"}
    )
    assert words.busy_text(cls._task)
    assert words.remark_text(cls._task).startswith("Only looking around works while ")
    stops = "ESC stops it"
    assert (
        (stops in words.busy_text(cls._task))
        == (stops in words.remark_text(cls._task))
        == (operator not in ("delete_bake", "show"))
    )


# What keeps English texts for ``told``, or has none for people.
TOLD_LATER = {"SceneError", "BakeProgress", "parse_vary"}


def test_no_sentence_of_the_window_is_put_together_untranslated():
    """In the files of the window words stand in f-strings only where ``told`` looks them up: of errors and progress."""
    for path in sorted((ADDON / "ui").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        allowed = set()
        for node in ast.walk(tree):
            is_told = isinstance(node, ast.Call) and getattr(node.func, "id", "") in TOLD_LATER
            if is_told or isinstance(node, ast.Raise):
                allowed |= set(ast.walk(node))
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and node not in allowed:
                parts = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
                assert not re.search(r"(?<!\.)\b[a-z]{3,}\b(?!\.|:)", parts), (path.name, node.lineno, parts)


@pytest.mark.parametrize("scale", [1.0])
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_nothing_is_cut_at_the_default_width(registered, state, scale):
    """Lines and names of settings fit, as wide as Blender's font draws them."""
    state(registered)
    names = [name for name, _, _ in JOINT_KINDS]
    for number, (method, _, _) in enumerate(METHODS):
        registered.scene.cairn.method = method
        for ob in bpy.data.objects:
            if ob.rigid_body_constraint is not None:
                ob.cairn.joint.kind = names[number % len(names)]
                bpy.context.view_layer.objects.active = ob
        for text, _, kind in draw(DEFAULT_WIDTH):
            assert width_of(text) + ROOM[kind] <= DEFAULT_WIDTH, (text, kind, width_of(text))
    assert set(VARIANT_NAMES)


# What a line has at its sides and before it [pixels]: the panel's margins and tabs, an icon, a checkbox; beside a name
# its value.
ROOM = {"label": 60, "button": 60, "bar": 65, "BOOLEAN": 66, "beside": 0.6 * DEFAULT_WIDTH + 20}


def width_of(text):
    """Of a text in the panel's font, at its size [pixels]."""
    import blf  # comes with bpy

    blf.size(0, 11)
    return blf.dimensions(0, text)[0]


def test_numbers_and_their_units_stay_in_one_line():
    context = SimpleNamespace(region=SimpleNamespace(width=120), preferences=bpy.context.preferences)
    text = "tolerance. Baked 40 frames in 6.5 s, off by 3.4 % at 9.1 m/s under 39.1 kN and 0.9 kN m"
    lines = panels.wrapped(context, text, 0)
    assert " ".join(lines) == text
    assert not any(re.match(r"(s|%|m/s|kN|m)\b", line) for line in lines)
    assert not any(re.search(r"\d$", line) for line in lines if not line.endswith("40"))
