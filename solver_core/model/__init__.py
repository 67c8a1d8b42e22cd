"""Bodies with shapes come in, one at a time (``ModelBuilder``). A ``Model`` goes out: constant arrays for the kernels,
in body frames at the centres of mass, and the initial state. Nothing here moves.
"""
