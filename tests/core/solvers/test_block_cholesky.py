"""The sparse factorisation over bodies: products of blocks, elimination order, L L' = H, solves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.solvers.linear_algebra.block_cholesky import (
    allocate_block_factor,
    factorize,
    solve_lower,
    solve_upper,
)
from cairn.solver_core.solvers.linear_algebra.block_products import (
    add_contact,
    add_products,
    add_row,
    divide,
    subtract_image,
    subtract_product,
)
from cairn.solver_core.solvers.linear_algebra.body_graph import allocate_body_graph
from cairn.solver_core.solvers.linear_algebra.elimination import allocate_elimination, factor_capacity, find_elimination


@kernel
def multiply_blocks(which, target, t, left, a, right, b, numbers, n):
    if which == 0:
        subtract_product(target, t, left, a, right, b)
    elif which == 1:
        divide(target, t, left, a, numbers, n)
    elif which == 2:
        subtract_image(target, t, left, a, numbers, n)
    elif which == 3:
        add_products(target, t, left, a, numbers, n)
    elif which == 4:
        add_contact(target, t, left, a, right, b, numbers, n)
    else:
        add_row(target, t, left, a, right, b, numbers, n)


@kernel
def eliminate(graph, elimination):
    return find_elimination(graph, elimination)


@kernel
def factorize_and_solve(count, elimination, factor, x):
    factorize(count, elimination.column_start, elimination.row, factor)
    solve_lower(count, elimination.column_start, elimination.row, factor, x)
    solve_upper(count, elimination.column_start, elimination.row, factor, x)


def graph_of(count, edges):
    """A body graph with these edges (low, high), of so many bodies."""
    graph = allocate_body_graph(max(len(edges), 1), max(count, 1))
    graph.count[:] = count, len(edges)
    if len(edges):
        graph.low[: len(edges)], graph.high[: len(edges)] = np.array(edges).T
    return graph


def random_edges(count, density, seed):
    rng = np.random.default_rng(seed)
    return [(low, high) for low in range(count) for high in range(low + 1, count) if rng.random() < density]


def ordered(count, edges):
    graph = graph_of(count, edges)
    elimination = allocate_elimination(max(len(edges), 1), max(count, 1))
    return graph, elimination, eliminate(graph, elimination)


def filled_structure(count, edges, order):
    """Blocks below the diagonal after elimination in this order, by joining the neighbours of what is eliminated."""
    neighbors = [set() for _ in range(count)]
    for low, high in edges:
        neighbors[low].add(high)
        neighbors[high].add(low)
    position = np.empty(count, int)
    position[list(order)] = np.arange(count)
    columns = []
    for body in order:
        rest = {other for other in neighbors[body] if position[other] > position[body]}
        columns.append(sorted(position[other] for other in rest))
        for other in rest:
            neighbors[other] |= rest - {other}
    return columns


def random_matrix(count, edges, seed):
    """A symmetric positive definite matrix with blocks on the diagonal and on the edges [6 count, 6 count]."""
    rng = np.random.default_rng(seed)
    matrix = np.zeros((6 * count, 6 * count))
    for body in range(count):
        span = slice(6 * body, 6 * body + 6)
        matrix[span, span] = 0.1 * np.eye(6)
    for low, high in [*edges, *((body, body) for body in range(count))]:
        rows = rng.normal(size=(3, 12))
        for one, part in ((low, rows[:, :6]), (high, rows[:, 6:])):
            for other, second in ((low, rows[:, :6]), (high, rows[:, 6:])):
                matrix[6 * one : 6 * one + 6, 6 * other : 6 * other + 6] += part.T @ second
    return matrix


def store(matrix, elimination, factor, count):
    """Put the matrix, in the order of elimination, into the factor's place."""
    order = elimination.order[:count]
    columns = (6 * order[:, None] + np.arange(6)).ravel()
    permuted = matrix[np.ix_(columns, columns)]
    start = elimination.column_start
    for column in range(count):
        own = slice(6 * column, 6 * column + 6)
        factor.diagonal[36 * column : 36 * column + 36] = permuted[own, own].T.ravel()
        for block in range(start[column], start[column + 1]):
            row = elimination.row[block]
            factor.blocks[36 * block : 36 * block + 36] = permuted[6 * row : 6 * row + 6, own].T.ravel()
    return permuted


