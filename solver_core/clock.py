"""A clock that kernels can read, so that a step which is one kernel call still knows the time of each stage.

``clock_gettime(CLOCK_MONOTONIC)``, on Windows ``QueryPerformanceCounter``: some 25 ns a reading. The functions are
declared as external symbols, not through ctypes, because pointers could not be cached on disk.
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


def _declare(builder, name, argument_types):
    """The external C function ``int32 name(arguments)``, declared once a module."""
    module = builder.module
    if name in module.globals:
        return module.globals[name]
    return ir.Function(module, ir.FunctionType(_INT32, argument_types), name)


def _read_posix(builder):
    timespec = builder.alloca(ir.LiteralStructType([_INT64, _INT64]))
    call = _declare(builder, "clock_gettime", [_INT32, timespec.type])
    builder.call(call, [_INT32(_CLOCK_MONOTONIC), timespec])
    seconds = builder.load(builder.gep(timespec, [_INT32(0), _INT32(0)]))
    nanoseconds = builder.load(builder.gep(timespec, [_INT32(0), _INT32(1)]))
    return builder.add(builder.mul(seconds, _INT64(_NANOSECONDS_PER_SECOND)), nanoseconds)


def _read_windows(builder):
    count, frequency = builder.alloca(_INT64), builder.alloca(_INT64)
    builder.call(_declare(builder, "QueryPerformanceCounter", [count.type]), [count])
    builder.call(_declare(builder, "QueryPerformanceFrequency", [frequency.type]), [frequency])
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


if config.DISABLE_JIT:

    def now():
        """Monotonic time [ns], int64."""
        return time.perf_counter_ns()

else:

    @subkernel
    def now():
        """Monotonic time [ns], int64."""
        return _monotonic_nanoseconds()
