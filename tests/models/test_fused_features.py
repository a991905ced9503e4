import numpy as np
import pytest
import torch

from latopo.models.fused_features import blocks_of, see
from latopo.models.settings import EntmaxPolygons
from latopo.semi.metric import Words

ALL = ("own", "latent", "own+latent", "cells", "given", "adjacency", "given+adjacency", "convolved")


@pytest.fixture(scope="module")
def table():
    generator = torch.Generator().manual_seed(0)
    x = 5 + 3 * torch.randn(60, 4, generator=generator)
    x[:, 1] += x[:, 0]
    ring = torch.stack([torch.arange(60), (torch.arange(60) + 1) % 60]).sort(dim=0).values
    return x, ring


def test_every_branch_sees_finite_columns_of_one_spread(table):
    seen = see(*table, ALL, None, EntmaxPolygons(max_length=3))
    for name, features in seen.branches.items():
        assert features.shape[0] == 60
        assert bool(features.isfinite().all()), name
    for name in ("latent", "given", "adjacency"):
        assert seen.branches[name].std(0, correction=0).mean() == pytest.approx(0.5, rel=1e-4), name
    torch.testing.assert_close(seen.branches["own"].std(0, correction=0), torch.ones(4))
    assert seen.branches["own+latent"].shape[1] == 4 + seen.branches["latent"].shape[1]
    assert seen.complex.num_polygons > 0


def test_only_what_is_wanted_is_computed(table):
    seen = see(table[0], None, ("own",), None, None)
    assert seen.complex is None
    assert seen.fitted.space is None
    assert seen.fitted.factor == {}


def test_fitted_rows_come_back_nearly_as_new_ones(table):
    x = table[0]
    seen = see(x, None, ("own", "latent", "own+latent"), None, None)
    again, chosen = seen.fitted.join(x.double(), ("own", "latent", "own+latent"))
    torch.testing.assert_close(again["own"].float(), seen.branches["own"])
    assert chosen.shape == (60, 60)
    correlation = np.corrcoef(again["latent"].flatten(), seen.branches["latent"].flatten())[0, 1]
    assert correlation > 0.9


@pytest.fixture(scope="module")
def pages():
    """0/1 words; the first forty rows have a handful, the others ten times as many, in the same proportions."""
    generator = torch.Generator().manual_seed(0)
    share = torch.where(torch.arange(80) < 40, 0.02, 0.2)[:, None]
    return (torch.rand(80, 400, generator=generator) < share).float()


def test_size_is_the_centred_logarithm_of_the_number_of_words(pages):
    seen = see(pages.to_sparse_csr(), None, ("latent", "latent+size"), None, None)
    found = seen.branches["latent+size"]
    torch.testing.assert_close(found[:, :-1], seen.branches["latent"])
    count = pages.sum(1).double().log1p()
    expected = 2 * (count - count.mean()) / count.std(correction=0)
    torch.testing.assert_close(found[:, -1].double(), expected, rtol=1e-4, atol=1e-4)
    # Directions alone do not tell short rows from long ones; of more words there is more.
    again, _ = seen.fitted.join(pages[:5].double(), ("latent+size",))
    torch.testing.assert_close(again["latent+size"][:, -1], expected[:5], rtol=1e-4, atol=1e-4)


def test_size_is_silent_where_it_tells_nothing(table):
    same = see(table[0], None, ("latent", "latent+size"), None, None).branches
    assert torch.equal(same["latent+size"], same["latent"])  # numbers
    words = torch.eye(60).repeat(1, 3)[:, torch.randperm(180, generator=torch.Generator().manual_seed(0))]
    seen = see(words, None, ("latent+size",), None, None)
    longer, _ = seen.fitted.join(torch.ones(1, 180, dtype=torch.float64), ("latent+size",))
    assert seen.branches["latent+size"][:, -1].abs().max() == 0
    assert longer["latent+size"][0, -1] == 0


def test_sizes_beyond_the_fitted_ones_count_as_the_nearest(pages):
    seen = see(pages, None, ("latent+size",), None, None)
    new = torch.cat([torch.zeros(1, 400), torch.ones(1, 400)]).double()
    found = seen.fitted.join(new, ("latent+size",))[0]["latent+size"][:, -1]
    fitted = seen.branches["latent+size"][:, -1].double()
    torch.testing.assert_close(found, torch.stack([fitted.min(), fitted.max()]))


def test_sizes_that_hardly_vary_do_not_shout():
    """Categories, one-hot, of which a single fitted row lacks one: new rows that lack some are read as others are."""
    generator = torch.Generator().manual_seed(0)
    choice = torch.randint(6, (200, 15), generator=generator) + 6 * torch.arange(15)
    x = torch.zeros(200, 90).scatter(1, choice, 1.0)
    x[0, choice[0, 0]] = 0
    seen = see(x, None, ("latent+size",), None, None)
    new = x[1:2].double()
    new[0, choice[1, :5]] = 0
    assert isinstance(seen.fitted.metric, Words)
    assert seen.fitted.join(new, ("latent+size",))[0]["latent+size"][0, -1].abs() < 1.5


def test_isolated_nodes_and_a_graph_without_edges(table):
    seen = see(table[0], torch.zeros(2, 0, dtype=torch.int64), ("given", "adjacency"), None, None)
    assert all(bool(features.isfinite().all()) for features in seen.branches.values())


def test_blocks():
    assert blocks_of("given+adjacency") == ("given", "adjacency")
    assert blocks_of("own") == ("own",)
