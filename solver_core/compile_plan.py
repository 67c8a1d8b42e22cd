"""Lists of what is compiled ahead, from what JSON can hold: the same here and in the children that compile."""

import itertools

import numpy as np

from .compiled.function_tables import Compilation
from .compiled.views import StepArrays
from .constraints.joints.glue import find_glued
from .dynamics.frame.allocation import allocate_collision, allocate_members
from .dynamics.frame.compilation import detection_to_compile, empty_tables, stages_to_compile
from .dynamics.frame.next_substep import find_present_contacts
from .dynamics.frame.step import advance_frame
from .dynamics.frame.step_data import seen_by_stages
from .dynamics.motion.frame_impulses import allocate_frame_impulses
from .dynamics.motion.substeps_needed import substeps_needed
from .dynamics.outside.driven_paths import aim_on_paths, allocate_paths, lay_paths
from .dynamics.outside.field_forces import find_changes
from .dynamics.outside.frame_poses import aim_driven, find_driven_poses, place_driven, write_user_poses
from .dynamics.outside.guide_arrays import allocate_guides
from .dynamics.outside.pull import allocate_pull
from .dynamics.rest.waiting import allocate_waiting
from .geometry.shapes import Box, ShapeKind
from .model.activation import Activation, pack_activation
from .model.builder import ModelBuilder
from .model.fields import Wind, allocate_fields
from .model.joints.fixed import Fixed
from .model.model import BodyKind
from .model.state import copy_state
from .problem.rows import FRICTION_MODELS
from .solvers.registry import METHODS, find_method


def what_to_compile(
    method: str,
    friction: str,
    shape_kinds,
    workers: int,
    joints: bool = False,
    contacts: bool = False,
    waits: bool = False,
    fields: bool = False,
    guides: bool = False,
    rolls: bool = False,
    pulls: bool = False,
) -> list[Compilation]:
    """All kernels that a simulation calls; without a method, those that find its contacts.

    Parameters
    ----------
    method, friction : str
    shape_kinds : sequence of int
        Of the model that is to be stepped.
    workers : int
    joints : bool
        Whether it has joints.
    contacts : bool
        Whether its frames note contacts.
    waits : bool
        Whether it has bodies that wait for an activation.
    fields, guides, rolls : bool
        Whether it has force fields, bodies that are guided, and rolling friction.
    pulls : bool
        Whether a body is pulled in some frame.
    """
    kinds = np.asarray(shape_kinds, np.int64)
    solver = find_method(method, friction) if method else None
    members = _members_of_small_model(solver, workers, joints, fields, guides, rolls)
    members = members._replace(impulses=allocate_frame_impulses(1, 1, 1, contacts), pull=allocate_pull(pulls))
    if waits:
        members = members._replace(waiting=allocate_waiting(pack_activation([Activation()], [])))
    arrays = StepArrays(seen_by_stages(members))
    present = Compilation("find_contacts", find_present_contacts, (arrays,))
    if solver is None:
        return [*detection_to_compile(members, kinds), present]
    stages = stages_to_compile(members, kinds, solver, workers)
    around = [*_around_the_frame(members), *(_where_joints_end(members) if joints else ())]
    return [*stages, present, Compilation("frame", advance_frame, (arrays,)), *around]


def everything_to_compile(methods=METHODS, frictions=FRICTION_MODELS) -> list[Compilation]:
    """All kernels that simulations with these methods and laws of friction call.

    For shapes and joints of any kind, with threads or without. Each is listed once, whatever the number of simulations
    that call it.
    """
    kinds = [int(kind) for kind in ShapeKind]
    known = ((method, friction) for method in methods for friction in find_method(method).frictions)
    choices = [(method, friction) for method, friction in known if friction in frictions]
    found: dict[tuple, Compilation] = {}
    for (method, friction), workers, joints in itertools.product([("", ""), *choices], (1, 2), (False, True)):
        for compilation in what_to_compile(
            method, friction, kinds, workers, joints, True, True, True, True, True, True
        ):
            name = f"{method or 'contacts'} {friction} {workers} {joints}: {compilation.name}"
            found.setdefault(compilation.identity(), compilation._replace(name=name))
    return list(found.values())


def _around_the_frame(members) -> list[Compilation]:
    """What ``Simulation`` calls before and after a frame's kernel."""
    state = members.state
    kind, position, orientation, velocity = state.kind, state.position, state.orientation, state.velocity
    poses = position, orientation
    paths, given = allocate_paths(len(kind)), np.zeros((2, *velocity.shape))
    return [
        Compilation("substeps", substeps_needed, (kind, velocity, members.model.size, np.zeros(len(kind)), 0.0, 0.0)),
        Compilation("driven_poses", find_driven_poses, (kind, *poses, *poses)),
        Compilation("aim", aim_driven, (kind, *poses, velocity, *poses, 0.0)),
        Compilation("lay_paths", lay_paths, (kind, position, poses, poses, given, 0.0, velocity, paths)),
        Compilation("aim_on_paths", aim_on_paths, (paths, 0.0, 0.0, *poses, velocity, 0.0)),
        Compilation("place", place_driven, (kind, *poses, *poses)),
        Compilation("user_poses", write_user_poses, (*poses, *poses, *poses)),
        *_where_fields_change(members),
    ]


def _where_fields_change(members) -> list[Compilation]:
    """What ``Simulation`` calls where force fields change and bodies sleep."""
    if members.fields.responds.size == 0:
        return []
    group = members.sleep.group
    arguments = members.model, members.state, group, members.fields, 0.0, np.zeros(len(group), np.bool_)
    return [Compilation("field_changes", find_changes, arguments)]


def _where_joints_end(members) -> list[Compilation]:
    """What ``Simulation`` calls at its start and where joints are switched or break."""
    joints, state, glued = members.model.joints, members.joint_state, members.model.glued
    return [Compilation("glue", find_glued, (joints, state.enabled, state.broken, glued))]


def _members_of_small_model(method, workers, joints, fields, guides, rolls):
    """What a step sees of one body: the types are those of any model."""
    builder = ModelBuilder()
    body = builder.add_body(shape=Box((1.0, 1.0, 0.0)), kind=BodyKind.STATIC, rolling_friction=float(rolls))
    if joints:
        builder.add_joint(Fixed(), body, position=(0.0, 0.0, 0.0))
    model = builder.build()
    state, collision = copy_state(model.initial_state), allocate_collision(model)
    arrays = allocate_fields((Wind(),), [-1], [True], [0.0]) if fields else allocate_fields()
    forces = arrays, allocate_guides(np.zeros((1 if guides else 0, 5)))
    return allocate_members(model.arrays, state, collision, empty_tables(), method, workers, forces)
