"""Complexes made from complexes: skeleton, sub-complex, disjoint union, and the difference between two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from latopo._arguments import check_dense, checked
from latopo.complex.canonical import match_rows
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex


@checked
def skeleton(cx: "CellComplex", order: int) -> "CellComplex":
    """The cells of dimension at most ``order`` (Definition 4): 0 nodes, 1 nodes and edges, 2 everything.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> skeleton(triangle, 1)
        CellComplex(num_nodes=3, num_edges=3, polygons={})
    """
    if order not in (0, 1, 2):
        raise LatopoError(f"CellComplex: a skeleton has order 0, 1 or 2, got {order}")
    if order == 2:
        return cx
    if order == 1:
        return cx.from_canonical(cx.num_nodes, cx.edge_index, edge_prob=cx.edge_prob, ptr=cx.ptr)
    return cx.from_canonical(cx.num_nodes, cx.edge_index[:, :0], ptr=cx.ptr)


@checked
def subcomplex(cx: "CellComplex", nodes: Tensor) -> "CellComplex":
    """The cells whose vertices are all among ``nodes`` (numbers, or a mask [N]), with their probabilities.

    The nodes are renumbered 0, 1, … in increasing order of their old numbers, whatever the order in ``nodes``.

    Example:
        >>> from latopo import CellComplex
        >>> path = CellComplex(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> subcomplex(path, torch.tensor([3, 2, 0])).edge_index
        tensor([[1],
                [2]])
    """
    mask = _node_mask(cx, nodes)
    number = mask.cumsum(0) - 1  # increasing, so the canonical order survives
    keep_polygon = [mask[rows].all(dim=1) for rows in cx.polygons.values()]
    part = keep_cells(cx, mask[cx.edge_index].all(dim=0), torch.cat([mask[:0], *keep_polygon]))
    polygons = {length: number[rows] for length, rows in part.polygons.items()}
    ptr = None if cx.ptr is None else torch.cat([cx.ptr[:1], mask.cumsum(0)])[cx.ptr]
    return cx.from_canonical(
        int(mask.sum()), number[part.edge_index], polygons, part.edge_prob, part.polygon_prob, induced=cx.induced,
        ptr=ptr,
    )  # fmt: skip


def keep_cells(cx: "CellComplex", keep_edge: Tensor, keep_polygon: Tensor) -> "CellComplex":
    """The edges and polygons where the masks [E] and [P] hold, on the same nodes.

    That the sides of a kept polygon are kept is the caller's business.

    Example:
        >>> from latopo import CellComplex
        >>> path = CellComplex(4, [[0, 1, 2], [1, 2, 3]])
        >>> keep_cells(path, torch.tensor([True, False, True]), torch.zeros(0, dtype=torch.bool)).num_edges
        2
    """
    return cx.from_canonical(
        cx.num_nodes,
        cx.edge_index[:, keep_edge],
        keep_rows(cx.polygons, keep_polygon),
        None if cx.edge_prob is None else cx.edge_prob[keep_edge],
        None if cx.polygon_prob is None else cx.polygon_prob[keep_polygon],
        induced=cx.induced,
        ptr=cx.ptr,
    )


def keep_rows(polygons: Mapping[int, Tensor], keep: Tensor) -> dict[int, Tensor]:
    """The polygons of each length where the mask [P] holds."""
    masks = torch.split_with_sizes(keep, [rows.size(0) for rows in polygons.values()])
    return {length: rows[mask] for (length, rows), mask in zip(polygons.items(), masks, strict=True)}


def disjoint_union(complexes: Sequence["CellComplex"]) -> "CellComplex":
    """The complexes side by side: the nodes of each are numbered on from those of the one before.

    Probabilities of edges, or of polygons, are kept if all complexes that have such cells have them. The union knows
    its parts: ``union[i]`` is the i-th complex again (of complexes of many graphs, their graphs are counted through).

    Example:
        >>> from latopo import CellComplex
        >>> pair = CellComplex(2, torch.tensor([[0], [1]]))
        >>> disjoint_union([pair, pair]).edge_index
        tensor([[0, 2],
                [1, 3]])
    """
    if not complexes:
        raise LatopoError("CellComplex: a disjoint union needs at least one complex, got none")
    ends = torch.tensor([cx.num_nodes for cx in complexes]).cumsum(0).tolist()
    parts = list(zip(complexes, [0, *ends[:-1]], strict=True))
    # A later complex has larger nodes only, so the canonical order survives within each length.
    lengths = sorted({length for cx in complexes for length in cx.polygons})
    polygons = {
        length: torch.cat([part.polygons[length] + first for part, first in parts if length in part.polygons])
        for length in lengths
    }
    return complexes[0].from_canonical(
        ends[-1],
        torch.cat([part.edge_index + first for part, first in parts], dim=1),
        polygons,
        _joined("edge_prob", [(part.num_edges, [part.edge_prob]) for part in complexes]),
        _joined("polygon_prob", [(part.num_polygons, _by_length(part, lengths)) for part in complexes]),
        induced=all(part.induced for part in complexes),
        ptr=_joined_pointers(parts),
    )


def _joined_pointers(parts: list[tuple["CellComplex", int]]) -> Tensor:
    ends = [cx.edge_index.new_tensor([cx.num_nodes]) if cx.ptr is None else cx.ptr[1:] for cx, _ in parts]
    return torch.cat([ends[0].new_zeros(1), *(end + first for end, (_, first) in zip(ends, parts, strict=True))])


def _by_length(cx: "CellComplex", lengths: list[int]) -> list[Tensor | None]:
    """The probabilities of the polygons of each of these lengths; one entry at least, to show whether there are any."""
    if cx.polygon_prob is None or not lengths:
        return [cx.polygon_prob] * max(len(lengths), 1)
    sizes = [cx.polygons[length].size(0) if length in cx.polygons else 0 for length in lengths]
    return list(torch.split_with_sizes(cx.polygon_prob, sizes))


def _joined(name: str, parts: list[tuple[int, list[Tensor | None]]]) -> Tensor | None:
    """The probabilities of complexes with so many cells, one kind of cell after another."""
    bare = [prob[0] is None for count, prob in parts if count]
    if any(bare) and not all(bare):
        raise LatopoError(f"CellComplex: in a disjoint union all complexes have {name}, or none")
    found = [prob for kind in zip(*(probs for _, probs in parts), strict=True) for prob in kind if prob is not None]
    return torch.cat(found) if found and not any(bare) else None


def _node_mask(cx: "CellComplex", nodes: Tensor) -> Tensor:
    check_dense("CellComplex", "nodes", nodes)
    if nodes.dtype == torch.bool:
        if nodes.shape != (cx.num_nodes,):
            raise LatopoError(f"CellComplex: the mask has shape {list(nodes.shape)}, expected [{cx.num_nodes}]")
        return nodes
    mask = torch.zeros(cx.num_nodes, dtype=torch.bool, device=cx.device)
    if nodes.dtype not in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        raise LatopoError(f"CellComplex: nodes must be whole numbers or a mask, got {nodes.dtype}; use nodes.long()")
    nodes = nodes.long()  # uint8 would be taken for a mask
    if nodes.numel() and not (int(nodes.min()) >= 0 and int(nodes.max()) < cx.num_nodes):
        raise LatopoError(f"CellComplex: nodes must lie in 0 … num_nodes-1={cx.num_nodes - 1}")
    mask[nodes] = True
    return mask


@dataclass(frozen=True, eq=False, repr=False)
class ComplexDifference:
    """What changed on the way from one complex, ``before``, to another, ``after``.

    Cells are given by their numbers in the complexes' canonical order (polygons counted through all lengths), so that
    they index ``edge_prob``, ``polygon_prob`` and features directly.

    Attributes:
        edges_gained, polygons_gained: numbers in ``after`` of the cells that ``before`` does not have.
        edges_lost, polygons_lost: numbers in ``before`` of the cells that ``after`` does not have.
        edges_kept, polygons_kept: [2, K], the numbers of the common cells in ``before`` (row 0) and ``after`` (row 1).
    """

    edges_gained: Tensor
    edges_lost: Tensor
    edges_kept: Tensor
    polygons_gained: Tensor
    polygons_lost: Tensor
    polygons_kept: Tensor

    def __repr__(self) -> str:
        """Counts only."""
        parts = [
            f"{kind}: {getattr(self, f'{kind}_gained').numel()} gained, {getattr(self, f'{kind}_lost').numel()} lost, "
            f"{getattr(self, f'{kind}_kept').size(1)} kept"
            for kind in ("edges", "polygons")
        ]
        return f"ComplexDifference({'; '.join(parts)})"


def difference(before: "CellComplex", after: "CellComplex") -> ComplexDifference:
    """Edges and polygons gained, lost and kept from ``before`` to ``after``; nodes are compared by their numbers.

    Example:
        >>> from latopo import CellComplex
        >>> path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> difference(path, CellComplex(3, torch.tensor([[0, 0], [1, 2]])))
        ComplexDifference(edges: 1 gained, 1 lost, 1 kept; polygons: 0 gained, 0 lost, 0 kept)
    """
    after = after.to(before.device)
    num_nodes = max(before.num_nodes, after.num_nodes)
    edges_kept = match_rows(before.edge_index.t(), after.edge_index.t(), num_nodes)
    polygons_kept = _matching_polygons(before, after, num_nodes)
    return ComplexDifference(
        edges_gained=_others(edges_kept[1], after.num_edges),
        edges_lost=_others(edges_kept[0], before.num_edges),
        edges_kept=edges_kept,
        polygons_gained=_others(polygons_kept[1], after.num_polygons),
        polygons_lost=_others(polygons_kept[0], before.num_polygons),
        polygons_kept=polygons_kept,
    )


def _matching_polygons(before: "CellComplex", after: "CellComplex", num_nodes: int) -> Tensor:
    first_before, first_after = _first_numbers(before), _first_numbers(after)
    matches = [before.edge_index.new_zeros(2, 0)]
    for length in first_before.keys() & first_after.keys():
        match = match_rows(before.polygons[length], after.polygons[length], num_nodes)
        matches.append(match + match.new_tensor([[first_before[length]], [first_after[length]]]))
    kept = torch.cat(matches, dim=1)
    return kept[:, kept[0].argsort()]


def _first_numbers(cx: "CellComplex") -> dict[int, int]:
    """The number of the first polygon of each length."""
    first, numbers = 0, {}
    for length, rows in cx.polygons.items():
        numbers[length] = first
        first += rows.size(0)
    return numbers


def _others(chosen: Tensor, count: int) -> Tensor:
    """The numbers below ``count`` that are not chosen, in order."""
    left = torch.ones(count, dtype=torch.bool, device=chosen.device)
    left[chosen] = False
    return left.nonzero().squeeze(1)
