"""Which nodes train, choose and test: the authors' folds under two protocols, and the published splits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from latopo.data.catalogue import find_dataset
from latopo.data.loading import load_untreated
from latopo.data.raw_files import AnyPath, require_files
from latopo.data.readers import MASKS, read_masks
from latopo.errors import LatopoError

NUM_FOLDS = 10
Protocol = Literal["honest", "paper", "patient"]


@dataclass(frozen=True)
class Split:
    """Node indices, int64, without repetition.

    Attributes:
        train: nodes to learn from.
        val: nodes on which epoch and settings are chosen; None under protocol ``paper``, which has no such nodes.
        test: nodes whose score is reported.
    """

    train: Tensor
    val: Tensor | None
    test: Tensor

    @property
    def selection(self) -> Tensor:
        """Nodes on which the best epoch is chosen: ``val``, or, as the paper's experiments do, ``test`` itself."""
        return self.test if self.val is None else self.val


def folds(num_nodes: int, seed: int) -> list[Tensor]:
    """The authors' ten test sets: ``arange(num_nodes)`` shuffled by numpy's ``RandomState(seed)``, cut in order.

    Chunks have ``ceil(num_nodes / 10)`` nodes, the last one whatever remains. With 81 nodes or fewer that can leave a
    chunk empty; then the sizes of the ten chunks differ by one node at most.

    Example:
        >>> [len(fold) for fold in folds(183, seed=45)]
        [19, 19, 19, 19, 19, 19, 19, 19, 19, 12]
    """
    if num_nodes < NUM_FOLDS:
        raise LatopoError(f"folds: {num_nodes} nodes cannot be cut into {NUM_FOLDS} folds; at least {NUM_FOLDS} needed")
    order = np.arange(num_nodes, dtype=np.int64)
    # The old generator on purpose: its shuffle is what the authors' fold files come from.
    np.random.RandomState(seed).shuffle(order)
    size = -(-num_nodes // NUM_FOLDS)
    if size * (NUM_FOLDS - 1) >= num_nodes:
        return list(torch.from_numpy(order).tensor_split(NUM_FOLDS))
    return [torch.from_numpy(order[start : start + size]) for start in range(0, num_nodes, size)]


def split(num_nodes: int, seed: int, fold: int, protocol: Protocol = "honest") -> Split:
    """Train, validation and test nodes of one fold.

    All test on chunk ``fold`` of :func:`folds`. ``honest`` and ``patient`` (which differ in the epochs, see
    :class:`~latopo.training.Run`) choose on the next chunk (cyclically) and train on the other eight; ``paper`` trains
    on the other nine and chooses on the test chunk, which is how the paper's experiments were run and flatters them.

    Example:
        >>> nodes = split(183, seed=45, fold=9)
        >>> len(nodes.train), len(nodes.val), len(nodes.test)
        (152, 19, 12)
        >>> split(183, seed=45, fold=9, protocol="paper").val is None
        True
    """
    _check_fold("split", fold)
    if protocol not in get_args(Protocol):
        raise LatopoError(f"split: protocol is {protocol!r}, expected one of {', '.join(get_args(Protocol))}")
    chunks = folds(num_nodes, seed)
    following = None if protocol == "paper" else (fold + 1) % NUM_FOLDS
    train = torch.cat([chunk for index, chunk in enumerate(chunks) if index not in (fold, following)])
    return Split(train, None if following is None else chunks[following], chunks[fold])


def geom_gcn_split(name: str, fold: int, data_root: AnyPath | None = None) -> Split:
    """One of the ten fixed splits of the Geom-GCN paper; for the filtered graphs, those published with them.

    As published, some of them leave nodes out: 223 of Cora in every split, 1,207 of CiteSeer in two.
    """
    _check_fold("geom_gcn_split", fold)
    entry = find_dataset(name)
    if entry.split_path:
        path = entry.split_files[fold]
        return _masked(read_masks(require_files((path,), data_root) / path))
    if entry.masks != "ten":
        raise LatopoError(f"geom_gcn_split: {entry.title} has no such split; use split(...) for the ten folds")
    data = load_untreated(entry, data_root)
    return _masked({part: data[part][:, fold] for part in MASKS})


def public_split(name: str, data_root: AnyPath | None = None) -> Split:
    """The fixed split of the Planetoid paper: 20 training nodes per class, 500 for validation, 1,000 for the test."""
    entry = find_dataset(name)
    if entry.masks != "public":
        raise LatopoError(f"public_split: {entry.title} has no such split; use split(...) for the ten folds")
    return _masked(load_untreated(entry, data_root))


def _masked(masks: Mapping[str, Tensor] | Data) -> Split:
    return Split(*(masks[part].nonzero().flatten() for part in MASKS))


def _check_fold(caller: str, fold: int) -> None:
    if not 0 <= fold < NUM_FOLDS:
        raise LatopoError(f"{caller}: fold is {fold}, expected 0 to {NUM_FOLDS - 1}")
