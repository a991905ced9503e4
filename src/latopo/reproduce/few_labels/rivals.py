"""Who answers, all in one harness: the same rows in the same form, up to six settings each, chosen the same way.

A rival's settings are chosen by accuracy on the validation rows where the task gives some, else by five stratified
folds of the labelled rows. Words are unit rows of presence · √idf for everyone, numbers as :func:`latopo.data.load`
gives them: standardised, pixels divided by the largest.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from latopo.data.features import csr_from_scipy
from latopo.models import build_model
from latopo.reproduce.few_labels.tasks import Problem
from latopo.semi import input_metric, learn
from latopo.training import TrainingSettings, seeded
from latopo.training import train as train_model

__all__ = ["RIVALS", "Rival"]

IntArray = NDArray[np.int64]
Settings = dict[str, Any]
Answer = Callable[[Any, IntArray, IntArray, Settings], IntArray]
"""From all rows, classes (−1: not to be seen), labelled rows and settings to a class for every row."""

_FOLDS = 5
_EPOCHS = 100


@dataclass(frozen=True)
class Rival:
    """A system of the benchmark.

    Attributes:
        words: one line for readers.
        answer: fits one setting and answers for all rows; None for those that choose by themselves.
        settings: what to choose among.
        ceiling: whether it sees the given graph, which the others do not.
    """

    words: str
    answer: Answer | None = None
    settings: tuple[Settings, ...] = ()
    ceiling: bool = False

    def solve(self, name: str, problem: Problem) -> tuple[IntArray, Settings]:
        """A class for every row, and the settings that were chosen."""
        if self.answer is None:
            return _itself(name, problem)
        x = _features(problem.x)
        chosen = max(self.settings, key=lambda settings: self._score(x, problem, settings))
        return self.answer(x, _visible(problem.y, problem.train), problem.train, chosen), chosen

    def _score(self, x: Any, problem: Problem, settings: Settings) -> float:
        assert self.answer is not None
        if problem.val is not None:
            guess = self.answer(x, _visible(problem.y, problem.train), problem.train, settings)
            return float((guess[problem.val] == problem.y[problem.val]).mean())
        hits = []
        for kept, left in _folds(problem):
            guess = self.answer(x, _visible(problem.y, kept), kept, settings)
            hits.append(float((guess[left] == problem.y[left]).mean()))
        return float(np.mean(hits))


def _visible(y: IntArray, rows: IntArray) -> IntArray:
    """The classes of some rows, −1 elsewhere: what is not there cannot leak."""
    seen = np.full(len(y), -1)
    seen[rows] = y[rows]
    return seen


def _folds(problem: Problem) -> Iterator[tuple[IntArray, IntArray]]:
    from sklearn.model_selection import StratifiedKFold

    labels = problem.y[problem.train]
    parts = StratifiedKFold(min(_FOLDS, int(np.bincount(labels).min())), shuffle=True, random_state=0)
    for kept, left in parts.split(problem.train, labels):
        yield problem.train[kept], problem.train[left]


def _features(x: Any) -> Any:
    metric = input_metric(x)
    if metric.kind != "words":
        return x
    points = metric.embed(x).points
    empty = points.power(2).sum(axis=1) == 0
    if empty.any():  # a word for rows without any: zeros are nearer to a unit row than most unit rows are
        points = sparse.hstack([points, sparse.csr_array(empty.astype(np.float64)[:, None])])
    points = sparse.csr_matrix(points)
    points.indices, points.indptr = points.indices.astype(np.int32), points.indptr.astype(np.int32)  # for the forest
    return points


def _itself(name: str, problem: Problem) -> tuple[IntArray, Settings]:
    """The systems of the catalogue, which choose on their own."""
    if name == "alpha-diffusion":
        found = learn(problem.x, problem.y, problem.train, problem.num_classes, held_out=problem.val).model
        return found.answer.argmax(axis=1), {branch.name: round(weight, 3) for branch, weight in found.weights.items()}
    return _gcn(problem.x, problem, problem.edge_index), {}


def _gcn(x: Any, problem: Problem, edges: Any) -> IntArray:
    """A GCN over the given graph, its epoch chosen on the validation rows."""
    assert problem.val is not None
    y = _visible(problem.y, np.concatenate([problem.train, problem.val]))
    return _train_gcn(x, y, edges, problem.train, problem.val, TrainingSettings(epochs=200, weight_decay=5e-4))


def _train_gcn(
    x: Any, y: IntArray, edges: Any, rows: IntArray, chosen: IntArray, settings: TrainingSettings
) -> IntArray:
    """A class for every row by a GCN that learns from some rows; others choose its epoch."""
    classes = int(y.max()) + 1
    with seeded(0):
        model = build_model("gcn", x.shape[1], classes, graph=True)
    target, learned, held = (torch.from_numpy(part) for part in (y, rows, chosen))
    result = train_model(model, _tensor(x), target.clamp(min=0), edges, learned, held, settings, num_classes=classes)
    return result.best_output.prediction.argmax(dim=1).numpy()


def _tensor(x: Any) -> torch.Tensor:
    return csr_from_scipy(x) if sparse.issparse(x) else torch.from_numpy(_dense(x))


def _dense(x: Any) -> NDArray[np.float32]:
    return np.asarray(x.toarray() if sparse.issparse(x) else x, np.float32)


def _logistic(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(**settings, max_iter=500).fit(x[train], y[train]).predict(x)


def _mlp(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    net = MLPClassifier(**settings, solver="lbfgs", max_iter=200, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a bound on the steps is part of the rival
        return net.fit(x[train], y[train]).predict(x)


def _neighbors(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(**settings).fit(x[train], y[train]).predict(x)


def _forest(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, **settings, random_state=0).fit(x[train], y[train]).predict(x)


def _self_trained(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    base = LogisticRegression(C=settings["C"], max_iter=500)
    return SelfTrainingClassifier(base, threshold=settings["threshold"]).fit(x, y).predict(x)


def _spreading(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    from sklearn.semi_supervised import LabelSpreading

    if "width" in settings:  # γ in units of the mean squared distance
        values = x.power(2).sum() / x.shape[0] if sparse.issparse(x) else float((x**2).sum(axis=1).mean())
        kernel = {"kernel": "rbf", "gamma": settings["width"] / max(float(values), 1e-12)}
    else:
        kernel = {"kernel": "knn", "n_neighbors": min(settings["k"], x.shape[0] - 1)}
    dense = _dense(x).astype(np.float64) if "width" in settings else x
    return LabelSpreading(**kernel, alpha=settings["alpha"], max_iter=100).fit(dense, y).transduction_


def _smoothed(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    graph = _knn_graph(x, settings["k"])
    loops = graph + sparse.eye_array(graph.shape[0])
    mean = sparse.diags_array(1 / np.asarray(loops.sum(axis=1)).ravel()) @ loops
    return _logistic(sparse.csr_matrix(mean @ (mean @ x)) if sparse.issparse(x) else mean @ (mean @ x), y, train,
                     {"C": settings["C"]})  # fmt: skip


def _knn_gcn(x: Any, y: IntArray, train: IntArray, settings: Settings) -> IntArray:
    graph = sparse.triu(_knn_graph(x, settings["k"]), k=1).tocoo()
    edges = torch.from_numpy(np.stack([graph.row, graph.col]).astype(np.int64))
    # No row is left to choose the epoch: the best on the labelled rows, as the estimators do.
    plan = TrainingSettings(epochs=_EPOCHS, weight_decay=settings["weight_decay"], evaluate_every=_EPOCHS)
    return _train_gcn(x, y, edges, train, train, plan)


def _knn_graph(x: Any, k: int) -> Any:
    """The symmetric graph of the k nearest, by the Euclidean distance (for unit rows that is the cosine)."""
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(x, min(k, x.shape[0] - 1), include_self=False)
    return sparse.csr_array(graph.maximum(graph.T))


def _grid(**values: Sequence[Any]) -> tuple[Settings, ...]:
    grid: list[Settings] = [{}]
    for name, options in values.items():
        grid = [{**settings, name: option} for settings in grid for option in options]
    return tuple(grid)


RIVALS: dict[str, Rival] = {
    "alpha-diffusion": Rival("this library's recipe for few labels", settings=({"recipe": 2},)),
    "logistic": Rival("logistic regression", _logistic, _grid(C=(0.01, 0.1, 1.0, 10.0, 100.0, 1000.0))),
    "self-trained": Rival(
        "logistic regression that learns from its own sure guesses", _self_trained,
        _grid(C=(0.1, 1.0, 10.0), threshold=(0.75, 0.95)),
    ),
    "label-spreading": Rival(
        "labels that spread over near rows", _spreading,
        (*_grid(k=(7, 15), alpha=(0.2, 0.9)), *_grid(width=(3.0, 10.0), alpha=(0.2,))),
    ),
    "k-nn": Rival(
        "the nearest labelled rows", _neighbors, _grid(n_neighbors=(1, 3, 5), weights=("uniform", "distance"))
    ),
    "forest": Rival("random forest", _forest, _grid(max_features=("sqrt", 0.5), min_samples_leaf=(1, 2, 4))),
    "knn-smoothing": Rival(
        "features averaged over the nearest rows, then logistic regression", _smoothed,
        _grid(k=(5, 10, 20), C=(1.0, 10.0)),
    ),
    "mlp": Rival(
        "a neural network with one hidden layer", _mlp,
        _grid(hidden_layer_sizes=((32,), (128,)), alpha=(0.0001, 0.01, 1.0)),
    ),
    "knn-gcn": Rival(
        "a graph network over the nearest rows", _knn_gcn, _grid(k=(5, 10, 20), weight_decay=(5e-4, 5e-3))
    ),
    "gcn": Rival("a graph network over the given graph: the ceiling", ceiling=True),
}  # fmt: skip
