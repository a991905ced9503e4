import pytest
import torch

from latopo.neighbors.cell_index import CellIndex, cell_count
from latopo.neighbors.flat_index import FlatIndex


def clusters(spread, count=1200, width=6, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    centres = spread * torch.randn(12, width, generator=generator)
    x = centres[torch.arange(count) % 12] + torch.randn(count, width, generator=generator)
    return x.to(dtype)


def beyond(x, found, inner):
    """The nearest column of each row that is not listed."""
    far = x.double() @ x.double().t() if inner else torch.cdist(x.double(), x.double())
    rows = torch.arange(len(x))[:, None].expand(found.near.shape)
    listed = found.near >= 0
    far[rows[listed], found.near[listed].long()] = -torch.inf if inner else torch.inf
    return far.amax(1) if inner else far.amin(1)


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("spread", [0.0, 10.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("probes", [1, 4, 32])
def test_the_horizon_holds_for_every_column(inner, spread, dtype, probes):
    x = clusters(spread, dtype=dtype)
    found = CellIndex(x, inner).search(x, 10, probes)
    nearest = beyond(x, found, inner)
    assert bool((nearest <= found.horizon if inner else nearest >= found.horizon).all())
    assert bool((found.horizon >= found.reach if inner else found.horizon <= found.reach).all())


def test_clusters_that_lie_apart_are_certified_and_others_are_not():
    apart, together = (CellIndex(clusters(spread), False) for spread in (30.0, 0.0))
    assert (apart.search(clusters(30.0), 5, 32).horizon > 1).double().mean() > 0.9
    assert (together.search(clusters(0.0), 5, 8).horizon > 1).double().mean() < 0.1


@pytest.mark.parametrize("inner", [False, True])
def test_all_cells_are_a_flat_index(inner):
    x = clusters(3.0)
    index = CellIndex(x, inner)
    found, flat = index.search(x, 9, index.cells), FlatIndex(x, inner).search(x, 9)
    torch.testing.assert_close(found.reach, flat.reach, rtol=1e-4, atol=1e-4)
    assert torch.equal(found.near.sort(1).values, flat.near.sort(1).values)


@pytest.mark.parametrize(("inner", "nothing"), [(False, torch.inf), (True, -torch.inf)])
def test_lists_that_run_out(inner, nothing):
    x = clusters(30.0, count=48)
    index = CellIndex(x, inner)
    some = index.search(x, 40, 1)
    assert bool((some.near[:, -1] < 0).all())
    assert some.reach.tolist() == [nothing] * 48
    assert bool(some.horizon.isfinite().all())
    everything = index.search(x, 48, index.cells)
    assert everything.horizon.tolist() == [nothing] * 48


def test_seed_and_centroids():
    x = clusters(3.0)
    first = CellIndex(x, False, seed=1)
    assert torch.equal(first.centroids, CellIndex(x, False, seed=1).centroids)
    assert not torch.equal(first.centroids, CellIndex(x, False, seed=2).centroids)
    moved = CellIndex(x + 0.1, False, centroids=first.centroids)
    assert moved.centroids is first.centroids
    found = moved.search(x + 0.1, 5, 8)
    assert bool((beyond(x + 0.1, found, False) >= found.horizon).all())


def test_number_of_cells():
    assert [cell_count(columns) for columns in (1, 10, 16, 1024, 65_536, 10**6)] == [1, 8, 16, 128, 1024, 4096]
