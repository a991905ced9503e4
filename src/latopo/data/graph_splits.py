"""Which graphs train, choose and test: the ten stratified folds of the field, under two protocols."""

import numpy as np
import torch
from torch import Tensor

from latopo.data.splits import NUM_FOLDS, Protocol, Split
from latopo.errors import LatopoError

__all__ = ["graph_split"]


def graph_split(y: Tensor, fold: int, protocol: Protocol = "honest", seed: int = 0) -> Split:
    """Train, validation and test graphs of one fold.

    The test graphs are those of scikit-learn's ``StratifiedKFold(10, shuffle=True, random_state=seed)``. ``honest``: a
    ninth of the others, stratified too, chooses the epoch. ``paper``, as GIN and CWN report: all others train, and the
    epoch is the one with the best mean test accuracy over all folds, which flatters. Values have plain folds.

    Example:
        >>> graphs = graph_split(torch.arange(100) % 2, fold=3)
        >>> len(graphs.train), len(graphs.val), len(graphs.test)
        (80, 10, 10)
    """
    if not 0 <= fold < NUM_FOLDS:
        raise LatopoError(f"graph_split: fold is {fold}, expected 0 to {NUM_FOLDS - 1}")
    target = y.cpu().numpy()
    rest, test = _parts(target, NUM_FOLDS, fold, seed)
    if protocol == "paper":
        return Split(torch.from_numpy(rest), None, torch.from_numpy(test))
    train, val = _parts(target[rest], NUM_FOLDS - 1, 0, seed)
    return Split(torch.from_numpy(rest[train]), torch.from_numpy(rest[val]), torch.from_numpy(test))


def _parts(target: np.ndarray, count: int, which: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if target.dtype.kind == "f" else StratifiedKFold
    try:
        return list(kind(count, shuffle=True, random_state=seed).split(target, target))[which]
    except ValueError as error:
        raise LatopoError(f"graph_split: {len(target)} graphs cannot be cut into {count} parts: {error}") from error
