"""The one order in which cells are written, and the search for an edge in it.

Edges: ``u < v``, sorted by u, then v. Polygons: by length, then lexicographically; each starts at its smallest vertex
and goes on to the smaller of that vertex' two neighbours (second < last).
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor


class Cells(NamedTuple):
    """The parts that a complex is made of, in the order of the constructor's arguments."""

    num_nodes: int
    edge_index: Tensor
    polygons: Mapping[int, Tensor]
    edge_prob: Tensor | None = None
    polygon_prob: Tensor | None = None
    induced: bool = True
    ptr: Tensor | None = None


def canonicalize(cells: Cells) -> Cells:
    """Bring cells in any order into the canonical one; probabilities go along and keep their gradients.

    A cell listed more than once (an edge in both directions) becomes one cell with the mean of the probabilities.

    Example:
        >>> edges = torch.tensor([[2, 1, 0], [0, 2, 1]])
        >>> canonicalize(Cells(3, edges, {3: torch.tensor([[2, 1, 0]])})).polygons
        {3: tensor([[0, 1, 2]])}
    """
    edge_index, edge_prob = _canonical_edges(cells.edge_index, cells.num_nodes, cells.edge_prob)
    lengths = sorted(cells.polygons)
    given_prob: list[Tensor | None] = [None] * len(lengths)
    if cells.polygon_prob is not None:
        given_prob = list(
            torch.split_with_sizes(cells.polygon_prob, [cells.polygons[length].size(0) for length in lengths])
        )
    found = [
        _canonical_polygons(cells.polygons[length], cells.num_nodes, prob)
        for length, prob in zip(lengths, given_prob, strict=True)
    ]
    polygons = dict(zip(lengths, (rows for rows, _ in found), strict=True))
    probs = [prob for _, prob in found if prob is not None]
    polygon_prob = torch.cat(probs) if probs else cells.polygon_prob
    return cells._replace(edge_index=edge_index, polygons=polygons, edge_prob=edge_prob, polygon_prob=polygon_prob)


def _canonical_edges(edge_index: Tensor, num_nodes: int, prob: Tensor | None) -> tuple[Tensor, Tensor | None]:
    keys, group, count = torch.unique(edge_keys(edge_index, num_nodes), return_inverse=True, return_counts=True)
    base = max(num_nodes, 1)
    edges = torch.stack([keys.div(base, rounding_mode="floor"), keys % base])
    return edges, None if prob is None else _mean_of_groups(prob, group, count)


def _canonical_polygons(rows: Tensor, num_nodes: int, prob: Tensor | None) -> tuple[Tensor, Tensor | None]:
    rows = canonical_cycles(rows)
    order = lexicographic_order(rows, num_nodes)
    rows = rows[order]
    first = torch.ones(rows.size(0), dtype=torch.bool, device=rows.device)
    first[1:] = (rows[1:] != rows[:-1]).any(dim=1)
    if prob is not None:
        group = first.cumsum(0) - 1
        prob = _mean_of_groups(prob[order], group, torch.bincount(group))
    return rows[first], prob


def _mean_of_groups(values: Tensor, group: Tensor, count: Tensor) -> Tensor:
    return values.new_zeros(count.size(0)).index_add(0, group, values) / count


def canonical_cycles(rows: Tensor) -> Tensor:
    """Rotate and reflect each cycle so that its smallest vertex comes first and second < last.

    Shapes:
        rows: [P, k], each row a cycle's vertices in cyclic order; the result has the same shape, in the same row order.

    Example:
        >>> canonical_cycles(torch.tensor([[3, 1, 4, 2]]))
        tensor([[1, 3, 2, 4]])
    """
    steps = torch.arange(rows.size(1), device=rows.device)
    start = rows.argmin(dim=1, keepdim=True)
    forward = rows.gather(1, (start + steps) % rows.size(1))
    backward = forward[:, -steps]
    return torch.where(forward[:, 1:2] > forward[:, -1:], backward, forward)


def lexicographic_order(rows: Tensor, num_nodes: int) -> Tensor:
    """Stable order [P] that sorts the rows [P, k] of vertices lexicographically.

    Example:
        >>> lexicographic_order(torch.tensor([[1, 0, 2], [0, 3, 1], [0, 2, 5]]), num_nodes=6)
        tensor([2, 1, 0])
    """
    bits = max((num_nodes - 1).bit_length(), 1)
    # As many columns as 62 bits hold go into one key: three columns of a million nodes cost one sort, not three.
    columns_per_key = max(62 // bits, 1)
    order = torch.arange(rows.size(0), device=rows.device)
    for stop in range(rows.size(1), 0, -columns_per_key):
        key = torch.zeros_like(order)
        for column in range(max(stop - columns_per_key, 0), stop):
            key = (key << bits) | rows[order, column]
        order = order[torch.argsort(key, stable=True)]
    return order


def edge_keys(edge_index: Tensor, num_nodes: int) -> Tensor:
    """One number u·N + v per undirected edge, u ≤ v: increasing for edges in canonical order.

    Example:
        >>> edge_keys(torch.tensor([[0, 2], [1, 1]]), num_nodes=3)
        tensor([1, 5])
    """
    low, high = torch.minimum(*edge_index).long(), torch.maximum(*edge_index).long()
    return low * max(num_nodes, 1) + high


def find_keys(keys: Tensor, wanted: Tensor) -> Tensor:
    """Position of each wanted key among the increasing ``keys``, −1 where it is missing.

    Example:
        >>> find_keys(torch.tensor([1, 5, 7]), torch.tensor([7, 2]))
        tensor([ 2, -1])
    """
    if keys.numel() == 0:
        return torch.full_like(wanted, -1)
    position = torch.searchsorted(keys, wanted).clamp(max=keys.numel() - 1)
    return torch.where(keys[position] == wanted, position, -1)


def find_edges(keys: Tensor, pairs: Tensor, num_nodes: int) -> Tensor:
    """Number of the edge between each pair of nodes [2, K], given the edges' ``keys``; −1 where there is none.

    Example:
        >>> keys = edge_keys(torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> find_edges(keys, torch.tensor([[2, 2], [1, 7]]), num_nodes=3)
        tensor([ 1, -1])
    """
    inside = ((pairs >= 0) & (pairs < num_nodes)).all(dim=0)
    return torch.where(inside, find_keys(keys, edge_keys(pairs, num_nodes)), -1)


def sides(rows: Tensor) -> Tensor:
    """The sides of polygons as vertex pairs: [P, k] → [2, P·k], polygon by polygon, along the listed cycle.

    Example:
        >>> sides(torch.tensor([[0, 1, 2]]))
        tensor([[0, 1, 2],
                [1, 2, 0]])
    """
    return torch.stack([rows, rows.roll(-1, dims=1)]).flatten(1)


def match_rows(left: Tensor, right: Tensor, num_nodes: int) -> Tensor:
    """Pairs of row numbers [2, K] with equal rows in ``left`` [A, k] and ``right`` [B, k]; rows are distinct in each.

    Example:
        >>> match_rows(torch.tensor([[0, 1], [1, 2]]), torch.tensor([[1, 2], [1, 3]]), num_nodes=4)
        tensor([[1],
                [0]])
    """
    rows = torch.cat([left, right])
    order = lexicographic_order(rows, num_nodes)
    equal = (rows[order[1:]] == rows[order[:-1]]).all(dim=1)
    # The order is stable, so of two equal rows the one from `left` comes first.
    return torch.stack([order[:-1][equal], order[1:][equal] - left.size(0)])
