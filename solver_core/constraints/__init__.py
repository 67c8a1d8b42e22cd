"""Contacts go in; rows come out, for the position solve and, changed in place, for the velocity solve.

Also the algorithm of restitution, as steps between which its caller solves.
"""
