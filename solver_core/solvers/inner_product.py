"""The inner product of the solvers' inner loops."""

from ..compiled.kernel import subkernel


@subkernel
def dot(first, second, count):
    """Inner product of the first ``count`` entries, in four sums that the processor adds side by side.

    Parameters
    ----------
    first, second : float64 [count or more]
        Read.
    count : int

    Returns
    -------
    float
    """
    sum_0 = sum_1 = sum_2 = sum_3 = 0.0
    whole = count - count % 4
    for index in range(0, whole, 4):
        sum_0 += first[index] * second[index]
        sum_1 += first[index + 1] * second[index + 1]
        sum_2 += first[index + 2] * second[index + 2]
        sum_3 += first[index + 3] * second[index + 3]
    for index in range(whole, count):
        sum_0 += first[index] * second[index]
    return (sum_0 + sum_1) + (sum_2 + sum_3)
