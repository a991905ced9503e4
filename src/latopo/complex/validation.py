"""Checks of a complex, each with an error that names the wrong cell and says why it is wrong."""

from collections.abc import Callable

import torch
from torch import Tensor

from latopo.complex.canonical import Cells, canonical_cycles, edge_keys, find_keys, lexicographic_order, sides
from latopo.complex.cell_input import check_plain
from latopo.errors import LatopoError

MAX_NODES = 2**31  # so that u·N + v, the key of an edge, fits into 64 bits


def check_form(cells: Cells) -> None:
    """Check types, shapes and devices: nothing that would make a GPU wait.

    Example:
        >>> check_form(Cells(3, torch.tensor([[0.5], [1.0]]), {}))
        Traceback (most recent call last):
        latopo.errors.LatopoError: CellComplex: edge_index must be int64 of shape [2, E], got torch.float32 [2, 1]
    """
    if not 0 <= cells.num_nodes <= MAX_NODES:
        raise LatopoError(
            f"CellComplex: num_nodes must be between 0 and 2³¹ ({MAX_NODES:,}), got {cells.num_nodes}; number the "
            "vertices 0, 1, 2, …"
        )
    _check_vertices("edge_index", cells.edge_index, "[2, E]", dim=0, size=2)
    for length, rows in cells.polygons.items():
        if length < 3:
            raise LatopoError(f"CellComplex: a polygon has at least 3 sides, got polygons of length {length}")
        name = f"polygons[{length}]"
        _check_vertices(name, rows, f"[P, {length}]", dim=1, size=length)
        _check_device(name, rows, cells.edge_index)
    polygon_count = sum(rows.size(0) for rows in cells.polygons.values())
    for name, prob, count in (
        ("edge_prob", cells.edge_prob, cells.edge_index.size(1)),
        ("polygon_prob", cells.polygon_prob, polygon_count),
    ):
        if prob is not None:
            check_plain(name, prob)
            _check_probability_form(name, prob, count)
            _check_device(name, prob, cells.edge_index)
    if cells.ptr is not None:
        if cells.ptr.dtype != torch.int64 or cells.ptr.dim() != 1 or cells.ptr.numel() == 0:
            came = f"{cells.ptr.dtype} {list(cells.ptr.shape)}"
            raise LatopoError(f"CellComplex: ptr must be int64 of shape [graphs + 1], got {came}")
        _check_device("ptr", cells.ptr, cells.edge_index)


def _check_vertices(name: str, tensor: Tensor, shape: str, dim: int, size: int) -> None:
    check_plain(name, tensor)
    if tensor.dtype != torch.int64 or tensor.dim() != 2 or tensor.size(dim) != size:
        came = f"{tensor.dtype} {list(tensor.shape)}"
        remedy = "; transpose a list of pairs" if name == "edge_index" and tensor.shape[1:] == (2,) else ""
        raise LatopoError(f"CellComplex: {name} must be int64 of shape {shape}, got {came}{remedy}")


def _check_device(name: str, tensor: Tensor, edge_index: Tensor) -> None:
    if tensor.device != edge_index.device:
        raise LatopoError(f"CellComplex: {name} is on {tensor.device}, but edge_index on {edge_index.device}; move one")


def _check_probability_form(name: str, prob: Tensor, count: int) -> None:
    if not prob.is_floating_point() or prob.shape != (count,):
        came = f"{prob.dtype} {list(prob.shape)}"
        raise LatopoError(f"CellComplex: {name} must be floating point of shape [{count}] (one per cell), got {came}")


