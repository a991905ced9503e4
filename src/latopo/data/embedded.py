"""Data sets that come with scikit-learn and PyG: no file, no download."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.errors import LatopoError


class Table(NamedTuple):
    """A table in its own units.

    Attributes:
        x: features, float64 [N, d].
        y: classes, int64 [N], or targets, float64 [N].
        columns: names of the features.
    """

    x: NDArray[np.float64]
    y: NDArray[np.int64] | NDArray[np.float64]
    columns: tuple[str, ...]


def read_table(name: str) -> Table:
    """One of scikit-learn's embedded tables, untreated.

    Example:
        >>> read_table("iris").columns[0]
        'sepal length (cm)'
    """
    from sklearn import datasets

    entry = find_dataset(name)
    if entry.family != "table":
        raise LatopoError(f"read_table: {entry.title} is a graph, not a table; use latopo.data.load")
    # Diabetes comes scaled by default; its own units are what a reader of the table expects.
    options = {"scaled": False} if entry.name == "diabetes" else {}
    bunch = getattr(datasets, f"load_{entry.name}")(**options)
    kind = np.float64 if entry.task == "regression" else np.int64
    return Table(bunch.data.astype(np.float64), bunch.target.astype(kind), tuple(map(str, bunch.feature_names)))


def read_embedded(entry: DatasetEntry) -> Data:
    """An embedded data set as PyG ``Data``: x float32 [N, d], y; only the karate club has an edge_index."""
    if entry.family == "karate":
        from torch_geometric.datasets import KarateClub

        return KarateClub()[0]
    table = read_table(entry.name)
    y = torch.from_numpy(table.y)
    return Data(x=torch.from_numpy(table.x).float(), y=y.float() if entry.task == "regression" else y)
