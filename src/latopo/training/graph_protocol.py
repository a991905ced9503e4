"""One fold of a set of graphs under a protocol."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from latopo.data.graph_loading import as_clouds
from latopo.data.graph_set import GraphSet
from latopo.data.graph_splits import graph_split
from latopo.data.splits import Split
from latopo.models.graph_net import GraphNet
from latopo.models.graph_settings import GraphNetSettings
from latopo.training.graph_predictor import GraphPredictor
from latopo.training.graph_trainer import GraphTrainer
from latopo.training.loop import OnEpoch, TrainingResult
from latopo.training.objective import score
from latopo.training.protocol import FoldResult
from latopo.training.run import Run
from latopo.training.seeding import plain_torch, seeded

__all__ = ["GraphFoldResult", "best_mean_epoch", "first_graph_trainer", "new_graph_net", "run_graph_fold"]

_DRAWN = 6


@dataclass(frozen=True, eq=False)
class GraphFoldResult(FoldResult):
    """What one fold came to.

    Attributes:
        num_polygons: polygons of all graphs together; None for networks without.
        kept_share: these as a share of the rings; None where inferred edges close more of them.
        drawn: some test graphs, whose complex is that of ``training.best_output``.
        sizes: how many nodes each of them has.
        labels: label of each of their nodes.
        predictor: predicts new graphs; None if the set does not know how its graphs came (``form``).
    """

    num_polygons: int | None = None
    kept_share: float | None = None
    drawn: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    predictor: GraphPredictor | None = None

    def summary(self) -> dict[str, Any]:
        """The reported numbers; ``curve``, under ``paper``, has the test score after every epoch."""
        found = super().summary() | {"num_polygons": self.num_polygons, "kept_share": self.kept_share}
        found["mean_degree"] = None  # that of a few graphs says nothing
        if self.split.val is None:
            found["curve"] = tuple(row["selection_score"] for row in self.training.history)
        return found

    def details(self) -> dict[str, Any]:
        """The graphs that are drawn, their numbers of nodes, and the labels of the nodes."""
        return {"drawn": list(self.drawn), "sizes": list(self.sizes), "labels": list(self.labels)}


def run_graph_fold(data: GraphSet, run: Run, fold: int, on_epoch: OnEpoch | None = None) -> GraphFoldResult:
    """Train and report one fold of a run on graphs.

    ``honest``: the epoch with the best score on the validation graphs is reported. ``paper``: nine tenths train, and
    every epoch's test score is kept, since the epoch is chosen over all folds together; until then, this fold's best.

    Args:
        data: the set, from :func:`latopo.data.load_graphs`.
        run: what to train; without graph, the nodes' coordinates alone are given.
        fold: 0 to 9.
        on_epoch: called with every history row.
    """
    start = time.perf_counter()
    trainer = first_graph_trainer(data, run, fold)
    trainer.advance(on_epoch=on_epoch)
    trainer.restore_best()
    result, graphs = trainer.result(), trainer.graphs
    split = _split(data, run, fold)
    guess = result.target_mean + result.target_scale * result.best_output.prediction
    test_score = score(guess[split.test], data.y[split.test], data.num_classes)
    seconds, decay = time.perf_counter() - start, trainer.settings.weight_decay
    polygons, share = _count_polygons(trainer.model, graphs)
    drawn = _with_rings(graphs, split.test)
    cells = trainer.model.complex(graphs.batch(drawn))
    result = replace(result, best_output=result.best_output._replace(complex=cells))
    sizes, labels = data.node_ptr.diff()[drawn], data.labels(drawn)
    return GraphFoldResult(
        fold, split, trainer.model, result, decay, {}, test_score, None, seconds, polygons, share,
        tuple(drawn.tolist()), tuple(sizes.tolist()), tuple(labels.tolist()), _predictor(graphs, trainer.model, result),
    )  # fmt: skip


def best_mean_epoch(curves: Sequence[Sequence[float]]) -> int:
    """The epoch, from 0, with the best mean score over folds, the first of equals: how this field reports.

    Example:
        >>> best_mean_epoch([[0.5, 0.9, 0.6], [0.8, 0.2, 0.9]])
        2
    """
    means = [sum(scores) / len(curves) for scores in zip(*curves, strict=True)]
    return max(range(len(means)), key=means.__getitem__)


def first_graph_trainer(data: GraphSet, run: Run, fold: int) -> GraphTrainer:
    """The training of a fold, not yet begun."""
    graphs = data if run.graph else _clouds(data)
    split = _split(data, run, fold)
    settings: Any = run.training()
    return GraphTrainer(new_graph_net(graphs, run), graphs, split.train, split.selection, settings)


def new_graph_net(graphs: GraphSet, run: Run) -> GraphNet:
    """The run's network as it starts: equal for all folds, the seed decides."""
    device, settings = graphs.y.device, run.model_settings()
    assert isinstance(settings, GraphNetSettings)
    with plain_torch(), seeded(run.seed):
        model = GraphNet(graphs.num_features, graphs.num_classes or 1, settings, graphs.edge_attr.size(1))
    return model.to(device)


def _split(data: GraphSet, run: Run, fold: int) -> Split:
    split = graph_split(data.y, fold, run.protocol, run.entry.fold_seed)
    device = data.y.device
    val = None if split.val is None else split.val.to(device)
    return Split(split.train.to(device), val, split.test.to(device))


@lru_cache(maxsize=2)
def _clouds(data: GraphSet) -> GraphSet:
    return as_clouds(data)


def _predictor(graphs: GraphSet, model: GraphNet, result: TrainingResult) -> GraphPredictor | None:
    if graphs.form is None:
        return None
    return GraphPredictor(model, graphs.form, graphs.num_classes, result.target_mean, result.target_scale)


def _count_polygons(model: GraphNet, graphs: GraphSet) -> tuple[int | None, float | None]:
    """Polygons of all graphs, and their share of the rings."""
    if model.settings.rings is None:
        return None, None
    index = torch.arange(len(graphs), device=graphs.y.device)
    complexes = [model.complex(graphs.batch(part)) for part in index.split(512)]
    count = sum(cells.num_polygons for cells in complexes)
    rings = graphs.ring_length.numel()
    # Inferred edges close rings of their own, and another number of them in every epoch.
    return count, None if rings == 0 or model.settings.latent_edges is not None else count / rings


def _with_rings(graphs: GraphSet, test: Tensor) -> Tensor:
    """Up to six test graphs that are worth drawing: those with at least two rings, if there are any."""
    many = test[graphs.ring_ptr.diff()[test] >= 2]
    return (many if many.numel() else test)[:_DRAWN]
