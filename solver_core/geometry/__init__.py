"""Shapes: numbers and meshes as users give them come in; what goes out is a collision shape in its user frame, checked
and mended, with its mass properties and its tables for the kernels. Concave meshes are cut into convex parts here.
Rotations, for NumPy arrays and for kernels, lie here as well. Nothing knows of bodies or contacts.
"""
