"""Compiled code: how Python functions become kernels, are cached, compiled ahead, called by address and timed.

In come Python functions and arrays, out go kernels; nothing here knows of physics. All that builds on private parts of
Numba and llvmlite lies in this package, and was tested with the versions of Numba that ``versions`` names.
"""
