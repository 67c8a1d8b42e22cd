"""Sparse linear algebra over rigid bodies: their graph, elimination order, block factors; rows in compact form.

In: one island's rows, or an explicit W. Out: factors and solutions of systems with 6 x 6 blocks, and products with W.
"""
