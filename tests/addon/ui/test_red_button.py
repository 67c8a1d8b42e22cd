"""The red *Bake Again* is never wrong: on the ready-made scenes, at some frames, after edits of both kinds.

Each scene is baked. Then at each of some frames, ten at night, things are edited on which nothing of the motion
depends, and the bake stays up to date; and things on which it depends, and the panel says so until the edit is taken
back. What the window reads of the scene after a change, which is only what Blender says that has changed, is what all
of it is.
"""

import contextlib
import json
import random

import bpy
import pytest
from nightly import cases

import cairn
from cairn.addon.demo import build_scene, demo_names, description_of
from cairn.addon.read.scene_digest import scene_digest
from cairn.addon.ui import watch
from cairn.addon.ui.kept_digest import KeptDigest

# Servos, a throw, and what just stands; all of the scenes at night.
DAILY = ("walker", "wall", "tumbling")
EVERY = [pytest.param(name, marks=() if name in DAILY else pytest.mark.nightly) for name in sorted(demo_names())]
FRAMES, BAKED = cases(4, 10), 12


class Edits:
    """Edits of a scene by chance; each returns what takes it back."""

    def __init__(self, scene, chance):
        self.scene, self.chance = scene, chance
        self.bodies = list(scene.rigidbody_world.collection.all_objects)
        self.moving = [ob for ob in self.bodies if ob.rigid_body.type == "ACTIVE"]
        joints = scene.rigidbody_world.constraints
        self.joints = [ob for ob in joints.all_objects if ob.rigid_body_constraint] if joints else []

    def set(self, owner, name, value):
        before = getattr(owner, name)
        before = before if isinstance(before, str | int | float | bool) or before is None else tuple(before)
        setattr(owner, name, value)
        return lambda: setattr(owner, name, before)

    def add(self, owner, name, by=1.0):
        return self.set(owner, name, getattr(owner, name) + by)

    # On which nothing depends

    def camera(self):
        return self.add(self.scene.camera.location, "x")

    def colour(self):
        return self.set(self.chance.choice(self.bodies), "color", (self.chance.random(), 0.5, 0.5, 1.0))

    def new_name(self):
        ob = self.chance.choice(self.bodies)
        return self.set(ob, "name", f"{ob.name} renamed")

    def name_of_mesh(self):
        mesh = self.chance.choice([ob for ob in self.bodies if ob.data.vertices]).data
        return self.set(mesh, "name", f"{mesh.name} renamed")

    def material(self):
        mesh = self.chance.choice([ob for ob in self.bodies if ob.data.vertices]).data
        mesh.materials.append(bpy.data.materials.new("Red"))
        return lambda: mesh.materials.pop(index=len(mesh.materials) - 1)

    def light(self):
        ob = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
        self.scene.collection.objects.link(ob)
        return lambda: bpy.data.objects.remove(ob)

    def resolution(self):
        return self.add(self.scene.render, "resolution_x", 2)

    def key_of_looks(self):
        ob = self.chance.choice(self.bodies)
        ob.keyframe_insert("hide_render", frame=self.scene.frame_current)
        return lambda: None

    def display(self):
        return self.set(self.chance.choice(self.bodies), "display_type", "WIRE")

    def custom_property(self):
        ob = self.chance.choice(self.bodies)
        ob["note"] = self.chance.random()
        return lambda: None

    def last_frame_of_the_scene(self):
        return self.add(self.scene, "frame_end", 5)

    def selection(self):
        ob = self.chance.choice(self.bodies)
        ob.select_set(not ob.select_get())
        return lambda: None

    # On which the motion depends

    def mass(self):
        return self.add(self.chance.choice(self.moving).rigid_body, "mass")

    def friction(self):
        return self.add(self.chance.choice(self.bodies).rigid_body, "friction", 0.25)

    def bounciness(self):
        body = self.chance.choice(self.bodies).rigid_body
        return self.set(body, "restitution", 0.75 if body.restitution != 0.75 else 0.5)

    def damping(self):
        body = self.chance.choice(self.moving).rigid_body
        return self.set(body, "linear_damping", 0.75 if body.linear_damping != 0.75 else 0.5)

    def collections(self):
        body = self.chance.choice(self.bodies).rigid_body
        before = tuple(body.collision_collections)
        return self.set(body, "collision_collections", [not before[0], *before[1:]])

    def dynamic(self):
        body = self.chance.choice(self.moving).rigid_body
        return self.set(body, "enabled", not body.enabled) if not self.is_keyed(body, "enabled") else self.mass()

    def scale(self):
        return self.add(self.chance.choice(self.bodies).scale, "z", 0.125)

    def vertex(self):
        mesh = self.chance.choice([ob for ob in self.bodies if ob.data.vertices]).data
        before = tuple(mesh.vertices[0].co)

        def move(place):
            mesh.vertices[0].co = place
            mesh.update()

        move((before[0], before[1], before[2] + 0.125))
        return lambda: move(before)

    def gravity(self):
        return self.add(self.scene.gravity, "x")

    def rate(self):
        return self.add(self.scene.render, "fps", 1)

    def substeps(self):
        return self.add(self.scene.cairn, "substeps", 1)

    def quality(self):
        return self.set(self.scene.cairn, "tolerance", 0.5 * self.scene.cairn.tolerance)

    def range(self):
        return self.add(self.scene.rigidbody_world.point_cache, "frame_end", 1)

    def initial_motion(self):
        return self.set(self.chance.choice(self.moving).cairn, "start_velocity", (0.0, 0.0, 1.0))

    def new_body(self):
        ob = bpy.data.objects.new("New", self.bodies[0].data)
        ob.location.z = 100.0
        self.scene.collection.objects.link(ob)
        self.scene.rigidbody_world.collection.objects.link(ob)
        return lambda: bpy.data.objects.remove(ob)

    def key_of_kind(self):
        ob = self.chance.choice(self.moving)
        if self.is_keyed(ob.rigid_body, "kinematic"):
            return self.friction()
        ob.keyframe_insert("rigid_body.kinematic", frame=self.scene.frame_start)
        return lambda: ob.keyframe_delete("rigid_body.kinematic", frame=self.scene.frame_start)

    def joint(self):
        if not self.joints:
            return self.mass()
        one = self.chance.choice(self.joints).rigid_body_constraint
        return self.set(one, "disable_collisions", not one.disable_collisions)

    def place_of_joint(self):
        free = [ob for ob in self.joints if ob.animation_data is None]
        return self.add(self.chance.choice(free).location, "x", 0.125) if free else self.friction()

    @staticmethod
    def is_keyed(body, name):
        data = body.id_data.animation_data
        if data is None or data.action is None:
            return False
        bags = [bag for layer in data.action.layers for strip in layer.strips for bag in strip.channelbags]
        return any(curve.data_path == f"rigid_body.{name}" for bag in bags for curve in bag.fcurves)


