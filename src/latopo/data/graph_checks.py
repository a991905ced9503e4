"""Whether your own graphs can be read: the first thing that is wrong, in one line, with the number of its graph."""

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from latopo._arguments import check_dense
from latopo.cycles.simple_graph import check_edge_index
from latopo.errors import LatopoError

__all__ = ["check_graph", "check_target"]

# What each tensor has a row for.
_ROWS = {"x": "nodes", "edge_attr": "edges", "pos": "nodes"}
_MOST_NODES = 10_000_000  # of a graph


def check_graph(where: str, graph: Data, first: Data) -> None:
    """Raise if a graph is not as :func:`latopo.data.from_graphs` wants it, or has other parts than the first one."""
    if not isinstance(graph, Data):
        raise LatopoError(f"{where} must be PyG Data, got {type(graph).__name__}")
    if isinstance(graph, Batch):
        raise LatopoError(f"{where} is a Batch of several graphs; take them apart with to_data_list()")
    for key in ("x", "edge_index", "edge_attr", "pos"):
        if (getattr(graph, key) is None) != (getattr(first, key) is None):
            raise LatopoError(f"{where}: either all graphs have {key}, or none has")
    if graph.edge_index is None and graph.pos is None:
        raise LatopoError(f"{where} has neither edge_index nor pos; give it bonds, or coordinates")
    if not graph.num_nodes:
        raise LatopoError(f"{where} has no nodes; leave it out, or set num_nodes")
    if graph.num_nodes > _MOST_NODES:
        raise LatopoError(f"{where} has {graph.num_nodes:,} nodes, expected at most {_MOST_NODES:,}")
    if graph.edge_index is not None:
        check_edge_index(where, graph.edge_index, graph.num_nodes)
    for key in _ROWS:
        _check_matrix(where, key, graph, first)


def _check_matrix(where: str, key: str, graph: Data, first: Data) -> None:
    """Dense, finite, a row for each node or edge, columns as in the first graph."""
    value = getattr(graph, key)
    if value is None:
        return
    check_dense(where, key, value)
    rows = graph.num_edges if key == "edge_attr" else graph.num_nodes
    if value.dim() != 2 or value.size(0) != rows or value.size(1) == 0:
        remedy = f"; turn labels into one-hot rows, numbers into {key}[:, None]" if value.dim() == 1 else ""
        expected = f"expected [{rows} {_ROWS[key]}, features]{remedy}"
        raise LatopoError(f"{where}: {key} has shape {list(value.shape)}, {expected}")
    columns = getattr(first, key).size(1)
    if value.size(1) != columns:
        raise LatopoError(f"{where}: {key} has {value.size(1)} columns, expected {columns} as in the first graph")
    if value.is_complex() or not bool(value.float().isfinite().all()):
        raise LatopoError(f"{where}: {key} holds values that are not finite real numbers in float32")


def check_target(where: str, y: Any) -> None:
    """Raise unless a graph has one target."""
    try:
        target = torch.as_tensor(y)
        single = target.numel() == 1 and not target.is_complex() and not target.is_meta
    except (TypeError, ValueError, RuntimeError):
        single = False
    if not single:
        came = f"shape {list(y.shape)}" if isinstance(y, Tensor) else repr(y)
        raise LatopoError(f"{where} must have one target y, a class (integer) or a value (float), got {came}")
