"""Sets of graphs: those of the catalogue, and your own lists of PyG ``Data``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.io import read_tu_data

from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.data.graph_checks import check_graph, check_target
from latopo.data.graph_input import GraphInput
from latopo.data.graph_set import MAX_RING, GraphSet
from latopo.data.loading import load, load_untreated, own_name, own_targets
from latopo.data.raw_files import AnyPath
from latopo.errors import LatopoError

__all__ = ["as_clouds", "from_graphs", "load_any", "load_graphs", "new_graphs", "read_tu"]


def load_graphs(name: str, data_root: AnyPath | None = None) -> GraphSet:
    """Load a set of graphs by its name: raw files verified, parsed by PyG once, then read from the cache.

    Args:
        name: ``mutag``, ``proteins``, ``nci1``, ``nci109``, ``bzr`` or ``dhfr``, in any spelling.
        data_root: folder with the raw files in PyG's layout; by default ``$LATOPO_DATA``, else the cache folder.
    """
    entry = find_dataset(name)
    if entry.level != "graph":
        raise LatopoError(
            f"load_graphs: {entry.title} is one graph or table, not a set of graphs; use latopo.data.load"
        )
    data = load_untreated(entry, data_root)
    values, raw = data.attributes, torch.cat([data.attributes, data.x.float()], dim=1)
    form: dict[str, Any] = {"features": raw.size(1), "edge_features": data.edge_attr.size(1)}
    if entry.coordinates:
        known = GraphInput.of_coordinates(values, data.node_ptr, in_features=True, **form)
    else:
        known = GraphInput.of_attributes(values, **form)
    x, position = known.apply(raw, None, data.node_ptr)
    classes = int(data.y.max()) + 1
    edges = data.edge_index, data.edge_attr.float()
    more: dict[str, Any] = {"position": position, "name": entry.name, "first_label": values.size(1), "form": known}
    return GraphSet.lifted(x, data.y, data.node_ptr, *edges, classes, **more)


def load_any(name: str, data_root: AnyPath | None = None) -> Data | GraphSet:
    """A data set of either kind: :func:`latopo.data.load` or :func:`load_graphs`."""
    return (load if find_dataset(name).level == "node" else load_graphs)(name, data_root)


def read_tu(entry: DatasetEntry, root: Path) -> Data:
    """A set in the text files of TUDataset, read by PyG's own reader.

    Returns:
        All graphs in one ``Data``: **x**, one column per node label that occurs, 0/1; **attributes**; **edge_index**,
        each undirected edge once; **edge_attr**, one column per edge label; **y** [G]; **node_ptr** [G + 1].
    """
    data, slices, sizes = read_tu_data(str(root / entry.path), entry.title)
    node_ptr, edge_ptr = slices["x"], slices["edge_index"]
    edge_index = data.edge_index + node_ptr[:-1].repeat_interleave(edge_ptr.diff())
    labels = data.x[:, sizes["num_node_attributes"] :]
    edge_attr = torch.zeros(edge_index.size(1), 0) if data.edge_attr is None else data.edge_attr
    edges, edge_attr = _once(edge_index, edge_attr, data.x.size(0))
    return Data(
        x=labels[:, labels.any(dim=0)].to(torch.uint8),
        attributes=data.x[:, : sizes["num_node_attributes"]].clone(),
        edge_index=edges,
        edge_attr=edge_attr.to(torch.uint8),
        y=data.y,
        node_ptr=node_ptr,
    )


def from_graphs(
    graphs: Sequence[Data], name: str = "graphs", *, fold_seed: int = 0, epochs: int = 100
) -> tuple[GraphSet, DatasetEntry]:
    """Your own graphs in the form that :func:`load_graphs` returns, and an entry like those of the catalogue.

    Args:
        graphs: PyG ``Data``, each with **x** [n, d] (one-hot labels, or any numbers on a common scale; without it every
            node has the feature 1, and only the structure counts), **y**, one target: an integer is a class 0, 1, …, a
            float the target of a regression; and **edge_index** in any form, **edge_attr** [e, d'] if there is one,
            **pos** [n, 3] if there are coordinates. A graph may have a single node, and no edges.
        name: what results are filed under; not a name of the catalogue.
        fold_seed: seed of the ten folds.
        epochs: how long to train.

    Example:
        >>> ring = torch.stack([torch.arange(5), (torch.arange(5) + 1) % 5])
        >>> mine = [Data(x=torch.ones(5, 1), edge_index=ring, y=torch.tensor([0.5 * i])) for i in range(20)]
        >>> graphs, entry = from_graphs(mine, "my-rings")
        >>> len(graphs), graphs.num_classes, graphs.ring_length[:3].tolist(), entry.task
        (20, 0, [5, 5, 5], 'regression')
    """
    for number, graph in enumerate(graphs):
        check_graph(f"from_graphs: graph {number}", graph, graphs[0])
        check_target(f"from_graphs: graph {number}", graph.y)
    if len(graphs) < 10:
        raise LatopoError(f"from_graphs: {len(graphs)} graphs cannot be cut into ten folds; at least 10 are needed")
    y = own_targets("from_graphs", torch.cat([_target(graph.y) for graph in graphs]))
    classes = 0 if y.is_floating_point() else int(y.max()) + 1
    own = own_name("from_graphs", name)
    found = _join(graphs, _form(graphs), y, classes, name)
    entry = DatasetEntry(
        name=own, title=name, source="your own data", reader="", level="graph",
        task="classification" if classes else "regression", has_graph=graphs[0].edge_index is not None,
        coordinates=found.position is not None, fold_seed=fold_seed, epochs=epochs,
    )  # fmt: skip
    return found, entry


def _target(y: Any) -> Tensor:
    target = torch.as_tensor(y).detach().reshape(1)
    return target if target.is_floating_point() else target.long()


def new_graphs(caller: str, graphs: Sequence[Data], form: GraphInput, *, rings: bool = True) -> GraphSet:
    """Graphs without targets (all are 0) in the form of those that a network was trained on, with rings or without."""
    for number, graph in enumerate(graphs):
        check_graph(f"{caller}: graph {number}", graph, graphs[0])
        form.check(f"{caller}: graph {number}", graph)
    unknown = torch.zeros(len(graphs), dtype=torch.int64)
    return _join(
        graphs, form, unknown, 0, "new graphs", max_length=MAX_RING if rings else 3
    )  # no fewer can be asked for


def _form(graphs: Sequence[Data]) -> GraphInput:
    """What your own graphs have, all as the first one."""
    first = graphs[0]
    more: dict[str, Any] = {
        "features": 0 if first.x is None else first.x.size(1),
        "edge_features": 0 if first.edge_attr is None else first.edge_attr.size(1),
        "has_edges": first.edge_index is not None,
    }
    if first.pos is None:
        return GraphInput(**more)
    return GraphInput.of_coordinates(_positions(graphs), _node_pointers(graphs), **more)


def _join(
    graphs: Sequence[Data], form: GraphInput, y: Tensor, classes: int, name: str, max_length: int = MAX_RING
) -> GraphSet:
    node_ptr = _node_pointers(graphs)
    edges = [_edges(graph) for graph in graphs]
    edge_index = torch.cat([part + first for (part, _), first in zip(edges, node_ptr.tolist(), strict=False)], dim=1)
    x = torch.cat([torch.ones(graph.num_nodes, 1) if graph.x is None else graph.x.detach().float() for graph in graphs])
    edge_index, edge_attr = _once(edge_index, torch.cat([values for _, values in edges]), x.size(0))
    x, position = form.apply(x, None if graphs[0].pos is None else _positions(graphs), node_ptr)
    more: dict[str, Any] = {"position": position, "name": name, "form": form, "max_length": max_length}
    return GraphSet.lifted(x, y, node_ptr, edge_index, edge_attr, classes, **more)


def _node_pointers(graphs: Sequence[Data]) -> Tensor:
    counts = torch.tensor([graph.num_nodes for graph in graphs])
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def _positions(graphs: Sequence[Data]) -> Tensor:
    return torch.cat([graph.pos.detach().float() for graph in graphs])


def as_clouds(graphs: GraphSet, k: int = 4) -> GraphSet:
    """The coordinates alone: nodes know where they are and nothing else, edges join each to its ``k`` nearest ones.

    Edges have their length as feature. The given edges, node labels and edge labels are not looked at.
    """
    if graphs.position is None:
        raise LatopoError(f"{graphs.name} has no coordinates, so its graphs cannot be taken as point clouds")
    parts = []
    for first, last in zip(graphs.node_ptr[:-1].tolist(), graphs.node_ptr[1:].tolist(), strict=True):
        distance = torch.cdist(graphs.position[first:last], graphs.position[first:last]).fill_diagonal_(float("inf"))
        near = distance.topk(min(k, last - first - 1), largest=False).indices
        own = torch.arange(last - first)[:, None].expand_as(near)
        parts.append(torch.stack([own.flatten(), near.flatten()]) + first)
    edges, _ = _once(torch.cat(parts, dim=1), torch.zeros(sum(part.size(1) for part in parts), 0), graphs.x.size(0))
    length = (graphs.position[edges[0]] - graphs.position[edges[1]]).norm(dim=1, keepdim=True)
    unit = None if graphs.form is None else graphs.form.unit
    form = GraphInput(0, has_edges=False, unit=unit, dimensions=0 if unit is None else graphs.position.size(1))
    more: dict[str, Any] = {"position": graphs.position, "name": graphs.name, "form": form}
    return GraphSet.lifted(graphs.position, graphs.y, graphs.node_ptr, edges, length, graphs.num_classes, **more)


def _once(edge_index: Tensor, edge_attr: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Each undirected edge once, u < v, sorted, without self-loops; of repeated edges the features of the first."""
    low, high = edge_index.amin(0), edge_index.amax(0)
    keys = (low * num_nodes + high)[low != high]
    found, place = torch.unique(keys, return_inverse=True)
    first = torch.full_like(found, keys.numel()).scatter_reduce_(
        0, place, torch.arange(keys.numel(), device=keys.device), "amin"
    )
    return torch.stack([found // num_nodes, found % num_nodes]), edge_attr[low != high][first]


def _edges(graph: Data) -> tuple[Tensor, Tensor]:
    if graph.edge_index is None:
        return torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0, 0)
    attr = torch.zeros(graph.edge_index.size(1), 0) if graph.edge_attr is None else graph.edge_attr.detach().float()
    return graph.edge_index.long(), attr
