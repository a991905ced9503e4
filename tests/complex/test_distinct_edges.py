"""Pairs to edges: against sorted sets."""

import pytest
import torch

from latopo.complex.distinct_edges import distinct_edges


@pytest.mark.parametrize("nodes", [2, 7, 400])
def test_edges_are_those_of_a_sorted_set(nodes):
    generator = torch.Generator().manual_seed(nodes)
    pairs = torch.randint(nodes, (2, 500), generator=generator)
    pairs = pairs[:, pairs[0] != pairs[1]]
    edges, number = distinct_edges(pairs, nodes)
    assert list(map(tuple, edges.t().tolist())) == sorted({tuple(sorted(pair)) for pair in pairs.t().tolist()})
    assert torch.equal(edges[:, number], pairs.sort(dim=0).values)


def test_no_pairs():
    edges, number = distinct_edges(torch.zeros(2, 0, dtype=torch.int64), 3)
    assert edges.shape == (2, 0)
    assert number.shape == (0,)
