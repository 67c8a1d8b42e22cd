"""Pictures of circles in a plane, by Matplotlib: a strip of moments, and a moving picture."""

import numpy as np

# Moments a second in a moving picture.
_FRAMES_A_SECOND = 15


def save_strip(path, world, room, moments, captions):
    """Some moments side by side.

    Parameters
    ----------
    path : Path
        PNG file.
    world : CircleWorld
    room : tuple of float
        (left, right, bottom, top) of each picture [m].
    moments : list of CircleState
    captions : list of str
    """
    figure, all_axes = _figure(room, len(moments))
    for axes, moment, caption in zip(all_axes, moments, captions, strict=True):
        _draw(axes, world, moment)
        axes.set_title(caption, fontsize=9)
    figure.savefig(path, dpi=80)


def save_animation(path, world, room, moments):
    """The moments one after the other, as a GIF."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure, (axes,) = _figure(room, 1)
    circles, marks = _draw(axes, world, moments[0])

    def show(moment):
        circles.set_offsets(moment.position)
        marks.set_segments(_spokes(world, moment))
        return circles, marks

    animation = FuncAnimation(figure, show, frames=moments, cache_frame_data=False)
    animation.save(path, writer=PillowWriter(fps=_FRAMES_A_SECOND), dpi=80)


def _figure(room, count):
    from matplotlib.figure import Figure

    left, right, bottom, top = room
    height = 2.6
    figure = Figure(figsize=(height * count * (right - left) / (top - bottom) + 0.2, height + 0.3), layout="tight")
    all_axes = figure.subplots(1, count, squeeze=False)[0]
    for axes in all_axes:
        axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
    return figure, all_axes


def _draw(axes, world, moment):
    """Circles coloured by mass, each with a spoke that shows how it turns."""
    from matplotlib.collections import EllipseCollection, LineCollection

    diameter = 2.0 * world.radius
    circles = EllipseCollection(
        diameter,
        diameter,
        np.zeros(world.circle_count),
        units="xy",
        offsets=moment.position,
        transOffset=axes.transData,
        array=world.mass,
        cmap="viridis",
        clim=(0.0, 1.1 * world.mass.max()),
        edgecolors="black",
        linewidths=0.4,
    )
    marks = LineCollection(_spokes(world, moment), colors="white", linewidths=0.6)
    axes.add_collection(circles)
    axes.add_collection(marks)
    return circles, marks


def _spokes(world, moment):
    """Lines [circle_count, 2, 2] from the centres outward."""
    direction = np.column_stack([np.cos(moment.angle), np.sin(moment.angle)])
    return np.stack([moment.position, moment.position + 0.8 * world.radius[:, None] * direction], axis=1)
