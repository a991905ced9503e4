"""Training: one loop for all models, the two protocols, and folders that keep a run.

The way of the data: :mod:`~latopo.training.objective` (what is minimised and scored) →
:mod:`~latopo.training.loop` (one training) → :mod:`~latopo.training.protocol` (one fold of a
:class:`~latopo.training.Run`: search, selection, report) → :mod:`~latopo.training.run_folder` (its folds on disk).
"""

from typing import TYPE_CHECKING

from latopo._lazy import lazy

if TYPE_CHECKING:
    from latopo.training.cross_validation import cross_validate, fit_graphs
    from latopo.training.graph_predictor import GraphPredictor
    from latopo.training.loop import Trainer, TrainingResult, train
    from latopo.training.protocol import FoldResult, run_fold
    from latopo.training.run import Run
    from latopo.training.run_folder import RunFolder, train_folds
    from latopo.training.seeding import plain_torch, seeded
    from latopo.training.settings import TrainingSettings

__all__ = [
    "FoldResult", "GraphPredictor", "Run", "RunFolder", "Trainer", "TrainingResult", "TrainingSettings",
    "cross_validate", "fit_graphs", "plain_torch", "run_fold", "seeded", "train", "train_folds",
]  # fmt: skip

# Who needs the loop alone must not wait for the data sets and PyG.
__getattr__, __dir__ = lazy(
    __name__,
    {
        "cross_validation": ("cross_validate", "fit_graphs"),
        "graph_predictor": ("GraphPredictor",),
        "loop": ("Trainer", "TrainingResult", "train"),
        "protocol": ("FoldResult", "run_fold"),
        "run": ("Run",),
        "run_folder": ("RunFolder", "train_folds"),
        "seeding": ("plain_torch", "seeded"),
        "settings": ("TrainingSettings",),
    },
)
