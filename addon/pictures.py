"""Pictures of a motion: several frames side by side, rendered as the scene is set up and put together with NumPy."""

import tempfile
from pathlib import Path

import bpy
import numpy as np

from .cli_output import blender_lines_dropped

# White between two frames of a strip [pixels].
GAP = 8


class PictureError(Exception):
    """Rendering gave no picture; one line."""


def frames_of_even_motion(position, count: int) -> list[int]:
    """Frames that split a motion into equal amounts of movement, the first and the last among them.

    Parameters
    ----------
    position : float64 [frame_count, body_count, 3]
    count : int
        At least 2.

    Returns
    -------
    list of int
        Rising indices into ``position``; fewer than ``count`` where there are not as many frames.
    """
    travelled = np.linalg.norm(np.diff(position, axis=0), axis=2).sum(axis=1)
    share = np.concatenate([[0.0], np.cumsum(travelled)])
    last = len(position) - 1
    if share[-1] > 0.0:
        frames = np.searchsorted(share, np.linspace(0.0, share[-1], count))
    else:
        frames = np.linspace(0, last, count).round()
    frames[0], frames[-1] = 0, last
    return sorted({int(frame) for frame in frames})


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
    with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
        for done, frame in enumerate(frames):
            progress.show("render", done, len(frames), f"Rendering frame {frame} ({done + 1} of {len(frames)})")
            pictures.append(_render_frame(scene, frame, Path(folder) / f"{frame}.png"))
    scene.frame_set(current)
    progress.show("render", len(frames), len(frames), "Rendered")
    _write_png(_side_by_side(pictures), path)


def _render_frame(scene, frame, path) -> np.ndarray:
    """One frame's pixels [height, width, 4], from the bottom up as Blender has them."""
    render = scene.render
    kept = render.filepath, render.image_settings.file_format
    scene.frame_set(frame)
    try:
        render.filepath, render.image_settings.file_format = str(path), "PNG"
        with blender_lines_dropped():
            bpy.ops.render.render(write_still=True, scene=scene.name)
    except RuntimeError as error:
        raise PictureError(f"frame {frame} could not be rendered: {str(error).strip()}") from error
    finally:
        render.filepath, render.image_settings.file_format = kept
    if not path.is_file():
        raise PictureError(f"frame {frame} could not be rendered; Workbench needs OpenGL or Vulkan, software is enough")
    return _read_pixels(path)


def _read_pixels(path) -> np.ndarray:
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


def _write_png(pixels, path):
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
