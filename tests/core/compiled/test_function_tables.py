"""Kernels called by address: the same answers as by name, errors that arrive, and no call with the wrong types."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import config, types

from cairn.solver_core.collision.data.workspace import MESHES, ROUND_ON_FACE, ROUND_ON_MESH, ROUND_SHAPES, SPHERES
from cairn.solver_core.collision.pair_dispatch import needed_pair_kernels
from cairn.solver_core.compiled.function_tables import call_for_count, call_for_depth, empty_table, enter
from cairn.solver_core.compiled.kernel import direct_call, entry, inlined, kernel, subkernel
from cairn.solver_core.compiled.views import StepArrays, arrays_of, numbers_of, views_of, whole, write_numbers
from cairn.solver_core.geometry.shapes import ShapeKind
from cairn.solver_core.model.state import StateArrays

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has no addresses")


@subkernel
def weighted_sum(table, factor, places):
    """Adds up, counts the calls, and raises where there is nothing to add."""
    table.kind[0] += 1
    if len(places) == 0:
        raise ValueError("nothing to add")
    total = 0.0
    for place in places:
        total += factor * table.velocity[place, 0]
    return np.int64(len(places)), total


_by_address = entry(weighted_sum)


@kernel
def call_by_address(entries, table, factor, places):
    return call_for_depth(entries, np.int64(1), table, factor, places)


@kernel
def call_by_name(table, factor, places):
    return weighted_sum(table, factor, places)


@kernel
def call_by_name_too(table, factor, places):
    return call_by_name(table, factor, places)


@kernel
def count_with_address(entries, number):
    return call_for_count(entries, np.int64(0), number)


def table_and_places():
    velocity, nothing = np.arange(8.0).reshape(4, 2), np.zeros((0, 3))
    return StateArrays(nothing, nothing, velocity, np.zeros(1, np.int64)), np.array([1, 3, 3])


def entered(table, places):
    entries = empty_table(2)
    answer = types.Tuple((types.int64, types.float64))
    enter(entries, 1, _by_address, answer, table, 0.5, places)
    return entries


def test_call_by_address_is_the_call_by_name():
    """Answer and what is written are those of calls by name and of plain arithmetic."""
    table, places = table_and_places()
    entries = entered(table, places)
    expected = (3, 0.5 * (2.0 + 6.0 + 6.0))
    assert call_by_address(entries, table, 0.5, places) == expected
    assert call_by_name(table, 0.5, places) == expected
    assert call_by_name_too(table, 0.5, places) == expected
    assert table.kind[0] == 3


def test_errors_arrive_where_the_call_was_made():
    """What the kernel raises comes out of its caller."""
    table, places = table_and_places()
    with pytest.raises(ValueError, match="nothing to add"):
        call_by_address(entered(table, places), table, 0.5, places[:0])


@compiled_only
def test_wrong_types_are_refused():
    """An entry compiled for other types, and a place where there is none, raise before anything is called."""
    table, places = table_and_places()
    entries = entered(table, places)
    with pytest.raises(TypeError, match="wrong address"):
        call_by_address(entries, table, 2, places)
    with pytest.raises(TypeError, match="wrong address"):
        count_with_address(entries, 1)
    assert table.kind[0] == 0


@compiled_only
def test_wrong_result_is_refused():
    """A kernel that returns something else than its callers expect is not entered."""
    table, places = table_and_places()
    with pytest.raises(TypeError, match="returns"):
        enter(empty_table(2), 1, _by_address, types.int64, table, 0.5, places)


def test_families_are_those_of_the_shapes_in_the_model():
    """Each kind of shape asks for its pairs, round shapes with a mesh for those two more; boxes and hulls for none."""
    kind = ShapeKind
    asked = {
        (kind.BOX, kind.HULL): set(),
        (kind.BOX, kind.SPHERE): {SPHERES},
        (kind.CYLINDER,): {ROUND_SHAPES},
        (kind.MESH, kind.BOX): {MESHES},
        (kind.MESH, kind.SPHERE): {MESHES, SPHERES},
        (kind.MESH, kind.CAPSULE): {MESHES, ROUND_SHAPES, ROUND_ON_MESH, ROUND_ON_FACE},
    }
    for kinds, expected in asked.items():
        assert set(needed_pair_kernels(np.array(kinds, np.int64))) == expected, kinds


class StepMembers(NamedTuple):
    """Stands for the members of a step; what kernels for all methods do not read comes last."""

    state: tuple = ()
    motion: tuple = ()
    sleep: tuple = ()
    collision: tuple = ()
    shared: tuple = ()
    problem: tuple = ()


class RowsAndMore(NamedTuple):
    """Stands for ``ProblemArrays``."""

    rows: np.ndarray
    solver: tuple


@kernel
def read_problem(arrays):
    members = views_of(arrays)
    return members.problem.rows[1] + members.shared[0]


@kernel
def double_state(arrays):
    members = views_of(arrays)
    for row in range(members.state.velocity.shape[0]):
        for column in range(members.state.velocity.shape[1]):
            members.state.velocity[row, column] *= 2.0
    members.motion[0] += members.state.kind.size
    return members.state.velocity.sum() + len(members.sleep)


def test_views_are_the_arrays_themselves():
    """A kernel reads and writes through the views, of any shape and also empty, what the members hold."""
    table, _ = table_and_places()
    members = StepMembers(table, np.zeros(1, np.int64), np.zeros((0, 3)))
    arrays = StepArrays(members)
    assert double_state(arrays) == 56.0
    assert double_state(arrays) == 112.0
    assert np.array_equal(table.velocity, 4.0 * np.arange(8.0).reshape(4, 2))
    assert members.motion[0] == 2


class Buffers(NamedTuple):
    """Stands for ``CollisionArrays``: two tuples of one type, and a tuple of another."""

    buffers: tuple
    current: np.ndarray
    table: StateArrays


@subkernel
def _first_velocity(table):
    return table.velocity[0, 1]


@kernel
def pick_buffer(arrays):
    """The speeds of the current buffer, read in three ways, and those that the other one was given."""
    collision = views_of(arrays).collision
    picked = collision.buffers[collision.current[0]]
    other = whole(collision).buffers[1 - collision.current[0]]
    other.velocity[:, :] = 7.0
    return _first_velocity(picked), picked.velocity.sum(), whole(picked).velocity.size, collision.table.kind.size


@pytest.mark.parametrize("current", [0, 1])
def test_tuples_of_tuples_are_read_by_name_and_by_place(current):
    """Of two buffers of different sizes the one that is current, as a view and whole."""
    table, _ = table_and_places()
    nothing, kinds = np.zeros((0, 3)), np.zeros(1, np.int64)
    buffers = tuple(StateArrays(nothing, nothing, np.full((rows, 2), float(rows)), kinds) for rows in (2, 4))
    members = StepMembers(collision=Buffers(buffers, np.full(1, current), table))
    rows = (2, 4)[current]
    assert pick_buffer(StepArrays(members)) == (rows, 2 * rows * rows, 2 * rows, table.kind.size)
    assert np.all(buffers[1 - current].velocity == 7.0)


inlined_sum = inlined(weighted_sum)


@kernel
def sum_inlined(table, factor, places):
    return inlined_sum(table, factor, places)


def test_inlined_code_is_the_call():
    """The same answer and the same writes, and errors come out, where the code stands in the place of the call."""
    table, places = table_and_places()
    assert sum_inlined(table, 0.5, places) == call_by_name(table, 0.5, places)
    assert table.kind[0] == 2
    with pytest.raises(ValueError, match="nothing to add"):
        sum_inlined(table, 0.5, places[:0])


def test_direct_calls_are_calls():
    """What calls the code without a look at types gives the same, and takes any arrays of the same types."""
    table, _ = table_and_places()
    others = StateArrays(np.zeros((2, 3)), np.zeros((1, 3)), np.ones((3, 5)), np.zeros(7, np.int64))
    first, second = (StepArrays(StepMembers(one, np.zeros(1, np.int64), np.zeros((0, 3)))) for one in (table, others))
    if not config.DISABLE_JIT:
        assert first._numba_type_ is second._numba_type_
    call = direct_call(double_state, first)
    assert call(first) == 56.0
    assert call(second) == 30.0
    assert second.members.motion[0] == 7


def test_stages_see_the_first_members_of_a_step():
    """A kernel for members without a method's memory reads those with one, whatever that holds."""
    table, _ = table_and_places()
    problem = RowsAndMore(np.full(2, 5.0), (np.zeros(3), np.zeros((2, 2))))
    members = StepMembers(table, np.zeros(1, np.int64), np.zeros((0, 3)), (), np.full(1, 4.0), problem)
    short = StepArrays(members._replace(problem=problem._replace(solver=())))
    full = StepArrays(members)
    assert read_problem(short) == 9.0
    if not config.DISABLE_JIT:
        full._numba_type_ = short._numba_type_
    assert read_problem(full) == 9.0


