"""Compile the kernels that travel in the zip, for a processor that nearly all machines of the platform have.

    python tools/compile_kernels.py --packages FOLDER --output kernels
    blender -b --factory-startup --python tools/compile_kernels.py -- --packages FOLDER --output kernels

``tools/package.py`` runs it, with the Python that the zip is for. FOLDER holds the packages of the zip, because the
kernels fit one Numba and one LLVM only. Compiled code stays in ``NUMBA_CACHE_DIR``, where that is set.
"""

import argparse
import os
import platform
import sys
import tempfile
import types
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Processor(NamedTuple):
    """What kernels are compiled for, in LLVM's names."""

    name: str
    features: tuple[str, ...]  # what a machine must have to run them


# x86-64-v3: Intel's Haswell (2013), AMD's Excavator (2015) and later. Every Mac with an Apple core has those of the M1.
_X86_64_V3 = Processor(
    "x86-64-v3",
    (
        "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt",
        "movbe", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
    ),
)  # fmt: skip
PROCESSORS = {"x86_64": _X86_64_V3, "amd64": _X86_64_V3, "arm64": Processor("apple-m1", ())}


def main(argv: list[str]) -> None:
    arguments = parse_arguments(argv)
    processor = PROCESSORS[platform.machine().lower()]
    # Numba reads them when it is imported, here and in the processes that it compiles in.
    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = processor.name, ""
    sys.path.insert(0, str(arguments.packages))
    # The core alone, without the package's own start, which needs Blender.
    sys.modules["cairn"] = types.ModuleType("cairn")
    sys.modules["cairn"].__path__ = [str(ROOT)]
    with tempfile.TemporaryDirectory(prefix="cairn-kernels-") as temporary:
        os.environ.setdefault("NUMBA_CACHE_DIR", temporary)
        compile_kernels(arguments.output, arguments.methods, arguments.frictions, processor)


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", required=True, type=Path, metavar="FOLDER", help="with Numba, llvmlite and SciPy")
    parser.add_argument("--output", required=True, type=Path, metavar="FOLDER", help="where the kernels go")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="for these solvers only (default: all)")
    parser.add_argument("--frictions", nargs="+", metavar="NAME", help="for these laws of friction only (default: all)")
    return parser.parse_args(argv)


def compile_kernels(output: Path, methods: list[str] | None, frictions: list[str] | None, processor: Processor) -> None:
    from cairn.solver_core.compile_plan import everything_to_compile
    from cairn.solver_core.compiled import ready_made
    from cairn.solver_core.compiled.cache_files import machine_code
    from cairn.solver_core.compiled.compile_processes import compile_in_children
    from cairn.solver_core.compiled.kernel import kinds_of
    from cairn.solver_core.problem.rows import FRICTION_MODELS
    from cairn.solver_core.solvers.registry import METHODS

    chosen = [methods or METHODS, frictions or FRICTION_MODELS]
    compilations = everything_to_compile(*chosen)
    missing = [compilation.name for compilation in compilations if not compilation.is_cached()]
    last = -1
    for done, _name in compile_in_children(everything_to_compile, missing, chosen):
        if done != last:
            print(f"compiling kernels, {done} of {len(missing)}", file=sys.stderr, flush=True)
            last = done
    made = []
    for compilation in compilations:
        compilation.compile()
        kernel, kinds = compilation.kernel, kinds_of(compilation.arguments)
        made.append((kernel.py_func, kinds, kernel.overloads[kinds], machine_code(kernel, kinds)))
    ready_made.write(output, made, processor.name, processor.features)


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
