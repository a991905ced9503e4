"""``load``: a data set by its name, ready for any model; ``from_data``: your own, in the same form."""

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import remove_self_loops, to_undirected

from latopo.cycles.simple_graph import check_edge_index
from latopo.data.cache import cache_file, written_atomically
from latopo.data.catalogue import DatasetEntry, FeatureTreatment, find_dataset
from latopo.data.features import csr_tensor, is_sparse, row_normalize, standardize
from latopo.data.raw_files import AnyPath, require_files
from latopo.data.readers import MASKS
from latopo.errors import LatopoError

__all__ = ["from_data", "load", "load_untreated", "read_data", "write_data"]


def load(name: str, data_root: AnyPath | None = None) -> Data:
    """Load a data set: raw files from the data root, verified, parsed once and then read from the cache.

    Args:
        name: one of :func:`latopo.data.list_datasets`, in any spelling.
        data_root: folder with the raw files, in PyG's layout; by default ``$LATOPO_DATA``, else the cache folder.

    Returns:
        PyG ``Data`` with **x** float32 [N, d], dense, or sparse CSR where it is large and sparse
        (:mod:`latopo.data.features`), treated as the catalogue says; **y** int64 [N], or float32 [N] for regression;
        **edge_index** [2, 2E], each edge in both directions, sorted, without self-loops (tables have none);
        **num_classes** (0 for regression), **name**, **task**; and the masks of published splits, if there are any.

    Example:
        >>> data = load("karate")
        >>> data.x.shape, data.edge_index.shape, data.num_classes
        (torch.Size([34, 34]), torch.Size([2, 156]), 4)
    """
    entry = find_dataset(name)
    if entry.level == "graph":
        raise LatopoError(f"load: {entry.title} is a set of graphs; use latopo.data.load_graphs")
    return _prepare(load_untreated(entry, data_root), entry)


def from_data(
    data: Data, name: str = "data", *, features: FeatureTreatment = "as given", fold_seed: int = 0, epochs: int = 200
) -> tuple[Data, DatasetEntry]:
    """Your own PyG ``Data`` in the form that :func:`load` returns, and an entry like those of the catalogue.

    Args:
        data: **x** [N, d]; **y** [N], where integers are classes 0, 1, … and floats are the targets of a regression;
            **edge_index** if there is a graph. Masks are kept, all else is left behind; ``data`` is not changed.
        name: what results are filed under; not a name of the catalogue.
        features: what is done to x, as in :class:`~latopo.data.DatasetEntry`.
        fold_seed: seed of the ten folds.
        epochs: how long to train.

    Example:
        >>> ring = torch.stack([torch.arange(12), (torch.arange(12) + 1) % 12])
        >>> mine = Data(x=torch.eye(12), y=torch.arange(12) % 3, edge_index=ring)
        >>> data, entry = from_data(mine, "my-ring")
        >>> data.num_classes, data.task, data.edge_index.shape, entry.epochs
        (3, 'classification', torch.Size([2, 24]), 200)
    """
    if not isinstance(data, Data):
        raise LatopoError(f"from_data: expected torch_geometric.data.Data, got {type(data).__name__}")
    x = _own_features(data.x)
    y = _own_targets(data.y, len(x))
    masks = {key: value for key, value in data if key in MASKS}
    own = Data(x=x, y=y, edge_index=data.edge_index, **masks)
    if own.edge_index is not None:
        check_edge_index("from_data", own.edge_index, len(x))
    entry = DatasetEntry(
        name=own_name("from_data", name),
        title=name,
        source="your own data",
        reader="",
        features=features,
        task="regression" if y.is_floating_point() else "classification",
        has_graph=own.edge_index is not None,
        fold_seed=fold_seed,
        epochs=epochs,
    )
    return _prepare(own, entry), entry


def load_untreated(entry: DatasetEntry, data_root: AnyPath | None = None) -> Data:
    """The data set as its source gives it: features untreated, edges directed and with self-loops where they are."""
    read = resolve_name(entry.reader)
    if not entry.path:
        return read(entry, Path())
    # The raw files are checked even if the cache could answer: the numbers must be those of the folder that was named.
    folder = require_files(entry.raw_files, data_root)
    cached = cache_file("parsed", f"{entry.name}.safetensors")
    data = read_data(cached)
    if data is None:
        data = read(entry, folder)
        write_data(cached, data)
    return data


