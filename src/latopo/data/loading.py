"""``load``: a data set by its name, ready for any model."""

from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import remove_self_loops, to_undirected

from latopo.data.cache import read_data, write_data
from latopo.data.catalogue import DatasetEntry, FeatureTreatment, find_dataset
from latopo.data.checksums import verify
from latopo.data.embedded import read_embedded
from latopo.data.features import row_normalize, standardize
from latopo.data.root import AnyPath, cache_file, raw_folder
from latopo.data.sources import fetch, read_source


def load(name: str, data_root: AnyPath | None = None) -> Data:
    """Load a data set: raw files from the data root, verified, parsed once and then read from the cache.

    Args:
        name: one of :func:`latopo.data.list_datasets`, in any spelling.
        data_root: folder with the raw files, in PyG's layout; by default ``$LATOPO_DATA``, else the cache folder.

    Returns:
        PyG ``Data`` with **x** float32 [N, d], dense, or sparse CSR where it is large and sparse
        (:mod:`latopo.data.features`), treated as the catalogue says; **y** int64 [N], or float32 [N] for regression;
        **edge_index** [2, 2E], each edge in both directions, sorted, without self-loops (tables have none);
        **num_classes** (0 for regression), **name**, **task**; and the masks of PyG's class, if it has any.

    Example:
        >>> data = load("karate")
        >>> data.x.shape, data.edge_index.shape, data.num_classes
        (torch.Size([34, 34]), torch.Size([2, 156]), 4)
    """
    entry = find_dataset(name)
    data = load_untreated(entry, data_root)
    data.x = _treat(data.x, entry.features)
    if entry.has_graph:
        data.edge_index = to_undirected(remove_self_loops(data.edge_index)[0], num_nodes=data.num_nodes)
    data.num_classes = int(data.y.max()) + 1 if entry.task == "classification" else 0
    data.name, data.task = entry.name, entry.task
    return data


def load_untreated(entry: DatasetEntry, data_root: AnyPath | None = None) -> Data:
    """The data set as its source gives it: features untreated, edges directed and with self-loops where they are."""
    if entry.embedded:
        return read_embedded(entry)
    # The raw files are checked even if the cache could answer: the numbers must be those of the folder that was named.
    folder = raw_folder(entry.raw_files, data_root) or fetch(entry, entry.raw_files, data_root)
    verify(folder, entry.raw_files)
    cached = cache_file("parsed", f"{entry.name}.safetensors")
    data = read_data(cached)
    if data is None:
        data = read_source(entry, folder)
        write_data(cached, data)
    return data


def _treat(x: Tensor, treatment: FeatureTreatment) -> Tensor:
    if treatment == "row-normalised":
        return row_normalize(x)
    if treatment == "standardised":
        return standardize(x)
    return x / x.max() if treatment == "unit range" else x
