"""What acts on a frame from outside, laid out for its substeps.

In: ``FrameInput`` (poses of driven bodies, meshes and sizes, force fields, targets of guides, joints that are keyed,
who is to wait), checked before anything of it is taken over. Out: where that is at any time within the frame, and what
it changes of the free velocities.
"""
