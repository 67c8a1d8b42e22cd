"""What a solver sees: rows in blocks, islands of rows, friction models, settings; and the residuals that judge it.

In: rows as ``constraints`` builds them, or matrices of the Python API. Out: ``ContactProblem``, ``LCP``, their options
and results, and one residual for all solvers.
"""
