"""The complex in the words of other libraries: PyTorch Geometric, networkx, TopoNetX."""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from latopo.complex.canonical import Cells
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex


def to_data(
    complex: "CellComplex",
    x_0: Tensor | None = None,
    x_1: Tensor | None = None,
    x_2: Tensor | None = None,
    signed: bool = False,
) -> Any:
    """A PyG ``Data`` with the keys of TopoX; see :meth:`CellComplex.to_data`."""
    from latopo.complex.cell_data import CellData

    counts = (complex.num_nodes, complex.num_edges, complex.num_polygons)
    features = {f"x_{rank}": x for rank, x in enumerate((x_0, x_1, x_2)) if x is not None}
    for (name, x), count in ((item, counts[int(item[0][-1])]) for item in features.items()):
        if x.size(0) != count:
            raise LatopoError(f"CellComplex.to_data: {name} has {x.size(0)} rows, expected one per cell, {count}")
    vertices = [rows.flatten() for rows in complex.polygons.values()]
    probabilities = {"edge_prob": complex.edge_prob, "polygon_prob": complex.polygon_prob}
    return CellData(
        num_nodes=complex.num_nodes,
        edge_index=complex.edge_index,
        incidence_1=complex.boundary(1) if signed else complex.incidence(1),
        incidence_2=complex.boundary(2) if signed else complex.incidence(2),
        polygon_index=torch.cat([complex.edge_index.new_zeros(0), *vertices]),
        polygon_length=complex.polygon_lengths,
        **features,
        **{name: prob for name, prob in probabilities.items() if prob is not None},
    )


def read_data(data: Any) -> Cells:
    """The cells of a PyG ``Data``, one of :func:`to_data`, a batch of such, or any graph (then without polygons)."""
    edge_prob, polygon_prob = data.get("edge_prob"), data.get("polygon_prob")
    if "polygon_index" not in data:
        return Cells(data.num_nodes, data.edge_index, {}, edge_prob)
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
    return Cells(data.num_nodes, data.edge_index, polygons, edge_prob, polygon_prob)


def to_networkx(complex: "CellComplex") -> Any:
    """A ``networkx.Graph``; see :meth:`CellComplex.to_networkx`."""
    from networkx import Graph

    graph = Graph(polygons=_polygon_tuples(complex))
    graph.add_nodes_from(range(complex.num_nodes))
    pairs = complex.edge_index.t().tolist()
    if complex.edge_prob is None:
        graph.add_edges_from(pairs)
    else:
        graph.add_edges_from((u, v, {"prob": p}) for (u, v), p in zip(pairs, complex.edge_prob.tolist(), strict=True))
    if complex.polygon_prob is not None:
        graph.graph["polygon_prob"] = complex.polygon_prob.tolist()
    return graph


def to_toponetx(complex: "CellComplex") -> Any:
    """A ``toponetx.CellComplex``; see :meth:`CellComplex.to_toponetx`."""
    try:
        import toponetx
    except ImportError as error:
        raise LatopoError('CellComplex.to_toponetx: TopoNetX is missing; run pip install "latopo[topox]"') from error
    result = toponetx.CellComplex(to_networkx(complex.skeleton(1)))
    cells = _polygon_tuples(complex)
    if complex.polygon_prob is None:
        result.add_cells_from(cells, rank=2)
    else:
        for cell, prob in zip(cells, complex.polygon_prob.tolist(), strict=True):
            result.add_cell(cell, rank=2, prob=prob)
    return result


def _polygon_tuples(complex: "CellComplex") -> list[tuple[int, ...]]:
    return [tuple(row) for rows in complex.polygons.values() for row in rows.tolist()]
