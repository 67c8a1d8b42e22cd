"""Bounces at the end of small steps: impacts one after the other, each of a few contacts.

Small steps know no bounce: what hits stops. That moves bodies well, but a hit that goes on through bodies that touch
loses most of its energy. So where something has bounced velocities are taken anew, as in ``constraints.restitution``,
but by sweeps:

    v <- v_free + M^-1 J' r       r: the impulses with which the substep began, which bear what rests
    sweeps with                   u_n >= -w of what hits, u_n >= 0 of the rest: just before the hits
    while some contacts approach: u_n >= -e u_n-  of these alone, from no impulses
    sweeps with                   u_n >= 0 of what still approaches, from no impulses

Only contacts that have pushed in some small step, and of which a body has been moved by the last impact, may take part
in the next one; so a round costs as much as the hit has come to. An impact that friction, or sweeps that have not
settled, would make gain energy is shortened until it does not.
"""

import math

from ...compiled.kernel import subkernel
from ...problem.substep_impulses import add_impulse_of_rows
from .sweep import sweep_blocks

# Impacts of an island in a substep, and what still approaches then stops.
_MOST_IMPACTS = 64
# Sweeps of an impact, until they change speeds by less than this share of the fastest approach.
_MOST_SWEEPS, _RATIO_LEFT = 8, 1e-3
# Approaches below this share of the fastest one are none.
_RATIO_APPROACH = 1e-3
# Over all that has pushed, before the impacts, and over what still approaches after them.
_SWEEPS = 2
# What is wider open than this share of the slightest body bounces in the next substep, at any speed [m/s].
_RATIO_TOUCHING, _OPEN = 1e-5, 1e30


