"""All arrays of a step under one name, so that a call from Python costs microseconds.

Numba takes a NamedTuple apart array by array at every call from Python, some 0.2 us each: for the two hundred arrays of
a step that would be more than the step of a small scene. A ``StepArrays`` is made once by a kernel and then passed as
one pointer. Its members are read inside kernels only.
"""

from typing import NamedTuple

from numba import config, types
from numba.experimental import structref

from .kernel import kernel

_MEMBERS = ("model", "state", "motion", "sleep", "collision", "problem")

if config.DISABLE_JIT:

    class StepArrays(NamedTuple):
        """Where kernels run as plain Python."""

        model: tuple
        state: tuple
        motion: tuple
        sleep: tuple
        collision: tuple
        problem: tuple

else:

    @structref.register
    class StepArraysType(types.StructRef):
        """Numba's type of ``StepArrays``."""

        def preprocess_fields(self, fields):
            """Fields are arrays and numbers, never literals."""
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class StepArrays(structref.StructRefProxy):
        """ModelArrays, StateArrays, MotionArrays, SleepArrays, CollisionArrays and ProblemArrays of a simulation."""

    structref.define_constructor(StepArrays, StepArraysType, list(_MEMBERS))
    structref.define_boxing(StepArraysType, StepArrays)


@kernel
def gather_arrays(model, state, motion, sleep, collision, problem):
    """The ``StepArrays`` of these; they share their memory."""
    return StepArrays(model, state, motion, sleep, collision, problem)
