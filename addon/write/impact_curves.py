"""How hard a body is pushed in each frame, as a property of its object with a key for each frame [N s].

Its name is Cairn's own, so that it takes the place of nobody's: drivers, materials (an Attribute node of the object)
and scripts read ``["cairn_impact"]``, without Cairn, too. It belongs to the bake and goes with it.
"""

import numpy as np

from . import fcurves

NAME = "cairn_impact"
PATH = f'["{NAME}"]'


def impacts_of(contacts, frames: int, bodies: int) -> np.ndarray:
    """Of each frame and body the sum over its contacts of how hard they push.

    Parameters
    ----------
    contacts : sequence of FrameContacts or None
        Of the frames, as a bake keeps them.
    frames, bodies : int

    Returns
    -------
    float64 [frames, bodies]
        Lengths of impulses, added up [N s].
    """
    impacts = np.zeros((frames, bodies))
    for row, found in zip(impacts, contacts, strict=True):
        if found is not None and len(found.impulse):
            strength = np.linalg.norm(found.impulse.astype(float), axis=1)
            for ends in (found.body_a, found.body_b):
                row += np.bincount(ends, strength, minlength=bodies)
    return impacts


def of_objects(export, trajectory) -> dict:
    """The curves of a bake's bodies that move: values at the start, which has none, and in each frame, by name."""
    contacts = [report.frame_contacts for report in trajectory.reports]
    impacts = impacts_of(contacts, len(contacts), export.model.body_count)
    values = np.concatenate([np.zeros((1, impacts.shape[1])), impacts]).astype(np.float32)
    return {body.object_name: values[:, body.index] for body in export.bodies if body.moves}


def write(bag, start: int, values: np.ndarray) -> None:
    """Add the curve to the channels of a bake's action, from frame ``start`` on."""
    curve = bag.fcurves.new(PATH)
    fcurves.write_linear(curve, *fcurves.without_repeats(start + np.arange(len(values)), values))


def is_impact(path: str) -> bool:
    """Whether a channel is that of the property: it is neither the user's nor a part of the motion."""
    return path == PATH


def give(obj, bag) -> None:
    """Give an object the property, if the channels of its bake have the curve."""
    if bag is not None and bag.fcurves.find(PATH) is not None:
        make(obj)


def make(obj) -> None:
    """Give an object the property, if it has it not."""
    if NAME not in obj:
        obj[NAME] = 0.0
        settings = obj.id_properties_ui(NAME)
        settings.update(min=0.0, description="How hard contacts push the body in the frame, in newton seconds")


def take(obj) -> None:
    """Take the property off an object, if it has it."""
    if NAME in obj:
        del obj[NAME]
