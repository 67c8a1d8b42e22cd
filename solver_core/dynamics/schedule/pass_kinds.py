"""What the rows that are solved for positions are of: a kind of detection pass, or once more the same rows."""

import numpy as np

# The first pass of a substep; another one; one at the same pairs as the previous; or the same rows once more, for the
# islands that the first pass has only swept; or for those whose joints were off, and are off once more: then contacts
# in motion keep their impulses.
FIRST_PASS, NEW_PAIRS, SAME_PAIRS, SAME_ROWS, SAME_CONTACTS, SAME_IMPULSES = map(np.int64, range(6))
