"""Random contact problems, and slow plain references of the solvers on the explicit matrix W."""

import numpy as np

from cairn.solver_core.problem.problem import ContactProblem
from cairn.solver_core.problem.rows import allocate_rows


def random_problem(body_count, contact_count, friction=0.5, seed=0, redundant=0):
    """Contacts between random bodies, body 0 immovable; the last ``redundant`` contacts repeat the first ones."""
    rng = np.random.default_rng(seed)
    rows = allocate_rows(contact_count, 3 * contact_count, body_count)
    rows.count[:] = contact_count, 3 * contact_count
    rows.block_row[:] = 3 * np.arange(contact_count + 1)
    inverse_masses = []
    for mass in rng.uniform(0.5, 4.0, body_count):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inverse = np.zeros((6, 6))
        inverse[:3, :3] = np.eye(3) / mass
        inverse[3:, 3:] = axes @ np.diag(rng.uniform(1.0, 10.0, 3) / mass) @ axes.T
        inverse_masses.append(inverse)
    rows.body_mass[1:] = np.linalg.inv(inverse_masses[1:])
    inverse_masses[0][:] = 0.0
    for contact in range(contact_count):
        span = slice(3 * contact, 3 * contact + 3)
        if contact >= contact_count - redundant:
            twin = contact - (contact_count - redundant)
            rows.body_a[contact], rows.body_b[contact] = rows.body_a[twin], rows.body_b[twin]
            rows.jacobian[span] = rows.jacobian[3 * twin : 3 * twin + 3]
        else:
            b = 1 + contact if contact < body_count - 1 else rng.integers(1, body_count)
            a = rng.integers(0, b)
            rows.body_a[contact], rows.body_b[contact] = a, b
            directions = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            arm_a, arm_b = rng.normal(size=(2, 3)) * 0.5
            rows.jacobian[span] = np.hstack(
                [-directions, -np.cross(arm_a, directions), directions, np.cross(arm_b, directions)]
            )
        a, b = rows.body_a[contact], rows.body_b[contact]
        rows.response[span, :6] = rows.jacobian[span, :6] @ inverse_masses[a]
        rows.response[span, 6:] = rows.jacobian[span, 6:] @ inverse_masses[b]
        rows.upper[3 * contact] = np.inf
        rows.normal_row[span] = -1, 3 * contact, 3 * contact
        rows.friction[span] = 0.0, friction, friction
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    velocity = rng.normal(size=(body_count, 6))
    velocity[0] = 0.0
    return ContactProblem(rows, velocity)


def mixed_problem(seed, friction=0.5):
    """Ten bodies in a tree of joints with motors, that contacts push about.

    Blocks 0 to 4 are joints: three bilateral rows. Blocks 5 to 9 are a motor row with a limit, a row that pushes one
    way (the limit of a joint), and a bilateral row. Ten contacts follow, two of them twice. Some motion obeys them all.
    """
    problem = random_problem(10, 20, friction, seed, redundant=2)
    rows = problem.rows
    rng = np.random.default_rng(seed + 1000)
    for block in range(10):
        span = slice(3 * block, 3 * block + 3)
        rows.normal_row[span] = -1
        rows.friction[span] = 0.0
        rows.lower[span], rows.upper[span] = -np.inf, np.inf
        if block >= 5:
            limit = rng.uniform(0.05, 0.5)
            rows.lower[3 * block], rows.upper[3 * block] = -limit, limit
            rows.lower[3 * block + 1] = 0.0
    # the twins of random_problem repeat the first blocks' Jacobians; here they repeat contacts
    for twin, original in ((18, 10), (19, 11)):
        rows.body_a[twin], rows.body_b[twin] = rows.body_a[original], rows.body_b[original]
        for array in (rows.jacobian, rows.response, rows.diagonal):
            array[3 * twin : 3 * twin + 3] = array[3 * original : 3 * original + 3]
    allowed = rng.normal(size=(10, 6))
    allowed[0] = 0.0
    _, speed = dense_form(ContactProblem(rows, allowed))
    constraint, one_way = rows.normal_row < 0, rows.lower == 0.0
    rows.bias[constraint] = -speed[constraint]
    rows.bias[constraint & one_way] += rng.uniform(0.0, 1.0, np.sum(constraint & one_way))
    rows.bias[3 * np.arange(5, 10)] += rng.normal(size=5)  # motors may miss their speed
    return problem


def make_compliant(problem, compliance):
    """Give the rows of a problem these compliances [row_count], in place."""
    rows = problem.rows
    rows.diagonal[:] += compliance - rows.compliance
    rows.compliance[:] = compliance
    return problem


