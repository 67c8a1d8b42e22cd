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
