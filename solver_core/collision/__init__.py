"""From shapes, poses and velocities to contacts.

In: the model, the state, and the pairs and contacts of the last substep. Out: ``PairArrays`` and ``ContactArrays`` of a
detection pass (``broad_phase``, ``narrow_phase``, then ``data.contact_matching``).
"""
