"""Signed boundary matrices, unsigned incidences and Hodge Laplacians.

An edge u < v points from u to v: its boundary is v − u. A polygon points along its listed cycle. The boundary of a
boundary is 0, so ``boundary(1) @ boundary(2)`` is 0, exactly.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from latopo.complex.canonical import sides
from latopo.errors import LatopoError, TooManyCellsError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

MAX_ENTRIES = 10_000_000  # of a matrix between cells of one rank, which a single hub can make quadratic


def polygon_lengths(complex: "CellComplex") -> Tensor:
    """Number of sides of each polygon, [P] int64."""
    parts = [rows.new_full((rows.size(0),), length) for length, rows in complex.polygons.items()]
    return torch.cat([complex.edge_index.new_zeros(0), *parts])


def polygon_sides(complex: "CellComplex") -> tuple[Tensor, Tensor]:
    """Incidence pairs (edge, polygon) [2, I], polygon by polygon, and signs [I]: +1 where a side runs from u to v."""
    pairs = torch.cat([complex.edge_index.new_zeros(2, 0), *map(sides, complex.polygons.values())], dim=1)
    polygon = torch.arange(complex.num_polygons, device=complex.device)
    # With the output size a GPU need not be asked for the sum of the lengths.
    polygon = polygon.repeat_interleave(complex.polygon_lengths, output_size=pairs.size(1))
    sign = (pairs[0] < pairs[1]).to(torch.int8) * 2 - 1
    return torch.stack([complex.edge_ids(pairs), polygon]), sign


def boundary(complex: "CellComplex", rank: int, signed: bool = True, dtype: torch.dtype | None = None) -> Tensor:
    """Boundary matrix of ``rank`` 1 ([N, E]) or 2 ([E, P]) as a coalesced sparse COO tensor; unsigned if asked.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> boundary(triangle, 2).to_dense().flatten()
        tensor([ 1., -1.,  1.])
    """
    if rank == 1:
        edge = torch.arange(complex.num_edges, device=complex.device)
        index = torch.stack([complex.edge_index.flatten(), edge.repeat(2)])
        sign = torch.ones_like(index[0], dtype=torch.int8)
        sign[: complex.num_edges] = -1
        size = (complex.num_nodes, complex.num_edges)
    elif rank == 2:
        index, sign = complex.polygon_edge_index(), complex.polygon_edge_sign()
        size = (complex.num_edges, complex.num_polygons)
    else:
        raise LatopoError(f"CellComplex: a boundary matrix has rank 1 or 2, got {rank}")
    values = (sign if signed else sign.abs()).to(dtype or torch.get_default_dtype())
    return torch.sparse_coo_tensor(index, values, size, check_invariants=False).coalesce()


def hodge_laplacian(
    complex: "CellComplex", rank: int, max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None
) -> Tensor:
    r"""Hodge Laplacian :math:`L_r = B_r^\top B_r + B_{r+1} B_{r+1}^\top` as a sparse COO tensor, r = 0, 1 or 2.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> hodge_laplacian(triangle, 1).to_dense()
        tensor([[3., 0., 0.],
                [0., 3., 0.],
                [0., 0., 3.]])
    """
    if rank not in (0, 1, 2):
        raise LatopoError(f"CellComplex: a Hodge Laplacian has rank 0, 1 or 2, got {rank}")
    parts = []
    if rank > 0:
        down = boundary(complex, rank, dtype=dtype)
        parts.append((down.t().coalesce(), down))
    if rank < 2:
        up = boundary(complex, rank + 1, dtype=dtype)
        parts.append((up, up.t().coalesce()))
    check_entries("hodge_laplacian", sum(_product_size(left) for left, _ in parts), max_entries)
    total = sum((torch.sparse.mm(left, right) for left, right in parts[1:]), torch.sparse.mm(*parts[0])).coalesce()
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
