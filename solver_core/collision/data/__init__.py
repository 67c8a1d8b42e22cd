"""Arrays of the collision stages, and how contacts are written, copied and matched in them.

In: manifolds in the scratch, and earlier contacts. Out: buffers of pairs and contacts that the step keeps.
"""
