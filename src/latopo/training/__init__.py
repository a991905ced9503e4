"""Training: one loop for all models, the two protocols, and folders that keep a run.

The way of the data: :mod:`~latopo.training.objective` (what is minimised and scored) →
:mod:`~latopo.training.loop` (one training) → :mod:`~latopo.training.protocol` (one fold of a
:class:`~latopo.training.Run`: search, selection, report) → :mod:`~latopo.training.run_folder` (its folds on disk).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latopo.training.cross_validation import cross_validate
    from latopo.training.loop import Trainer, TrainingResult, train
    from latopo.training.protocol import FoldResult, run_fold
    from latopo.training.run import Run
    from latopo.training.run_folder import RunFolder, train_folds
    from latopo.training.seeding import plain_torch, seeded
    from latopo.training.settings import TrainingSettings

__all__ = [
    "FoldResult",
    "Run",
    "RunFolder",
    "Trainer",
    "TrainingResult",
    "TrainingSettings",
    "cross_validate",
    "plain_torch",
    "run_fold",
    "seeded",
    "train",
    "train_folds",
]

_HOME = {
    "cross_validate": "cross_validation",
    "Trainer": "loop",
    "TrainingResult": "loop",
    "train": "loop",
    "FoldResult": "protocol",
    "run_fold": "protocol",
    "Run": "run",
    "RunFolder": "run_folder",
    "train_folds": "run_folder",
    "plain_torch": "seeding",
    "seeded": "seeding",
    "TrainingSettings": "settings",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: who needs the loop alone must not wait for the data sets and PyG.
    if name not in _HOME:
        raise AttributeError(f"module 'latopo.training' has no attribute {name!r}")
    return getattr(import_module(f"latopo.training.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