def check_values(cells: Cells) -> None:
    """Check every cell for itself, in whatever order the cells are given.

    Vertices out of range, self-loops, repeated vertices in a polygon, cells listed twice, probabilities that are not in
    [0, 1] or that differ between the two directions of an edge.

    Example:
        >>> check_values(Cells(3, torch.tensor([[0, 1], [1, 1]]), {}))
        Traceback (most recent call last):
        latopo.errors.LatopoError: CellComplex: edge 1 (1, 1) is a self-loop; leave self-loops out
    """
    _check_edges(cells.edge_index, cells.num_nodes)
    for rows in cells.polygons.values():
        _check_polygons(rows, cells.num_nodes)
    if cells.edge_prob is not None:
        _check_probabilities("edge_prob", cells.edge_prob)
        _check_directions_agree(cells.edge_index, cells.num_nodes, cells.edge_prob)
    if cells.polygon_prob is not None:
        _check_probabilities("polygon_prob", cells.polygon_prob)
    if cells.ptr is not None:
        _check_graphs(cells.ptr, cells.edge_index, cells.num_nodes)


def _check_graphs(ptr: Tensor, edge_index: Tensor, num_nodes: int) -> None:
    if int(ptr[0]) != 0 or int(ptr[-1]) != num_nodes or bool((ptr.diff() < 0).any()):
        raise LatopoError(
            f"CellComplex: ptr must start at 0, never decrease and end at num_nodes={num_nodes}, got {ptr.tolist()}"
        )
    start, end = torch.searchsorted(ptr, edge_index, right=True)
    _refuse(start != end, lambda at: f"{_edge(edge_index, at)} runs between two graphs")


def _refuse(wrong: Tensor, words: Callable[[int], str]) -> None:
    """Raise about the first cell that is wrong, in the words for its number."""
    if bool(wrong.any()):
        raise LatopoError(f"CellComplex: {words(int(wrong.nonzero()[0, 0]))}")


def _edge(edge_index: Tensor, position: int | Tensor) -> str:
    return f"edge {position} {tuple(edge_index[:, position].tolist())}"


def _polygon(rows: Tensor, position: int | Tensor) -> str:
    return f"polygon {position} of length {rows.size(1)}, {tuple(rows[position].tolist())},"


def _out_of_range(vertices: Tensor, num_nodes: int) -> Tensor:
    return (vertices < 0) | (vertices >= num_nodes)


def _check_edges(edge_index: Tensor, num_nodes: int) -> None:
    outside = _out_of_range(edge_index, num_nodes).any(dim=0)
    _refuse(outside, lambda at: f"{_edge(edge_index, at)} has a vertex outside 0 … num_nodes-1={num_nodes - 1}")
    loop = edge_index[0] == edge_index[1]
    _refuse(loop, lambda at: f"{_edge(edge_index, at)} is a self-loop; leave self-loops out")
    order, twice = _twice(edge_index.t(), num_nodes)
    _refuse(twice, lambda at: f"{_edge(edge_index, order[at + 1])} is a duplicate of edge {order[at]}; list it once")


def _check_polygons(rows: Tensor, num_nodes: int) -> None:
    outside = _out_of_range(rows, num_nodes).any(dim=1)
    _refuse(outside, lambda at: f"{_polygon(rows, at)} has a vertex outside 0 … num_nodes-1={num_nodes - 1}")
    ordered = rows.sort(dim=1).values
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(dim=1)
    _refuse(repeated, lambda at: f"{_polygon(rows, at)} has a repeated vertex")
    order, twice = _twice(canonical_cycles(rows), num_nodes)
    _refuse(twice, lambda at: f"{_polygon(rows, order[at + 1])} is a duplicate of polygon {order[at]}; list it once")


