"""Distances of two convex shapes, and trees of boxes that find what is near.

In: polytopes, two shapes of a pair and their relative pose. Out: signed distance, closest points, separating axes and
depth in ``PairScratch``; pairs of overlapping boxes. All is exact to rounding, with bounds from both sides.
"""
