"""To PyTorch Geometric and back."""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from latopo.complex.canonical import Cells
from latopo.complex.graphs import polygon_numbers
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex


def to_edge_index(cx: "CellComplex") -> tuple[Tensor, Tensor]:
    """The edges as a convolution of PyG wants them: ``conv(x, *cells.to_edge_index())``.

    Both directions of every edge, [2, 2E], all u → v before all v → u, and their weights [2E]: the probabilities, with
    their gradient, or ones.

    Example:
        >>> from latopo import CellComplex
        >>> CellComplex(3, [[0, 1], [1, 2]], edge_prob=[0.5, 1.0]).to_edge_index()
        (tensor([[0, 1, 1, 2],
                [1, 2, 0, 1]]), tensor([0.5000, 1.0000, 0.5000, 1.0000]))
    """
    weight = torch.ones(cx.num_edges, device=cx.device) if cx.edge_prob is None else cx.edge_prob
    return torch.cat([cx.edge_index, cx.edge_index.flip(0)], dim=1), torch.cat([weight, weight])


def to_data(
    cx: "CellComplex",
    x_0: Tensor | None = None,
    x_1: Tensor | None = None,
    x_2: Tensor | None = None,
    signed: bool = False,
) -> Any:
    """A PyG ``Data`` with the keys of TopoX, whose batches are disjoint unions; ``from_data`` is the way back.

    Keys: ``num_nodes``, ``edge_index`` [2, E], each edge once, so that its columns are the rows of ``x_1`` (a PyG
    convolution wants :meth:`to_edge_index`), ``incidence_1`` [N, E] and ``incidence_2`` [E, P], sparse COO,
    ``polygon_length`` [P] and ``polygon_index``, all polygons' vertices one after another, and, where there are any,
    ``x_0``, ``x_1``, ``x_2`` (features, one row per cell), ``edge_prob`` and ``polygon_prob``. A batch lists polygons
    graph by graph in all of these keys. PyG cannot split a batch that holds sparse matrices again (``to_data_list``);
    ``CellComplex.from_data(batch)[i]`` is complex i.

    A complex of many graphs gives PyG's ``Batch`` of them, and comes back from it with its graphs.
    """
    from latopo.complex.cell_data import CellData

    counts = (cx.num_nodes, cx.num_edges, cx.num_polygons)
    features = {f"x_{rank}": x for rank, x in enumerate((x_0, x_1, x_2)) if x is not None}
    for (name, x), count in ((item, counts[int(item[0][-1])]) for item in features.items()):
        if x.size(0) != count:
            raise LatopoError(f"CellComplex.to_data: {name} has {x.size(0)} rows, expected one per cell, {count}")
    if cx.ptr is not None:
        return _to_batch(cx, list(features.items()), signed)
    vertices = [rows.flatten() for rows in cx.polygons.values()]
    probabilities = {"edge_prob": cx.edge_prob, "polygon_prob": cx.polygon_prob}
    return CellData(
        num_nodes=cx.num_nodes,
        edge_index=cx.edge_index,
        incidence_1=cx.boundary(1) if signed else cx.incidence(1),
        incidence_2=cx.boundary(2) if signed else cx.incidence(2),
        polygon_index=torch.cat([cx.edge_index.new_zeros(0), *vertices]),
        polygon_length=cx.polygon_lengths,
        **features,
        **{name: prob for name, prob in probabilities.items() if prob is not None},
    )


def _to_batch(cx: "CellComplex", features: list[tuple[str, Tensor]], signed: bool) -> Any:
    from torch_geometric.data import Batch

    edges = torch.bincount(cx.edge_graph(), minlength=cx.num_graphs).tolist()
    ptr = cx.edge_index.new_tensor([0]) if cx.ptr is None else cx.ptr
    # Edges and nodes stand graph by graph, polygons length by length.
    rows = {"x_0": torch.arange(cx.num_nodes).split(ptr.diff().tolist())}
    rows |= {"x_1": torch.arange(cx.num_edges).split(edges), "x_2": tuple(polygon_numbers(cx))}
    parts = [
        to_data(part, **{name: x[rows[name][number]] for name, x in features}, signed=signed)
        for number, part in enumerate(cx.split())
    ]
    return Batch.from_data_list(parts)


def from_data(cls: type["CellComplex"], data: Any, validate: bool = True, induced: bool = True) -> "CellComplex":
    """The complex of a PyG ``Data`` or batch from :meth:`to_data`, or of any graph without self-loops.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]])
        >>> CellComplex.from_data(triangle.to_data()) == triangle
        True
    """
    return cls(**_read_data(data)._replace(induced=induced)._asdict(), validate=validate)


def _read_data(data: Any) -> Cells:
    """The cells of a PyG ``Data``, one of :func:`to_data`, a batch of such, or any graph (then without polygons)."""
    edge_prob, polygon_prob = data.get("edge_prob"), data.get("polygon_prob")
    ptr = data.get("ptr")
    if "polygon_index" not in data:
        return Cells(data.num_nodes, data.edge_index, {}, edge_prob, ptr=ptr)
    lengths = data.polygon_length
    first = lengths.cumsum(0) - lengths
    polygons, order = {}, []
    for length in lengths.unique().tolist():
        members = (lengths == length).nonzero().squeeze(1)
        position = first[members, None] + torch.arange(length, device=lengths.device)
        polygons[length] = data.polygon_index[position]
        order.append(members)
    # A batch lists polygons graph by graph; the probabilities follow them into the order by length.
    if polygon_prob is not None and order:
        polygon_prob = polygon_prob[torch.cat(order)]
    return Cells(data.num_nodes, data.edge_index, polygons, edge_prob, polygon_prob, ptr=ptr)
