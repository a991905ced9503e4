"""One training loop for all models."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.models import Model, ModelOutput
from latopo.nn.checks import simple_edges
from latopo.training.measure import MEASURES, measure
from latopo.training.objective import Objective
from latopo.training.seeding import RandomStream, plain_torch
from latopo.training.settings import TrainingSettings

__all__ = ["OnEpoch", "Row", "Trainer", "TrainingResult", "train"]

Row = dict[str, Any]
OnEpoch = Callable[[Row], None]

# So that dropout does not repeat the random numbers that drew the weights of a model built under the same seed.
_STREAM = 0x5EED


@dataclass(frozen=True)
class TrainingResult:
    """What a training leaves; the model itself holds the best weights, in evaluation mode.

    Attributes:
        best_epoch: the epoch of the best evaluation, counted from 1.
        best_score: its accuracy, or R², on the selection nodes.
        best_loss: its task loss there.
        best_state: the weights of that epoch.
        best_output: what the model answered there: predictions for all nodes, complex, statistics; no gradient.
        history: one row per epoch: ``epoch``, ``loss`` and its terms (``task_loss``, …), then scores, the size of the
            complex and the model's learned scalars, which are None in the epochs without an evaluation.
        snapshots: epoch → complex, for the epochs that were asked for.
        target_mean, target_scale: a value in the units of y is ``target_mean + target_scale * prediction``; 0 and 1
            for classes.
    """

    best_epoch: int
    best_score: float
    best_loss: float
    best_state: dict[str, Tensor]
    best_output: ModelOutput
    history: list[Row]
    snapshots: dict[int, CellComplex]
    target_mean: float = 0.0
    target_scale: float = 1.0


_SCORES = ("train_score", "selection_score", "selection_loss")


def train(
    model: Model,
    x: Tensor,
    y: Tensor,
    edge_index: Tensor | None,
    train_index: Tensor,
    selection_index: Tensor,
    settings: TrainingSettings | None = None,
    *,
    num_classes: int,
    weight: Tensor | None = None,
    on_epoch: OnEpoch | None = None,
) -> TrainingResult:
    """Train a model by Adam, choose the best epoch, and leave the model with the weights of that epoch.

    A model that solves for its weights (:attr:`latopo.models.Model.solves`) does so in a single epoch.

    The loss is the sum of the model's named terms (:meth:`latopo.models.Model.loss_terms`): cross-entropy (or mean
    squared error of standardised targets) on ``train_index``, and what the model adds to it. The best epoch has the
    highest accuracy (R²) on ``selection_index``; of equals the one with the lower loss there, then the earlier: small
    selection sets tie often. No target of another node is read.

    The same seed gives the same numbers, whatever other threads draw and whatever modes of torch are on, and the global
    random state is left alone. After Ctrl-C, or any other error,
    the model holds the best weights so far.

    Args:
        model: any :class:`~latopo.models.Model`; build it under :func:`~latopo.training.seeded` to fix its start.
        x: [N, d], dense or sparse CSR.
        y: [N] classes (int64), or values for regression.
        edge_index: the given graph [2, E] in any form, or None.
        train_index: nodes to learn from, int64.
        selection_index: nodes that choose the epoch, int64.
        settings: see :class:`~latopo.training.TrainingSettings`.
        num_classes: number of classes; 0 for regression.
        weight: how much each node counts, [N]; all alike by default.
        on_epoch: called with every history row.

    Example:
        >>> from latopo.models import build_model
        >>> from latopo.training import seeded
        >>> x = torch.tensor([[-1.0], [-2.0], [1.0], [2.0]])
        >>> y, nodes = torch.tensor([0, 0, 1, 1]), torch.arange(4)
        >>> with seeded(0):
        ...     model = build_model("mlp", 1, 2)
        >>> train(model, x, y, None, nodes, nodes, TrainingSettings(epochs=30), num_classes=2).best_score
        1.0
    """
    trainer = Trainer(
        model, x, y, edge_index, train_index, selection_index, settings, num_classes=num_classes, weight=weight
    )
    try:
        trainer.advance(on_epoch=on_epoch)
    finally:
        trainer.restore_best()
    return trainer.result()


class Trainer:
    """A training that can be continued: :func:`train` in steps. Arguments as there.

    Several trainings may take turns: each keeps its own stream of random numbers.

    Example:
        >>> from latopo.models import build_model
        >>> nodes = torch.arange(4)
        >>> settings = TrainingSettings(epochs=9)
        >>> trainer = Trainer(build_model("mlp", 2, 2), torch.ones(4, 2), nodes % 2, None, nodes, nodes, settings,
        ...                   num_classes=2)
        >>> trainer.advance(until=3)
        >>> trainer.epoch, trainer.advance(), trainer.epoch
        (3, None, 9)
    """

    def __init__(
        self,
        model: Model,
        x: Tensor,
        y: Tensor,
        edge_index: Tensor | None,
        train_index: Tensor,
        selection_index: Tensor,
        settings: TrainingSettings | None = None,
        *,
        num_classes: int,
        weight: Tensor | None = None,
    ) -> None:
        """Prepare; no step is made yet."""
        with plain_torch():
            objective = Objective(y, train_index, selection_index, num_classes, weight)
            self._prepare(model, _ordinary(x), edge_index, objective, settings)

    @classmethod
    def of(
        cls, model: Model, x: Tensor, edge_index: Tensor | None, objective: Objective, settings: TrainingSettings
    ) -> "Trainer":
        """A training with an objective that is there already."""
        trainer = cls.__new__(cls)
        trainer._prepare(model, x, edge_index, objective, settings)
        return trainer

    def _prepare(
        self,
        model: Model,
        x: Tensor,
        edge_index: Tensor | None,
        objective: Objective,
        settings: TrainingSettings | None,
    ) -> None:
        y = objective.target
        if y.shape != (x.size(0),):
            raise LatopoError(f"train: y has shape {list(y.shape)}, expected one target for each of {x.size(0)} rows")
        self.x = x
        self.edges = None if edge_index is None else simple_edges("train", edge_index, x.size(0))
        settings = TrainingSettings() if settings is None else settings
        settings = replace(settings, epochs=1) if model.solves else settings
        self._start(model, objective, settings, (*MEASURES, *model.facts()))
        self._labels = self.objective.train_labels()
        self._terms = model.loss_terms(self.objective, self.settings.seed)

    def _start(self, model: Any, objective: Objective, settings: Any, looks: tuple[str, ...]) -> None:
        """What every training begins with; ``looks`` are the columns of the history beside losses and scores."""
        self.model, self.objective, self.settings = model, objective, settings
        self.epoch = 0
        self.history: list[Row] = []
        self.snapshots: dict[int, CellComplex] = {}
        self._looks = (*_SCORES, *looks)
        self._optimizer = None if model.solves else _adam(model, settings)
        self._best: TrainingResult | None = None
        self._worse = 0
        self._random = RandomStream(settings.seed ^ _STREAM)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or patience ran out."""
        patience = self.settings.patience
        return self.epoch >= self.settings.epochs or (patience is not None and self._worse >= patience)

    def advance(self, until: int | None = None, on_epoch: OnEpoch | None = None) -> None:
        """Train up to epoch ``until``, to the end by default. Pauses change nothing in what comes out."""
        last = self.settings.epochs if until is None else min(until, self.settings.epochs)
        while self.epoch < last and not self.finished:
            self.epoch += 1
            row: Row = {"epoch": self.epoch, **self._step(), **dict.fromkeys(self._looks)}
            self._look(row, self.epoch % self.settings.evaluate_every == 0 or self.epoch == self.settings.epochs)
            self.history.append(row)
            if on_epoch is not None:
                on_epoch(row)

    def restore_best(self) -> None:
        """Give the model the best weights so far, if there was an evaluation, and put it in evaluation mode."""
        if self._best is not None:
            self.model.load_state_dict(self._best.best_state)
        self.model.eval()

    def result(self) -> TrainingResult:
        """What came out so far."""
        if self._best is None:
            raise LatopoError("Trainer: there is no result before the first evaluation; call advance() first")
        return self._best

    @plain_torch()
    def _step(self) -> Row:
        """One step of Adam, or the whole solution; the terms of the loss."""
        self.model.train()
        if self._optimizer is None:
            from latopo.training.parts import train_part

            part = partial(train_part, self.objective, self.settings.seed)
            solved = self.model.solve(self.x, self.edges, self.objective, self.objective.held_out, part)
            return {"loss": solved, "task_loss": solved}
        with self._random:
            terms = self._terms(self.model(self.x, self.edges))
        loss = sum(terms.values(), start=torch.zeros((), device=self.x.device))
        value = loss.item()
        if not math.isfinite(value):
            raise LatopoError(
                f"train: the loss became {value} in epoch {self.epoch}; lower the learning rate (now "
                f"{self.settings.lr}) or scale x"
            )
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return {"loss": value, **{f"{name}_loss": term.item() for name, term in terms.items()}}

    @plain_torch()
    def _look(self, row: Row, evaluate: bool) -> None:
        """Evaluate, keep a snapshot, or neither; all from one forward pass."""
        snapshot = self.epoch in self.settings.snapshot_epochs
        if not evaluate and not snapshot:
            return
        self.model.eval()
        with torch.no_grad(), self._random:
            output = _detached(self.model(self.x, self.edges))
        row |= measure(self.model, output, self._labels)
        if snapshot and output.complex is not None:
            self.snapshots[self.epoch] = output.complex
        if evaluate:
            self._judge(row, output)

    def _judge(self, row: Row, output: ModelOutput) -> None:
        """Score an evaluation and remember it if it is the best."""
        objective, prediction = self.objective, output.prediction
        selected = objective.selection_index
        score, loss = objective.score(prediction, selected), objective.loss(prediction, selected).item()
        row |= zip(_SCORES, (objective.score(prediction, objective.train_index), score, loss), strict=True)
        if self._best is not None and (score, -loss) <= (self._best.best_score, -self._best.best_loss):
            self._worse += 1
            return
        self._worse = 0
        state = {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}
        self._best = TrainingResult(
            self.epoch, score, loss, state, output, self.history, self.snapshots, objective.mean, objective.scale
        )


def _ordinary(x: Tensor) -> Tensor:
    # A tensor made in inference mode takes part in no gradient.
    return x.clone() if x.is_inference() else x


def _detached(output: ModelOutput) -> ModelOutput:
    # The directed choices are not needed any more, and would stay in memory with the best epoch.
    cells = None if output.complex is None else output.complex.detach()
    return ModelOutput(output.prediction, output.features[:0], cells, None, output.polygons)


def _adam(model: Model, settings: TrainingSettings) -> torch.optim.Adam:
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    undecayed = {id(parameter) for parameter in model.undecayed()}
    decayed, others = ([item for item in parameters if (id(item) in undecayed) is wanted] for wanted in (False, True))
    groups: list[dict[str, Any]] = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.Adam(groups, lr=settings.lr, weight_decay=settings.weight_decay)
