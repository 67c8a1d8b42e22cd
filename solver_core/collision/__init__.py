"""From the bodies' shapes and poses to contacts: broad phase, narrow phase.

Two stages, called once a substep by the stepper, then ``contacts.match_contacts``:

- ``broad_phase`` finds the pairs of shapes that may touch within the substep;
- ``narrow_phase`` makes each pair's contacts, or carries them over while the shapes have hardly moved.

Below them: ``bounding_tree`` (which bounds overlap), ``polytope_contacts`` (boxes and hulls: which features face each
other), ``box_separation`` and ``hull_separation`` (separating axes), ``closest_points`` (GJK), ``manifold`` (clipping
and reduction), ``sphere_contacts`` and ``workspace`` (memory, constants). Every pair is computed in the frame of its
first shape, so results do not hang on where in the world it lies. No tolerance is a length: each is a share of the size
of the smaller shape.
"""
