"""A simulation in the middle, to go on from: what a substep reads of the substeps before it, as arrays with names.

That is little of what a simulation holds. Rows, islands and most of the memory of solvers are made anew in every
substep; of the three buffers of pairs and contacts only that of the last substep is read again, as far as it is used.
The capacity of the buffers is part of it, because bits may depend on when a buffer grows (``dynamics.frame.step``).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .collision.data.contact_arrays import grown
from .constraints.joints.joint_state import JointStateArrays, allocate_joint_state
from .dynamics.frame.allocation import allocate_collision, allocate_problem, may_partition, with_domains
from .dynamics.frame.step_data import CollisionArrays, ProblemArrays
from .dynamics.motion.integration import MotionArrays, allocate_motion
from .dynamics.outside.field_input import fields_of
from .dynamics.outside.guide_arrays import GuideArrays, allocate_guides
from .dynamics.rest.sleeping import SleepArrays, allocate_sleep
from .dynamics.rest.waiting import WaitingArrays, allocate_waiting
from .model.fields import FieldArrays
from .model.state import StateArrays, copy_state

# The other fields of ``MotionArrays`` are written at the beginning of a substep.
_MOTION = ("position_velocity", "memory")
# The others are written at a frame's beginning.
_GUIDES = ("follow", "position", "orientation", "velocity", "share", "begins")
# What the pair cache, the matching of contacts and what keeps the energy of rolling read of the last substep.
_PAIRS = (
    "shape_a",
    "shape_b",
    "contact_start",
    "contact_count",
    "is_curved",
    "reference",
    "feature",
    "reach",
    "cull_distance",
    "pose",
)
_CONTACTS = (
    "shape_a",
    "shape_b",
    "body_a",
    "body_b",
    "normal",
    "local_normal",
    "local_a",
    "local_b",
    "position",
    "leftover",
    "impulse",
    "age",
)
# Shapes that grow; and meshes, unless they are as the model has them.
_WORKSPACE = ("size", "local_pose", "shape_parameters")
_MESHES = ("vertex", "is_sharp", "vertex_velocity", "triangle", "normal", "box", "speed", "has_deformed")


@dataclass(frozen=True)
class Checkpoint:
    """A simulation in the middle: plain arrays, which ``numpy.savez`` takes as they are.

    Attributes
    ----------
    frame : int
        Frames done.
    arrays : dict of str to numpy.ndarray
        What the simulation carries on, by names such as ``state.position``.
    """

    frame: int
    arrays: dict[str, np.ndarray]


class Carried(NamedTuple):
    """The parts of a simulation that change from substep to substep.

    Attributes
    ----------
    state : StateArrays
    gravity : float64 [3]
        [m/s^2].
    acting_kind : int64 [body_count]
        Kinds as the step sees them: a sleeping body is static.
    motion : MotionArrays
    sleep : SleepArrays
    joint_state : JointStateArrays
    waiting : WaitingArrays
    fields : FieldArrays
    guides : GuideArrays
    collision : CollisionArrays
    problem : ProblemArrays
    """

    state: StateArrays
    gravity: np.ndarray
    acting_kind: np.ndarray
    motion: MotionArrays
    sleep: SleepArrays
    joint_state: JointStateArrays
    waiting: WaitingArrays
    fields: FieldArrays
    guides: GuideArrays
    collision: CollisionArrays
    problem: ProblemArrays


def stored_arrays(carried: Carried, model, method) -> dict[str, np.ndarray]:
    """Copies of what has to be kept, by name.

    Parameters
    ----------
    carried : Carried
    model : Model
    method : Method
    """
    collision = carried.collision
    pairs, contacts = (_of_last_substep(buffers, collision) for buffers in (collision.pairs, collision.contacts))
    arrays = {
        "capacity": np.array([len(pairs.shape_a), len(contacts.shape_a), may_partition(carried.problem)], np.int64),
        "pairs.count": pairs.count.copy(),
        "contacts.count": contacts.count.copy(),
    }
    arrays |= {name: array.copy() for name, array in _whole_arrays(carried, method)}
    for name, buffer, fields in (("pairs", pairs, _PAIRS), ("contacts", contacts, _CONTACTS)):
        count = int(buffer.count[0])
        arrays |= {f"{name}.{field}": getattr(buffer, field)[:count].copy() for field in fields}
    if _have_changed(collision.workspace.meshes, model.meshes):
        arrays |= {name: array.copy() for name, array in _mesh_arrays(collision.workspace)}
    return arrays


def restored(checkpoint: Checkpoint, model, method) -> Carried:
    """What a simulation of this model carries on from a checkpoint, in memory of its own.

    Parameters
    ----------
    checkpoint : Checkpoint
    model : Model
    method : Method

    Raises
    ------
    ValueError
        The checkpoint is not one of this model and method.
    """
    arrays = checkpoint.arrays
    count = len(_entry(arrays, "acting_kind"))
    if count != model.body_count:
        raise ValueError(f"the checkpoint has {count} bodies; the model has {model.body_count}")
    carried = _allocated(model, method, *_entry(arrays, "capacity").tolist())
    collision = carried.collision
    for name, array in _whole_arrays(carried, method):
        _fill(array, arrays, name)
    if any(name.startswith("meshes.") for name in arrays):
        for name, array in _mesh_arrays(collision.workspace):
            _fill(array, arrays, name)
    for name, buffers, fields in (("pairs", collision.pairs, _PAIRS), ("contacts", collision.contacts, _CONTACTS)):
        buffer = _of_last_substep(buffers, collision)
        _fill(buffer.count, arrays, f"{name}.count")
        for field in fields:
            _fill(getattr(buffer, field)[: int(buffer.count[0])], arrays, f"{name}.{field}")
    return carried


def _allocated(model, method, pair_capacity, contact_capacity, partitions) -> Carried:
    """The parts of a simulation that has not begun, with buffers of these capacities."""
    collision = allocate_collision(model)
    collision = collision._replace(
        pairs=tuple(grown(buffer, pair_capacity) for buffer in collision.pairs),
        contacts=tuple(grown(buffer, contact_capacity) for buffer in collision.contacts),
    )
    problem = allocate_problem(collision, model.arrays.joints, model.body_count, method)
    return Carried(
        state=copy_state(model.initial_state),
        gravity=model.gravity.copy(),
        acting_kind=model.initial_state.kind.copy(),
        motion=allocate_motion(model.body_count, model.has_forces),
        sleep=allocate_sleep(model.body_count),
        joint_state=allocate_joint_state(model.arrays.joints),
        waiting=allocate_waiting(model.arrays.activation),
        fields=fields_of(model),
        guides=allocate_guides(model.guides),
        collision=collision,
        problem=with_domains(problem) if partitions else problem,
    )


def _whole_arrays(carried, method):
    """Pairs (name, array) of the arrays that are kept as a whole."""
    for name in ("state", "gravity", "acting_kind", "sleep", "joint_state"):
        yield from _named(name, getattr(carried, name))
    if carried.waiting.waits.size:
        yield from _named("waiting", carried.waiting)
    if carried.fields.responds.size > 0:
        yield "fields", carried.fields.values[1]
        yield "pushes", carried.fields.push[1]
    if carried.guides.follow.size > 0:
        for name in _GUIDES:
            yield f"guides.{name}", getattr(carried.guides, name)
    for name in _MOTION:
        yield from _named(f"motion.{name}", getattr(carried.motion, name))
    workspace = carried.collision.workspace
    for name in _WORKSPACE:
        yield from _named(f"shapes.{name}", getattr(workspace, name))
    yield "shapes.bounds", workspace.tree.bounds
    yield "surplus", workspace.predicted.surplus
    for name in method.carried:
        yield from _named(f"solver.{name}", getattr(carried.problem.solver, name))


def _mesh_arrays(workspace):
    """Pairs (name, array) of the arrays that change if a mesh deforms."""
    for name in _MESHES:
        yield f"meshes.{name}", getattr(workspace.meshes, name)
    yield "meshes.bounds", workspace.polytopes.bounds


def _have_changed(tables, meshes):
    """Whether any mesh has deformed, or been placed anew where it is."""
    return bool(tables.has_deformed.any()) or not np.array_equal(tables.vertex, meshes.vertex)


def _of_last_substep(buffers, collision):
    return buffers[int(collision.roles.last_substep[0])]


def _named(name, arrays):
    """Pairs (name, array) of an array, or of all in nested NamedTuples."""
    if isinstance(arrays, np.ndarray):
        yield name, arrays
        return
    for field in arrays._fields:
        yield from _named(f"{name}.{field}", getattr(arrays, field))


def _entry(arrays, name):
    if name not in arrays:
        raise ValueError(f"the checkpoint has no {name}")
    return arrays[name]


def _fill(target, arrays, name):
    source = _entry(arrays, name)
    if source.shape != target.shape or source.dtype != target.dtype:
        raise ValueError(
            f"{name} of the checkpoint is {source.dtype} {source.shape}; it must be {target.dtype} {target.shape}"
        )
    target[...] = source
