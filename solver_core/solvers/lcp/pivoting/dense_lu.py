"""LU factorisation of a small dense matrix by rows, with partial pivoting: P M = L U.

Written out because NumPy's solver cannot be told the leading part of a larger buffer and raises where the matrix is
singular. Cost: k^3 / 3 multiplications to factor, k^2 to solve. Fails by saying how small the smallest pivot was.
"""

from ....compiled.kernel import subkernel


@subkernel
def factor_lu(size, matrix, exchange):
    """Replace ``matrix[:size, :size]`` by its factors.

    Parameters
    ----------
    size : int
    matrix : float64 [size or more, size or more]
        Read; written with L (unit diagonal, not stored) below the diagonal and U from the diagonal on.
    exchange : int64 [size or more]
        Written: the row that was exchanged with each row in turn.

    Returns
    -------
    float
        Smallest over largest |pivot|; 0 where the matrix is singular, and the factors are of no use.
    """
    smallest, largest = 1.0, 0.0
    for step in range(size):
        best = step
        for row in range(step + 1, size):
            if abs(matrix[row, step]) > abs(matrix[best, step]):
                best = row
        exchange[step] = best
        pivot = matrix[best, step]
        magnitude = abs(pivot)
        if not magnitude > 0.0:
            return 0.0
        smallest = magnitude if step == 0 else min(smallest, magnitude)
        largest = max(largest, magnitude)
        if best != step:
            for column in range(size):
                held = matrix[step, column]
                matrix[step, column] = matrix[best, column]
                matrix[best, column] = held
        for row in range(step + 1, size):
            if matrix[row, step] != 0.0:
                factor = matrix[row, step] / pivot
                matrix[row, step] = factor
                for column in range(step + 1, size):
                    matrix[row, column] -= factor * matrix[step, column]
    return smallest / largest if largest > 0.0 else 1.0


@subkernel
def solve_lu(size, factors, exchange, vector):
    """Replace ``vector`` by the solution of M x = vector.

    Parameters
    ----------
    size : int
    factors, exchange
        Of ``factor_lu`` (read).
    vector : float64 [size]
        Written.
    """
    for step in range(size):
        other = exchange[step]
        if other != step:
            held = vector[step]
            vector[step] = vector[other]
            vector[other] = held
    for row in range(1, size):
        total = vector[row]
        for column in range(row):
            total -= factors[row, column] * vector[column]
        vector[row] = total
    for row in range(size - 1, -1, -1):
        total = vector[row]
        for column in range(row + 1, size):
            total -= factors[row, column] * vector[column]
        vector[row] = total / factors[row, row]
