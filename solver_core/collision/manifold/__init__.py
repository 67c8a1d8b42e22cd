"""Contact manifolds of two convex shapes: points, normal and gaps.

In: two shapes of a pair, their relative pose, and the feature that gave the last contacts. Out: rows of
``PairScratch.manifold``, the normal in ``axes`` and where it comes from in ``feature``, all in the frame of shape a.
"""
