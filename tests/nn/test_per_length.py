"""Polygons of every length compete on equal terms."""

import pytest
import torch

from latopo.nn import AlphaDGM, EntmaxSampler, PolygonInference, TopologyInference

LENGTHS = (3, 4, 5, 6)


def planted(rings=40, share=4, seed=0):
    """A chain of rings of 3 to 6 vertices, one in four with vertices that lie close together: features, edges, those.

    Close is relative: the sides of a planted hexagon are still farther apart, in sum, than those of any triangle.
    """
    generator = torch.Generator().manual_seed(seed)
    x, edges, wanted, first = [], [], {length: [] for length in LENGTHS}, 0
    for number in range(rings):
        for length in LENGTHS:
            spread = 0.5 if number % share == 0 else 1.0
            x.append(spread * torch.randn(length, 32, generator=generator, dtype=torch.float64))
            ring = list(range(first, first + length))
            edges += list(zip(ring, ring[1:] + ring[:1], strict=True))
            edges += [(first - 1, first)] if first else []  # a bridge closes no cycle
            if number % share == 0:
                wanted[length].append(ring)
            first += length
    return torch.cat(x), torch.tensor(edges).t(), wanted


def found(score, **options):
    x, edges, wanted = planted()
    inference = PolygonInference(6, score=score, **{"polygon_share": 0.25, **options})
    return inference(x, edges), wanted


def test_planted_polygons_of_every_length_are_found():
    polygons, wanted = found("per-length")
    assert {length: rows.tolist() for length, rows in polygons.polygons.items()} == wanted
    assert polygons.counts == {3: 10, 4: 10, 5: 10, 6: 10}


def test_the_sum_of_the_paper_misses_the_longer_ones():
    polygons, wanted = found("sum")
    assert polygons.counts[5] == polygons.counts[6] == 0
    assert polygons.counts[3] > len(wanted[3])  # triangles that were not planted


def test_statistics_are_those_of_each_length():
    x, edges, _ = planted()
    inference = PolygonInference(6, score="per-length", gain=2.0)
    polygons = inference(x, edges)
    low, high = edges.min(0).values, edges.max(0).values
    order = (low * len(x) + high).argsort()
    every = inference.scores(
        x, torch.stack([low, high])[:, order], PolygonInference(6, sampler="all")(x, edges).polygons
    )
    for at, part in enumerate(every.split(40)):
        assert polygons.mean[0, at].item() == pytest.approx(part.mean().item())
        assert polygons.deviation[0, at].item() == pytest.approx(part.std(correction=0).item())


def test_one_candidate_of_a_length_is_average():
    """It differs from nothing, so its standardised score is 0, and its gradient too."""
    x, edges, _ = planted(rings=1)
    x.requires_grad_()
    polygons = PolygonInference(6, score="per-length")(x, edges)
    torch.testing.assert_close(polygons.prob, torch.full((4,), 0.25, dtype=torch.float64))
    (gradient,) = torch.autograd.grad(polygons.prob.square().sum(), x)
    assert bool((gradient == 0).all())


def test_queries_use_the_fitted_statistics_of_the_length():
    """A cycle that the fitted points have scores as it did among them."""
    x, _, _ = planted()
    torch.manual_seed(0)
    graph = AlphaDGM(32, 8, sampler=EntmaxSampler(gain=2.0)).double()
    topology = TopologyInference(graph, PolygonInference(4, score="per-length", polygon_share=0.7)).eval()
    with torch.no_grad():
        latent = topology(x[:60])
        rule = topology.fit(latent).rule
    cells, prob = latent.complex, latent.complex.polygon_prob
    assert min(latent.polygons.counts.values()) > 0
    start = 0
    for length, rows in cells.polygons.items():
        around = latent.graph.x_aux[rows]
        strength = rule.strengths(topology.polygons.vertex_scores(around), length)
        torch.testing.assert_close(strength, prob[start : start + len(rows)] / prob.max())
        start += len(rows)
    assert bool((rule.strengths(torch.zeros(2), 7) == 0).all())
    x_new = x[60:63]
    with torch.no_grad():
        joined = topology.join(x_new, topology.fit(latent), "weighted")
    assert joined.polygons
