"""Draw the film of the README: a wall that is hit, as it is rendered after a bake, with dust where things touch.

    pip install -e ".[bench]"
    python tools/draw_film.py          docs/images/film.webp

The wall is the ready-made scene, baked with its defaults and *Contacts as Points*. What is added is what a shot has
anyway: materials, a sky, a sun, a lens; and a second modifier on the points that puts a puff on each, which grows and
fades with its age. Rendering by Cycles takes some ten minutes on two cores.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import bpy
from PIL import Image

from cairn.addon import cli_scene, demo
from cairn.addon.bake import bake_scene
from cairn.addon.cli_output import blender_lines_dropped
from cairn.addon.settings import BakeSettings
from cairn.addon.write.contact_points import points_of
from cairn.solver_core.scenes import SCENES

ROOT = Path(__file__).resolve().parents[1]
FILM = ROOT / "docs" / "images" / "film.webp"
SIZE, SAMPLES, LENS = (480, 270), 12, 50.0
# Of the scene's frames, at 24 a second, every second one is shown, and the last one stays so long [ms].
FIRST, LAST, STRIDE, HOLD = 14, 64, 2, 1500
QUALITY, LARGEST = 80, 1_500_000  # [bytes]
# Puffs: for how many frames, from which impulse [N s] and slip [m/s] on, how large at first, and how they grow [m].
PUFF_FRAMES, LEAST_IMPULSE, LEAST_SLIP, PUFF_SIZE, PUFF_GROWTH = 16, 2.0, 0.8, 0.05, 0.034


def draw_film(pictures: Path):
    """Write the film; ``pictures`` is a folder for its frames, of which those that are there are not made again."""
    scene = demo.build_scene(SCENES["wall"]())
    scene.cairn.contact_points = True
    print(bake_scene(scene, BakeSettings.from_scene(scene)).summary, flush=True)
    _dress(scene)
    _add_puffs(points_of(scene))
    _set_render(scene)
    paths = []
    for number in range(FIRST, LAST + 1, STRIDE):
        paths.append(pictures / f"{number:04d}.png")
        if not paths[-1].is_file():
            scene.frame_set(number)
            scene.render.filepath = str(paths[-1])
            with blender_lines_dropped():
                bpy.ops.render.render(write_still=True, scene=scene.name)
            print(f"frame {number}", flush=True)
    shown = [Image.open(path).convert("RGB") for path in paths]
    lasting = [round(1000 * STRIDE / 24.0)] * (len(shown) - 1) + [HOLD]
    shown[0].save(FILM, save_all=True, append_images=shown[1:], duration=lasting, loop=0, quality=QUALITY, method=6)
    size = FILM.stat().st_size
    print(f"{FILM.relative_to(ROOT)}: {len(shown)} pictures, {size:,} bytes")
    if size > LARGEST:
        sys.exit(f"the film is larger than {LARGEST:,} bytes")


def _set_render(scene):
    scene.render.engine, scene.cycles.device = "CYCLES", "CPU"
    scene.cycles.samples, scene.cycles.use_denoising = SAMPLES, True
    scene.cycles.transparent_max_bounces = 24
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.use_motion_blur = True
    scene.render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform, scene.view_settings.look = "AgX", "AgX - Medium High Contrast"
    scene.camera.data.lens = LENS
    scene.camera.data.dof.use_dof = False


def _dress(scene):
    """Bricks of clay, a ball of steel, a floor of concrete; a sky and a low sun."""
    brick, steel = _clay(), _material("Steel", (0.12, 0.13, 0.14), 0.25, metallic=1.0)
    floor = _speckled("Concrete", (0.34, 0.33, 0.31), (0.5, 0.49, 0.46), 3.0)
    for ob in scene.objects:
        if ob.type != "MESH" or ob.rigid_body is None:
            continue
        kind = floor if ob.rigid_body.type == "PASSIVE" else brick
        kind = steel if ob.rigid_body.collision_shape == "SPHERE" else kind
        ob.data.materials.clear()
        ob.data.materials.append(kind)
    for ob in [ob for ob in scene.objects if ob.type == "LIGHT"]:
        bpy.data.objects.remove(ob)
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 5.5, 0.02, (1.0, 0.9, 0.76)
    placed = bpy.data.objects.new("Sun", sun)
    placed.rotation_euler = (0.95, 0.1, 0.7)
    scene.collection.objects.link(placed)
    scene.world = world = bpy.data.worlds.new("Sky")
    if world.node_tree is None:
        world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value, background.inputs["Strength"].default_value = (0.5, 0.62, 0.82, 1.0), 0.4


def _material(name, color, roughness, metallic=0.0):
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    shader = _shader(material)
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Roughness"].default_value, shader.inputs["Metallic"].default_value = roughness, metallic
    return material


def _shader(material):
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def _speckled(name, dark, light, scale):
    """A rough material between two colours, by noise."""
    material = _material(name, dark, 0.9)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    where, noise, ramp = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeTexNoise"), nodes.new("ShaderNodeMix")
    noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = scale, 8.0
    ramp.data_type = "RGBA"
    links.new(where.outputs["Object"], noise.inputs["Vector"])
    links.new(noise.outputs["Fac"], ramp.inputs[0])
    ramp.inputs[6].default_value, ramp.inputs[7].default_value = (*dark, 1.0), (*light, 1.0)
    links.new(ramp.outputs[2], _shader(material).inputs["Base Color"])
    return material


def _clay():
    """Bricks, each burnt a bit differently."""
    material = _speckled("Clay", (0.2, 0.06, 0.035), (0.36, 0.14, 0.08), 9.0)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    mixed = next(node for node in nodes if node.type == "MIX")
    each, hue = nodes.new("ShaderNodeObjectInfo"), nodes.new("ShaderNodeHueSaturation")
    value = nodes.new("ShaderNodeMath")
    value.operation = "MULTIPLY_ADD"
    value.inputs[1].default_value, value.inputs[2].default_value = 0.7, 0.65
    links.new(each.outputs["Random"], value.inputs[0])
    links.new(value.outputs[0], hue.inputs["Value"])
    links.new(mixed.outputs[2], hue.inputs["Color"])
    links.new(hue.outputs["Color"], _shader(material).inputs["Base Color"])
    return material


def _add_puffs(points):
    """A ball on each contact that grows with its age, of a dust that fades."""
    shown = points.modifiers[0]
    for item in shown.node_group.interface.items_tree:
        if item.name in ("Frames", "Least Impulse"):
            value = PUFF_FRAMES if item.name == "Frames" else LEAST_IMPULSE
            if hasattr(shown, "properties"):  # Blender 5.2 and later
                getattr(shown.properties.inputs, item.identifier).value = value
            else:
                shown[item.identifier] = value
    group = bpy.data.node_groups.new("Puffs", "GeometryNodeTree")
    group.is_modifier = True
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes, links = group.nodes, group.links
    given, result = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    now, born = nodes.new("GeometryNodeInputSceneTime"), nodes.new("GeometryNodeInputNamedAttribute")
    born.data_type = "INT"
    born.inputs["Name"].default_value = "frame"
    age, size, share = (nodes.new("ShaderNodeMath") for _ in range(3))
    age.operation, size.operation, share.operation = "SUBTRACT", "MULTIPLY_ADD", "DIVIDE"
    links.new(now.outputs["Frame"], age.inputs[0])
    links.new(next(out for out in born.outputs if out.name == "Attribute" and out.enabled), age.inputs[1])
    links.new(age.outputs[0], size.inputs[0])
    size.inputs[1].default_value, size.inputs[2].default_value = PUFF_GROWTH, PUFF_SIZE
    links.new(age.outputs[0], share.inputs[0])
    share.inputs[1].default_value = float(PUFF_FRAMES)
    note = nodes.new("GeometryNodeStoreNamedAttribute")
    note.data_type, note.domain = "FLOAT", "POINT"
    note.inputs["Name"].default_value = "age"
    slip, speed = nodes.new("GeometryNodeInputNamedAttribute"), nodes.new("ShaderNodeVectorMath")
    slip.data_type, speed.operation = "FLOAT_VECTOR", "LENGTH"
    slip.inputs["Name"].default_value = "velocity"
    links.new(next(out for out in slip.outputs if out.name == "Attribute" and out.enabled), speed.inputs[0])
    slow, left = nodes.new("ShaderNodeMath"), nodes.new("GeometryNodeDeleteGeometry")
    slow.operation, left.domain = "LESS_THAN", "POINT"
    slow.inputs[1].default_value = LEAST_SLIP
    links.new(speed.outputs["Value"], slow.inputs[0])
    links.new(given.outputs["Geometry"], left.inputs["Geometry"])
    links.new(slow.outputs[0], left.inputs["Selection"])
    links.new(left.outputs["Geometry"], note.inputs["Geometry"])
    links.new(share.outputs[0], note.inputs["Value"])
    ball, dust, copies = (
        nodes.new(f"GeometryNode{name}") for name in ("MeshIcoSphere", "SetMaterial", "InstanceOnPoints")
    )
    ball.inputs["Radius"].default_value, ball.inputs["Subdivisions"].default_value = 1.0, 3
    dust.inputs["Material"].default_value = _dust()
    links.new(ball.outputs["Mesh"], dust.inputs["Geometry"])
    links.new(note.outputs["Geometry"], copies.inputs["Points"])
    links.new(dust.outputs["Geometry"], copies.inputs["Instance"])
    links.new(size.outputs[0], copies.inputs["Scale"])
    links.new(copies.outputs["Instances"], result.inputs["Geometry"])
    points.modifiers.new("Puffs", "NODES").node_group = group


def _dust():
    """Thin at the rim, and thinner with age."""
    material = bpy.data.materials.new("Dust")
    if material.node_tree is None:
        material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    result, mixed = nodes.new("ShaderNodeOutputMaterial"), nodes.new("ShaderNodeMixShader")
    clear, body = nodes.new("ShaderNodeBsdfTransparent"), nodes.new("ShaderNodeBsdfDiffuse")
    body.inputs["Color"].default_value = (0.72, 0.62, 0.52, 1.0)
    facing, age = nodes.new("ShaderNodeLayerWeight"), nodes.new("ShaderNodeAttribute")
    age.attribute_type, age.attribute_name = "INSTANCER", "age"
    middle, left, thick, thin = (nodes.new("ShaderNodeMath") for _ in range(4))
    middle.operation, left.operation, thick.operation, thin.operation = "SUBTRACT", "SUBTRACT", "POWER", "MULTIPLY"
    middle.inputs[0].default_value = left.inputs[0].default_value = 1.0
    facing.inputs["Blend"].default_value = 0.5
    links.new(facing.outputs["Facing"], middle.inputs[1])
    links.new(age.outputs["Fac"], left.inputs[1])
    links.new(middle.outputs[0], thick.inputs[0])
    thick.inputs[1].default_value = 2.5
    links.new(thick.outputs[0], thin.inputs[0])
    faded = nodes.new("ShaderNodeMath")
    faded.operation = "MULTIPLY"
    faded.inputs[1].default_value = 0.3
    links.new(left.outputs[0], faded.inputs[0])
    links.new(faded.outputs[0], thin.inputs[1])
    links.new(thin.outputs[0], mixed.inputs["Fac"])
    links.new(clear.outputs[0], mixed.inputs[1])
    links.new(body.outputs[0], mixed.inputs[2])
    links.new(mixed.outputs[0], result.inputs["Surface"])
    return material


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=Path, help="keep the pictures here, and use those that are here")
    arguments = parser.parse_args()
    cli_scene.ensure_registered()
    if arguments.frames:
        arguments.frames.mkdir(parents=True, exist_ok=True)
        draw_film(arguments.frames.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
            draw_film(Path(folder))


if __name__ == "__main__":
    main()