def _twice(rows: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """An order of the rows [P] in which equal ones are neighbours, and whether each equals the next, [P − 1]."""
    order = lexicographic_order(rows, num_nodes)
    return order, (rows[order[1:]] == rows[order[:-1]]).all(dim=1)


def _check_probabilities(name: str, prob: Tensor) -> None:
    values = prob.detach()
    # A probability of 1 may come out of a sum of rounded numbers a few units in the last place too large.
    inside = (values >= 0) & (values <= 1 + 4 * torch.finfo(values.dtype).eps)
    _refuse(~inside, lambda at: f"{name}[{at}] is {float(values[at])}, expected a number in [0, 1]")


def _check_directions_agree(edge_index: Tensor, num_nodes: int, prob: Tensor) -> None:
    keys, order = edge_keys(edge_index, num_nodes).sort(stable=True)
    values = prob.detach()[order]
    _refuse(
        (keys[1:] == keys[:-1]) & (values[1:] != values[:-1]),
        lambda at: (
            f"{_edge(edge_index, order[at])} has probability {float(values[at])}, but its other direction, "
            f"{_edge(edge_index, order[at + 1])}, has {float(values[at + 1])}; give one probability per undirected edge"
        ),
    )


def check_closure(cells: Cells) -> None:
    """Check that every side of every polygon is an edge and, if it should be induced, that no polygon has a chord.

    The edges stand in canonical order.

    Example:
        >>> check_closure(Cells(3, torch.tensor([[0, 1], [1, 2]]), {3: torch.tensor([[0, 1, 2]])}))
        Traceback (most recent call last):
        latopo.errors.LatopoError: CellComplex: polygon 0 of length 3, (0, 1, 2), has the side (2, 0), ...
    """
    keys = edge_keys(cells.edge_index, cells.num_nodes)
    for length, rows in cells.polygons.items():
        is_edge = find_keys(keys, edge_keys(sides(rows), cells.num_nodes)) >= 0
        _refuse_pairs(rows, 1, ~is_edge.view_as(rows), "has the side", "which is no edge; add it or drop the polygon")
        # Each diagonal once: all pairs `step` vertices apart, a half of them twice where `step` is half of the length.
        for step in range(2, length // 2 + 1 if cells.induced else 0):
            pairs = torch.stack([rows, rows.roll(-step, dims=1)]).flatten(1)
            is_edge = find_keys(keys, edge_keys(pairs, cells.num_nodes)) >= 0
            why = "which is an edge; polygons are induced cycles, unless built with induced=False"
            _refuse_pairs(rows, step, is_edge.view_as(rows), "has the chord", why)


def _refuse_pairs(rows: Tensor, step: int, wrong: Tensor, what: str, why: str) -> None:
    """Raise about the first polygon with a wrong pair of vertices so many steps apart."""

    def words(row: int) -> str:
        column = int(wrong[row].nonzero()[0])
        pair = (int(rows[row, column]), int(rows[row, (column + step) % rows.size(1)]))
        return f"{_polygon(rows, row)} {what} {pair}, {why}"

    _refuse(wrong.any(dim=1), words)


def check_order(cells: Cells) -> None:
    """Check that the cells are in the canonical order of :mod:`latopo.complex.canonical`.

    Example:
        >>> check_order(Cells(3, torch.tensor([[2], [1]]), {}))
        Traceback (most recent call last):
        latopo.errors.LatopoError: CellComplex: edge 0 (2, 1) is not in canonical order (u < v, sorted); ...
    """
    remedy = "build the complex with CellComplex(...), which sorts"
    keys = edge_keys(cells.edge_index, cells.num_nodes)
    wrong = cells.edge_index[0] >= cells.edge_index[1]
    wrong[1:] |= keys[1:] <= keys[:-1]
    _refuse(wrong, lambda at: f"{_edge(cells.edge_index, at)} is not in canonical order (u < v, sorted); {remedy}")
    for rows in cells.polygons.values():
        _check_row_order(rows, cells.num_nodes, remedy)


def _check_row_order(rows: Tensor, num_nodes: int, remedy: str) -> None:
    order = lexicographic_order(rows, num_nodes)
    wrong = (rows != canonical_cycles(rows)).any(dim=1) | (order != torch.arange(len(order)).to(order))
    form = "canonical order (smallest vertex first, second < last, rows sorted)"
    _refuse(wrong, lambda at: f"{_polygon(rows, at)} is not in {form}; {remedy}")
