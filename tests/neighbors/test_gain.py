import pytest
import torch

from latopo.errors import LatopoError
from latopo.neighbors import count_neighbors, gain_for_degree, get_similarity, temperature_for_spread


def points(n=300, d=4):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("degree", [1.5, 4.0, 20.0])
@pytest.mark.parametrize("similarity", ["euclidean", "cosine"])
def test_mean_degree(degree, similarity):
    gain = gain_for_degree(points(), degree, 1.7, similarity)
    assert count_neighbors(points(), gain, 1.7, similarity) / 300 == pytest.approx(degree, rel=0.03)


def test_out_of_reach_gives_the_end():
    assert gain_for_degree(points(20), 19.5, low=0.1) == pytest.approx(0.1, rel=0.01)
    # Equal points stay tied at any gain: 19 neighbours, however few are wanted.
    clique = torch.cat([torch.zeros(20, 4), points(20) + 5])
    assert gain_for_degree(clique, 3.0, high=1000.0) == pytest.approx(1000.0, rel=0.01)


def test_bad_degree():
    with pytest.raises(LatopoError, match="gain_for_degree: degree must be a finite number above 0, got 0"):
        gain_for_degree(points(), 0)


@pytest.mark.parametrize("similarity", ["euclidean", "squared"])
def test_temperature_gives_the_spread(similarity):
    x = torch.randn(200, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    temperature = temperature_for_spread(x, 7.0, similarity)
    scores = temperature * get_similarity(similarity).pairwise(x, x).square()
    assert scores.std(dim=1, correction=0).mean().item() == pytest.approx(7.0)
    assert temperature_for_spread(torch.ones(4, 2), 7.0, similarity) == 7.0


def test_temperature_of_many_points_looks_at_some_rows():
    x = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0))
    scores = temperature_for_spread(x, 1.0) * torch.cdist(x, x).square()
    assert scores.std(dim=1, correction=0).mean().item() == pytest.approx(1.0, rel=0.1)


def test_bad_spread():
    with pytest.raises(LatopoError, match="spread must be a finite number above 0, got 0"):
        temperature_for_spread(torch.randn(4, 2), 0.0)
