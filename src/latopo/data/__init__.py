"""Data sets, splits and protocols: the paper's graphs, more graphs, and tables that need no download.

:mod:`~latopo.data.catalogue` says what is known of each data set, :mod:`~latopo.data.loading` loads it, and
:mod:`~latopo.data.splits` says which nodes train, choose and test.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latopo.data.catalogue import DatasetEntry, find_dataset, list_datasets
    from latopo.data.embedded import Table, read_table
    from latopo.data.loading import load
    from latopo.data.planted import PlantedTorus, planted_torus
    from latopo.data.splits import Split, folds, geom_gcn_split, public_split, split
    from latopo.data.statistics import Statistics, dataset_statistics

__all__ = [
    "DatasetEntry",
    "PlantedTorus",
    "Split",
    "Statistics",
    "Table",
    "dataset_statistics",
    "find_dataset",
    "folds",
    "geom_gcn_split",
    "list_datasets",
    "load",
    "planted_torus",
    "public_split",
    "read_table",
    "split",
]

_HOME = {
    "DatasetEntry": "catalogue",
    "find_dataset": "catalogue",
    "list_datasets": "catalogue",
    "Table": "embedded",
    "read_table": "embedded",
    "load": "loading",
    "PlantedTorus": "planted",
    "planted_torus": "planted",
    "Split": "splits",
    "folds": "splits",
    "geom_gcn_split": "splits",
    "public_split": "splits",
    "split": "splits",
    "Statistics": "statistics",
    "dataset_statistics": "statistics",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: listing data sets must not wait for torch.
    if name not in _HOME:
        raise AttributeError(f"module 'latopo.data' has no attribute {name!r}")
    return getattr(import_module(f"latopo.data.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
