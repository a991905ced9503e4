"""Measured facts about a data set, kept in the cache. torch is imported only if something has to be measured."""

import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from latopo.data.cache import cache_file, written_atomically
from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.data.raw_files import AnyPath

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data


@dataclass(frozen=True)
class Statistics:
    """Facts about one data set; those about the graph are None for tables, those about classes for regression.

    Attributes:
        nodes: number of nodes, or rows.
        features: number of features.
        classes: number of classes.
        edges: distinct pairs of different nodes with an edge in either direction.
        homophily: share of the columns of ``edge_index``, *as PyG's class returns it*, that join equal classes.
            Directed edges count one by one and self-loops count, as in the paper's tables.
        mean_degree: neighbours per node, ``2 * edges / nodes``.
        duplicate_rows: rows of features that are equal to an earlier row.
        graphs: number of graphs of a set, whose nodes and edges are counted together; None for one graph or table.
    """

    nodes: int
    features: int
    classes: int | None
    edges: int | None
    homophily: float | None
    mean_degree: float | None
    duplicate_rows: int
    graphs: int | None = None


def dataset_statistics(name: str, data_root: AnyPath | None = None) -> Statistics:
    """The statistics of a data set: from the cache, or measured and then kept there."""
    entry = find_dataset(name)
    known = read_statistics(entry)
    if known is not None:
        return known
    from latopo.data.loading import load_untreated

    data = load_untreated(entry, data_root)
    measured = measure(data) if entry.level == "node" else measure_graphs(data)
    with written_atomically(cache_file("statistics", f"{entry.name}.json")) as draft:
        draft.write_text(json.dumps(asdict(measured)), encoding="utf-8")
    return measured


def read_statistics(entry: DatasetEntry) -> Statistics | None:
    """Statistics that were measured before, or None. They stay true, since raw files have only one valid content."""
    try:
        text = cache_file("statistics", f"{entry.name}.json").read_text(encoding="utf-8")
        return Statistics(**json.loads(text))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def measure(data: "Data") -> Statistics:
    """Measure a PyG ``Data`` whose edges are as its source gives them."""
    nodes, features = data.x.shape
    classes = None if data.y.is_floating_point() else int(data.y.max()) + 1
    edges = homophily = mean_degree = None
    if data.edge_index is not None:
        edges = _count_edges(data.edge_index, nodes)
        mean_degree = 2 * edges / nodes
        homophily = float((data.y[data.edge_index[0]] == data.y[data.edge_index[1]]).double().mean())
    return Statistics(nodes, features, classes, edges, homophily, mean_degree, _count_duplicate_rows(data.x))


def measure_graphs(data: "Data") -> Statistics:
    """Measure a set of graphs, as :func:`latopo.data.graph_loading.read_tu` gives it: each edge once."""
    nodes, edges, features = data.x.size(0), data.edge_index.size(1), data.x.size(1) + data.attributes.size(1)
    classes, repeated = int(data.y.max()) + 1, _count_duplicate_rows(data.x)
    return Statistics(nodes, features, classes, edges, None, 2 * edges / nodes, repeated, graphs=data.y.numel())


def _count_edges(edge_index: "Tensor", num_nodes: int) -> int:
    low, high = edge_index.min(dim=0).values, edge_index.max(dim=0).values
    return len(set((low * num_nodes + high)[low != high].tolist()))


def _count_duplicate_rows(x: "Tensor") -> int:
    """Rows equal to an earlier one, found by their bytes: exact, and a sparse matrix stays sparse."""
    from latopo.data.features import is_sparse

    if not is_sparse(x):
        return len(x) - len({row.tobytes() for row in x.numpy()})
    ends, columns, values = x.crow_indices().tolist(), x.col_indices().numpy(), x.values().numpy()
    rows = ((columns[a:b].tobytes(), values[a:b].tobytes()) for a, b in pairwise(ends))
    return x.size(0) - len(set(rows))