def compliant_problem(seed, friction=0.5, lowest=-6.0, highest=6.0):
    """``mixed_problem`` whose rows have compliances from 10^lowest to 10^highest times their W_ii, a third none."""
    problem = mixed_problem(seed, friction)
    rows = problem.rows
    rng = np.random.default_rng(seed + 2000)
    share = 10.0 ** rng.uniform(lowest, highest, len(rows.diagonal)) * (rng.uniform(size=len(rows.diagonal)) > 0.3)
    share[30:] = 0.0
    return make_compliant(problem, share * rows.diagonal)


def dense_form(problem):
    """W, b and the bounds' description of a problem, from its rows: independent of the matrix-free kernels."""
    rows = problem.rows
    count = int(rows.count[1])
    width = problem.free_velocity.size
    jacobian, response = np.zeros((count, width)), np.zeros((count, width))
    for block in range(int(rows.count[0])):
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            for body, columns in ((rows.body_a[block], slice(0, 6)), (rows.body_b[block], slice(6, 12))):
                jacobian[row, 6 * body : 6 * body + 6] += rows.jacobian[row, columns]
                response[row, 6 * body : 6 * body + 6] += rows.response[row, columns]
    matrix = jacobian @ response.T + np.diag(rows.compliance[:count])
    return matrix, jacobian @ problem.free_velocity.ravel() + rows.bias[:count]


def clip_row(problem, row, r, value):
    """Clip to the row's bounds at the impulses r."""
    rows = problem.rows
    normal = rows.normal_row[row]
    if normal >= 0:
        bound = rows.friction[row] * max(r[normal], 0.0)
        return min(bound, max(-bound, value))
    return min(rows.upper[row], max(rows.lower[row], value))


def project_friction_reference(friction, bound, point, directions=8):
    """Nearest point of the set of friction impulses, by its corners and edges where it is a polygon."""
    point = np.asarray(point, float)
    if bound == 0.0:
        return np.zeros(2)
    if friction == "box":
        return np.clip(point, -bound, bound)
    if friction == "cone":
        return point * bound / max(np.linalg.norm(point), bound)
    angles = 2.0 * np.pi * np.arange(directions) / directions
    corners = bound * np.column_stack([np.cos(angles), np.sin(angles)])
    edges = np.roll(corners, -1, axis=0) - corners
    offsets = point - corners
    if np.all(edges[:, 0] * offsets[:, 1] - edges[:, 1] * offsets[:, 0] >= 0.0):
        return point
    shares = np.clip(np.sum(offsets * edges, axis=1) / np.sum(edges**2, axis=1), 0.0, 1.0)
    nearest = corners + shares[:, None] * edges
    return nearest[np.argmin(np.linalg.norm(nearest - point, axis=1))]


def natural_map_reference(problem, r, friction="box", directions=8):
    """Largest |(W_ii - C_i) (r_i - clip(r_i - u_i / W_ii))| over the rows.

    In cone and polyhedral friction the two friction rows of a contact count as one, with the larger W_ii.
    """
    matrix, b = dense_form(problem)
    u = matrix @ r + b
    weights = np.diag(matrix)
    rows = problem.rows
    errors, row = [0.0], 0
    while row < len(r):
        normal = rows.normal_row[row]
        if friction != "box" and normal >= 0:
            weight = max(weights[row : row + 2])
            pair = r[row : row + 2]
            bound = rows.friction[row] * max(r[normal], 0.0)
            wanted = pair - u[row : row + 2] / weight
            errors.append(
                weight * np.linalg.norm(pair - project_friction_reference(friction, bound, wanted, directions))
            )
            row += 2
        else:
            missing = r[row] - clip_row(problem, row, r, r[row] - u[row] / weights[row])
            errors.append((weights[row] - rows.compliance[row]) * abs(missing))
            row += 1
    return max(errors)


def brake_reference(matrix, wanted, bound):
    """t with W t + s t = wanted, s >= 0, |t| <= bound, s (bound - |t|) = 0, by bisection on s."""
    if bound == 0.0:
        return np.zeros(2)
    shifted = lambda s: np.linalg.solve(matrix + s * np.eye(2), wanted)  # noqa: E731
    if np.linalg.norm(shifted(0.0)) <= bound:
        return shifted(0.0)
    low, high = 0.0, np.linalg.norm(wanted) / bound
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.linalg.norm(shifted(middle)) > bound else (low, middle)
    return shifted(high)


