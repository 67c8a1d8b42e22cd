"""Joints as the caller describes them, one file a type; each lowers itself to coordinates (``coordinates``).

Descriptions come in; arrays of rows go out (``joint_arrays``), of which ``constraints.joints`` knows the geometry. So
kernels know a few kinds of coordinates, and nothing of hinges or sliders.
"""
