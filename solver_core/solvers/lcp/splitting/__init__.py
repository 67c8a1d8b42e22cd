"""Splitting methods on a plain LCP: Jacobi, Gauss-Seidel and its relatives, conjugate gradients through sweeps.

In: an ``LCP`` and options. Out: x, a status and histories.
"""
