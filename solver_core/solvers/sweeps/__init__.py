"""Methods that only sweep: projected Gauss-Seidel, its relaxed and modulus-based forms, conjugate gradients.

In: one island's rows. Out: its impulses and velocities, at O(rows) per iteration.
"""
