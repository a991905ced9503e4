from dataclasses import replace

import pytest
import torch

from latopo.neighbors import get_similarity
from latopo.neighbors.flat_index import FlatIndex
from latopo.neighbors.memory import Memory
from latopo.neighbors.scan import Rows


def points(n, seed, dtype=torch.float64):
    return torch.randn(n, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def start(name, dtype=torch.float64, anchored=True):
    x, y = points(40, 0, dtype), points(50, 1, dtype) if anchored else None
    rows = Rows.of(x, y, get_similarity(name), 5.0, 1.5)
    memory = Memory.empty(rows)
    found = FlatIndex(rows.columns, name == "inner").search(rows.points, 8)
    memory.keep(torch.arange(40), found.near, found.horizon)
    return rows, memory


def moved(rows, size, factor=1.0, seed=3):
    """The same rows elsewhere: all by a common factor, each by a step of its own."""

    def walk(x, seed):
        return factor * x + size * points(len(x), seed, x.dtype)

    x = walk(rows.points, seed)
    return replace(rows, points=x, columns=x if rows.columns is rows.points else walk(rows.columns, seed + 1))


def promise_holds(rows, memory):
    inner = memory.inner
    far = rows.points @ rows.columns.t() if inner else torch.cdist(rows.points.double(), rows.columns.double())
    far.scatter_(1, memory.near.long().clamp(min=0), -torch.inf if inner else torch.inf)
    nearest = far.amax(1) if inner else far.amin(1)
    return bool((nearest <= memory.horizon if inner else nearest >= memory.horizon).all())


@pytest.mark.parametrize("name", ["squared", "inner"])
@pytest.mark.parametrize("anchored", [True, False])
@pytest.mark.parametrize("size", [0.0, 1e-3, 0.1, 3.0])
@pytest.mark.parametrize("factor", [1.0, 1.7, -1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_horizon_stays_true_over_many_steps(name, anchored, size, factor, dtype):
    rows, memory = start(name, dtype, anchored)
    for step in range(5):
        rows = moved(rows, size, factor, seed=10 * step)
        memory.follow(rows)
        assert promise_holds(rows, memory)


@pytest.mark.parametrize("name", ["squared", "inner"])
def test_a_common_factor_costs_nothing(name):
    rows, memory = start(name)
    before = memory.horizon.clone()
    share = memory.follow(moved(rows, 0.0, factor=3.0))
    torch.testing.assert_close(memory.horizon, before * (9 if name == "inner" else 3), rtol=1e-9, atol=1e-9)
    assert share < 1e-9


def test_the_bound_is_tight_for_two_points_that_meet():
    x = torch.tensor([[0.0], [10.0], [-50.0], [50.0]], dtype=torch.float64)
    rows = Rows.of(x[:1], x[1:], get_similarity("euclidean"), 1.0, 1.5)
    memory = Memory.empty(rows)
    memory.keep(torch.tensor([0]), torch.zeros(1, 0, dtype=torch.int32), torch.tensor([10.0], dtype=torch.float64))
    column = torch.tensor([[-1.0], [0.0], [0.0]], dtype=torch.float64)  # leaves the common factor at nearly 1
    memory.follow(replace(rows, points=x[:1] + 2, columns=x[1:] + column))
    assert float(memory.horizon) == pytest.approx(7.0, abs=0.1)


def test_rows_that_were_never_kept_are_never_sure():
    rows, _memory = start("squared")
    empty = Memory.empty(rows)
    assert empty.horizon.tolist() == [0.0] * 40
    assert Memory.empty(start("inner")[0]).horizon.tolist() == [torch.inf] * 40


def test_lists_of_different_length():
    rows, memory = start("squared")
    longer = FlatIndex(rows.columns, False).search(rows.points[:5], 20)
    memory.keep(torch.arange(5), longer.near, longer.horizon)
    assert memory.near.shape == (40, 20)
    assert bool((memory.near[5:, 8:] == -1).all())
    shorter = FlatIndex(rows.columns, False).search(rows.points[:2], 3)
    memory.keep(torch.arange(2), shorter.near, shorter.horizon)
    assert bool((memory.near[:2, 3:] == -1).all())
    very_long = torch.zeros(1, 129, dtype=torch.int32)
    memory.keep(torch.tensor([0]), very_long, torch.tensor([9.0], dtype=torch.float64))
    assert memory.near.shape == (40, 20)
    assert float(memory.horizon[0]) == float(shorter.horizon[0])


def test_other_rows_do_not_fit():
    rows, memory = start("squared", anchored=False)
    assert memory.fits(rows)
    assert memory.fits(moved(rows, 1.0))
    assert not memory.fits(rows.select(slice(39)))
    assert not memory.fits(replace(rows, columns=rows.columns[:39]))
    assert not memory.fits(replace(rows, similarity=get_similarity("inner")))
    assert not memory.fits(replace(rows, own=torch.full((40,), -1)))
    assert not memory.fits(replace(rows, points=rows.points.float(), columns=rows.columns.float()))
