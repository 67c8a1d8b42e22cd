"""Newton methods on a plain LCP: the minimum map and Fischer's function.

In: an ``LCP`` and options. Out: x, a status and histories.
"""