def lower_triangle(elimination, factor, count):
    """L as a dense matrix."""
    lower = np.zeros((6 * count, 6 * count))
    for column in range(count):
        own = slice(6 * column, 6 * column + 6)
        lower[own, own] = np.tril(factor.diagonal[36 * column : 36 * column + 36].reshape(6, 6).T)
        for block in range(elimination.column_start[column], elimination.column_start[column + 1]):
            row = elimination.row[block]
            lower[6 * row : 6 * row + 6, own] = factor.blocks[36 * block : 36 * block + 36].reshape(6, 6).T
    return lower


@pytest.mark.parametrize("seed", range(3))
def test_products_of_blocks_are_those_of_matrices(seed):
    """All six against NumPy, at places other than the start of their arrays; nothing beside the target changes."""
    rng = np.random.default_rng(seed)
    blocks, jacobian, numbers = rng.normal(size=150), rng.normal(size=(8, 12)), rng.normal(size=60)
    target, left, right = blocks[5:41], blocks[50:86].reshape(6, 6).T, blocks[100:136].reshape(6, 6).T
    C = target.reshape(6, 6).T
    lower = np.tril(left, -1) + np.diag(1.0 / numbers[7:13])
    stiffness = numbers[7:16].reshape(3, 3) + numbers[7:16].reshape(3, 3).T
    symmetric = np.concatenate([np.zeros(7), stiffness.ravel()])
    one, other = jacobian[2:5, 6:], jacobian[2:5, :6]
    expected = {
        0: (C - left @ right.T, blocks, blocks, numbers),
        1: (np.linalg.solve(lower, C.T).T, blocks, blocks, numbers),
        3: (C + left * numbers[7:13, None], blocks, blocks, numbers),
        4: (C + one.T @ stiffness @ other, jacobian, jacobian, symmetric),
        5: (C + numbers[7] * np.outer(one[0], other[0]), jacobian, jacobian, numbers),
    }
    for which, (result, first, second, values) in expected.items():
        changed = blocks.copy()
        places = (50, 100) if which < 4 else (2 * 12 + 6, 2 * 12)
        multiply_blocks(which, changed, 5, first, places[0], second, places[1], values, 7)
        block = changed[5:41].reshape(6, 6).T
        assert block == pytest.approx(result, rel=1e-11, abs=1e-11)
        assert np.array_equal(np.delete(changed, np.s_[5:41]), np.delete(blocks, np.s_[5:41]))
    vector = blocks.copy()
    multiply_blocks(2, vector, 5, blocks, 50, blocks, 100, numbers, 7)
    assert vector[5:11] == pytest.approx(target[:6] - left @ numbers[7:13], abs=1e-12)


def test_division_leaves_no_tiny_numbers():
    """What rounding has coupled over long ways becomes zero before it is a denormal number."""
    block = np.full(36, 1e-130)
    multiply_blocks(1, block, 0, np.eye(6).ravel(), 0, block, 0, np.ones(6), 0)
    assert not block.any()


@settings(max_examples=60)
@given(count=st.integers(1, 30), density=st.floats(0.0, 1.0), seed=st.integers(0, 1000))
def test_structure_is_that_of_the_elimination(count, density, seed):
    """The order is a permutation; each column holds the neighbours in the graph with its fill, ascending."""
    edges = random_edges(count, density, seed)
    _, elimination, fits = ordered(count, edges)
    assert fits
    order = elimination.order[:count]
    assert sorted(order) == list(range(count))
    assert np.array_equal(elimination.position[order], np.arange(count))
    start = elimination.column_start
    columns = [list(elimination.row[start[k] : start[k + 1]]) for k in range(count)]
    assert columns == filled_structure(count, edges, list(order))
    for edge, (low, high) in enumerate(edges):
        one, other = sorted((elimination.position[low], elimination.position[high]))
        block = elimination.edge_block[edge]
        assert start[one] <= block < start[one + 1]
        assert elimination.row[block] == other


