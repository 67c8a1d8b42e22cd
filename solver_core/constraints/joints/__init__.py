"""Joints go in; rows come out: for the position solve (SHAKE), for the velocity solve (RATTLE), and what broke.

``coordinate_geometry`` knows the geometry of each kind of coordinate, ``joint_rows`` what its row asks for.
"""
