"""How an island is solved: which solver gets it, what it may spend, and what its outcome is worth.

In: the rows of a substep, its islands, and what their bodies remember (``islands``). Out: impulses, and velocities of
bodies: those that lead to their poses (``position_solve``) and those that stay (``velocity_solve``).
"""
