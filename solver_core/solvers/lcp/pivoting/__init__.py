"""Pivoting methods on a plain LCP: Lemke's and Dantzig's.

In: an ``LCP`` whose entries are known. Out: an exact solution, or a ray.
"""