def visit_reference(matrix, slip, t, bound):
    """A sweep's visit to the friction of one contact: its solution where it sticks.

    Where it slides, Newton's method for 1 / |t(s)| = 1 / bound, t(s) = (W + s)^-1 (W t - slip), from s = |slip| / bound
    up to the first step from within a hundredth, and back to the circle.
    """
    wanted = matrix @ t - slip
    exact = brake_reference(matrix, wanted, bound)
    if np.linalg.norm(exact) < bound * (1.0 - 1e-9) or bound == 0.0:
        return exact
    shift, length = np.linalg.norm(slip) / bound, np.inf
    while abs(length - bound) > 1e-2 * bound:
        inverse = np.linalg.inv(matrix + shift * np.eye(2))
        found = inverse @ wanted
        length = np.linalg.norm(found)
        shift = max(0.0, shift - (1.0 / length - 1.0 / bound) * length**3 / (found @ inverse @ found))
    found = np.linalg.solve(matrix + shift * np.eye(2), wanted)
    return bound * found / np.linalg.norm(found)


def pgs_reference(problem, r, sweeps, friction="box"):
    """So many projected Gauss-Seidel sweeps on the explicit W (Silcowitz-Hansen et al. 2010, eq. 17).

    With the cone both friction rows of a contact are one unknown (``visit_reference``).
    """
    matrix, b = dense_form(problem)
    rows = problem.rows
    r = r.copy()
    for _ in range(sweeps):
        row = 0
        while row < len(r):
            normal = rows.normal_row[row]
            if friction == "cone" and normal >= 0:
                pair = slice(row, row + 2)
                block = matrix[pair, pair]
                slip = matrix[pair] @ r + b[pair]
                r[pair] = visit_reference(block, slip, r[pair], rows.friction[row] * max(r[normal], 0.0))
                row += 2
            else:
                u = matrix[row] @ r + b[row]
                r[row] = clip_row(problem, row, r, r[row] - u / matrix[row, row])
                row += 1
    return r


def amgs_reference(problem, sweeps, alpha, relaxation=1.0):
    """The accelerated modulus-based splitting on the explicit W, from zero, by the fixed-point equation itself.

    Miyamoto and Yamashita 2019, eq. 17 with Omega = alpha D and gamma = 2: W = D - L - U; row by row, with x and |x|
    written as the sum and the difference of the impulse within the bounds and what they cut off,

        (D / relaxation + 2 Omega) x_i = (1 / relaxation - 1) D x_i + (2 Omega - D) |x_i| + 2 (L r' + U r - b)_i.
    """
    matrix, b = dense_form(problem)
    diagonal = np.diag(matrix)
    r = np.zeros(len(b))
    x = np.zeros_like(r)
    for _ in range(sweeps):
        for row, weight in enumerate(diagonal):
            others = -(matrix[row] @ r - weight * r[row]) - b[row]
            modulus = r[row] - (x[row] - r[row])
            omega = alpha * weight
            x[row] = ((1.0 / relaxation - 1.0) * weight * x[row] + (2.0 * omega - weight) * modulus + 2.0 * others) / (
                weight / relaxation + 2.0 * omega
            )
            r[row] = clip_row(problem, row, r, x[row])
    return r


def nncg_reference(problem, iterations, friction="box", conjugacy="fletcher_reeves", line_search=False):
    """The listing of Silcowitz-Hansen et al. 2010, section 4, on the explicit W, with norms in diag(W).

    Stops after the last sweep, before a direction is added. With a line search a sweep after a step that was too long
    counts too, and is undone.
    """
    weights = np.diag(dense_form(problem)[0])
    r = np.zeros(len(weights))
    base, direction = r, np.zeros_like(r)
    last, last_gradient, step, slope = None, None, 1.0, 0.0
    for iteration in range(iterations):
        swept = pgs_reference(problem, r, 1, friction)
        gradient = r - swept
        merit = gradient @ (weights * gradient)
        if iteration == iterations - 1:
            return swept
        if line_search and slope < 0.0 and step > 1 / 32 and 0.5 * merit > 0.5 * last + 0.01 * step * slope:
            step *= 0.5
            r = base + step * direction
            continue
        base, step = r, 1.0
        if last is None:
            r, direction = swept, -gradient
        elif merit > last:
            r, direction = swept, np.zeros_like(r)
        else:
            beta = merit / last
            if conjugacy == "polak_ribiere":
                beta = max(0.0, gradient @ (weights * (gradient - last_gradient)) / last)
            direction = beta * direction - gradient
            r = r + direction
        slope = gradient @ (weights * direction)
        last, last_gradient = merit, gradient
    return r
