"""Lists of what is compiled ahead, from what JSON can hold: the same here and in the children that compile."""

import numpy as np

from .entries import Compilation
from .model import BodyKind, ModelBuilder
from .shapes import Box
from .stepper import contacts_to_compile, frame_to_compile


def what_to_compile(method: str, friction: str, shape_kinds, lanes: int) -> list[Compilation]:
    """All kernels that a simulation calls; without a method, those that find its contacts."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((1.0, 1.0, 0.0)), kind=BodyKind.STATIC)
    small_model, kinds = builder.build(), np.asarray(shape_kinds, np.int64)
    if not method:
        return contacts_to_compile(small_model, kinds)
    return frame_to_compile(small_model, kinds, method, friction, lanes)
