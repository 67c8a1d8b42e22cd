"""The toolbox on plain LCPs, w = A x + b; it knows nothing of contacts.

In: an ``LCP`` (dense, sparse, factors or operator) and options. Out: x, a status and the history of its residual.
"""
