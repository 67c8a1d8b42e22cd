"""Solvers of contact problems and of plain LCPs; ``registry`` finds them by name.

In: rows, islands, settings and a start (``problem``). Out: impulses, velocities and a status. ``cascade`` decides how
``auto`` solves an island; the folders hold the methods and what they share.
"""