@settings(max_examples=30)
@given(count=st.integers(2, 20), density=st.floats(0.05, 0.6), seed=st.integers(0, 1000))
def test_each_body_eliminated_has_the_fewest_neighbours(count, density, seed):
    """Minimum degree, exactly, with ties to the lowest number."""
    edges = random_edges(count, density, seed)
    _, elimination, _ = ordered(count, edges)
    neighbors = [set() for _ in range(count)]
    for low, high in edges:
        neighbors[low].add(high)
        neighbors[high].add(low)
    left = set(range(count))
    for body in elimination.order[:count]:
        assert body == min(left, key=lambda other: (len(neighbors[other]), other))
        left.remove(body)
        for other in neighbors[body]:
            neighbors[other] = (neighbors[other] | neighbors[body]) - {other, body}


@pytest.mark.parametrize(
    "edges", [[(k, k + 1) for k in range(29)], [(0, k) for k in range(1, 30)]], ids=["chain", "star"]
)
def test_trees_have_no_fill(edges):
    """A stack, an arch and a star have as many blocks in L as edges."""
    _, elimination, _ = ordered(30, edges)
    assert elimination.column_start[30] == 29


def test_too_much_fill_leaves_the_columns_empty():
    """Where the factor has no room, only the diagonal blocks are left; one block more and it fits."""
    edges = random_edges(12, 1.0, 0)
    graph, elimination, _ = ordered(12, edges)
    small = elimination._replace(row=np.zeros(65, np.int64))
    assert not eliminate(graph, small)
    assert not small.column_start[:13].any()
    assert sorted(small.order[:12]) == list(range(12))
    assert eliminate(graph, elimination._replace(row=np.zeros(66, np.int64)))


def test_room_for_the_factor_hangs_on_the_count_of_bodies_alone():
    """Dense where few; linear in the bodies where many."""
    assert [factor_capacity(count) for count in (1, 2, 10)] == [1, 1, 45]
    assert factor_capacity(20_000) <= 50 * 20_000 + 100


@pytest.mark.parametrize("seed", range(12))
def test_factor_times_its_transpose_is_the_matrix(seed):
    """L L' = H to rounding, on random graphs from empty to dense, and the solve solves."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 25))
    edges = random_edges(count, rng.choice([0.0, 0.1, 0.3, 1.0]), seed)
    _, elimination, _ = ordered(count, edges)
    factor = allocate_block_factor(count)
    matrix = store(random_matrix(count, edges, seed), elimination, factor, count)
    right = rng.normal(size=6 * count)
    x = right.copy()
    factorize_and_solve(count, elimination, factor, x)
    lower = lower_triangle(elimination, factor, count)
    assert lower @ lower.T == pytest.approx(matrix, abs=1e-13 * np.abs(matrix).max())
    assert np.linalg.norm(matrix @ x - right) <= 1e-12 * np.linalg.cond(matrix) * np.linalg.norm(right)


def test_a_pivot_that_is_not_positive_keeps_its_unknown_where_it_is():
    """A matrix that is singular in one direction is solved in the others, without NaN."""
    _, elimination, _ = ordered(1, [])
    factor = allocate_block_factor(1)
    diagonal = np.array([1.0, 2.0, 0.0, 4.0, np.nan, 6.0])
    factor.diagonal[:36] = np.diag(diagonal).ravel()
    factor.diagonal[24:28] = 0.0
    x = np.ones(6)
    factorize_and_solve(1, elimination, factor, x)
    assert x == pytest.approx([1.0, 0.5, 0.0, 0.25, 0.0, 1.0 / 6.0], abs=1e-12)


def test_same_bits_twice():
    """Factor and solution repeat to the bit."""
    edges = random_edges(20, 0.2, 7)
    results = []
    for _ in range(2):
        _, elimination, _ = ordered(20, edges)
        factor = allocate_block_factor(20)
        store(random_matrix(20, edges, 7), elimination, factor, 20)
        x = np.arange(120.0)
        factorize_and_solve(20, elimination, factor, x)
        results.append(x.tobytes())
    assert results[0] == results[1]
