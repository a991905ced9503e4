"""One fold under a protocol: search the weight decay, choose the epoch, then look at the test nodes once."""

import math
import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from latopo.data.graph_set import GraphSet
from latopo.data.splits import Split, split
from latopo.models import Model
from latopo.training.loop import OnEpoch, Trainer, TrainingResult
from latopo.training.measure import kept_share
from latopo.training.objective import score
from latopo.training.run import Run
from latopo.training.search import search_decay
from latopo.training.seeding import plain_torch, seeded

__all__ = ["FoldResult", "first_trainer", "new_model", "predictions", "run_fold"]


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What one fold came to.

    Attributes:
        fold: the test chunk.
        split: its nodes.
        model: the model with the weights of the reported epoch.
        training: the training that was chosen, with history, best output and snapshots.
        weight_decay: the chosen one.
        search: weight decay → selection score after the first rung; empty if nothing was searched.
        test_score: accuracy, or R², on the test nodes at the reported epoch.
        homophily: share of edges of the inferred graph between equal labels there, of *all* nodes; None without edges
            or classes. Computed after everything else was decided.
        seconds: wall time.
    """

    fold: int
    split: Split
    model: Model
    training: TrainingResult
    weight_decay: float
    search: dict[float, float]
    test_score: float
    homophily: float | None
    seconds: float

    def summary(self) -> dict[str, Any]:
        """The reported numbers under the names of :class:`latopo.reproduce.Record`."""
        output = self.training.best_output
        cells, polygons = output.complex, output.polygons
        return {
            "test_score": self.test_score,
            "num_train": self.split.train.numel(),
            "num_test": self.split.test.numel(),
            "best_epoch": self.training.best_epoch,
            "seconds": self.seconds,
            "num_parameters": sum(item.numel() for item in self.model.parameters() if item.requires_grad),
            "validation_score": None if self.split.val is None else self.training.best_score,
            "weight_decay": self.weight_decay,
            "homophily": self.homophily,
            "mean_degree": None if cells is None else 2 * cells.num_edges / cells.num_nodes,
            "num_polygons": None if cells is None else cells.num_polygons,
            "kept_share": kept_share(output),
            "budget_sampled": polygons is not None and polygons.num_scored < polygons.num_candidates,
        }

    def details(self) -> dict[str, Any]:
        """What else is worth keeping with a run; nothing here."""
        return {}


def run_fold(
    data: Data | GraphSet,
    run: Run,
    fold: int,
    *,
    snapshot_epochs: tuple[int, ...] = (),
    on_epoch: OnEpoch | None = None,
) -> FoldResult:
    """Train and report one fold of a run; those on sets of graphs: :mod:`latopo.training.graph_protocol`.

    ``honest``: every weight decay of the run's list trains for the first third of the epochs; the one with the best
    evaluation on the validation chunk (of equals: lower loss, then smaller decay) is trained on to the end, from where
    it stands; the test score is that of its best epoch on the same chunk. All candidates start from the same weights.
    ``paper``: one weight decay, and the epoch is chosen by the test score itself, as the paper's experiments do.

    Args:
        data: the data set, from :func:`latopo.data.load`, on any device.
        run: what to train.
        fold: 0 to 9.
        snapshot_epochs: epochs after which the complex is kept.
        on_epoch: called with every history row of every candidate, :attr:`Run.planned_epochs` times in all.

    Example:
        >>> from latopo.data import load
        >>> result = run_fold(load("karate"), Run("karate", "mlp", settings={"epochs": 6}), fold=0)
        >>> len(result.split.test), len(result.search), len(result.training.history)
        (4, 3, 6)
    """
    if isinstance(data, GraphSet):
        from latopo.training.graph_protocol import run_graph_fold

        return run_graph_fold(data, run, fold, on_epoch)
    start = time.perf_counter()
    nodes = _split(data, run, fold)
    trainers = {decay: _trainer(data, run, nodes, decay, snapshot_epochs) for decay in sorted(run.weight_decays)}
    decay, search = search_decay(trainers, run.first_rung, on_epoch)
    chosen = trainers[decay]
    chosen.advance(on_epoch=on_epoch)
    chosen.restore_best()
    result = chosen.result()
    test_score, homophily = _report(data, nodes, result)
    seconds = time.perf_counter() - start
    return FoldResult(fold, nodes, chosen.model, result, decay, search, test_score, homophily, seconds)


def _split(data: Data, run: Run, fold: int) -> Split:
    """The fold's nodes, on the device of the data."""
    nodes, device = split(data.num_nodes, run.entry.fold_seed, fold, run.protocol), data.y.device
    return Split(nodes.train.to(device), None if nodes.val is None else nodes.val.to(device), nodes.test.to(device))


def new_model(data: Data, run: Run) -> Model:
    """The run's model as it starts: equal for all folds and weight decays, the seed decides."""
    with plain_torch(), seeded(run.seed):
        model = run.system.model(data.x.size(1), data.num_classes or 1, run.model_settings())
    return model.to(data.y.device)


def first_trainer(data: Data | GraphSet, run: Run, fold: int) -> Trainer:
    """The training of the run's first weight decay on a fold, not yet begun."""
    if isinstance(data, GraphSet):
        from latopo.training.graph_protocol import first_graph_trainer

        return first_graph_trainer(data, run, fold)
    return _trainer(data, run, _split(data, run, fold), min(run.weight_decays), ())


def _trainer(data: Data, run: Run, nodes: Split, weight_decay: float, snapshot_epochs: tuple[int, ...]) -> Trainer:
    settings = run.training(weight_decay=weight_decay, snapshot_epochs=snapshot_epochs)
    edges = data.edge_index if run.graph else None
    return Trainer(
        new_model(data, run), data.x, data.y, edges, nodes.train, nodes.selection, settings,
        num_classes=data.num_classes,
    )  # fmt: skip


def _report(data: Data, nodes: Split, result: TrainingResult) -> tuple[float, float | None]:
    """The only place where targets of the test nodes are read under ``honest``."""
    output = result.best_output
    prediction = result.target_mean + result.target_scale * output.prediction
    test_score = score(prediction[nodes.test], data.y[nodes.test], data.num_classes)
    if output.complex is None or not data.num_classes:
        return test_score, None
    homophily = output.complex.edge_homophily(data.y)
    return test_score, None if math.isnan(homophily) else homophily


def predictions(data: Data | GraphSet, result: FoldResult) -> tuple[Tensor, Tensor]:
    """Predicted class and its probability, or predicted value in the units of y and NaN, for every node, [N] each."""
    prediction, training = result.training.best_output.prediction, result.training
    if data.num_classes:
        probability = prediction.softmax(dim=1).max(dim=1)
        return probability.indices, probability.values
    values = (training.target_mean + training.target_scale * prediction).flatten()
    return values, torch.full_like(values, math.nan)
