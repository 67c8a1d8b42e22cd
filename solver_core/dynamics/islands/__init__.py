"""Islands, and what their bodies remember.

In: rows and what can be pushed. Out: groups of bodies and rows that share none (``islands``), and by body, from substep
to substep, whether it was solved and what its island may spend (``memory``).
"""
