"""Lemke's methods on contacts with polyhedral friction.

In: one island's rows. Out: exact impulses, by pivots of a plain tableau or of a reduced inverse.
"""
