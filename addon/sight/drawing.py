"""Surfaces on the screen: one shader that puts each vertex where its body is, and what a handler needs around it.

To be called in a draw handler of a 3D view only.
"""

import functools

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

# Bodies in a row of the texture that holds their poses, two texels each.
_IN_A_ROW = 1024
# Edges are drawn before the faces that they belong to, by so much of their distance.
_LIFT = 1e-3

_VERTEX = """
void main()
{
    int body = int(place.w + 0.5);
    ivec2 cell = ivec2(2 * (body % IN_A_ROW), body / IN_A_ROW);
    vec3 centre = texelFetch(poses, cell, 0).xyz;
    vec4 turn = texelFetch(poses, cell + ivec2(1, 0), 0);
    vec3 twice = 2.0 * cross(turn.yzw, place.xyz);
    at = centre + place.xyz + turn.x * twice + cross(turn.yzw, twice);
    tint = colour;
    gl_Position = view_projection * vec4(at + look.w * (eye.xyz - eye.w * at), 1.0);
}
"""
_FRAGMENT = """
void main()
{
    vec3 normal = cross(dFdx(at), dFdy(at));
    vec3 ray = normalize(eye.xyz - eye.w * at);
    float facing = abs(dot(normal, ray)) / max(length(normal), 1e-20);
    float light = mix(1.0, 0.35 + 0.65 * facing, look.x);
    drawn = vec4(tint.rgb * light * look.y, tint.a * look.z);
}
"""


@functools.cache
def _shader():
    between = gpu.types.GPUStageInterfaceInfo("cairn_between")
    between.smooth("VEC3", "at")
    between.flat("VEC4", "tint")
    info = gpu.types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "view_projection")
    info.push_constant("VEC4", "look")
    info.push_constant("VEC4", "eye")
    info.sampler(0, "FLOAT_2D", "poses")
    info.vertex_in(0, "VEC4", "place")
    info.vertex_in(1, "VEC4", "colour")
    info.vertex_out(between)
    info.fragment_out(0, "VEC4", "drawn")
    info.define("IN_A_ROW", str(_IN_A_ROW))
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)


def forget_shader() -> None:
    """Let go of the shader, as the add-on is switched off."""
    _shader.cache_clear()


def poses_on_card(position: np.ndarray, orientation: np.ndarray):
    """A texture of poses [body_count, 3], [body_count, 4] (w, x, y, z) for ``Drawn.draw``."""
    count = max(len(position), 1)
    rows = -(-count // _IN_A_ROW)
    texels = np.zeros((rows * _IN_A_ROW, 2, 4), np.float32)
    texels[: len(position), 0, :3] = position
    texels[: len(position), 1] = orientation
    data = gpu.types.Buffer("FLOAT", texels.size, texels.ravel())
    return gpu.types.GPUTexture((2 * _IN_A_ROW, rows), format="RGBA32F", data=data)


class Drawn:
    """A surface on the graphics card; made in a draw handler, and drawn in others."""

    def __init__(self, surface):
        vertices = {"place": surface.place, "colour": surface.colour}
        self._faces = self._edges = None
        if len(surface.triangles):
            self._faces = batch_for_shader(_shader(), "TRIS", vertices, indices=surface.triangles)
        if len(surface.edges):
            self._edges = batch_for_shader(_shader(), "LINES", vertices, indices=surface.edges)

    def draw(self, poses, region_data, *, alpha=1.0, edge_shade=0.35, lift=0.0, faces=True) -> None:
        """Draw with a texture of poses; with the depth test and the blending that the state has."""
        shader = _shader()
        shader.bind()
        shader.uniform_float("view_projection", region_data.perspective_matrix)
        shader.uniform_float("eye", _eye(region_data))
        shader.uniform_sampler("poses", poses)
        if faces and self._faces is not None:
            shader.uniform_float("look", (1.0, 1.0, alpha, lift * _LIFT))
            self._faces.draw(shader)
        if self._edges is not None:
            shader.uniform_float("look", (0.0, edge_shade, 1.0, (1.0 + lift) * _LIFT))
            self._edges.draw(shader)


def _eye(region_data):
    """Where the eye is (x, y, z, 1), or which way and how far (x, y, z, 0) where lines of sight are parallel."""
    from_view = region_data.view_matrix.inverted()
    if region_data.is_perspective:
        return (*from_view.translation, 1.0)
    return (*(from_view.col[2].xyz.normalized() * region_data.view_distance), 0.0)


def identity_pose():
    """The texture of one body at the origin, for what is in world axes."""
    return poses_on_card(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))


def veil(colour) -> None:
    """Let what the view shows recede behind a colour (r, g, b, a), and forget how far away it is."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = [(-1.0, -1.0, 0.0), (3.0, -1.0, 0.0), (-1.0, 3.0, 0.0)]
    batch = batch_for_shader(shader, "TRIS", {"pos": corners})
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("ALPHA")
    with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
        gpu.matrix.load_identity()
        gpu.matrix.load_projection_matrix(_identity())
        shader.uniform_float("color", colour)
        batch.draw(shader)
    gpu.state.active_framebuffer_get().clear(depth=1.0)


@functools.cache
def _identity():
    from mathutils import Matrix

    return Matrix.Identity(4)


def line(begin, end, colour, width: float) -> None:
    """A straight line between two places, over all that is there; its width is in pixels."""
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": [tuple(begin), tuple(end)]})
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("ALPHA")
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", colour)
    batch.draw(shader)


def finish() -> None:
    """Wait until the card has drawn: a pixel is read back."""
    framebuffer = gpu.state.active_framebuffer_get()
    framebuffer.read_color(0, 0, 1, 1, 4, 0, "FLOAT")


def restore_state() -> None:
    """What Blender expects after a handler."""
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")
