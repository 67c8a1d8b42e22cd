"""Numbers of choice: which solver an island gets, what it may spend, and when an outcome is good enough to go on with.

Each has its dimension in brackets and where it was decided: the number of a page of ``docs/decisions``, or ``auto`` for
``docs/solvers/auto.md``. [1] is a ratio, [sweeps] are those over the island. What the default method then tries is in
``solvers/policy``.
"""

import numpy as np

# Credit

# What a body starts with, the price of a cold start of what stands, and what it may earn up to. [sweeps] (27, auto)
CREDIT_START, CREDIT_MOST = 3000.0, 1000.0
# What a series of solves that brings a body to rest begins with; less than the second is not worth a try.
# [sweeps] (27, auto)
CREDIT_OF_REST, CREDIT_TO_TRY = 500.0, 40.0
# Of a success at rest this share is charged: the next solves will succeed, too, and each is nearer to rest and cheaper.
# [1] (27)
SHARE_OF_SUCCESS = 0.1
# What fails in motion is charged so many times its cost: it leaves nothing, so attempts that fail cost at most this
# part of the small steps that follow them. [1] (27, auto)
PRICE_OF_FAILURE = 4.0
# The largest debt that a failure leaves: a heap that could rest by now is not to wait for seconds. [sweeps] (auto)
CREDIT_DEBT = 500.0
# What each substep adds: the sweeps of small steps ... [sweeps] (auto)
CREDIT_SWEEPS = 8.0
# ... and as much as this takes. [visits of a contact] (auto)
CREDIT_VISITS = 500.0
# What the method may cost at least where bodies come to rest, in advance of what they earn; and without credit where
# the last solve has succeeded. [sweeps] (auto, 33)
BUDGET_OF_REST, BUDGET_AGAIN = 2500.0, 200.0

# Which islands are tried by the method

# In motion islands of more contacts than these are not tried: Newton's method either ends soon there or not at all.
# [contacts] (auto, 33)
FEW_CONTACTS = 24
# Surfaces that slide or approach by less than this share of the speed that gravity gives in a substep ... [g h] (27)
RATIO_CALM = 0.5
# ... or by this share of a body's size a substep, are about to rest ... [size / h] (27)
RATIO_CALM_SIZE = 1e-4
# ... but not those that overlap by more than this share of a size: they have to move. The method leaves the overlaps of
# what has moved in small steps. So if that is in motion and overlaps by more than the second, small steps go on, and
# take it out. So they do where bodies roll: as these turn against each other by an angle they are led into each other
# by half its square, and a cone would sink faster than the method takes it out. [size] (27, auto)
RATIO_DEEP, RATIO_DEEP_IN_MOTION = 5e-3, 2e-3
# Bodies that turn against each other by more than this in a substep roll. [rad] (auto)
TURN_OF_ROLLING = 1e-2
# An island in small steps is tried once their last sweep changes speeds by less than this share of that of gravity (and
# of the other), as an attempt is cheaper the closer it is to where it ends ... [g h] (auto)
RATIO_SETTLED = 1e-4
# ... and already here, at up to 30 times the work, by those that have all the credit that can be earned: sweeps settle
# slowly in what is tall, and until then it creeps. [g h] (27, auto)
RATIO_ROUGHLY_SETTLED = 1e-2

# What an outcome is worth

# An outcome with a residual above this multiple of the scale, which that without impulses is, is thrown away. [1] (27)
RATIO_WORSE = 10.0
# A solve brings an island nearer to rest if it leaves at most this share of its energy ... [1] (auto)
SHARE_CALMER = 0.9
# ... or no more than at this share of the speed that gravity gives in a substep. [g h] (auto)
RATIO_STILL = 1e-3
# Overgrown impulses are reduced to this share of where that begins, which is as hard as wedges and arches press.
# [1] (27)
SHARE_OF_OVERGROWN = 0.1

# How overlaps are taken out

# Small steps do so apart, by velocities that move the bodies and are forgotten (``solvers/small_steps``). Solves by the
# method, and what is swept in their place, do so in their own rows, and velocities are then solved once more without:
# this share of an overlap in a substep ... [1] (01, 53)
SHARE_TAKEN_OUT = 0.2
# ... no more than this ... [size] (02, 53)
MOST_TAKEN_OUT = 0.01
# ... and down to this. Down to what counts as touching, ever smaller speeds would be required without an end; in a heap
# some contradict each other (a wedged body), and then nothing solves the problem. [size] (02, 53)
LEFT_OF_OVERLAP = 5e-6

# Without small steps ("exact" and named methods): what was left unsolved is swept

# Over an island that the previous substep left unsolved, in the first pass: its contacts are not all known yet.
# [sweeps] (08)
SWEEPS_BEFORE_CONTACTS = np.int64(12)
# Over an island that the previous pass left unsolved, where contacts are added, and for its velocities: at least, and
# at most where hits need more. [sweeps] (08)
SWEEPS_AFTER_FAILURE, SWEEPS_MOST = np.int64(10), np.int64(240)
# From this many on an island that was left unsolved gets sweeps for its velocities. [contacts] (08)
CONTACTS_TO_SWEEP = 500

# Islands with joints

# They are solved to this share of the tolerance. [1] (28)
FACTOR_EXACT = 1e-2
# A body moves that is faster than what gravity gives in so many substeps: what comes to rest is solved exactly.
# [g h] (28)
SUBSTEPS_OF_FALL = 2.0
# Over the contacts of what moves, at most. [sweeps] (28)
SWEEPS_AROUND_JOINTS = np.int64(40)
# Corrections of joints along no loop leave this share of what they are off by when solved: the next one begins with
# more. [1] (28)
SHARE_LEFT_OF_TREES = 1e-3

# Contacts of two bodies of which some are left out (``contact_selection``)

# Two bodies have at most so many in a solve ... [contacts] (54)
MOST_CONTACTS = 32
# ... of which so many may be those that bore most in the last one. [contacts] (54)
MOST_BEARING = 20
# The others are those that are met first by motions of these lengths, as shares of how far the contacts lie from their
# middle ... [1] (54)
LENGTHS_OF_FAN = (1e-3, 2e-2)
# ... until these are stopped within this share of their length of where all contacts would stop them. [1] (54)
SHARE_MISSED = 0.02
# Bodies that are to be led into each other by more hit each other, and have all. [1] (54)
RATIO_OF_HIT = 0.02
# A solution may lead bodies so much deeper into each other at what is left out, and so much where they move in
# small steps or are swept. [size] (54)
RATIO_MISSED, RATIO_MISSED_COARSELY = 8e-4, 8e-3
# From this turn in a substep on, corrections of joints ask for what errors at its end change by: those that do not lead
# away from the answer. [rad] (42)
TURN_OF_ENDS = 2.0
# ... and likewise where so many corrections by the rows of the middle would not do, and what is still to be corrected
# is at most this motion: from farther on Newton's method may lead anywhere. [1], [size, rad] (42)
CORRECTIONS_PER_END, MOVED_NEAR = 2, 0.02