class Numbers(NamedTuple):
    """Settings of both kinds."""

    count: int
    length: float
    share: float = 0.5


class Settings(NamedTuple):
    """Members with numbers behind other arrays."""

    others: np.ndarray
    numbers: Numbers


@kernel
def total_length(arrays):
    numbers = numbers_of(views_of(arrays).numbers)
    return numbers.count * numbers.length + numbers.share


def test_numbers_are_read_as_they_are_now():
    """A kernel reads the numbers that were last written, whole ones as integers."""
    settings = Settings(np.zeros((2, 3)), arrays_of(Numbers(3, 2)))
    assert [array.dtype.char for array in settings.numbers] == [np.dtype(np.int64).char, "d", "d"]
    arrays = StepArrays(settings)
    assert total_length(arrays) == 6.5
    write_numbers(settings.numbers, Numbers(2, 0.25, 1.0))
    assert total_length(arrays) == 1.5


@compiled_only
@pytest.mark.parametrize("damage", ["transposed", "read-only"])
def test_step_arrays_that_kernels_cannot_use_are_refused(damage):
    """Kernels take contiguous arrays that they may write."""
    value = np.zeros((3, 2)).T if damage == "transposed" else np.zeros((3, 2))
    value.flags.writeable = damage == "transposed"
    with pytest.raises(TypeError, match=r"\(\d, \d\)"):
        StepArrays(StepMembers((value,)))
