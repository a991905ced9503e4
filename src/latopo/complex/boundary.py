"""Signed boundary matrices, unsigned incidences and Hodge Laplacians.

An edge u < v points from u to v: its boundary is v − u. A polygon points along its listed cycle. The boundary of a
boundary is 0, so ``boundary(1) @ boundary(2)`` is 0, exactly.
"""

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from latopo._arguments import checked
from latopo._compile import is_traced
from latopo.complex.canonical import edge_keys, find_edges, sides
from latopo.errors import LatopoError, TooManyCellsError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

MAX_ENTRIES = 10_000_000  # of a matrix between cells of one rank, which a single hub can make quadratic


def polygon_lengths(cx: "CellComplex") -> Tensor:
    """Number of sides of each polygon, [P] int64."""
    parts = [rows.new_full((rows.size(0),), length) for length, rows in cx.polygons.items()]
    return torch.cat([cx.edge_index.new_zeros(0), *parts])


def polygon_sides(cx: "CellComplex") -> tuple[Tensor, Tensor]:
    """Incidence pairs (edge, polygon) [2, I], polygon by polygon, and signs [I]: +1 where a side runs from u to v."""
    if _is_compact(cx):
        return _compiled_sides(cx)
    pairs = torch.cat([cx.edge_index.new_zeros(2, 0), *map(sides, cx.polygons.values())], dim=1)
    polygon = torch.arange(cx.num_polygons, device=cx.device)
    # With the output size a GPU need not be asked for the sum of the lengths.
    polygon = polygon.repeat_interleave(cx.polygon_lengths, output_size=pairs.size(1))
    sign = (pairs[0] < pairs[1]).to(torch.int8) * 2 - 1
    edge = find_edges(edge_keys(cx.edge_index, cx.num_nodes), pairs, cx.num_nodes)
    return torch.stack([edge, polygon]), sign


def _is_compact(cx: "CellComplex") -> bool:
    """Whether compiled loops can serve: tensors on the CPU, nobody tracing, and few nodes without edges."""
    return cx.device.type == "cpu" and not is_traced() and cx.num_nodes <= 16 * cx.num_edges + 1024


def _compiled_sides(cx: "CellComplex") -> tuple[Tensor, Tensor]:
    """:func:`polygon_sides` by a search among the few edges at each side's smaller end, many times faster."""
    from latopo.complex import _sides  # brings the compiler, which takes a moment to load

    start, end = (ends.contiguous() for ends in cx.edge_index)
    ptr = torch.searchsorted(start, torch.arange(cx.num_nodes + 1)).numpy()
    sizes = [rows.numel() for rows in cx.polygons.values()]
    found, sign = torch.empty(2, sum(sizes), dtype=torch.int64), torch.empty(sum(sizes), dtype=torch.int8)
    for rows, edge, signs in zip(cx.polygons.values(), found[0].split(sizes), sign.split(sizes), strict=True):
        _sides.find_sides(rows.contiguous().numpy(), ptr, end.numpy(), edge.numpy(), signs.numpy())
    polygon = torch.arange(cx.num_polygons)
    found[1] = polygon.repeat_interleave(cx.polygon_lengths, output_size=sum(sizes))
    return found, sign


@checked
def boundary(cx: "CellComplex", rank: int, dtype: torch.dtype | None = None, *, signed: bool = True) -> Tensor:
    """Boundary matrix of ``rank`` 1 ([N, E]) or 2 ([E, P]) as a coalesced sparse COO tensor; unsigned if asked.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> boundary(triangle, 2).to_dense().flatten()
        tensor([ 1., -1.,  1.])
    """
    if rank == 1:
        edge = torch.arange(cx.num_edges, device=cx.device)
        index = torch.stack([cx.edge_index.flatten(), edge.repeat(2)])
        sign = torch.ones_like(index[0], dtype=torch.int8)
        sign[: cx.num_edges] = -1
        size = (cx.num_nodes, cx.num_edges)
    elif rank == 2:
        index, sign = cx.polygon_edge_index(), cx.polygon_edge_sign()
        size = (cx.num_edges, cx.num_polygons)
    else:
        raise LatopoError(f"CellComplex: a boundary matrix has rank 1 or 2, got {rank}")
    values = (sign if signed else sign.abs()).to(dtype or torch.get_default_dtype())
    return torch.sparse_coo_tensor(index, values, size, check_invariants=False).coalesce()


@checked
def incidence(cx: "CellComplex", rank: int, dtype: torch.dtype | None = None) -> Tensor:
    """Unsigned incidence matrix as sparse COO, [N, E] or [E, P]: the boundary matrix without signs."""
    return boundary(cx, rank, dtype, signed=False)


@checked
def hodge_laplacian(
    cx: "CellComplex",
    rank: int,
    part: Literal["both", "up", "down"] = "both",
    *,
    max_entries: int = MAX_ENTRIES,
    dtype: torch.dtype | None = None,
) -> Tensor:
    r"""Hodge Laplacian :math:`L_r = B_r^\top B_r + B_{r+1} B_{r+1}^\top`, sparse COO, of rank r = 0, 1 or 2.

    ``part="down"`` is the first term (0 at rank 0), ``part="up"`` the second (0 at rank 2).

    Raises:
        TooManyCellsError: there would be more than ``max_entries`` entries.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]])
        >>> triangle.hodge_laplacian(1).to_dense()
        tensor([[3., 0., 0.],
                [0., 3., 0.],
                [0., 0., 3.]])
        >>> triangle.hodge_laplacian(1, part="up").to_dense()
        tensor([[ 1., -1.,  1.],
                [-1.,  1., -1.],
                [ 1., -1.,  1.]])
    """
    if rank not in (0, 1, 2):
        raise LatopoError(f"CellComplex: a Hodge Laplacian has rank 0, 1 or 2, got {rank}")
    terms = []
    if rank > 0 and part != "up":
        down = boundary(cx, rank, dtype)
        terms.append((down.t().coalesce(), down))
    if rank < 2 and part != "down":
        up = boundary(cx, rank + 1, dtype)
        terms.append((up, up.t().coalesce()))
    check_entries("hodge_laplacian", sum(_product_size(left) for left, _ in terms), max_entries)
    if not terms:
        size = (cx.num_nodes, cx.num_edges, cx.num_polygons)[rank]
        return torch.zeros(size, size, dtype=dtype, device=cx.device, layout=torch.sparse_coo).coalesce()
    products = [torch.sparse.mm(*term) for term in terms]
    total = (products[0] if len(products) == 1 else products[0] + products[1]).coalesce()
    return keep_entries(total, total.values() != 0)


def _product_size(left: Tensor) -> int:
    """Upper bound of the entries of ``left @ left.T``: pairs that meet in a column."""
    return int(torch.bincount(left.indices()[1]).square().sum())


def check_entries(name: str, count: int, limit: int) -> None:
    """Raise before a matrix of ``count`` entries is built if that is more than ``limit``."""
    if count > limit:
        raise TooManyCellsError(
            f"CellComplex.{name}: the matrix would have up to {count:,} entries, more than max_entries={limit:,}; use "
            "lower_product and upper_product, which need no matrix, or raise max_entries",
            count,
            limit,
        )


def keep_entries(matrix: Tensor, keep: Tensor) -> Tensor:
    """The entries of a coalesced sparse matrix where ``keep`` holds."""
    index, values = matrix.indices()[:, keep], matrix.values()[keep]
    return torch.sparse_coo_tensor(index, values, matrix.shape, is_coalesced=True, check_invariants=False)
