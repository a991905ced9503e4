"""Training: one loop for all models, the two protocols, and folders that keep a run.

The way of the data: :mod:`~latopo.training.objective` (what is minimised and scored) →
:mod:`~latopo.training.loop` (one training) → :mod:`~latopo.training.protocol` (one fold of a
:class:`~latopo.training.Run`: search, selection, report) → :mod:`~latopo.training.run_folder` (its folds on disk).
"""

from latopo.training.loop import Trainer, TrainingResult, train
from latopo.training.protocol import FoldResult, run_fold
from latopo.training.run import Run
from latopo.training.seeding import seeded
from latopo.training.settings import TrainingSettings

__all__ = ["FoldResult", "Run", "Trainer", "TrainingResult", "TrainingSettings", "run_fold", "seeded", "train"]
