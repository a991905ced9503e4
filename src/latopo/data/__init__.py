"""Data sets, splits and protocols: the paper's graphs, more graphs, tables that need no download, and your own data.

:mod:`~latopo.data.catalogue` says what is known of each data set, :mod:`~latopo.data.loading` loads it, and
:mod:`~latopo.data.splits` says which nodes train, choose and test.
"""

from typing import TYPE_CHECKING

from latopo._lazy import lazy

if TYPE_CHECKING:
    from latopo.data.catalogue import DatasetEntry, find_dataset, list_datasets
    from latopo.data.graph_loading import as_clouds, from_graphs, load_graphs
    from latopo.data.graph_set import GraphBatch, GraphSet
    from latopo.data.graph_splits import graph_split
    from latopo.data.loading import from_data, load
    from latopo.data.planted import PlantedTorus, planted_torus
    from latopo.data.readers import Table, read_table
    from latopo.data.splits import Split, folds, geom_gcn_split, public_split, split
    from latopo.data.statistics import Statistics, dataset_statistics

__all__ = [
    "DatasetEntry", "GraphBatch", "GraphSet", "PlantedTorus", "Split", "Statistics", "Table", "as_clouds",
    "dataset_statistics", "find_dataset", "folds", "from_data", "from_graphs", "geom_gcn_split", "graph_split",
    "list_datasets", "load", "load_graphs", "planted_torus", "public_split", "read_table", "split",
]  # fmt: skip

# Listing data sets must not wait for torch.
__getattr__, __dir__ = lazy(
    __name__,
    {
        "catalogue": ("DatasetEntry", "find_dataset", "list_datasets"),
        "graph_loading": ("as_clouds", "from_graphs", "load_graphs"),
        "graph_set": ("GraphBatch", "GraphSet"),
        "graph_splits": ("graph_split",),
        "loading": ("from_data", "load"),
        "planted": ("PlantedTorus", "planted_torus"),
        "readers": ("Table", "read_table"),
        "splits": ("Split", "folds", "geom_gcn_split", "public_split", "split"),
        "statistics": ("Statistics", "dataset_statistics"),
    },
)
