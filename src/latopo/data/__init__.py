"""Data sets, splits and protocols: the paper's graphs, more graphs, tables that need no download, and your own data.

:mod:`~latopo.data.catalogue` says what is known of each data set, :mod:`~latopo.data.loading` loads it, and
:mod:`~latopo.data.splits` says which nodes train, choose and test.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latopo.data.catalogue import DatasetEntry, find_dataset, list_datasets
    from latopo.data.loading import from_data, load
    from latopo.data.planted import PlantedTorus, planted_torus
    from latopo.data.readers import Table, read_table
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
    "from_data",
    "geom_gcn_split",
    "list_datasets",
    "load",
    "planted_torus",
    "public_split",
    "read_table",
    "split",
]

_NAMES = {
    "catalogue": ("DatasetEntry", "find_dataset", "list_datasets"),
    "loading": ("from_data", "load"),
    "planted": ("PlantedTorus", "planted_torus"),
    "readers": ("Table", "read_table"),
    "splits": ("Split", "folds", "geom_gcn_split", "public_split", "split"),
    "statistics": ("Statistics", "dataset_statistics"),
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: listing data sets must not wait for torch.
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"latopo.data.{module}"), name)
    raise AttributeError(f"module 'latopo.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
