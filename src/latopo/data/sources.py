"""Raw files of each family: read by PyG's own class where there is one, downloaded where PyG finds them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch_geometric.data import Data, download_url
from torch_geometric.datasets import Actor, Coauthor, Planetoid, WebKB, WikipediaNetwork
from torch_geometric.utils import remove_self_loops, to_undirected

from latopo.data.catalogue import DatasetEntry
from latopo.data.checksums import verify
from latopo.data.features import compact, csr_from_scipy
from latopo.data.root import AnyPath, cache_root, download_target, make_folder, resolve_data_root, written_atomically
from latopo.errors import LatopoError

_FILTERED_URL = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"
_PYG_CLASSES = {
    "planetoid": Planetoid,
    "coauthor": Coauthor,
    "webkb": WebKB,
    "actor": Actor,
    "wikipedia": WikipediaNetwork,
}


def read_source(entry: DatasetEntry, folder: Path) -> Data:
    """Parse the raw files under ``folder``, which are verified; edges and values as PyG's class returns them.

    Large sparse features come as a CSR tensor. ``folder`` is not written to.
    """
    if entry.family == "coauthor":
        return read_coauthor(folder / entry.raw_files[0])
    if entry.family == "filtered":
        return read_filtered(folder / entry.raw_files[0])
    with _staged(entry, folder) as staging:
        data = _open(_Quiet, entry, staging)[0]
    data.x = compact(data.x)
    return data


def read_coauthor(path: Path) -> Data:
    """Coauthor CS or Physics as PyG's class gives them (0/1 words, undirected), with x sparse from end to end.

    PyG's class makes x dense on the way, 1.2 GB for Physics.
    """
    with np.load(path, allow_pickle=False) as arrays:
        words, adjacency = (
            csr_matrix(
                (arrays[f"{part}_data"], arrays[f"{part}_indices"], arrays[f"{part}_indptr"]), arrays[f"{part}_shape"]
            )
            for part in ("attr", "adj")
        )
        y = torch.from_numpy(arrays["labels"]).long()
    words.data[words.data > 0] = 1
    edges = torch.from_numpy(np.stack(adjacency.nonzero())).long()
    edge_index = to_undirected(remove_self_loops(edges)[0], num_nodes=y.numel())
    return Data(x=csr_from_scipy(words), edge_index=edge_index, y=y)


def read_filtered(path: Path) -> Data:
    """Chameleon or Squirrel without the duplicated nodes that leak labels; masks [N, 10], as in PyG's classes."""
    with np.load(path, allow_pickle=False) as arrays:
        tensors = {key: torch.from_numpy(arrays[key]) for key in arrays.files}
    masks = {f"{part}_mask": tensors[f"{part}_masks"].t().contiguous() for part in ("train", "val", "test")}
    edge_index = tensors["edges"].long().t().contiguous()
    return Data(x=compact(tensors["node_features"].float()), edge_index=edge_index, y=tensors["node_labels"], **masks)


def fetch(entry: DatasetEntry, raw_files: tuple[str, ...], data_root: AnyPath | None = None) -> Path:
    """Download, verify and store what is missing of ``raw_files``; return the folder that then holds all of them.

    Files appear one by one, each complete, and only after all of them were verified.
    """
    target = download_target(data_root)
    with TemporaryDirectory(dir=make_folder(cache_root()), prefix="download-") as name:
        staging = Path(name)
        try:
            _download(entry, raw_files, staging)
        # PyG downloads through urllib or aiohttp, which share no error class but Exception.
        except Exception as error:
            raise _missing_error(entry, raw_files, data_root, error) from error
        verify(staging, raw_files)
        for raw_file in raw_files:
            if (target / raw_file).exists():
                continue  # not ours to replace; if it is damaged, the reader says so
            with written_atomically(target / raw_file) as draft:
                shutil.copyfile(staging / raw_file, draft)
    return target


def _download(entry: DatasetEntry, raw_files: tuple[str, ...], staging: Path) -> None:
    if raw_files == entry.split_files:
        for raw_file in raw_files:
            url = f"{Planetoid.geom_gcn_url}/splits/{Path(raw_file).name}"
            download_url(url, str((staging / raw_file).parent))
    elif entry.family == "filtered":
        download_url(f"{_FILTERED_URL}/{Path(raw_files[0]).name}", str((staging / raw_files[0]).parent))
    else:
        _open(_DownloadOnly, entry, staging)


class _Quiet:
    """Put before a PyG data set class: it prints no "Processing..." into our progress bars."""

    log = property(lambda self: False, lambda self, value: None)


class _DownloadOnly(_Quiet):
    """Put before a PyG data set class: raw files are fetched and nothing is parsed, for they are not verified yet."""

    def process(self) -> None:
        pass

    def load(self, path: str) -> None:
        pass


def _open(behaviour: type[_Quiet], entry: DatasetEntry, root: Path) -> Any:
    """Call PyG's data set class so that its files are under ``root``, in the layout of ``entry.raw_files``."""
    base = _PYG_CLASSES[entry.family]
    pyg_class: Any = type(base.__name__, (behaviour, base), {})
    folder = str(root / entry.raw_files[0].split("/")[0])
    if entry.family == "actor":
        return pyg_class(folder)
    if entry.family == "wikipedia":
        return pyg_class(folder, entry.name, geom_gcn_preprocess=True)
    return pyg_class(folder, entry.title)


@contextmanager
def _staged(entry: DatasetEntry, folder: Path) -> Iterator[Path]:
    """A temporary folder that shows the raw files: PyG writes beside them, and the data root may be read-only."""
    with TemporaryDirectory(dir=make_folder(cache_root()), prefix="parse-") as name:
        for raw_file in entry.raw_files:
            link = Path(name) / raw_file
            link.parent.mkdir(parents=True, exist_ok=True)
            try:
                link.symlink_to((folder / raw_file).resolve())
            except OSError:  # a file system, or a Windows account, without symbolic links
                shutil.copyfile(folder / raw_file, link)
        yield Path(name)


def _missing_error(
    entry: DatasetEntry, raw_files: tuple[str, ...], data_root: AnyPath | None, cause: Exception
) -> LatopoError:
    root = resolve_data_root(data_root)
    missing = [str(root / raw_file) for raw_file in raw_files if not (root / raw_file).is_file()]
    more = f" and {len(missing) - 1} more beside it" if len(missing) > 1 else ""
    reason = " ".join(f"{type(cause).__name__}: {cause}".split())
    return LatopoError(
        f"load: {entry.title} is missing {missing[0]}{more}, and the download failed ({reason}); put the raw files of "
        f"{entry.source} there, or name the folder that has them with --data-root or LATOPO_DATA"
    )
