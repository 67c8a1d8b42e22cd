"""Lists of what is compiled ahead, from what JSON can hold: the same here and in the children that compile."""

import numpy as np

from .compiled.function_tables import Compilation
from .compiled.views import StepArrays
from .dynamics.allocation import allocate_collision, allocate_members
from .dynamics.compilation import detection_to_compile, empty_tables, stages_to_compile
from .dynamics.next_substep import find_present_contacts
from .dynamics.step import advance_frame
from .dynamics.step_data import seen_by_stages
from .geometry.shapes import Box
from .model.builder import ModelBuilder
from .model.joints.fixed import Fixed
from .model.model import BodyKind
from .model.state import copy_state
from .solvers.registry import find_method


def what_to_compile(method: str, friction: str, shape_kinds, workers: int, joints: bool = False) -> list[Compilation]:
    """All kernels that a simulation calls; without a method, those that find its contacts.

    Parameters
    ----------
    method, friction : str
    shape_kinds : sequence of int
        Of the model that is to be stepped.
    workers : int
    joints : bool
        Whether it has joints.
    """
    kinds = np.asarray(shape_kinds, np.int64)
    solver = find_method(method, friction) if method else None
    members = _members_of_small_model(solver, workers, joints)
    arrays = StepArrays(seen_by_stages(members))
    contacts = Compilation("find_contacts", find_present_contacts, (arrays,))
    if solver is None:
        return [*detection_to_compile(members, kinds), contacts]
    stages = stages_to_compile(members, kinds, solver, workers)
    return [*stages, contacts, Compilation("frame", advance_frame, (arrays,))]


def _members_of_small_model(method, workers, joints):
    """What a step sees of one body: the types are those of any model."""
    builder = ModelBuilder()
    body = builder.add_body(shape=Box((1.0, 1.0, 0.0)), kind=BodyKind.STATIC)
    if joints:
        builder.add_joint(Fixed(), body, position=(0.0, 0.0, 0.0))
    model = builder.build()
    state, collision = copy_state(model.initial_state), allocate_collision(model)
    return allocate_members(model.arrays, state, collision, empty_tables(), method, workers)
