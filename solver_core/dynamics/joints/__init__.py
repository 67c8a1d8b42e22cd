"""What a step does for joints, beyond their rows (``constraints.joints``): they stay closed, and make no energy.

In: an island that is solved, and the poses that it leads to. Out: impulses and poses corrected until joints are closed,
velocities that a ledger allows, and what joints hold and therefore touches nothing.
"""
