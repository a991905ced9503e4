"""The training loop for networks that predict graphs: mini-batches, a falling learning rate."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from latopo.data.graph_set import GraphSet
from latopo.errors import LatopoError
from latopo.models import ModelOutput
from latopo.models.graph_net import GraphNet
from latopo.training.graph_settings import GraphTrainingSettings
from latopo.training.loop import Row, Trainer, TrainingResult
from latopo.training.objective import Objective
from latopo.training.seeding import plain_torch

__all__ = ["GraphTrainer", "predict_graphs"]

# Without gradients a batch may be larger.
_EVALUATED = 512


class GraphTrainer(Trainer):
    """A training on graphs that can be continued, as :class:`~latopo.training.Trainer` on nodes.

    An epoch shows every training graph once, in random order. ``train_score`` is that of the passes themselves, with
    dropout and weights that change; no second pass is made for it.

    Args:
        model: the network.
        graphs: all graphs; the targets of those that neither train nor choose are not read.
        train_index: graphs to learn from, int64.
        selection_index: graphs that choose the epoch, int64.
        settings: see :class:`~latopo.training.graph_settings.GraphTrainingSettings`.

    Example:
        >>> from torch_geometric.data import Data
        >>> from latopo.data import from_graphs
        >>> from latopo.training import seeded
        >>> rings = [torch.stack([torch.arange(n), (torch.arange(n) + 1) % n]) for n in (4, 5) * 10]
        >>> graphs, _ = from_graphs([Data(x=torch.ones(ring.size(1), 1), edge_index=ring, y=ring.size(1) - 4)
        ...                          for ring in rings])
        >>> index = torch.arange(20)
        >>> with seeded(0):
        ...     model = GraphNet(1, 2, rings="all")
        >>> trainer = GraphTrainer(model, graphs, index, index, GraphTrainingSettings(epochs=9))
        >>> trainer.advance()
        >>> trainer.result().best_score
        1.0
    """

    settings: GraphTrainingSettings

    def __init__(
        self,
        model: GraphNet,
        graphs: GraphSet,
        train_index: Tensor,
        selection_index: Tensor,
        settings: GraphTrainingSettings | None = None,
    ) -> None:
        """Prepare; no step is made yet."""
        settings = GraphTrainingSettings() if settings is None else settings
        objective = Objective(graphs.y, train_index, selection_index, graphs.num_classes)
        self.graphs = graphs
        self._start(model, objective, settings, tuple(model.facts()))
        self._steps = settings.epochs * math.ceil(train_index.numel() / settings.batch_size)
        self._step_number = 0
        self._prediction = graphs.x.new_zeros(len(graphs), model.out_channels)

    def result(self) -> TrainingResult:
        """What came out so far, with the present weights' prediction for every graph."""
        index = torch.arange(len(self.graphs), device=self.graphs.y.device)
        output = ModelOutput(predict_graphs(self.model, self.graphs, index), self._prediction[:0])
        return replace(super().result(), best_output=output)

    @plain_torch()
    def _step(self) -> Row:
        """One pass over the training graphs; the mean loss."""
        self.model.train()
        assert self._optimizer is not None
        total = 0.0
        for index in self._batches():
            batch = self.graphs.batch(index)
            with self._random:
                prediction = self.model(batch).prediction
            loss = self.objective.batch_loss(prediction, index)
            if not math.isfinite(value := loss.item()):
                raise LatopoError(
                    f"train: the loss became {value} in epoch {self.epoch}; lower the learning rate (now "
                    f"{self.settings.lr})"
                )
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
            self._prediction[index] = prediction.detach()
            total += value * index.numel()
        mean = total / self.objective.train_index.numel()
        return {"loss": mean, "task_loss": mean}

    def _batches(self) -> Iterator[Tensor]:
        """The training graphs in random order; before each batch the learning rate is set."""
        nodes = self.objective.train_index
        with self._random:
            order = nodes[torch.randperm(nodes.numel()).to(nodes.device)]
        for index in order.split(self.settings.batch_size):
            rate = 0.5 * self.settings.lr * (1 + math.cos(math.pi * self._step_number / self._steps))
            for group in [] if self._optimizer is None else self._optimizer.param_groups:
                group["lr"] = rate
            self._step_number += 1
            yield index

    @plain_torch()
    def _look(self, row: Row, evaluate: bool) -> None:
        """Predict the graphs that choose the epoch."""
        if not evaluate:
            return
        selected = self.objective.selection_index
        self._prediction[selected] = predict_graphs(self.model, self.graphs, selected)
        row |= self.model.facts()
        self._judge(row, ModelOutput(self._prediction, self._prediction[:0]))


@torch.no_grad()
def predict_graphs(model: GraphNet, graphs: GraphSet, index: Tensor) -> Tensor:
    """Class scores or values of these graphs, [n, channels]; the network is in evaluation mode afterwards."""
    model.eval()
    return torch.cat([model(graphs.batch(part)).prediction for part in index.split(_EVALUATED)])
