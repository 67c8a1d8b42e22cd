"""Pictures of a motion: several frames side by side, rendered as the scene is set up and put together with NumPy.

Workbench draws with OpenGL or Vulkan. Where there is neither, not even in software, Blender does not report an error
but aborts the process, after a bake of minutes. So another process tries first, and Cycles steps in if that dies.
"""

import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

from .cli_output import blender_lines_dropped

# White between two frames of a strip [pixels].
GAP = 8
# Cycles as a stand-in: enough for a small picture with its denoiser on.
CYCLES_SAMPLES = 16
# The trial renders 16 x 16 pixels; most of its time is Blender's start [s].
SECONDS_TRIAL = 60.0

_TRIAL = """
import bpy
render = bpy.context.scene.render
render.engine, render.resolution_x, render.resolution_y = "BLENDER_WORKBENCH", 16, 16
bpy.ops.render.render()
"""


class PictureError(Exception):
    """Rendering gave no picture; one line."""


def telling_frames(position, count: int) -> list[int]:
    """Frames that tell a motion: dense where something moves fast, and never all at one time.

    Time and the way of the fastest body count for half each; the frames split their sum evenly, from half a part after
    the start (where something already happens) to the end.

    Parameters
    ----------
    position : float64 [frame_count, body_count, 3]
    count : int

    Returns
    -------
    list of int
        Rising indices into ``position``; fewer than ``count`` where there are not as many frames.
    """
    last = len(position) - 1
    time = np.linspace(0.0, 1.0, last + 1)
    speed = np.linalg.norm(np.diff(position, axis=0), axis=2).max(axis=1)
    way = np.concatenate([[0.0], np.cumsum(speed)])
    share = 0.5 * (time + way / way[-1]) if way[-1] > 0.0 else time
    wanted = np.linspace(0.5 / count, 1.0, count)
    return sorted({min(int(frame), last) for frame in np.searchsorted(share, wanted - 1e-9)})


def render_picture(scene, frame: int, path: Path, progress):
    """Render one frame of a scene as a PNG; arguments as of ``render_strip``.

    Raises
    ------
    PictureError
    """
    current = scene.frame_current
    with _engine_that_works(scene, progress):
        _render_frame(scene, frame, path)
    scene.frame_set(current)


def render_strip(scene, frames, path: Path, progress):
    """Render frames of a scene and write them side by side as one PNG.

    Parameters
    ----------
    scene : bpy.types.Scene
        Its engine, camera and resolution are used.
    frames : sequence of int
    path : Path
    progress : cli_output.Progress

    Raises
    ------
    PictureError
    """
    pictures = []
    current = scene.frame_current
    with tempfile.TemporaryDirectory(prefix="cairn-") as folder, _engine_that_works(scene, progress):
        for done, frame in enumerate(frames):
            progress.show("render", done, len(frames), f"Rendering frame {frame} ({done + 1} of {len(frames)})")
            pictures.append(_render_frame(scene, frame, Path(folder) / f"{frame}.png"))
    scene.frame_set(current)
    progress.show("render", len(frames), len(frames), "Rendered")
    write_png(_side_by_side(pictures), path)


@contextmanager
def _engine_that_works(scene, progress):
    """Cycles in the place of Workbench where that cannot draw."""
    engine = scene.render.engine
    if engine == "BLENDER_WORKBENCH" and not workbench_works():
        progress.show("render", 0, 1, "No OpenGL for Workbench here: rendering with Cycles, which takes longer")
        scene.render.engine = "CYCLES"
        scene.cycles.samples, scene.cycles.use_denoising = CYCLES_SAMPLES, True
    try:
        yield
    finally:
        scene.render.engine = engine


def workbench_works() -> bool:
    """Whether Workbench renders on this machine; asked of a process of its own, which may die of it."""
    if sys.platform != "linux":
        return True
    if bpy.app.module:
        command = [sys.executable, "-c", _TRIAL]
    else:
        command = [bpy.app.binary_path, "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr", _TRIAL]
    try:
        trial = subprocess.run(command, capture_output=True, timeout=SECONDS_TRIAL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0


def _render_frame(scene, frame, path) -> np.ndarray:
    """One frame's pixels [height, width, 4], from the bottom up as Blender has them."""
    render = scene.render
    kept = render.filepath, render.image_settings.file_format
    scene.frame_set(frame)
    try:
        render.filepath, render.image_settings.file_format = str(path), "PNG"
        with blender_lines_dropped(errors=True):
            bpy.ops.render.render(write_still=True, scene=scene.name)
    except RuntimeError as error:
        raise PictureError(f"frame {frame} could not be rendered: {str(error).strip()}") from error
    finally:
        render.filepath, render.image_settings.file_format = kept
    if not path.is_file():
        raise PictureError(f"frame {frame} could not be rendered")
    return read_pixels(path)


def read_pixels(path) -> np.ndarray:
    """Pixels of a PNG [height, width, channels], from the bottom up."""
    image = bpy.data.images.load(str(path), check_existing=False)
    try:
        width, height = image.size
        pixels = np.empty(width * height * image.channels, np.float32)
        image.pixels.foreach_get(pixels)
        return pixels.reshape(height, width, image.channels)
    finally:
        bpy.data.images.remove(image)


def _side_by_side(pictures) -> np.ndarray:
    height, _, channels = pictures[0].shape
    gap = np.ones((height, GAP, channels), np.float32)
    parts = [part for picture in pictures for part in (gap, picture)]
    return np.concatenate(parts[1:], axis=1)


def write_png(pixels, path):
    """Write pixels [height, width, channels], from the bottom up, as a PNG; raises PictureError."""
    height, width, channels = pixels.shape
    image = bpy.data.images.new("strip", width, height, alpha=channels == 4)
    try:
        image.pixels.foreach_set(np.ascontiguousarray(pixels).ravel())
        image.filepath_raw, image.file_format = str(path.resolve()), "PNG"
        image.save()
    except RuntimeError as error:
        raise PictureError(f"{path} could not be written: {str(error).strip()}") from error
    finally:
        bpy.data.images.remove(image)
