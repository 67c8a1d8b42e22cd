"""Time for kernels: a clock that they can read, and two ways to wait.

A step is one kernel call and still knows the time of each of its stages. The clock is that of
``clock_gettime(CLOCK_MONOTONIC)``, on Windows of ``QueryPerformanceCounter``: some 25 ns a reading.
"""

import sys
import time

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from .kernel import subkernel

# CLOCK_MONOTONIC of <time.h>: 6 on macOS, 1 on Linux and the BSDs that Blender runs on
_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1
_NANOSECONDS_PER_SECOND = 1_000_000_000

_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
# A ``timespec``: seconds and nanoseconds.
_TIMESPEC = ir.LiteralStructType([_INT64, _INT64])


def declare(builder, name, result, arguments):
    """Declare ``result name(arguments)``, given as types of LLVM, once a module.

    Functions of the C library and of the operating system are external symbols, and not called through ctypes, because
    pointers could not be cached on disk.
    """
    module = builder.module
    if name in module.globals:
        return module.globals[name]
    return ir.Function(module, ir.FunctionType(result, arguments), name)


def _read_posix(builder):
    timespec = builder.alloca(_TIMESPEC)
    call = declare(builder, "clock_gettime", _INT32, [_INT32, timespec.type])
    builder.call(call, [_INT32(_CLOCK_MONOTONIC), timespec])
    seconds = builder.load(builder.gep(timespec, [_INT32(0), _INT32(0)]))
    nanoseconds = builder.load(builder.gep(timespec, [_INT32(0), _INT32(1)]))
    return builder.add(builder.mul(seconds, _INT64(_NANOSECONDS_PER_SECOND)), nanoseconds)


def _read_windows(builder):
    count, frequency = builder.alloca(_INT64), builder.alloca(_INT64)
    builder.call(declare(builder, "QueryPerformanceCounter", _INT32, [count.type]), [count])
    builder.call(declare(builder, "QueryPerformanceFrequency", _INT32, [frequency.type]), [frequency])
    # count * 1e9 overflows int64 after some 15 minutes of uptime at 10 MHz, so by way of double: 1e-16 relative,
    # below a microsecond for a year of uptime
    seconds = builder.fdiv(
        builder.sitofp(builder.load(count), ir.DoubleType()), builder.sitofp(builder.load(frequency), ir.DoubleType())
    )
    return builder.fptosi(builder.fmul(seconds, ir.Constant(ir.DoubleType(), 1e9)), _INT64)


@intrinsic
def _monotonic_nanoseconds(typing_context):
    def code_generator(context, builder, signature, arguments):
        return _read_windows(builder) if sys.platform == "win32" else _read_posix(builder)

    return types.int64(), code_generator


@intrinsic
def _yield_core(typing_context):
    def code_generator(context, builder, signature, arguments):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        builder.call(declare(builder, name, _INT32, []), [])
        return context.get_dummy_value()

    return types.none(), code_generator


@intrinsic
def _sleep_for(typing_context, nanoseconds):
    def code_generator(context, builder, signature, arguments):
        if sys.platform == "win32":
            builder.call(declare(builder, "SwitchToThread", _INT32, []), [])
        else:
            duration = builder.alloca(_TIMESPEC)
            builder.store(_INT64(0), builder.gep(duration, [_INT32(0), _INT32(0)]))
            builder.store(arguments[0], builder.gep(duration, [_INT32(0), _INT32(1)]))
            sleep = declare(builder, "nanosleep", _INT32, [duration.type, duration.type])
            builder.call(sleep, [duration, duration])
        return context.get_dummy_value()

    return types.none(types.int64), code_generator


if config.DISABLE_JIT:

    def now():
        """Monotonic time [ns], int64."""
        return time.perf_counter_ns()

    def yield_core():
        """Let another thread have this core."""
        time.sleep(0.0)

    def sleep_for(nanoseconds):
        """Sleep for less than a second [ns]."""
        time.sleep(1e-9 * nanoseconds)

else:

    @subkernel
    def now():
        """Monotonic time [ns], int64."""
        return _monotonic_nanoseconds()

    @subkernel
    def yield_core():
        """Let another thread have this core."""
        _yield_core()

    @subkernel
    def sleep_for(nanoseconds):
        """Sleep for less than a second [ns]; on Windows, whose sleeps take milliseconds, as ``yield_core``."""
        _sleep_for(nanoseconds)
