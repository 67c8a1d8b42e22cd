"""Problems of the papers, made anew: circles in a plane, LCPs with a known solution, pegs, stacks and single bodies.

Sizes and a seed go in; a ``ContactProblem``, an ``LCP`` or a ``Scene`` comes out. Benchmarks and tests solve them; they
are no part of the extension.
"""
