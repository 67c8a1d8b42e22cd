"""What the solvers of contact problems share: the sweep, directions, limits, and how a solve begins and ends.

In: rows, islands, settings. Out: changed impulses and velocities, or a status.
"""
