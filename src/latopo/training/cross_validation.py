"""Cross-validation in one call, for a data set of the catalogue or for your own."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from torch_geometric.data import Data

from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.data.graph_loading import from_graphs, load_any
from latopo.data.graph_set import GraphSet
from latopo.data.loading import from_data
from latopo.data.splits import Protocol
from latopo.errors import LatopoError
from latopo.models.catalogue import find_system
from latopo.training.graph_predictor import GraphPredictor
from latopo.training.graph_protocol import GraphFoldResult
from latopo.training.protocol import FoldResult, run_fold
from latopo.training.run import Run
from latopo.training.run_folder import RunFolder, train_folds
from latopo.training.seeding import plain_torch

__all__ = ["cross_validate", "fit_graphs"]


@plain_torch()
def cross_validate(
    data: Data | Sequence[Data] | str,
    model: str | None = None,
    *,
    graph: bool | None = None,
    protocol: Protocol = "honest",
    folds: Sequence[int] = range(10),
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    name: str = "data",
    **settings: Any,
) -> list[FoldResult]:
    """Train and test a system on the folds of a data set.

    Args:
        data: PyG ``Data`` of your own (see :func:`latopo.data.from_data`), a list of graphs, each with a target (see
            :func:`latopo.data.from_graphs`), or a name of the catalogue.
        model: a name of :data:`~latopo.models.SYSTEMS` (``dcm-plus`` by default) or, for a list of graphs, of
            :data:`~latopo.models.GRAPH_SYSTEMS` (``cells-rings``).
        graph: whether the model gets the graph; by default if there is one and the model uses it.
        protocol: ``honest`` or ``paper``, see :func:`latopo.data.split`.
        folds: 0 to 9.
        seed: of weights, dropout and sampling.
        out: a folder to keep everything in, for ``latopo report``; folds that are in it are not trained again, and not
            returned.
        name: what your own data are called.
        settings: of training and model, such as ``epochs=100`` or ``max_length=5``.

    Example:
        >>> import torch
        >>> y = torch.arange(60) % 3
        >>> mine = Data(x=torch.eye(3)[y] + 0.1 * torch.randn(60, 3), y=y)
        >>> results = cross_validate(mine, "mlp", folds=[0, 1], epochs=30)
        >>> [result.fold for result in results], results[0].test_score > 0.5
        ([0, 1], True)
    """
    loaded, entry = _read(data, name)
    if model is None:
        model = "dcm-plus" if entry.level == "node" else "cells-rings"
    if graph is None:
        graph = entry.has_graph and find_system(model).uses_graph
    run = Run(entry, model, graph, protocol, seed, settings)
    if out is None:
        return [run_fold(loaded, run, fold) for fold in folds]
    results: list[FoldResult] = []
    train_folds(RunFolder(out, run), loaded, folds, on_finished=results.append)
    return results


def fit_graphs(
    graphs: Sequence[Data] | str,
    model: str = "cells-rings",
    *,
    graph: bool | None = None,
    seed: int = 0,
    name: str = "data",
    **settings: Any,
) -> GraphPredictor:
    """Learn from a set of graphs to predict new ones.

    Nine tenths train, and the rest, a tenth drawn by class, choose the epoch. How good the predictions are is not said:
    that is what :func:`cross_validate` is for.

    Args:
        graphs, model, graph, seed, name, settings: as those of :func:`cross_validate`.

    Example:
        >>> import torch
        >>> rings = [torch.stack([torch.arange(n), (torch.arange(n) + 1) % n]) for n in (4, 5) * 15]
        >>> known = [Data(edge_index=ring, num_nodes=ring.size(1), y=ring.size(1) - 4) for ring in rings]
        >>> predictor = fit_graphs(known, epochs=15, batch_size=8, lr=0.01)
        >>> predictor.predict([Data(edge_index=ring, num_nodes=ring.size(1)) for ring in rings[:3]])
        tensor([0, 1, 0])
    """
    if isinstance(graphs, Data):
        raise LatopoError("fit_graphs: expected a list of PyG Data, each with a target, got a single one")
    if isinstance(graphs, str) and find_dataset(graphs).level != "graph":
        raise LatopoError(f"fit_graphs: {graphs} is one graph or table, not a set of graphs")
    if unknown := [name for name in ("protocol", "folds", "out") if name in settings]:
        raise LatopoError(f"fit_graphs: there is no {unknown[0]}; that is an argument of cross_validate")
    settled = {"graph": graph, "seed": seed, "name": name, **settings}
    result = cross_validate(graphs, model, protocol="paper", folds=[0], **settled)[0]
    assert isinstance(result, GraphFoldResult)
    assert result.predictor is not None
    return result.predictor


def _read(data: Data | Sequence[Data] | str, name: str) -> tuple[Data | GraphSet, DatasetEntry]:
    if isinstance(data, str):
        return load_any(data), find_dataset(data)
    if isinstance(data, Data):
        return from_data(data, name)
    if not isinstance(data, Iterable):
        raise LatopoError(f"data: expected PyG Data, a list of them, or a name, got {type(data).__name__}")
    return from_graphs(list(data), name)
