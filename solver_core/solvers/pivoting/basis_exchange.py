"""How the reduced inverse of an almost complementary basis follows a pivot; see ``almost_complementary``."""

from ...compiled.kernel import subkernel
from .almost_complementary import (
    DRIVE,
    NORMAL,
    PUSH,
    W,
    Z,
    add_push,
    clear,
    direct_entry,
    fill_cover_star,
    fill_speeds,
    fill_star,
    put_pair,
    row_entry,
)
from .bilateral import base_speed


@subkernel
def exchange(groups, basis, entering, enter_z, leaving, leave_z):
    """Pivot: the entering variable becomes basic, the leaving one not. False where K would outgrow its room.

    Parameters
    ----------
    groups, basis
        Written; DRIVE holds the entering column.
    entering, leaving : int
        Pairs.
    enter_z, leave_z : int
        Z where the variable is z, W where it is w.
    """
    size, place, label, inverse = basis.size, basis.place, basis.label, basis.inverse
    each, angle, star = groups.each, groups.angle, basis.star
    stride = angle.shape[1] + 2
    fits = size[0] + 3 <= inverse.shape[0]
    if fits:
        if leave_z and place[Z, leaving] < 0:
            _release(groups, basis, leaving // stride)
        if not leave_z:
            _fill_border(size, each, angle, groups.place, groups.jacobian, label, star, inverse, basis.border, leaving)
        pivot = basis.table[DRIVE, leaving]
        if enter_z and leave_z:
            _replace_column(size, place, label, inverse, basis.solution, leaving, entering, pivot)
        elif enter_z:
            _append(size, place, label, inverse, basis, leaving, entering, pivot)
        elif leave_z:
            _delete(size, place, label, inverse, star, leaving, entering)
        else:
            _replace_row(size, place, label, inverse, basis.border, leaving, entering)
        if enter_z:
            fill_star(each, angle, groups.response, star, place[Z, entering], entering)
        basis.basic[leave_z, leaving] = 0
        basis.basic[enter_z, entering] = 1
        if _can_capture(each, place, leaving // stride, stride):
            _capture(groups, basis, leaving // stride)
        if _can_capture(each, place, entering // stride, stride):
            _capture(groups, basis, entering // stride)
        basis.pivots_since_rebuild[0] += 1
    return fits


@subkernel
def _fill_border(size, each, angle, place, jacobian, label, star, inverse, border, pair):
    """border = (the leaving row) K^-1."""
    stride = angle.shape[1] + 2
    group, slot = pair // stride, pair % stride
    normal, tangent, local = each[group]["normal_row"], each[group]["tangent_row"], each[group]["local"]
    count = size[0]
    for k in range(count):
        border[k] = 0.0
    for i in range(count):
        entry = direct_entry(each, stride, pair, label[Z, i])
        if slot == NORMAL:
            entry += base_speed(jacobian, normal, place, star, i)
        elif slot < stride - 1:
            cosine, sine = angle[0, slot - 1], angle[1, slot - 1]
            if local >= 0:
                cosine, sine = cosine - angle[0, local], sine - angle[1, local]
            entry += cosine * base_speed(jacobian, tangent, place, star, i)
            if sine != 0.0:
                entry += sine * base_speed(jacobian, tangent + 1, place, star, i)
        for k in range(count):
            border[k] += entry * inverse[i, k]


@subkernel
def _replace_column(size, place, label, inverse, solution, leaving, entering, pivot):
    """z enters for z."""
    count, index = size[0], place[Z, leaving]
    for k in range(count):
        inverse[index, k] /= -pivot
    for i in range(count):
        factor = solution[i]
        if i != index and factor != 0.0:
            for k in range(count):
                inverse[i, k] += factor * inverse[index, k]
    place[Z, leaving] = -1
    put_pair(place, label, Z, index, entering)


@subkernel
def _append(size, place, label, inverse, basis, leaving, entering, pivot):
    """z enters for w: K gets a row and a column."""
    solution, border = basis.solution, basis.border
    count = size[0]
    for k in range(count):
        inverse[count, k] = -border[k] / pivot
    inverse[count, count] = 1.0 / pivot
    for i in range(count):
        factor = solution[i]
        inverse[i, count] = factor / pivot
        if factor != 0.0:
            for k in range(count):
                inverse[i, k] += factor * inverse[count, k]
    put_pair(place, label, Z, count, entering)
    put_pair(place, label, W, count, leaving)
    size[0] = count + 1


@subkernel
def _replace_row(size, place, label, inverse, border, leaving, entering):
    """w enters for w."""
    count, index = size[0], place[W, entering]
    pivot = border[index]
    for i in range(count):
        factor = inverse[i, index] / pivot
        if factor != 0.0:
            for k in range(count):
                inverse[i, k] -= factor * border[k]
        inverse[i, index] = factor
    place[W, entering] = -1
    put_pair(place, label, W, index, leaving)


@subkernel
def _delete(size, place, label, inverse, star, leaving, entering):
    """w enters for z: K loses a row and a column."""
    count, column, row = size[0], place[Z, leaving], place[W, entering]
    pivot = inverse[column, row]
    for i in range(count):
        factor = inverse[i, row] / pivot
        if i != column and factor != 0.0:
            for k in range(count):
                inverse[i, k] -= factor * inverse[column, k]
    _drop(size, place, label, inverse, star, leaving, entering)


@subkernel
def _drop(size, place, label, inverse, star, column_pair, row_pair):
    """Take a column and a row from K, a row and a column from its inverse; the last ones fill the gaps."""
    end, column, row = size[0] - 1, place[Z, column_pair], place[W, row_pair]
    if column != end:
        put_pair(place, label, Z, column, label[Z, end])
        for k in range(end + 1):
            inverse[column, k] = inverse[end, k]
        for k in range(star.shape[1]):
            star[column, k] = star[end, k]
    if row != end:
        put_pair(place, label, W, row, label[W, end])
        for i in range(end):
            inverse[i, row] = inverse[i, end]
    place[Z, column_pair] = -1
    place[W, row_pair] = -1
    size[0] = end


@subkernel
def _can_capture(each, place, group, stride):
    """Whether lambda and gamma of a group stand in K."""
    pair = group * stride + stride - 1
    return group < each.size and each[group]["local"] < 0 and place[Z, pair] >= 0 and place[W, pair] >= 0


@subkernel
def _capture(groups, basis, group):
    """Eliminate sigma_x, gamma and phi_x, lambda of ``group``, where lambda and gamma stand in K, if there is an x."""
    size, place, label, inverse, star = basis.size, basis.place, basis.label, basis.inverse, basis.star
    stride = groups.angle.shape[1] + 2
    first = group * stride
    x = -1
    for direction in range(groups.each[group]["directions"]):
        if x < 0 and place[Z, first + 1 + direction] >= 0 and place[W, first + 1 + direction] >= 0:
            x = direction
    if x >= 0:
        _drop(size, place, label, inverse, star, first + 1 + x, first + 1 + x)
        _drop(size, place, label, inverse, star, first + stride - 1, first + stride - 1)
        groups.each[group]["local"] = x
        _refresh_stars(groups, basis, group)


@subkernel
def _refresh_stars(groups, basis, group):
    """Renew the columns of K that depend on what is eliminated in ``group``."""
    each, angle, response = groups.each, groups.angle, groups.response
    stride, z0_pair = angle.shape[1] + 2, basis.place.shape[1] - 1
    if basis.place[Z, z0_pair] >= 0:
        fill_cover_star(each, angle, response, basis.star, basis.place[Z, z0_pair])
    for index in range(basis.size[0]):
        pair = basis.label[Z, index]
        if pair // stride == group:
            fill_star(each, angle, response, basis.star, index, pair)


@subkernel
def _release(groups, basis, group):
    """Take sigma_x, gamma and phi_x, lambda of ``group`` back into K, which has room."""
    each, angle, jacobian, speed = groups.each, groups.angle, groups.jacobian, basis.speed
    inverse, label = basis.inverse, basis.label
    solution, border, spare = basis.solution, basis.border, basis.spare
    size, x, stride = basis.size[0], each[group]["local"], angle.shape[1] + 2
    first, z0_pair, row = group * stride, each.size * stride, each[group]["tangent_row"]
    cosine, sine = angle[0, x], angle[1, x]
    # phi_x = border . z and lambda = -spare . z, where z solves for a unit right-hand side of one of K's rows
    for index in range(size):
        pair = label[Z, index]
        slip = cosine * base_speed(jacobian, row, groups.place, basis.star, index)
        if sine != 0.0:
            slip += sine * base_speed(jacobian, row + 1, groups.place, basis.star, index)
        border[index], spare[index] = 0.0, slip
        if pair == z0_pair:
            border[index] = each[group]["cover_cone"]
            spare[index] += each[group]["cover_slip"]
        elif pair // stride == group:
            border[index] = each[group]["friction"] if pair == first else -1.0
    # column of sigma_x, which is subtracted from the group's other sigma; column of gamma, which is a push by D_x
    clear(basis.velocity, PUSH)
    add_push(groups.response, row, cosine, sine, basis.velocity, PUSH)
    fill_speeds(groups.place, jacobian, basis.velocity, PUSH, speed)
    for index in range(size):
        inverse[index, size] = 0.0
        inverse[index, size + 1] = 0.0
    for k in range(size):
        own = first < label[W, k] < first + stride
        entry = row_entry(each, angle, speed, stride, label[W, k])
        for index in range(size):
            if own:
                inverse[index, size] -= inverse[index, k]
            inverse[index, size + 1] += inverse[index, k] * entry
    _append_released(size, inverse, border, spare)
    inverse[size + 1, size] += 1.0
    inverse[size, size + 1] -= 1.0
    inverse[size + 1, size + 1] += cosine * speed[row] + sine * speed[row + 1]
    each[group]["local"] = -1
    basis.size[0] = size + 2
    for offset in range(2):
        pair = first + 1 + x if offset == 0 else first + stride - 1
        put_pair(basis.place, label, Z, size + offset, pair)
        put_pair(basis.place, label, W, size + offset, pair)
        solution[size + offset] = basis.table[DRIVE, pair]
    _refresh_stars(groups, basis, group)


@subkernel
def _append_released(size, inverse, border, spare):
    """Rows of phi_x and lambda in the inverse."""
    for k in range(size + 2):
        inverse[size, k] = 0.0
        inverse[size + 1, k] = 0.0
    for index in range(size):
        for k in range(size + 2):
            inverse[size, k] += border[index] * inverse[index, k]
            inverse[size + 1, k] -= spare[index] * inverse[index, k]
