"""alm_newton: the augmented Lagrangian with Newton's method in velocity space.

In: one island's rows with cone or box friction. Out: its impulses and velocities.
"""
