"""Sets of graphs: those of the catalogue, and your own lists of PyG ``Data``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.io import read_tu_data

from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.data.features import standardize
from latopo.data.graph_checks import check_graph
from latopo.data.graph_set import GraphSet
from latopo.data.loading import load, load_untreated, own_name, own_targets
from latopo.data.raw_files import AnyPath
from latopo.errors import LatopoError

__all__ = ["as_clouds", "from_graphs", "load_any", "load_graphs", "read_tu"]


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
    position = _centred(data.attributes, data.node_ptr) if entry.coordinates else None
    values = standardize(data.attributes) if position is None else position
    x = torch.cat([values, data.x.float()], dim=1)
    classes = int(data.y.max()) + 1
    edges = data.edge_index, data.edge_attr.float()
    more: dict[str, Any] = {"position": position, "name": entry.name, "first_label": values.size(1)}
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
        check_graph(number, graph, graphs[0])
    if len(graphs) < 10:
        raise LatopoError(f"from_graphs: {len(graphs)} graphs cannot be cut into ten folds; at least 10 are needed")
    counts = torch.tensor([graph.num_nodes for graph in graphs])
    node_ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    edges = [_edges(graph) for graph in graphs]
    edge_index = torch.cat([part + first for (part, _), first in zip(edges, node_ptr.tolist(), strict=False)], dim=1)
    x = torch.cat([torch.ones(graph.num_nodes, 1) if graph.x is None else graph.x.float() for graph in graphs])
    edge_index, edge_attr = _once(edge_index, torch.cat([values for _, values in edges]), x.size(0))
    y = own_targets("from_graphs", torch.cat([torch.as_tensor(graph.y).reshape(1) for graph in graphs]))
    position = None if graphs[0].pos is None else _centred(torch.cat([graph.pos.float() for graph in graphs]), node_ptr)
    classes = 0 if y.is_floating_point() else int(y.max()) + 1
    entry = DatasetEntry(
        name=own_name("from_graphs", name), title=name, source="your own data", reader="", level="graph",
        task="classification" if classes else "regression", has_graph=graphs[0].edge_index is not None,
        coordinates=position is not None, fold_seed=fold_seed, epochs=epochs,
    )  # fmt: skip
    more: dict[str, Any] = {"position": position, "name": name}
    return GraphSet.lifted(x, y, node_ptr, edge_index, edge_attr, classes, **more), entry


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
    more: dict[str, Any] = {"position": graphs.position, "name": graphs.name}
    return GraphSet.lifted(graphs.position, graphs.y, graphs.node_ptr, edges, length, graphs.num_classes, **more)


def _centred(position: Tensor, node_ptr: Tensor) -> Tensor:
    """Coordinates from the middle of each graph, in units of their deviation over the whole set."""
    counts = node_ptr.diff()
    graph = torch.repeat_interleave(counts)
    total = position.new_zeros(counts.numel(), position.size(1)).index_add_(0, graph, position)
    centred = position - (total / counts[:, None].clamp(min=1))[graph]
    return centred / centred.square().mean().sqrt().clamp(min=1e-12)


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
    attr = torch.zeros(graph.edge_index.size(1), 0) if graph.edge_attr is None else graph.edge_attr.float()
    return graph.edge_index.long(), attr
