import faiss
import pytest
import torch

from latopo.neighbors.flat_index import FlatIndex, faiss_session


def points(n, d=6, seed=0, dtype=torch.float64):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def values(x, y, inner):
    return x @ y.t() if inner else torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def check_horizon(x, y, found, inner):
    """Every column that is not listed keeps the promise of the horizon, in double precision."""
    far = values(x.double(), y.double(), inner)
    rows = torch.arange(len(x))[:, None].expand(found.near.shape)
    listed = found.near >= 0
    far[rows[listed], found.near[listed].long()] = -torch.inf if inner else torch.inf
    nearest = far.amax(1) if inner else far.amin(1)
    assert bool((nearest <= found.horizon if inner else nearest >= found.horizon).all())


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1e3])
def test_nearest_columns_and_their_horizon(inner, dtype, offset):
    x, y = points(70, dtype=dtype) + offset, points(90, seed=1, dtype=dtype) + offset
    found = FlatIndex(y, inner).search(x, 12)
    check_horizon(x, y, found, inner)
    assert torch.equal(found.reach, found.horizon)
    if offset == 0:
        expected = values(x, y, inner).topk(12, largest=inner)
        assert torch.equal(found.near.long(), expected.indices)
        torch.testing.assert_close(found.horizon, expected.values[:, -1].double(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("inner", [False, True])
def test_a_far_outlier(inner):
    y = points(90, dtype=torch.float64)
    y[3] *= 1e5
    check_horizon(y, y, FlatIndex(y, inner).search(y, 10), inner)
    if not inner:  # the others keep a useful horizon
        assert FlatIndex(y, inner).search(y[4:], 10).horizon.min() > 0.5


@pytest.mark.parametrize(("inner", "nothing"), [(False, torch.inf), (True, -torch.inf)])
def test_nothing_is_outside_of_a_list_of_everything(inner, nothing):
    found = FlatIndex(points(8), inner).search(points(3, seed=1), 20)
    assert found.near.shape == (3, 8)
    assert found.horizon.tolist() == [nothing] * 3


def test_global_settings_are_put_back():
    names = ("distance_compute_blas_threshold", "distance_compute_blas_query_bs")

    def state():
        return [torch.get_num_threads(), faiss.omp_get_max_threads(), *(getattr(faiss.cvar, name) for name in names)]

    before = state()
    with pytest.raises(RuntimeError, match="stop"), faiss_session() as module:  # noqa: PT012
        assert module is faiss
        assert state() != before
        assert module.omp_get_max_threads() == torch.get_num_threads()
        raise RuntimeError("stop")
    assert state() == before
    FlatIndex(points(8), False).search(points(3), 2)
    assert state() == before
