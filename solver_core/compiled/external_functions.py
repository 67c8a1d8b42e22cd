"""Functions of the C library and of the operating system, called from the code of kernels.

They are declared as external symbols, not through ctypes, because pointers could not be cached on disk.
"""

from llvmlite import ir


def declare(builder, name, result, arguments):
    """Declare ``result name(arguments)``, given as types of LLVM, once a module."""
    module = builder.module
    if name in module.globals:
        return module.globals[name]
    return ir.Function(module, ir.FunctionType(result, arguments), name)
