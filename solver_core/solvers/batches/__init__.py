"""Sweeps over large islands: partitioned into domains, with contacts in SIMD batches.

In: rows and islands. Out: the order in which an island is swept, and sweeps that give the same bits for any number of
workers. Small islands are swept as a whole by the same functions.
"""
