"""One lane's work that others may help with, piece by piece: what a solver does with the parts of a large island.

A lane that solves a large island writes on its board what is to be done and in how many pieces. It takes piece after
piece itself, and so does every lane that has nothing else to do; then it waits until those are done that others have
taken. It needs nobody: where no other lane comes, it has done all pieces by itself, and no lane is ever started or
waited for that has not taken a piece. A job of some microseconds is therefore worth offering.

Job, number of pieces and the next piece are one word of 64 bits, so a lane that comes late takes nothing from a job
that it has not seen. What a job writes for one piece stands before the piece is counted as done, and is seen by whoever
sees that count.

A processor that other programs use may take a lane off its core in the middle of a piece, for milliseconds. After such
a wait a lane offers nothing for a while, in proportion to the wait.
"""

import sys
import time

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from .clock import now
from .kernel import subkernel

# Entries of a board: the word; how many pieces are done; until when nothing is offered [ns]. What is to be done stands
# in between: which job, of the parts from which on, of which island, with which model of friction, and two numbers.
_WORD, JOB, PART, ISLAND, FRICTION, DIRECTIONS = range(6)
_DONE, _CLOSED = 8, 9
BOARD = 16
# Numbers beside it.
AMOUNTS = 2

# Most pieces of a job; the jobs' own numbers begin again after so many.
_MOST_PIECES, _JOBS = (1 << 16) - 1, 1 << 30

# Nanoseconds: of looking without a pause, of looking that gives others their turn each time, and of a nap after that.
_LOOK, _YIELD, _NAP = 50_000, 500_000, 100_000
# A wait of so many nanoseconds was one for a lane off its core; for so many times as long nothing is offered then.
_LONG_WAIT, _FACTOR_ALONE = 200_000, 16

_INT32, _INT64 = ir.IntType(32), ir.IntType(64)


def _pointer(context, builder, kind, array, place):
    return builder.gep(context.make_array(kind)(context, builder, array).data, [place])


def _shared_intrinsics():
    """``load_shared``, ``store_shared``, ``add_shared``, ``replace_shared`` as single instructions of the processor.

    Plain numbers may be handed to them, for which Numba would compile a subkernel once each.
    """

    @intrinsic
    def load_shared(typing_context, array, place):
        def codegen(context, builder, signature, values):
            pointer = _pointer(context, builder, signature.args[0], *values)
            return builder.load_atomic(pointer, "acquire", 8)

        return types.int64(array, types.int64), codegen

    @intrinsic
    def store_shared(typing_context, array, place, value):
        def codegen(context, builder, signature, values):
            pointer = _pointer(context, builder, signature.args[0], *values[:2])
            builder.store_atomic(values[2], pointer, "release", 8)
            return context.get_dummy_value()

        return types.none(array, types.int64, types.int64), codegen

    @intrinsic
    def add_shared(typing_context, array, place, value):
        def codegen(context, builder, signature, values):
            pointer = _pointer(context, builder, signature.args[0], *values[:2])
            builder.atomic_rmw("add", pointer, values[2], "acq_rel")
            return context.get_dummy_value()

        return types.none(array, types.int64, types.int64), codegen

    @intrinsic
    def replace_shared(typing_context, array, place, old, new):
        def codegen(context, builder, signature, values):
            pointer = _pointer(context, builder, signature.args[0], *values[:2])
            return builder.extract_value(builder.cmpxchg(pointer, values[2], values[3], "acq_rel", "acquire"), 1)

        return types.boolean(array, types.int64, types.int64, types.int64), codegen

    return load_shared, store_shared, add_shared, replace_shared


def _declare(builder, name, result, arguments):
    """An external C function, declared once a module."""
    module = builder.module
    if name in module.globals:
        return module.globals[name]
    return ir.Function(module, ir.FunctionType(result, arguments), name)


@intrinsic
def _give_way(typing_context):
    """Let another thread have this core."""

    def codegen(context, builder, signature, values):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        builder.call(_declare(builder, name, _INT32, []), [])
        return context.get_dummy_value()

    return types.none(), codegen


@intrinsic
def _nap(typing_context):
    """Sleep for ``_NAP``; on Windows, whose naps take milliseconds, as ``_give_way``."""

    def codegen(context, builder, signature, values):
        if sys.platform == "win32":
            builder.call(_declare(builder, "SwitchToThread", _INT32, []), [])
        else:
            duration = builder.alloca(ir.LiteralStructType([_INT64, _INT64]))
            builder.store(_INT64(0), builder.gep(duration, [_INT32(0), _INT32(0)]))
            builder.store(_INT64(_NAP), builder.gep(duration, [_INT32(0), _INT32(1)]))
            sleep = _declare(builder, "nanosleep", _INT32, [duration.type, duration.type])
            builder.call(sleep, [duration, duration])
        return context.get_dummy_value()

    return types.none(), codegen


if config.DISABLE_JIT:

    def load_shared(array, place):
        """``array[place]``, and all that was written before it."""
        return array[place]

    def store_shared(array, place, value):
        """``array[place] = value``, after all that was written before."""
        array[place] = value

    def add_shared(array, place, value):
        """``array[place] += value``, which no other lane comes between."""
        array[place] += value

    def replace_shared(array, place, old, new):
        """Make ``array[place]`` new if it is still the old; returns whether it was."""
        if array[place] != old:
            return False
        array[place] = new
        return True

    def be_patient(waited):
        """Wait a moment."""
        time.sleep(0.0)

else:
    load_shared, store_shared, add_shared, replace_shared = _shared_intrinsics()

    @subkernel
    def be_patient(waited):
        """Wait a moment, after ``waited`` nanoseconds in which nothing happened."""
        if waited > _YIELD:
            _nap()
        elif waited > _LOOK:
            _give_way()


@subkernel
def offer_pieces(board, count):
    """Let all lanes take pieces of what the board says, at most 65,535.

    Returns
    -------
    bool
        False where nothing is offered for now: the caller does them all.
    """
    store_shared(board, _DONE, 0)
    if board[_CLOSED] > 0:
        if now() < board[_CLOSED]:
            return False
        board[_CLOSED] = 0
    job = ((board[_WORD] >> 32) + 1) % _JOBS
    store_shared(board, _WORD, (job << 32) + (count << 16))
    return True


@subkernel
def take_piece(board):
    """A piece that nobody else does; -1 where none is left. It must be ended with ``end_piece``."""
    while True:
        word = load_shared(board, _WORD)
        piece = word & _MOST_PIECES
        if piece >= (word >> 16) & _MOST_PIECES:
            return -1
        if replace_shared(board, _WORD, word, word + 1):
            return piece


@subkernel
def has_pieces(board):
    """Whether there is something to take."""
    word = load_shared(board, _WORD)
    return word & _MOST_PIECES < (word >> 16) & _MOST_PIECES


@subkernel
def end_piece(board):
    """Count a piece as done."""
    add_shared(board, _DONE, 1)


@subkernel
def await_pieces(board, count):
    """Wait until all pieces are done; none is left to take."""
    if load_shared(board, _DONE) == count:
        return
    started = now()
    time = started
    while load_shared(board, _DONE) < count:
        # no nap: this lane's work is what everything waits for
        be_patient(min(time - started, _YIELD))
        time = now()
    board[_CLOSED] = alone_until(time, time - started)


@subkernel
def alone_until(time, waited):
    """Until when a lane works alone that has waited so many nanoseconds for others; 0 where that was not long."""
    return time + _FACTOR_ALONE * waited if waited > _LONG_WAIT else np.int64(0)
