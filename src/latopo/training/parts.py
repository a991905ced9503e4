"""Parts of a model, each trained apart from the others."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from latopo.data.features import csr_from_scipy
from latopo.models import Model
from latopo.models.arrays import as_array
from latopo.models.model import TrainedPart
from latopo.training.loop import Trainer
from latopo.training.objective import Objective
from latopo.training.search import search_decay
from latopo.training.seeding import seeded
from latopo.training.settings import TrainingSettings

__all__ = ["train_part"]

# The parts of one model have seeds so far apart that they meet those of no other run.
_APART = 1_000_003


def train_part(
    objective: Objective,
    seed: int,
    build: Callable[[], Model],
    x: Tensor,
    edge_index: Tensor | None,
    rows: Tensor | None,
    train_index: Tensor,
    selection_index: Tensor,
    number: int,
    *,
    weight_decays: Sequence[float],
    first_rung: int,
    **settings: Any,
) -> TrainedPart:
    """:class:`latopo.models.model.TrainPart` for the targets of an objective, under the seed of its training."""
    own_seed = seed + _APART * number
    known = x if rows is None else _rows(x, rows)
    part = objective.part(rows, train_index, selection_index)
    trainers = {}
    for decay in weight_decays:
        with seeded(own_seed):
            model = build().to(x.device)
        chosen = TrainingSettings(weight_decay=decay, seed=own_seed, **settings)
        trainers[decay] = Trainer.of(model, known, edge_index, part, chosen)
    best, _ = search_decay(trainers, first_rung)
    trainer = trainers[best]
    trainer.advance()
    trainer.restore_best()
    result = trainer.result()
    return TrainedPart(trainer.model, result.best_score, result.best_loss)


def _rows(x: Tensor, index: Tensor) -> Tensor:
    """Rows of a dense or sparse CSR matrix."""
    if x.layout != torch.sparse_csr:
        return x[index]
    return csr_from_scipy(as_array(x)[index.cpu().numpy()]).to(x.device, x.dtype)
