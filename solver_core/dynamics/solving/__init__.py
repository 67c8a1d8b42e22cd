"""How an island is solved: ``advance`` is its way through a pass.

In: the rows of a substep, its islands, and what their bodies remember (``islands``). Out: impulses, and velocities of
bodies: those that lead to their poses (``advance``) and those that stay (``velocity_solve``). What an island is
(``facts``), how it may be solved (``strategies``), and what an outcome is worth (``verdicts``).
"""
