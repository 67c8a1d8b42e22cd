"""How the reduced inverse of an almost complementary basis follows a pivot; see ``almost_complementary``."""

from ...kernel import subkernel
from .almost_complementary import (
    BORDER,
    DRIVE,
    NORMAL,
    PIVOTS_SINCE_REBUILD,
    PUSH,
    ROWS_OF_K,
    SOLUTION,
    SPARE,
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
from .polyhedral_groups import (
    COVER_CONE,
    COVER_SLIP,
    DIRECTIONS,
    FRICTION,
    LOCAL,
    NORMAL_ROW,
    TANGENT_ROW,
    base_speed,
)


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
    size, place, label, inverse, work = basis.size, basis.place, basis.label, basis.inverse, basis.work
    shape, law, angle, star = groups.shape, groups.law, groups.angle, basis.star
    stride = angle.shape[1] + 2
    fits = size[ROWS_OF_K] + 3 <= inverse.shape[0]
    if fits:
        if leave_z and place[Z, leaving] < 0:
            _release(groups, basis, leaving // stride)
        if not leave_z:
            _fill_border(size, shape, law, angle, groups.place, groups.jacobian, label, star, inverse, work, leaving)
        pivot = basis.table[DRIVE, leaving]
        if enter_z and leave_z:
            _replace_column(size, place, label, inverse, work, leaving, entering, pivot)
        elif enter_z:
            _append(size, place, label, inverse, work, leaving, entering, pivot)
        elif leave_z:
            _delete(size, place, label, inverse, star, leaving, entering)
        else:
            _replace_row(size, place, label, inverse, work, leaving, entering)
        if enter_z:
            fill_star(shape, law, angle, groups.response, star, place[Z, entering], entering)
        basis.basic[leave_z, leaving] = 0
        basis.basic[enter_z, entering] = 1
        if _can_capture(shape, place, leaving // stride, stride):
            _capture(groups, basis, leaving // stride)
        if _can_capture(shape, place, entering // stride, stride):
            _capture(groups, basis, entering // stride)
        size[PIVOTS_SINCE_REBUILD] += 1
    return fits


@subkernel
def _fill_border(size, shape, law, angle, place, jacobian, label, star, inverse, work, pair):
    """border = (the leaving row) K^-1."""
    stride = angle.shape[1] + 2
    group, slot = pair // stride, pair % stride
    normal, tangent, local = shape[group, NORMAL_ROW], shape[group, TANGENT_ROW], shape[group, LOCAL]
    count = size[ROWS_OF_K]
    for k in range(count):
        work[BORDER, k] = 0.0
    for i in range(count):
        entry = direct_entry(shape, law, stride, pair, label[Z, i])
        if slot == NORMAL:
            entry += base_speed(jacobian, normal, place[normal, 0], place[normal, 1], star, i)
        elif slot < stride - 1:
            cosine, sine = angle[0, slot - 1], angle[1, slot - 1]
            if local >= 0:
                cosine, sine = cosine - angle[0, local], sine - angle[1, local]
            entry += cosine * base_speed(jacobian, tangent, place[tangent, 0], place[tangent, 1], star, i)
            if sine != 0.0:
                entry += sine * base_speed(jacobian, tangent + 1, place[tangent, 0], place[tangent, 1], star, i)
        for k in range(count):
            work[BORDER, k] += entry * inverse[i, k]


@subkernel
def _replace_column(size, place, label, inverse, work, leaving, entering, pivot):
    """z enters for z."""
    count, index = size[ROWS_OF_K], place[Z, leaving]
    for k in range(count):
        inverse[index, k] /= -pivot
    for i in range(count):
        factor = work[SOLUTION, i]
        if i != index and factor != 0.0:
            for k in range(count):
                inverse[i, k] += factor * inverse[index, k]
    place[Z, leaving] = -1
    put_pair(place, label, Z, index, entering)


@subkernel
def _append(size, place, label, inverse, work, leaving, entering, pivot):
    """z enters for w: K gets a row and a column."""
    count = size[ROWS_OF_K]
    for k in range(count):
        inverse[count, k] = -work[BORDER, k] / pivot
    inverse[count, count] = 1.0 / pivot
    for i in range(count):
        factor = work[SOLUTION, i]
        inverse[i, count] = factor / pivot
        if factor != 0.0:
            for k in range(count):
                inverse[i, k] += factor * inverse[count, k]
    put_pair(place, label, Z, count, entering)
    put_pair(place, label, W, count, leaving)
    size[ROWS_OF_K] = count + 1


@subkernel
def _replace_row(size, place, label, inverse, work, leaving, entering):
    """w enters for w."""
    count, index = size[ROWS_OF_K], place[W, entering]
    pivot = work[BORDER, index]
    for i in range(count):
        factor = inverse[i, index] / pivot
        if factor != 0.0:
            for k in range(count):
                inverse[i, k] -= factor * work[BORDER, k]
        inverse[i, index] = factor
    place[W, entering] = -1
    put_pair(place, label, W, index, leaving)


@subkernel
def _delete(size, place, label, inverse, star, leaving, entering):
    """w enters for z: K loses a row and a column."""
    count, column, row = size[ROWS_OF_K], place[Z, leaving], place[W, entering]
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
    end, column, row = size[ROWS_OF_K] - 1, place[Z, column_pair], place[W, row_pair]
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
    size[ROWS_OF_K] = end


@subkernel
def _can_capture(shape, place, group, stride):
    """Whether lambda and gamma of a group stand in K."""
    pair = group * stride + stride - 1
    return group < shape.shape[0] and shape[group, LOCAL] < 0 and place[Z, pair] >= 0 and place[W, pair] >= 0


@subkernel
def _capture(groups, basis, group):
    """Eliminate sigma_x, gamma and phi_x, lambda of ``group``, where lambda and gamma stand in K, if there is an x."""
    size, place, label, inverse, star = basis.size, basis.place, basis.label, basis.inverse, basis.star
    stride = groups.angle.shape[1] + 2
    first = group * stride
    x = -1
    for direction in range(groups.shape[group, DIRECTIONS]):
        if x < 0 and place[Z, first + 1 + direction] >= 0 and place[W, first + 1 + direction] >= 0:
            x = direction
    if x >= 0:
        _drop(size, place, label, inverse, star, first + 1 + x, first + 1 + x)
        _drop(size, place, label, inverse, star, first + stride - 1, first + stride - 1)
        groups.shape[group, LOCAL] = x
        _refresh_stars(groups, basis, group)


@subkernel
def _refresh_stars(groups, basis, group):
    """Renew the columns of K that hang on what is eliminated in ``group``."""
    shape, law, angle, response = groups.shape, groups.law, groups.angle, groups.response
    stride, z0_pair = angle.shape[1] + 2, basis.place.shape[1] - 1
    if basis.place[Z, z0_pair] >= 0:
        fill_cover_star(shape, law, angle, response, basis.star, basis.place[Z, z0_pair])
    for index in range(basis.size[ROWS_OF_K]):
        pair = basis.label[Z, index]
        if pair // stride == group:
            fill_star(shape, law, angle, response, basis.star, index, pair)


@subkernel
def _release(groups, basis, group):
    """Take sigma_x, gamma and phi_x, lambda of ``group`` back into K, which has room."""
    shape, law, angle, jacobian, speed = groups.shape, groups.law, groups.angle, groups.jacobian, basis.speed
    inverse, work, label = basis.inverse, basis.work, basis.label
    size, x, stride = basis.size[ROWS_OF_K], shape[group, LOCAL], angle.shape[1] + 2
    first, z0_pair, row = group * stride, shape.shape[0] * stride, shape[group, TANGENT_ROW]
    cosine, sine, place_a, place_b = angle[0, x], angle[1, x], groups.place[row, 0], groups.place[row, 1]
    # phi_x = border . z and lambda = -spare . z, where z solves for a unit right-hand side of one of K's rows
    for index in range(size):
        pair = label[Z, index]
        slip = cosine * base_speed(jacobian, row, place_a, place_b, basis.star, index)
        if sine != 0.0:
            slip += sine * base_speed(jacobian, row + 1, place_a, place_b, basis.star, index)
        work[BORDER, index], work[SPARE, index] = 0.0, slip
        if pair == z0_pair:
            work[BORDER, index] = law[group, COVER_CONE]
            work[SPARE, index] += law[group, COVER_SLIP]
        elif pair // stride == group:
            work[BORDER, index] = law[group, FRICTION] if pair == first else -1.0
    # column of sigma_x, which is subtracted from the group's other sigma; column of gamma, which is a push by D_x
    clear(basis.velocity, PUSH)
    add_push(groups.response, row, cosine, sine, basis.velocity, PUSH)
    fill_speeds(groups.place, jacobian, basis.velocity, PUSH, speed)
    for index in range(size):
        inverse[index, size] = 0.0
        inverse[index, size + 1] = 0.0
    for k in range(size):
        own = first < label[W, k] < first + stride
        entry = row_entry(shape, angle, speed, stride, label[W, k])
        for index in range(size):
            if own:
                inverse[index, size] -= inverse[index, k]
            inverse[index, size + 1] += inverse[index, k] * entry
    _append_released(size, inverse, work)
    inverse[size + 1, size] += 1.0
    inverse[size, size + 1] -= 1.0
    inverse[size + 1, size + 1] += cosine * speed[row] + sine * speed[row + 1]
    shape[group, LOCAL] = -1
    basis.size[ROWS_OF_K] = size + 2
    for offset in range(2):
        pair = first + 1 + x if offset == 0 else first + stride - 1
        put_pair(basis.place, label, Z, size + offset, pair)
        put_pair(basis.place, label, W, size + offset, pair)
        work[SOLUTION, size + offset] = basis.table[DRIVE, pair]
    _refresh_stars(groups, basis, group)


@subkernel
def _append_released(size, inverse, work):
    """Rows of phi_x and lambda in the inverse."""
    for k in range(size + 2):
        inverse[size, k] = 0.0
        inverse[size + 1, k] = 0.0
    for index in range(size):
        for k in range(size + 2):
            inverse[size, k] += work[BORDER, index] * inverse[index, k]
            inverse[size + 1, k] -= work[SPARE, index] * inverse[index, k]
