"""Readers of the catalogue's data sets: ``read_…(entry, root)`` gives PyG ``Data``, edges and values as the source has.

Raw files under ``root`` are verified before. PyG's data set classes are not used, because they write beside the files,
which may be read-only, and hold features densely; the result is the same.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch_geometric.data import Data
from torch_geometric.io import read_planetoid_data
from torch_geometric.utils import coalesce, remove_self_loops, to_undirected

from latopo.data.catalogue import DatasetEntry, find_dataset
from latopo.data.features import compact, csr_from_scipy
from latopo.errors import LatopoError

#: PyG's names of the masks of a split.
MASKS = ("train_mask", "val_mask", "test_mask")


def read_planetoid(entry: DatasetEntry, root: Path) -> Data:
    """Cora, CiteSeer or PubMed, with the masks [N] of the public split."""
    data = read_planetoid_data(str(root / entry.path), entry.name)
    data.x = compact(data.x)
    return data


def read_coauthor(entry: DatasetEntry, root: Path) -> Data:
    """CS or Physics: words as 0/1, undirected edges. x is sparse from end to end; dense, Physics would take 1.2 GB."""
    (path,) = entry.raw_files
    with np.load(root / path, allow_pickle=False) as arrays:
        words, adjacency = (
            csr_matrix(tuple(arrays[f"{part}_{key}"] for key in ("data", "indices", "indptr")), arrays[f"{part}_shape"])
            for part in ("attr", "adj")
        )
        y = torch.from_numpy(arrays["labels"]).long()
    words.data[words.data > 0] = 1
    edges = torch.from_numpy(np.stack(adjacency.nonzero())).long()
    edge_index = to_undirected(remove_self_loops(edges)[0], num_nodes=y.numel())
    return Data(x=csr_from_scipy(words), edge_index=edge_index, y=y)


def read_geom_gcn(entry: DatasetEntry, root: Path) -> Data:
    """A graph in the text files of the Geom-GCN paper, with its ten splits as masks [N, 10]."""
    folder = root / entry.path
    lines = (folder / "out1_node_feature_label.txt").read_text().splitlines()[1:]
    rows = sorted((line.split("\t") for line in lines), key=lambda row: int(row[0]))
    words = [np.fromstring(row[1], np.int64, sep=",") for row in rows]
    if len({len(row) for row in words}) > 1:  # Actor lists the words that occur; the others have 0 or 1 for each word
        words = list(_one_hot(words))
    splits = [read_masks(path) for path in sorted(folder.glob("*_split_0.6_0.2_?.npz"))]
    edges = np.loadtxt(folder / "out1_graph_edges.txt", np.int64, skiprows=1).T
    return Data(
        x=compact(torch.from_numpy(np.stack(words)).float()),
        y=torch.tensor([int(row[2]) for row in rows]),
        edge_index=coalesce(torch.from_numpy(edges).contiguous(), num_nodes=len(rows)),
        **{part: torch.stack([split[part] for split in splits], dim=1) for part in MASKS},
    )


def _one_hot(words: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    x = np.zeros((len(words), 1 + max(int(row.max()) for row in words)), np.int64)
    for node, row in enumerate(words):
        x[node, row] = 1
    return x


def read_masks(path: Path) -> dict[str, torch.Tensor]:
    """Masks [N] of one Geom-GCN split, by the names that PyG gives them."""
    with np.load(path, allow_pickle=False) as arrays:
        return {part: torch.from_numpy(arrays[part]).bool() for part in MASKS}


def read_filtered(entry: DatasetEntry, root: Path) -> Data:
    """Chameleon or Squirrel without the duplicated nodes that leak labels, with ten splits as masks [N, 10]."""
    with np.load(root / entry.path, allow_pickle=False) as arrays:
        tensors = {key: torch.from_numpy(arrays[key]) for key in arrays.files}
    masks = {part: tensors[f"{part}s"].t().contiguous() for part in MASKS}
    edge_index = tensors["edges"].long().t().contiguous()
    return Data(x=compact(tensors["node_features"].float()), edge_index=edge_index, y=tensors["node_labels"], **masks)


def read_karate(entry: DatasetEntry, root: Path) -> Data:
    """The karate club, which comes with PyG."""
    from torch_geometric.datasets import KarateClub

    return KarateClub()[0]


def read_embedded_table(entry: DatasetEntry, root: Path) -> Data:
    """One of scikit-learn's tables: x float32 [N, d] and y, no edges."""
    table = read_table(entry.name)
    y = torch.from_numpy(table.y)
    return Data(x=torch.from_numpy(table.x).float(), y=y.float() if entry.task == "regression" else y)


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
    if entry.has_graph:
        raise LatopoError(f"read_table: {entry.title} is a graph, not a table; use latopo.data.load")
    # Diabetes comes scaled by default; its own units are what a reader of the table expects.
    options = {"scaled": False} if entry.name == "diabetes" else {}
    bunch = getattr(datasets, f"load_{entry.name}")(**options)
    kind = np.float64 if entry.task == "regression" else np.int64
    return Table(bunch.data.astype(np.float64), bunch.target.astype(kind), tuple(map(str, bunch.feature_names)))
