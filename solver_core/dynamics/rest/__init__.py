"""Who is left out of a substep: bodies that sleep, bodies that wait for a trigger, islands that stand still.

In: motion, contacts, and what drives. Out: bodies that act as static ones, what wakes them, and islands whose solution
stays.
"""
