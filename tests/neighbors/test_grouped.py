import itertools

import pytest
import torch

from latopo.errors import LatopoError, TooManyCellsError
from latopo.neighbors import neighbor_rows
from latopo.neighbors.grouped import grouped_neighbor_rows, pairs_within

SIZES = [30, 1, 7, 2, 12]
PTR = torch.tensor([0, 30, 31, 38, 40, 52])


def clouds():
    x = torch.randn(52, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x[5] = x[3]  # a duplicate, and a cloud of equal points
    x[31:38] = 1.0
    return x


def test_pairs_are_all_pairs_of_one_cloud():
    rows, row, col = pairs_within(PTR)
    expected = [(i, j) for a, b in itertools.pairwise(PTR) for i in range(a, b) for j in range(a, b) if i != j]
    assert list(zip(row.tolist(), col.tolist(), strict=True)) == expected
    assert rows.diff().tolist() == [size - 1 for size in SIZES for _ in range(size)]


@pytest.mark.parametrize("similarity", ["euclidean", "squared", "cosine", "inner"])
@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_equal_to_one_cloud_after_another(similarity, alpha):
    answers = []
    for together in (True, False):
        x, gain = clouds().requires_grad_(), torch.tensor(4.0, dtype=torch.float64, requires_grad=True)
        learned = torch.tensor(alpha, dtype=torch.float64, requires_grad=alpha > 1)
        if together:
            rows = grouped_neighbor_rows(x, PTR, gain, learned, similarity)
            col, prob, score = rows.col, rows.prob, rows.score
        else:
            parts = [neighbor_rows(part, gain, learned, similarity) for part in x.split(SIZES)]
            col = torch.cat([part.col + start for part, start in zip(parts, PTR, strict=False)])
            prob, score = torch.cat([part.prob for part in parts]), torch.cat([part.score for part in parts])
        weight = torch.linspace(-1, 1, prob.numel(), dtype=torch.float64)
        (weight * (prob + score)).sum().backward()
        answers.append((col, prob, score, x.grad, gain.grad, *([learned.grad] if alpha > 1 else [])))
    for ours, theirs in zip(*answers, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


def test_limits_and_bad_input():
    with pytest.raises(TooManyCellsError, match="more than max_edges=3"):
        grouped_neighbor_rows(clouds(), PTR, gain=1.0, max_edges=3)
    with pytest.raises(LatopoError, match="alpha must be at least 1"):
        grouped_neighbor_rows(clouds(), PTR, alpha=0.5)
    with pytest.raises(LatopoError, match="gain"):
        grouped_neighbor_rows(clouds(), PTR, gain=0.0)


def test_half_precision_keeps_its_type():
    rows = grouped_neighbor_rows(clouds().bfloat16(), PTR, gain=4.0)
    assert rows.prob.dtype == torch.bfloat16
    assert rows.ptr[-1] == rows.col.numel()
