"""How bodies move in a substep.

In: the state, gravity and damping; later the solved velocities. Out: free velocities (``integration``); the velocity
that moves each body (``position_update``, ``rolling_energy``), within bounds (``motion_bounds``, ``pinches``); poses;
and the impulses that made the change of momentum (``frame_impulses``).
"""