@subkernel
def keep_resting_impulses(rows, islands, island, contact_count, factor, kept):
    """Note the impulses with which a substep begins, a multiple of those of the rows.

    Parameters
    ----------
    rows, islands, island
        Read.
    contact_count : int64
        Blocks before this one are contacts.
    factor : float
    kept : float64 [3 block_capacity]
        Written.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contact_count:
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                kept[row] = factor * rows.impulse[row]


@subkernel
def solve_impacts(rows, islands, island, given, velocity, workspace, sweep, settings, pace, impulses):
    """Let an island bounce, if something that may has pushed.

    Parameters
    ----------
    rows : RowArrays
        Written: bias of contacts; ``impulse`` is left as it was.
    islands, island
        Read.
    given : SmallStepInput
        Read.
    velocity : float64 [body_count, 6]
        Written: after the impacts.
    workspace : SmallStepArrays
        Read: gap, kept_speed, pushed. ``resting_impulse`` read and written; ``hit``, ``hit_speed``, ``before`` written.
    sweep : SweepWorkspace
    settings : SolverSettings
    pace : tuple of (float, float)
        Length of a small step [s]; side of the cube of the slightest body [m].
    impulses : SubstepImpulses
        ``beside`` written where it is kept: what contacts have given but what their rows say.
    """
    closing, touching = 1.0 / pace[0], _RATIO_TOUCHING * pace[1]
    count, first, found = given.contact_count[0], 2 * islands.block_first[island], False
    last = first
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < count and workspace.pushed[block]:
            workspace.hit[last] = block
            last += 1
            found = found or given.bounce_speed[block] > 0.0
    if not found:
        return
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        workspace.before[body, 0] = -1.0
        for column in range(6):
            velocity[body, column] = given.free_velocity[body, column]
    _begin_from_resting_impulses(rows, given, velocity, workspace, first, last, closing, touching, impulses)
    _sweep(rows, velocity, workspace, sweep, settings, first, last, 0.0, _SWEEPS)
    fastest = _forget_impulses(rows, velocity, workspace, first, last, impulses)
    threshold = max(given.least_impact, _RATIO_APPROACH * fastest)
    for impact in range(_MOST_IMPACTS):
        end, fastest = _select(rows, given, velocity, workspace, first, last, threshold, impact)
        if end == last:
            break
        _collide(rows, velocity, workspace, sweep, settings, last, end, fastest, float(impact), impulses)
    end = _select_to_stop(rows, islands, island, count, velocity, workspace, last, closing, touching)
    _sweep(rows, velocity, workspace, sweep, settings, last, end, 0.0, _SWEEPS)
    _forget_impulses(rows, velocity, workspace, last, end, impulses)
    for index in range(first, last):
        block = workspace.hit[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = workspace.resting_impulse[row]
        if impulses.is_kept[0] == 1:
            add_impulse_of_rows(rows, block, -1.0, impulses.beside[block])


@subkernel
def _begin_from_resting_impulses(rows, given, velocity, workspace, first, last, closing, touching, impulses):
    """Impulses with which the substep began change places with those of the rows, and push; biases just before hits."""
    for index in range(first, last):
        block = workspace.hit[index]
        if impulses.is_kept[0] == 1:
            for axis in range(3):
                impulses.beside[block, axis] = 0.0
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            resting = workspace.resting_impulse[row]
            workspace.resting_impulse[row], rows.impulse[row] = rows.impulse[row], resting
            _push(rows, block, row, resting, velocity)
        bias = _bias_of_gap(workspace, block, closing, touching)
        if given.bounce_speed[block] > 0.0:
            bias = workspace.kept_speed[block] + given.bounce_speed[block] / given.restitution[block]
        rows.bias[rows.block_row[block]] = bias


@subkernel(inline=True)
def _bias_of_gap(workspace, block, closing, touching):
    """Of a normal row whose gap may close by ``closing`` [1/s]; what is open may approach at any speed."""
    gap = workspace.gap[block]
    return workspace.kept_speed[block] + (_OPEN if gap > touching else closing * max(gap, 0.0))


@subkernel
def _select_to_stop(rows, islands, island, contact_count, velocity, workspace, last, closing, touching):
    """Gather the contacts that still approach, and ask that they do not; returns where they end."""
    end = last
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contact_count:
            row, bias = rows.block_row[block], _bias_of_gap(workspace, block, closing, touching)
            if bias + _speed_of(rows, block, row, velocity) < 0.0:
                rows.bias[row] = bias
                workspace.hit[end] = block
                end += 1
    return end


@subkernel
def _sweep(rows, velocity, workspace, sweep, settings, first, end, enough, most):
    """Sweep over contacts of ``workspace.hit`` until that changes speeds by no more than is enough [m/s]."""
    largest, sweeps = math.inf, 0
    while largest > enough and sweeps < most:
        largest, _ = sweep_blocks(
            rows,
            workspace.hit,
            first,
            end,
            velocity,
            sweep.change,
            1.0,
            0.0,
            sweep.excess,
            settings.friction,
            settings.directions,
        )
        sweeps += 1


@subkernel
def _forget_impulses(rows, velocity, workspace, first, end, impulses):
    """Begin anew from no impulses, after these have been noted; returns the fastest approach [m/s]."""
    fastest = 0.0
    for index in range(first, end):
        block = workspace.hit[index]
        _forget_impulse(rows, block, impulses)
        speed = workspace.kept_speed[block] + _speed_of(rows, block, rows.block_row[block], velocity)
        fastest = max(fastest, -speed)
    return fastest


@subkernel(inline=True)
def _forget_impulse(rows, block, impulses):
    if impulses.is_kept[0] == 1:
        add_impulse_of_rows(rows, block, 1.0, impulses.beside[block])
    for row in range(rows.block_row[block], rows.block_row[block + 1]):
        rows.impulse[row] = 0.0


@subkernel
def _select(rows, given, velocity, workspace, first, last, threshold, impact):
    """Gather the contacts that approach behind those that have pushed, and ask for their reflection.

    Returns where they end, and how fast the fastest one approaches [m/s].
    """
    end, fastest, moved_in = last, 0.0, workspace.before
    for index in range(first, last):
        block = workspace.hit[index]
        if impact > 0:
            since = impact - 1.0
            if moved_in[rows.body_a[block], 0] != since and moved_in[rows.body_b[block], 0] != since:
                continue
        row = rows.block_row[block]
        speed = workspace.kept_speed[block] + _speed_of(rows, block, row, velocity)
        if not speed < -threshold:
            continue
        bounce = -given.restitution[block] * speed
        if impact == 0 and given.bounce_speed[block] > 0.0:
            # no more than by the speed with which the surfaces meet, however well sweeps have settled
            bounce = min(bounce, given.bounce_speed[block])
        rows.bias[row] = workspace.kept_speed[block] - bounce
        fastest = max(fastest, -speed)
        workspace.hit[end] = block
        end += 1
    return end, fastest


@subkernel
def _collide(rows, velocity, workspace, sweep, settings, first, end, fastest, impact, impulses):
    """One impact, of the contacts from ``first`` to ``end`` of ``workspace.hit``."""
    order, before = workspace.hit, workspace.hit_speed
    for index in range(first, end):
        block = order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            before[row] = _speed_of(rows, block, row, velocity)
    _sweep(rows, velocity, workspace, sweep, settings, first, end, _RATIO_LEFT * fastest, _MOST_SWEEPS)
    # the energy grows by s work + s^2 gain where the impulses are s r
    work = gain = 0.0
    for index in range(first, end):
        block = order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            work += rows.impulse[row] * before[row]
            gain += 0.5 * rows.impulse[row] * (_speed_of(rows, block, row, velocity) - before[row])
    share = 1.0
    if gain > 0.0 and work + gain > 0.0:
        share = max(0.0, -work / gain)
    for index in range(first, end):
        block = order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if share < 1.0:
                _push(rows, block, row, (share - 1.0) * rows.impulse[row], velocity)
                rows.impulse[row] *= share
        for body in (rows.body_a[block], rows.body_b[block]):
            if rows.body_mass[body, 0, 0] > 0.0:
                workspace.before[body, 0] = impact
        _forget_impulse(rows, block, impulses)


@subkernel
def _push(rows, block, row, impulse, velocity):
    """Add to the velocities of a block's bodies what an impulse of one of its rows gives them."""
    if impulse == 0.0:
        return
    a, b = rows.body_a[block], rows.body_b[block]
    for column in range(6):
        velocity[a, column] += rows.response[row, column] * impulse
        velocity[b, column] += rows.response[row, 6 + column] * impulse


@subkernel
def _speed_of(rows, block, row, velocity):
    """J v of a row of a block [m/s]."""
    a, b, speed = rows.body_a[block], rows.body_b[block], 0.0
    for column in range(6):
        speed += rows.jacobian[row, column] * velocity[a, column] + rows.jacobian[row, 6 + column] * velocity[b, column]
    return speed
