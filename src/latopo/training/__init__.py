"""Training: one loop for all models, the two protocols, and folders that keep a run.

The way of the data: :mod:`~latopo.training.objective` (what is minimised and scored) →
:mod:`~latopo.training.loop` (one training) → :mod:`~latopo.training.protocol` (one fold: search, selection, report) →
:mod:`~latopo.training.run_folder` (all folds of a run, on disk).
"""

from latopo.training.loop import Trainer, TrainingResult, train
from latopo.training.seeding import seeded
from latopo.training.settings import TrainingSettings

__all__ = ["Trainer", "TrainingResult", "TrainingSettings", "seeded", "train"]