NOTHING = (
    *("camera", "colour", "new_name", "name_of_mesh", "material", "light", "resolution", "key_of_looks", "display"),
    *("custom_property", "last_frame_of_the_scene", "selection"),
)
SOMETHING = (
    *("mass", "friction", "bounciness", "damping", "collections", "dynamic", "scale", "vertex", "gravity", "rate"),
    *("substeps", "quality", "range", "initial_motion", "new_body", "key_of_kind", "joint", "place_of_joint"),
)


@contextlib.contextmanager
def listening():
    """What the window keeps of a scene, told of changes as in the window."""
    digest = KeptDigest()

    def note(_, depsgraph):
        digest.note(depsgraph)

    bpy.app.handlers.depsgraph_update_post.append(note)
    yield digest
    bpy.app.handlers.depsgraph_update_post.remove(note)


def differences(one, other):
    """What differs between two digests, as (group, name)."""
    keys = [(group, name) for group in one for name in {*one[group], *other[group]}]
    return [(group, name) for group, name in keys if one[group].get(name) != other[group].get(name)]


def outdated(scene, kept):
    """Why the panel says that the bake is out of date; empty if it does not."""
    bpy.context.view_layer.update()
    assert differences([*kept.steps(scene.name)][-1], scene_digest(scene)) == []
    watch.look_at(scene, bpy.context.window_manager.cairn)
    return json.loads(bpy.context.window_manager.cairn.status)["outdated"]


@pytest.mark.parametrize("name", EVERY)
def test_the_red_button_is_never_wrong(name):
    cairn.register()
    scene = build_scene(description_of(name))
    bpy.context.window.scene = scene
    scene.rigidbody_world.point_cache.frame_end = scene.frame_start + BAKED
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    chance = random.Random(name)
    edits, done = Edits(scene, chance), []
    with listening() as kept:
        for number in range(FRAMES):
            scene.frame_set(scene.frame_start + (scene.frame_end - scene.frame_start) * number // (FRAMES - 1))
            assert outdated(scene, kept) == "", (scene.frame_current, done)
            for what in chance.sample(NOTHING, 3):
                done.append((scene.frame_current, what))
                getattr(edits, what)()
                assert outdated(scene, kept) == "", done[-3:]
            for what in chance.sample(SOMETHING, 3):
                done.append((scene.frame_current, what))
                take_back = getattr(edits, what)()
                assert outdated(scene, kept) != "", done
                take_back()
                assert outdated(scene, kept) == "", done[-3:]
