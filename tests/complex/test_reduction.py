"""The reduction over every field, against dense elimination and sympy."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
import sympy
import torch

from latopo import CellComplex
from latopo.complex import _reduction, reduction
from latopo.complex._reduction import OVERFLOW, reduce_gf2, reduce_over
from latopo.complex.reduction import read_field, reduce_boundaries
from latopo.errors import LatopoError


def rank_modulo(matrix: np.ndarray, prime: int) -> int:
    """Dense elimination over GF(prime)."""
    rows, rank = [[int(entry) % prime for entry in row] for row in matrix], 0
    for column in range(matrix.shape[1]):
        pivot = next((row for row in rows[rank:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        inverse = pow(pivot[column], -1, prime)
        rows = [
            row
            if not row[column]
            else [(a - row[column] * inverse * b) % prime for a, b in zip(row, pivot, strict=True)]
            for row in rows
        ]
        rows.insert(rank, pivot)
        rank += 1
    return rank


def columns(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    column, row = np.nonzero(matrix.T)
    pointer = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=matrix.shape[1]))])
    return pointer, row, matrix[row, column]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("prime", [2, 3, 5, 2147483647])
def test_ranks_of_random_matrices_over_finite_fields(seed: int, prime: int) -> None:
    generator = np.random.default_rng(seed)
    # More than 64 rows, so that the bitset has several words; few columns, or many.
    matrix = generator.integers(-3, 4, (90, 30 if seed % 2 else 140)) * (generator.random((90, 1)) < 0.4)
    pointer, row, value = columns(matrix)
    pivots = reduce_over(pointer, row, value, 90, prime)
    assert (pivots >= 0).sum() == rank_modulo(matrix, prime)
    assert len(set(pivots[pivots >= 0])) == (pivots >= 0).sum()
    if prime == 2:
        odd = value % 2 != 0
        pointer = np.concatenate([[0], np.cumsum(odd)])[pointer]
        assert np.array_equal(reduce_gf2(pointer, row[odd], 90), pivots)


@pytest.mark.parametrize("steps", [1, 7, 50])
def test_a_reduction_that_comes_back_in_between_is_the_same(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(steps)
    matrix = generator.integers(-1, 2, (140, 160)) * (generator.random((140, 160)) < 0.1)
    pointer, row, value = columns(matrix)
    fields = (2, 3, 0)
    whole = [reduce_gf2(pointer, row, 140)] + [reduce_over(pointer, row, value, 140, field) for field in fields]
    calls = []

    def counted(kernel):
        return lambda *arguments: calls.append(kernel) or kernel(*arguments)

    monkeypatch.setattr(_reduction, "_SLICE", 4 * steps)
    for name in ("_go_on_gf2", "_go_on_over"):
        monkeypatch.setattr(_reduction, name, counted(getattr(_reduction, name)))
    pieces = [reduce_gf2(pointer, row, 140)] + [reduce_over(pointer, row, value, 140, field) for field in fields]
    assert all(map(np.array_equal, whole, pieces))
    assert len(calls) > 160  # more often than once a column


@pytest.mark.parametrize("seed", range(6))
def test_pivots_over_the_rationals_equal_those_of_sympy(seed: int) -> None:
    matrix = np.random.default_rng(seed).integers(-2, 3, (7, 9))
    matrix[:, 4] = 2 * matrix[:, 0] - 3 * matrix[:, 2]
    pointer, row, value = columns(matrix)
    pivots = reduce_over(pointer, row, value, 7, 0)
    for stop in range(10):
        assert (pivots[:stop] >= 0).sum() == sympy.Matrix(matrix[:, :stop]).rank()
    # The pivot of a column is determined by the ranks of the blocks of its lower rows.
    for start in range(8):
        inside = (pivots >= start).sum()
        assert inside == sympy.Matrix(matrix[start:]).rank() if start < 7 else inside == 0


def _scaled_chain(length: int, factor: int) -> np.ndarray:
    """Columns e_i − factor·e_{i+1}, and one more: eliminating it multiplies by the factor at every step."""
    matrix = np.zeros((length, length + 1), dtype=np.int64)
    for i in range(length - 1):
        matrix[i, i], matrix[i + 1, i] = 1, factor
    matrix[length - 1, length - 1], matrix[0, length - 1] = 1, 1
    matrix[:, length] = 1
    return matrix


def test_integers_that_outgrow_their_bits_are_noticed() -> None:
    pointer, row, value = columns(_scaled_chain(60, 5))
    assert OVERFLOW in reduce_over(pointer, row, value, 60, 0)
    assert OVERFLOW not in reduce_over(pointer, row, value, 60, 7)


def test_a_complex_whose_integers_outgrow_their_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    # A random 2-complex at the density where its holes are nearly filled: there its torsion is huge.
    triangles = np.array(list(combinations(range(50), 3)))[np.random.default_rng(50).permutation(19600)[:1102]]
    cx = CellComplex(50, torch.combinations(torch.arange(50)).t(), {3: triangles})
    seen = []

    def watched(*arguments):
        pivots = reduce_over(*arguments)
        seen.append(OVERFLOW in pivots)
        return pivots

    monkeypatch.setattr(reduction, "reduce_over", watched)
    rank = int(torch.linalg.matrix_rank(cx.boundary(2, torch.float64).to_dense()))
    assert cx.betti_numbers("rational") == (1, 1225 - 49 - rank, 1102 - rank)
    assert seen[0]
    assert not any(seen[1:])


def test_large_integers_fall_back_on_enough_primes(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    triangles = np.array(list(combinations(range(16), 3)))[generator.permutation(560)[:280]]
    cx = CellComplex(16, torch.combinations(torch.arange(16)).t(), {3: triangles})
    expected = cx.betti_numbers("rational")
    used = []

    def small_integers(pointer, row, value, num_rows, prime):
        used.append(prime)
        if prime == 0:
            return np.full(pointer.size - 1, OVERFLOW)
        # Half of the primes lose ranks, as those that divide a torsion coefficient do.
        pivots = reduce_over(pointer, row, value, num_rows, prime)
        return np.where(np.arange(pivots.size) < 9, -1, pivots) if prime % 4 == 3 else pivots

    monkeypatch.setattr(reduction, "reduce_over", small_integers)
    assert cx.betti_numbers("rational") == expected
    primes = used[1:]
    assert all(sympy.isprime(prime) for prime in primes)
    assert len(set(primes)) == len(primes) > 1
    rank = 280 - expected[2]
    entries = np.abs(cx.boundary(2).to_dense().numpy()).sum(0)
    assert np.log2(primes).sum() >= 0.5 * np.log2(np.sort(entries)[-rank:] - 2).sum()


@pytest.mark.parametrize("seed", range(4))
def test_order_does_not_change_the_ranks(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed, num_nodes=11)
    generator = np.random.default_rng(seed)
    orders = generator.permutation(cx.num_edges), generator.permutation(cx.num_polygons)
    for field in (2, 3, 0):
        plain, mixed = reduce_boundaries(cx, field), reduce_boundaries(cx, field, *orders)
        assert (plain.merged >= 0).sum() == (mixed.merged >= 0).sum()
        assert (plain.filled >= 0).sum() == (mixed.filled >= 0).sum()
        # A polygon fills a cycle that was closed by one of the edges before it, which did not merge components.
        filled = mixed.filled[mixed.filled >= 0]
        assert len(set(filled)) == len(filled)
        assert (mixed.merged[filled] < 0).all()


def test_fields() -> None:
    assert [read_field("x", field) for field in (2, 3, 2147483647, 0, "rational")] == [2, 3, 2147483647, 0, 0]
    assert read_field("x", np.int64(5)) == 5
    for wrong in (1, 4, -3, 9, 2**31, 2147483649, 2.0, True, False, "real", None):
        with pytest.raises(LatopoError, match=r'CellComplex.x: field must be a prime below 2³¹ or "rational", got'):
            read_field("x", wrong)
