"""The decomposition against dense least squares."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from latopo import CellComplex
from latopo.complex import hodge
from latopo.errors import LatopoError


def _dense_parts(cx: CellComplex, x: Tensor, weight: Tensor) -> list[Tensor]:
    """Projections in the inner product with weights, by dense pseudo-inverses."""
    root = weight.sqrt()[:, None]
    images = cx.boundary(1, torch.float64).to_dense().T * root, cx.boundary(2, torch.float64).to_dense() / root
    gradient, curl = (image @ (torch.linalg.pinv(image) @ (root * x)) / root for image in images)
    return [gradient, curl, x - gradient - curl]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_parts_equal_dense_least_squares(random_complex: Callable[..., CellComplex], seed: int, weighted: bool) -> None:
    cx = random_complex(seed, num_nodes=14, density=0.2 + 0.1 * seed, share=0.5)
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(cx.num_edges, 3, generator=generator, dtype=torch.float64)
    x[:, 1] = 0
    weight = torch.rand(cx.num_edges, generator=generator, dtype=torch.float64) + 0.1
    found = cx.hodge_decomposition(x, weight if weighted else None)
    for part, expected in zip(found, _dense_parts(cx, x, weight if weighted else torch.ones_like(weight)), strict=True):
        torch.testing.assert_close(part, expected, rtol=0, atol=1e-8)
    single = cx.hodge_decomposition(x[:, 0], weight if weighted else None)
    torch.testing.assert_close(single.curl, found.curl[:, 0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_parts_are(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed, num_nodes=20, density=0.3, share=0.3)
    x = torch.randn(cx.num_edges, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    gradient, curl, harmonic = cx.hodge_decomposition(x)
    first, second = (cx.boundary(rank, torch.float64) for rank in (1, 2))
    zero = {"rtol": 0, "atol": 1e-8}
    torch.testing.assert_close(gradient + curl + harmonic, x, rtol=0, atol=1e-14)
    torch.testing.assert_close(second.t() @ gradient, torch.zeros(cx.num_polygons, dtype=torch.float64), **zero)
    torch.testing.assert_close(first @ curl, torch.zeros(20, dtype=torch.float64), **zero)
    torch.testing.assert_close(cx.hodge_laplacian(1, dtype=torch.float64) @ harmonic, torch.zeros_like(x), **zero)
    products = torch.stack([gradient, curl, harmonic]) @ torch.stack([gradient, curl, harmonic]).T
    torch.testing.assert_close(products, torch.diag(products.diag()), **zero)
    # A signal of one kind stays what it is.
    for number, part in enumerate((gradient, curl, harmonic)):
        torch.testing.assert_close(cx.hodge_decomposition(part)[number], part, **zero)


def test_a_hole_has_a_harmonic_flow() -> None:
    ring = CellComplex(4, [[0, 1, 2, 0], [1, 2, 3, 3]])
    around = torch.tensor([1.0, -1.0, 1.0, 1.0])  # edges 01 03 12 23
    assert torch.allclose(ring.hodge_decomposition(around).harmonic, around)
    filled = CellComplex(4, ring.edge_index, [[0, 1, 2, 3]])
    assert torch.allclose(filled.hodge_decomposition(around).curl, around)


def _grid(height: int, width: int) -> CellComplex:
    number = np.arange(height * width).reshape(height, width)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()]) for a, b in pairs], axis=1)
    corners = [number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]]
    return CellComplex(height * width, edges, {4: np.stack([c.ravel() for c in corners], axis=1)})


@pytest.mark.parametrize("limit", [0, 1e10])
def test_both_preconditioners_find_the_parts_of_long_graphs(monkeypatch: pytest.MonkeyPatch, limit: float) -> None:
    monkeypatch.setattr(hodge, "_MAX_OPERATIONS", limit)
    grid = _grid(4, 60)
    x = torch.randn(grid.num_edges, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = grid.hodge_decomposition(x, tolerance=1e-12)
    for part, expected in zip(found, _dense_parts(grid, x, torch.ones(grid.num_edges)), strict=True):
        torch.testing.assert_close(part, expected, rtol=0, atol=1e-8)


def test_a_path_of_a_hundred_thousand_edges_is_all_gradient() -> None:
    count = 100_000
    path = CellComplex.from_canonical(count + 1, torch.stack([torch.arange(count), torch.arange(1, count + 1)]))
    x = torch.randn(count, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(path.hodge_decomposition(x).gradient, x, rtol=0, atol=1e-6)


def test_a_grid_of_a_hundred_thousand_edges_has_no_harmonic_part() -> None:
    grid = _grid(224, 224)
    assert grid.num_edges > 99_000
    x = torch.randn(grid.num_edges, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    parts = grid.hodge_decomposition(x)
    assert float(parts.harmonic.abs().max()) < 1e-8
    assert min(float(part.abs().max()) for part in parts[:2]) > 0.1


def test_an_edge_in_very_many_triangles_takes_no_memory_for_their_pairs() -> None:
    count = 20_000  # whose pairs would be 400 million entries
    spine, leaves = torch.zeros(count, dtype=torch.int64), torch.arange(2, count + 2)
    sides = torch.cat([torch.stack([spine, leaves]), torch.stack([spine + 1, leaves])], dim=1)
    book = CellComplex(
        count + 2, torch.cat([torch.tensor([[0], [1]]), sides], 1), {3: torch.stack([spine, spine + 1, leaves], 1)}
    )
    x = torch.randn(book.num_edges, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert float(book.hodge_decomposition(x).harmonic.abs().max()) < 1e-8


def test_weights_of_very_different_size() -> None:
    grid = _grid(6, 30)
    generator = torch.Generator().manual_seed(0)
    weight = 10 ** (12 * torch.rand(grid.num_edges, generator=generator, dtype=torch.float64) - 6)
    x = torch.randn(grid.num_edges, generator=generator, dtype=torch.float64)
    gradient, curl, harmonic = grid.hodge_decomposition(x, weight)
    size = float((weight * x * x).sum())
    assert abs(float((weight * gradient * curl).sum())) < 1e-8 * size
    assert float((weight * harmonic * harmonic).sum()) < 1e-8 * size


def test_shapes_and_types(house: CellComplex, empty: CellComplex) -> None:
    for part in house.hodge_decomposition(torch.ones(6, dtype=torch.float32, requires_grad=True)):
        assert part.dtype == torch.float32
        assert not part.requires_grad
    assert house.hodge_decomposition(torch.ones(6, 0)).curl.shape == (6, 0)
    assert empty.hodge_decomposition(torch.ones(0)).harmonic.shape == (0,)
    tree = CellComplex(3, [[0, 1], [1, 2]])
    assert tree.hodge_decomposition([1.0, 2.0], [1, 3]).gradient.tolist() == [1.0, 2.0]
    assert tree.hodge_decomposition(np.array([1.0, 2.0])).gradient.dtype == torch.float64
    assert tree.hodge_decomposition(torch.ones(2)).curl.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("x", "weight", "message"),
    [
        (torch.ones(5), None, r"x must be floating point of shape \[6\] or \[6, d\], got torch.float32 \[5\]"),
        (torch.ones(6, dtype=torch.int64), None, "x must be floating point"),
        (torch.ones(6, 1, 1), None, r".*got torch.float32 \[6, 1, 1\]"),
        (torch.full((6,), float("nan")), None, "x has entries that are not finite"),
        (torch.ones(6), torch.zeros(6), r"edge_weight must be finite and positive of shape \[6\].*smallest 0"),
        (torch.ones(6), torch.ones(5), "edge_weight must be finite and positive"),
    ],
)
def test_what_is_refused(house: CellComplex, x: Tensor, weight: Tensor | None, message: str) -> None:
    with pytest.raises(LatopoError, match=f"CellComplex.hodge_decomposition: {message}"):
        house.hodge_decomposition(x, weight)


def test_too_few_iterations_are_told(monkeypatch: pytest.MonkeyPatch, house: CellComplex) -> None:
    monkeypatch.setattr(hodge, "_MAX_ITERATIONS", 1)
    monkeypatch.setattr(hodge, "_MAX_OPERATIONS", 0)
    with pytest.raises(LatopoError, match="not within tolerance=1e-10 after 1 iterations; raise the tolerance"):
        house.hodge_decomposition(torch.tensor([1.0, 2, 3, 4, 5, 7]))
