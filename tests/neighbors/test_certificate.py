import functools
import operator
from dataclasses import replace

import pytest
import torch

from latopo.entmax import segment_entmax
from latopo.neighbors import get_similarity
from latopo.neighbors.certificate import certified, solve
from latopo.neighbors.scan import Rows


def problem(name, alpha, seed=0, columns=40):
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(n, 3, generator=generator, dtype=torch.float64) for n in (25, columns))
    measure = get_similarity(name)
    deviation = measure.pairwise(x, y).std(1, correction=0)
    return replace(Rows.of(x, y, measure, 3.0, alpha), deviation=deviation)


def full_rows(rows):
    z = rows.similarity.pairwise(rows.points, rows.columns)
    scores = rows.gain * z / rows.deviation[:, None]
    ptr = torch.arange(len(rows) + 1) * z.size(1)
    return z, segment_entmax(scores.flatten(), ptr, rows.alpha).view_as(z)


def as_horizon(z, name):
    return z if name == "inner" else -z if name == "euclidean" else (-z).sqrt()


@pytest.mark.parametrize("name", ["euclidean", "squared", "inner"])
@pytest.mark.parametrize("alpha", [1.1, 1.5, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("width", [1, 2, 5, 12, 40])
def test_a_certified_row_is_the_full_row(name, alpha, width):
    rows = problem(name, alpha)
    z, full = full_rows(rows)
    order = z.argsort(1, descending=True)
    proof = solve(rows, order[:, :width].int())
    horizon = as_horizon(z.gather(1, order[:, width : width + 1])[:, 0], name) if width < 40 else None
    if horizon is None:
        horizon = torch.full((25,), -torch.inf if name == "inner" else torch.inf, dtype=torch.float64)
    good = certified(proof, horizon, rows.similarity)
    # The certificate says yes exactly where nothing outside of the candidates has a probability.
    outside = torch.ones_like(full).scatter(1, order[:, :width], 0.0)
    assert torch.equal(good, ((full > 0) * outside).sum(1) == 0)
    for i in good.nonzero().flatten().tolist():
        assert proof.support[i, : proof.counts[i]].tolist() == (full[i] > 0).nonzero().flatten().tolist()
        assert float(proof.top[i]) == pytest.approx(float(z[i].max()), rel=1e-12)


def test_own_column_and_missing_candidates_are_left_out():
    rows = replace(problem("euclidean", 1.5), own=torch.arange(25))
    near = torch.tensor([[0, 3, -1, 7]], dtype=torch.int32).expand(25, 4).contiguous()
    proof = solve(rows, near)
    assert 0 not in proof.support[0, : proof.counts[0]].tolist()
    assert set(proof.support[1, : proof.counts[1]].tolist()) <= {0, 3, 7}


def test_a_row_without_candidates_is_certified_only_by_nothing_outside():
    rows = problem("squared", 1.5)
    proof = solve(rows, torch.full((25, 2), -1, dtype=torch.int32))
    assert not certified(proof, torch.full((25,), 1e9), rows.similarity).any()
    assert certified(proof, torch.full((25,), torch.inf), rows.similarity).all()
    assert proof.counts.sum() == 0


def test_softmax_rows_need_everything():
    rows = problem("squared", 1.0)
    proof = solve(rows, torch.arange(39, dtype=torch.int32).expand(25, 39).contiguous())
    assert not certified(proof, torch.full((25,), 100.0), rows.similarity).any()


def test_pieces():
    rows = problem("inner", 1.5)
    proof = solve(rows, torch.arange(40, dtype=torch.int32).expand(25, 40).contiguous())
    accepted = torch.arange(25) % 2 == 0
    piece = proof.piece(accepted, torch.arange(100, 125), store=True)
    assert piece.rows.tolist() == list(range(100, 125, 2))
    expected = [proof.support[i, : proof.counts[i]].tolist() for i in range(0, 25, 2)]
    assert piece.col.tolist() == functools.reduce(operator.iadd, expected, [])
    assert proof.piece(accepted, torch.arange(25), store=False).col.numel() == 0
