"""Numbers of choice of the default method: which attempt is made on an island, and when it is given up.

Each has its dimension in brackets and where it was decided: the number of a page of ``docs/decisions``, or ``auto`` for
``docs/solvers/auto.md``. [1] is a ratio, [scale] one to the scale of the problem, [tolerance] one to the speed that is
asked for. Which islands are given to the method at all is in ``dynamics/islands/policy``.
"""

import numpy as np

# At rest (``cascade``)

# A start whose residual is below this is that of bodies which have come to rest ... [tolerance] (auto)
FACTOR_RESTING = 10.0
# ... the exact method solves to this share of what is due ... [1] (auto)
FACTOR_BEYOND = 1e-3
# ... in this many steps. [Newton steps] (auto)
STEPS_RESTING = 12
# What is due is the tolerance; of bodies at rest this share of it ... [tolerance] (auto)
SHARE_AT_REST = 0.02
# ... but no less than this, since starts cannot be much better than rounding. [scale] (auto)
RATIO_AT_REST = 1e-8
# Bodies are at rest if none has more energy than at this speed: creeping is slower by far, and what rolls or spins is
# faster. [scale] (auto)
RATIO_SLOW = 1e-3
# What stopped a creeping body is not what holds it: after such a solve the next start must be below this share of what
# is due, or the solve is repeated. With 1, what stops them and what holds them would alternate for ever. [1] (auto)
FACTOR_CORRECTED = 0.01

# First sweeps, and the exact method (``cascade``)

# All attempts on an island together. [iterations] (auto)
MOST_ITERATIONS = 500
# First sweeps ... [sweeps] (auto)
SWEEPS_FIRST = 30
# ... of which in islands of up to this many contacts, where a step of the exact method costs as much as six sweeps and
# more ... [contacts] (auto)
FEW_BLOCKS = 16
# ... and in others, so many are done before they are first given up if their gain will not do. [sweeps] (auto)
FORECAST_FEW, FORECAST_MANY = 4, 2
# Of the exact method: a wall with gaps that lands takes it some 80, and is solved at once ever after.
# [Newton steps] (auto)
STEPS_EXACT = 100
# For the polygon pivoting is the faster exact method up to here (``auto_polyhedral``). [contacts] (auto)
MOST_BLOCKS_FOR_PIVOTS = 64

# Active subdomains (``active_subdomain``)

# They are for islands from so many on. [contacts] (23, auto)
BLOCKS_FOR_SUBDOMAINS = 300
# A start whose residual is below this is settled: only details are missing. [scale] (auto)
RATIO_SETTLED = 0.1
# At most this share of the blocks is not solved ... [1] (auto)
SHARE_UNSOLVED = 0.25
# ... whose errors are above this. [tolerance] (auto)
FACTOR_UNSOLVED = 10.0
# Of the largest subdomain. A Newton step on this many takes a millisecond or two. [contacts] (auto)
MOST_BLOCKS = 1500
# A subdomain is what is around errors above this share of the largest, and is solved to this share of the target ...
# [1] (auto)
SHARE_OF_LARGEST, SHARE_OF_TARGET = 0.1, 0.1
# ... in so many. [Newton steps] (auto)
STEPS_IN_SUBDOMAIN = 40
# After each there are so many over the island. [sweeps] (auto)
SWEEPS_BETWEEN = 10
# A subdomain has one ring, and one more for each subdomain since the residual was last halved. [rings of bodies] (auto)
RINGS = np.int64(1)
# After this many of these, or this many in all, they are given up. [subdomains] (23, auto)
MOST_STALLED, MOST_SUBDOMAINS = 2, 12
# After subdomains have failed, the next 0, 1, 3, 7 and at most this many do without them, the more often they have
# failed in turn, the more. The exact method on a whole island takes twenty times as long and is tried only then.
# [solves] (auto)
WAIT_MOST_SUBDOMAINS = 15

# Without small steps ("exact" and named methods): what the exact method has failed at is swept

# Done without the exact method after it has failed, at first and at most: sixteen of them cost as much as the failed
# one, so waiting longer would save less than half. [solves] (auto)
WAIT_LEAST, WAIT_MOST = 4, 16
# It is tried again once the start is closer by this than it was at the failure. [power of two] (auto)
POWER_CALMED = 4
# Of a solve without the exact method, and how many more there are to bring the residual of a large island below
# RATIO_ROUGH: the hits themselves. [sweeps] (auto)
SWEEPS_MOVING, SWEEPS_HIT = 40, 240
# Bodies that fly about need no smaller residual than this; a larger one means a hit. [scale] (08, 27, auto)
RATIO_ROUGH = 1e-2
# Around hits ... [rings of bodies] (auto)
RINGS_OF_HIT = np.int64(2)
# ... subdomains are swept to this share of the residual that is asked for ... [1] (auto)
SHARE_OF_HIT = 0.5
# ... and after so many the whole island is swept. [subdomains] (auto)
MOST_HITS = 4
