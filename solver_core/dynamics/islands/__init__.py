"""Islands, and what their bodies remember.

In: rows, contacts and what can be pushed. Out: groups of bodies and rows that share none (``islands``), without the
contacts of two bodies for which others stand (``contact_selection``); and by body, from substep to substep, whether it
was solved and what its island may spend (``memory``).
"""