def write_data(path: Path, data: Data) -> None:
    """Write the tensors of ``data`` as safetensors; a CSR feature matrix is stored by its three parts."""
    tensors = {key: value.contiguous() for key, value in data if isinstance(value, Tensor) and key != "x"}
    x: Tensor = data.x
    if is_sparse(x):
        tensors |= {"x_crow": x.crow_indices(), "x_col": x.col_indices(), "x_values": x.values()}
        tensors["x_shape"] = torch.tensor(x.shape)
    else:
        tensors["x"] = x.contiguous()
    with written_atomically(path) as draft:
        draft.write_bytes(to_bytes(tensors))


def read_data(path: Path) -> Data | None:
    """Read what :func:`write_data` wrote; None if there is no such file, or it is damaged and has to be made again."""
    try:
        tensors = load_file(path)
    except (FileNotFoundError, SafetensorError):
        return None
    if "x_shape" in tensors:
        rows, columns = tensors.pop("x_shape").tolist()
        parts = (tensors.pop("x_crow"), tensors.pop("x_col"), tensors.pop("x_values"))
        tensors["x"] = csr_tensor(*parts, (rows, columns))
    return Data(**tensors)


def _prepare(data: Data, entry: DatasetEntry) -> Data:
    """What every model gets: treated features, edges in both directions, and facts about the targets."""
    data.x = _treat(data.x, entry.features)
    if entry.has_graph:
        data.edge_index = to_undirected(remove_self_loops(data.edge_index)[0], num_nodes=data.num_nodes)
    data.num_classes = int(data.y.max()) + 1 if entry.task == "classification" else 0
    data.name, data.task = entry.name, entry.task
    return data


def _treat(x: Tensor, treatment: FeatureTreatment) -> Tensor:
    if treatment == "row-normalised":
        return row_normalize(x)
    if treatment == "standardised":
        return standardize(x)
    return x / x.max() if treatment == "unit range" else x


def _own_features(x: Any) -> Tensor:
    if not isinstance(x, Tensor) or x.dim() != 2 or x.numel() == 0 or x.is_complex():
        raise LatopoError(f"from_data: x must be a matrix of numbers [nodes, features], got {_shape(x)}")
    x = (x.to_sparse_csr() if x.is_sparse else x).float()
    values = x.values() if is_sparse(x) else x
    if not values.isfinite().all():
        raise LatopoError("from_data: x holds NaN or infinite entries; fill or drop them first")
    return x


def _own_targets(y: Any, num_nodes: int) -> Tensor:
    if not isinstance(y, Tensor) or y.numel() != num_nodes or y.size(0) != num_nodes or y.is_complex():
        raise LatopoError(f"from_data: y must hold one target per node, [{num_nodes}], got {_shape(y)}")
    return own_targets("from_data", y.flatten())


def own_targets(caller: str, y: Tensor) -> Tensor:
    """Finite values as float32, or classes 0, 1, … without gaps as int64; anything else is refused."""
    if y.is_floating_point():
        if not y.isfinite().all():
            raise LatopoError(f"{caller}: y holds NaN or infinite targets; every one has to be known")
        return y.float()
    classes = y.long().unique()
    if classes.tolist() != list(range(len(classes))):
        came = f"{int(classes[0])} to {int(classes[-1])} with {len(classes)} different ones"
        raise LatopoError(f"{caller}: y must hold the classes 0, 1, … without gaps, got {came}; renumber them")
    return y.long()


def own_name(caller: str, name: str) -> str:
    """The name, unless it is one of the catalogue."""
    try:
        known = find_dataset(name).title
    except LatopoError:
        return name
    raise LatopoError(f"{caller}: {name!r} is {known} of the catalogue; give your data a name of their own")


def _shape(value: Any) -> str:
    return f"shape {list(value.shape)}, {value.dtype}" if isinstance(value, Tensor) else type(value).__name__
