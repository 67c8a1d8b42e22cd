"""Meshes that real files hold: what is wrong with one is said with the object's name, and what was done about it."""

import itertools

import numpy as np
import pytest
from scene_maker import CUBE_CORNERS, CUBE_FACES

from cairn.addon.read import self_crossings
from cairn.addon.read.scene_export import export_scene

# An L-shaped prism: concave, so that it is no hull where it moves.
OUTLINE = ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))
L_POINTS = [(x, y, z) for z in (0.0, 1.0) for x, y in OUTLINE]
L_FACES = [(5, 4, 3, 2, 1, 0), (6, 7, 8, 9, 10, 11)] + [(i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6) for i in range(6)]


def doubled():
    """Every face with corners of its own."""
    points = [L_POINTS[corner] for face in L_FACES for corner in face]
    starts = np.cumsum([0] + [len(face) for face in L_FACES])
    return points, [tuple(range(a, b)) for a, b in itertools.pairwise(starts)]


def without_area():
    """A face whose corners lie in a line."""
    return [*L_POINTS, (0.5, 0.0, 0.0)], [*L_FACES, (0, 12, 1)]


def inverted():
    return L_POINTS, [tuple(reversed(face)) for face in L_FACES]


def mixed():
    return L_POINTS, [tuple(reversed(face)) if number in (3, 4) else face for number, face in enumerate(L_FACES)]


def holed():
    """Its top is missing."""
    return L_POINTS, [L_FACES[0], *L_FACES[2:]]


def non_manifold():
    """A fin on one of its edges."""
    return [*L_POINTS, (-1.0, -1.0, 0.5)], [*L_FACES, (0, 6, 12)]


def self_crossing():
    """A bar through it."""
    bar = np.multiply(CUBE_CORNERS, (0.2, 0.2, 4.0)) + (0.4, 0.4, 0.5)
    start = len(L_POINTS)
    return [*L_POINTS, *bar.tolist()], L_FACES + [tuple(start + corner for corner in face) for face in CUBE_FACES]


# What is wrong -> what is said of a body that stays, and of one that moves.
BAD = {
    doubled: ("doubled vertices were merged", "24 doubled vertices were merged"),
    without_area: ("faces without area were left out", "1 faces without area were left out"),
    inverted: ("inside out: turned", "inside out: its faces were turned"),
    mixed: ("looked the other way than their neighbours: turned", "they were turned outwards"),
    holed: ("simulated as a sheet that nothing passes", "is open: it is simulated as a shell"),
    non_manifold: ("more than two faces: they count as borders", "more than two faces: it was made anew from a grid"),
    self_crossing: ("its inner faces push as well", "all that it encloses is solid"),
}


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.__name__)
@pytest.mark.parametrize("moves", [False, True], ids=["passive", "active"])
def test_what_is_wrong_is_said_with_the_objects_name(maker, bad, moves):
    """Of the object, of no other, and nothing else that would be wrong."""
    points, faces = bad()
    maker.body("Sound", data=maker.mesh(L_POINTS, L_FACES), type="PASSIVE", shape="MESH", location=(9, 0, 0))
    kind = {"type": "ACTIVE" if moves else "PASSIVE", "shape": "MESH"}
    maker.body("Bad", data=maker.mesh(points, faces), **kind)
    notes = export_scene(maker.scene, decompose=False).notes
    assert not [note for note in notes if note.object_name == "Sound"]
    said = " ".join(note.text for note in notes if note.object_name == "Bad")
    expected = BAD[bad][moves]
    others = [texts[moves] for other, texts in BAD.items() if other is not bad]
    assert expected in said
    # A fin also leaves two open edges.
    assert bad is non_manifold or not [text for text in others if text in said]


def test_a_crossing_is_counted(maker):
    """A bar that goes in at one side and out at the other."""
    points, faces = self_crossing()
    maker.body("Bad", data=maker.mesh(points, faces), type="PASSIVE", shape="MESH")
    maker.body("Grown", data=maker.mesh(1000.0 * np.array(points), faces), type="PASSIVE", shape="MESH")
    said = [note.text for note in export_scene(maker.scene).notes if "passes through itself" in note.text]
    assert len(said) == 2
    assert said[0] == said[1]


@pytest.mark.parametrize("kind", ["PASSIVE", "ACTIVE"])
def test_what_is_too_large_to_be_looked_at_is_said(maker, monkeypatch, kind):
    """Above the limit a mesh is taken as it is, with a note; at the limit it is looked at."""
    points, faces = self_crossing()
    maker.body("Large", data=maker.mesh(points, faces), type=kind, shape="MESH")
    count = sum(len(face) - 2 for face in faces)

    def said():
        notes = export_scene(maker.scene, decompose=False).notes
        return " ".join(note.text for note in notes if note.object_name == "Large")

    monkeypatch.setattr(self_crossings, "MAXIMAL_TRIANGLES", count - 1)
    assert "was not looked for" in said()
    assert "passes through itself (" not in said()
    monkeypatch.setattr(self_crossings, "MAXIMAL_TRIANGLES", count)
    assert "was not looked for" not in said()
    assert "passes through itself (" in said()


def test_mass_of_a_crossing_mesh_is_that_of_its_parts(maker, monkeypatch):
    """What is enclosed twice would weigh twice; two boxes through each other are no hull either, however full it is."""
    from cairn.addon.read import concave_shapes

    # Two square plates, one turned by an eighth: their volumes together are more than their hull's.
    turn = np.array([[1, -1, 0], [1, 1, 0], [0, 0, np.sqrt(2)]]) / np.sqrt(2)
    plate = np.multiply(CUBE_CORNERS, (2.0, 2.0, 0.5))
    points = [*plate.tolist(), *(plate @ turn.T).tolist()]
    faces = [*CUBE_FACES, *(tuple(8 + corner for corner in face) for face in CUBE_FACES)]
    maker.body("Star", data=maker.mesh(points, faces), shape="MESH")
    parts = [plate / 2.0, plate @ turn.T / 2.0]
    monkeypatch.setattr(concave_shapes, "_cache", concave_shapes.DecompositionCache())
    monkeypatch.setattr(concave_shapes, "decompose_beside", lambda decompositions: [parts for _ in decompositions])
    monkeypatch.setattr(concave_shapes, "coacd_version", lambda: "1.0")
    export = export_scene(maker.scene)
    said = " ".join(note.text for note in export.notes if note.object_name == "Star")
    assert "2 convex parts" in said
    assert "mass is that of its convex parts, because its mesh passes through itself" in said
