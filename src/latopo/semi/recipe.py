"""The recipe for few labels: metric → latent graph → diffusion → branches → self-training → fusion."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.semi.branches import Branch, branches_for
from latopo.semi.diffusion import spread_targets, spread_values
from latopo.semi.fusion import Judgement, branch_weights, judge_classes, judge_values, tempered
from latopo.semi.linear import logits, ridge, softmax
from latopo.semi.metric import Embedded, Metric, input_metric
from latopo.semi.self_training import self_train
from latopo.semi.space import FittedSpace, Space, build_space
from latopo.semi.word_weights import learn_word_weights

__all__ = ["Branch", "FewLabels", "Learned", "branches_for", "learn"]

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]

_FOLDS = 5
_LEAST_WEIGHT = 1e-6


@dataclass(frozen=True)
class FewLabels:
    """A fitted recipe: all that new rows need, and the answer for the fitted ones.

    Attributes:
        metric: how rows are compared.
        num_classes: 0 for values.
        spaces: ``H``, and ``M`` if the metric was trained.
        spread: what the labels that spread say of the fitted rows, [n, k].
        heads: branch → its head; ``S`` has none.
        judged: branch → what held-out labels say of it; empty if there were none.
        weights: branch → its weight in the answer.
        answer: class probabilities of the fitted rows [n, k], or values [n, 1].
    """

    metric: Metric
    num_classes: int
    spaces: dict[str, FittedSpace]
    spread: FloatArray
    heads: dict[Branch, FloatArray]
    judged: dict[Branch, Judgement]
    weights: dict[Branch, float]
    answer: FloatArray

    def join(self, x: Any) -> tuple[FloatArray, Any]:
        """Answer for new rows [q, k], each on its own, and their choice among the fitted rows, sparse [q, n]."""
        rows = self.metric.embed(x)
        hidden, chosen = {}, {}
        for name, space in self.spaces.items():
            hidden[name], chosen[name] = space.join(rows)
        spread = chosen["H"] @ self.spread.astype(np.float64)
        if self.num_classes:
            spread = spread / np.maximum(spread.sum(axis=1, keepdims=True), 1e-12)
        else:
            spread = np.where(chosen["H"].sum(axis=1).reshape(-1, 1) > 0, spread, self.spread.mean(axis=0))
        seen = _seen(rows.own.astype(np.float64), hidden, spread)
        return self.fuse({branch: self._say(branch, seen) for branch in self.weights}), chosen["H"]

    def fuse(self, answers: Mapping[Branch, FloatArray]) -> FloatArray:
        """The branches' answers in one; a branch that says nothing of a row (zeros) has no weight there."""
        if not self.num_classes:
            return np.sum([self.weights[branch] * answers[branch] for branch in self._in_order()], axis=0)
        total, heard = 0.0, 0.0
        for branch in self._in_order():
            answer, judged = answers[branch], self.judged.get(branch)
            weight = self.weights[branch] * (answer.sum(axis=1, keepdims=True) > 0)
            total += weight * (answer if judged is None else tempered(answer, judged.temperature))
            heard += weight
        return np.where(heard > 0, total / np.maximum(heard, _LEAST_WEIGHT**2), 1 / self.num_classes)

    def _in_order(self) -> list[Branch]:
        """One order of every sum, also after reading from a file."""
        return sorted(self.weights, key=lambda branch: branch.name)

    def _say(self, branch: Branch, seen: Mapping[str, FloatArray]) -> FloatArray:
        return _say(branch, self.heads, seen, self.num_classes)


class Learned(NamedTuple):
    """A fitted recipe with the parts that a picture or a study needs.

    Attributes:
        model: what is kept.
        rows: the fitted rows in the metric.
        space: the latent graph and its operator.
        branches: branch → its own answer for the fitted rows, [n, k].
    """

    model: FewLabels
    rows: Embedded
    space: Space
    branches: dict[Branch, FloatArray]


def learn(
    x: Any, target: NDArray[Any], labelled: IntArray, num_classes: int, *, held_out: IntArray | None = None,
    branches: Sequence[Branch] | None = None, metric: Metric | None = None, degree: int | None = None,
) -> Learned:  # fmt: skip
    """Learn from few labelled rows and all the others.

    Branches are weighed by the likelihood of held-out labels: those of ``held_out``, if the protocol gives such rows
    (their class shares are then known to self-training as well), else by five stratified folds of the labelled rows.

    Args:
        x: all rows [n, d], dense or sparse, as they are; nothing needs to be scaled.
        target: classes from 0, or values, [n]; read at ``labelled`` and ``held_out`` only.
        labelled: numbers of the rows to learn from.
        num_classes: 0 for values.
        held_out: numbers of the rows to choose on.
        branches: what to choose among; by default :func:`branches_for`.
        metric: by default :func:`~latopo.semi.input_metric`.
        degree: neighbours per row on average; by default 30 for words and 20 for numbers.

    Example:
        >>> from sklearn.datasets import make_moons
        >>> x, y = make_moons(300, noise=0.1, random_state=0)
        >>> labelled = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
        >>> answer = learn(x, y, labelled, 2).model.answer
        >>> bool((answer.argmax(axis=1) == y).mean() > 0.8)
        True
    """
    if x.shape[0] < 4 or not len(labelled):
        raise LatopoError(f"learn: {x.shape[0]} rows with {len(labelled)} labels; at least 4 rows and 1 label needed")
    metric = input_metric(x) if metric is None else metric
    count = 0 if held_out is None else len(held_out)
    names = tuple(branches_for(metric, num_classes, len(labelled), count) if branches is None else branches)
    rows = metric.embed(x)
    task = _Task(rows, build_space(metric, rows, degree or metric.degree), metric, target, num_classes, names)
    if held_out is None:
        judged = task.cross_validate(labelled)
        fitted = task.fit(labelled)
    else:
        fitted = task.fit(labelled, task.shares(held_out))
        judged = task.judge({branch: fitted.answers[branch][held_out] for branch in names}, target[held_out])
        count = len(held_out)
    model = task.fused(fitted, judged, count or len(labelled))
    return Learned(model, rows, task.space, fitted.answers)


class _Fitted(NamedTuple):
    """All branches, learned from some labels."""

    spaces: dict[str, Space]
    spread: FloatArray
    heads: dict[Branch, FloatArray]
    answers: dict[Branch, FloatArray]


class _Task(NamedTuple):
    """What stays the same from one set of labels to the next."""

    rows: Embedded
    space: Space
    metric: Metric
    target: NDArray[Any]
    num_classes: int
    names: tuple[Branch, ...]

    def fit(self, labelled: IntArray, prior: FloatArray | None = None) -> _Fitted:
        """Every branch from these labels; ``prior``: known class shares."""
        spaces, known = {"H": self.space}, self._one_hot(labelled)
        if any(branch.space == "M" for branch in self.names):
            factors = learn_word_weights(self.space, self.rows.raw, known, labelled, prior)
            spaces["M"] = build_space(self.metric, self.rows, self.space.fitted.degree, factors)
        spread = self._spread(labelled, known)
        seen = _seen(self.rows.own, {name: space.hidden for name, space in spaces.items()}, spread)
        heads: dict[Branch, FloatArray] = {}
        for branch in self.names:
            if branch.space == "S":
                continue
            features = seen[branch.space]
            if self.num_classes:
                operator = spaces.get(branch.space, self.space).operator
                heads[branch] = self_train(operator, features, known, labelled, *branch[1:], prior)
            else:
                heads[branch] = ridge(features[labelled], self.target[labelled], branch.c)
        answers = {branch: _say(branch, heads, seen, self.num_classes) for branch in self.names}
        return _Fitted(spaces, spread, heads, answers)

    def _one_hot(self, labelled: IntArray) -> FloatArray:
        known = np.zeros((len(self.target), max(self.num_classes, 1)), self.rows.raw.dtype)
        if self.num_classes:
            known[labelled, self.target[labelled]] = 1
        return known

    def _spread(self, labelled: IntArray, known: FloatArray) -> FloatArray:
        if self.num_classes:
            return spread_targets(self.space.operator, known)
        mask = np.zeros(len(self.target), bool)
        mask[labelled] = True
        return spread_values(self.space.operator, np.where(mask, self.target, 0.0), mask)[:, None]

    def shares(self, held_out: IntArray) -> FloatArray | None:
        """The class shares among held-out rows, with one pseudo-count for each class."""
        if not self.num_classes:
            return None
        counts = np.bincount(self.target[held_out], minlength=self.num_classes) + 1.0
        return counts / counts.sum()

    def cross_validate(self, labelled: IntArray) -> dict[Branch, Judgement]:
        """Every branch judged on labelled rows that it did not see; nothing if there are too few to leave one out."""
        found: dict[Branch, list[FloatArray]] = {branch: [] for branch in self.names}
        seen = []
        for left in _folds(self.target[labelled] if self.num_classes else np.zeros(len(labelled), np.int64)):
            fitted = self.fit(np.delete(labelled, left))
            seen.append(labelled[left])
            for branch, answer in fitted.answers.items():
                found[branch].append(answer[labelled[left]])
        if not seen:
            return {}
        parts = {branch: np.concatenate(answers) for branch, answers in found.items()}
        return self.judge(parts, self.target[np.concatenate(seen)])

    def judge(self, answers: Mapping[Branch, FloatArray], target: NDArray[Any]) -> dict[Branch, Judgement]:
        """What these targets say of each branch."""
        say: Callable[..., Judgement] = judge_classes if self.num_classes else judge_values
        parts = answers.items()
        return {branch: say(part if self.num_classes else part[:, 0], target) for branch, part in parts}

    def fused(self, fitted: _Fitted, judged: dict[Branch, Judgement], count: int) -> FewLabels:
        """The recipe with weights for its branches; without a judgement they count alike."""
        losses = np.array([judged[branch].loss if judged else 0.0 for branch in self.names])
        weights = dict(zip(self.names, branch_weights(losses, count, self.metric.sharpness).tolist(), strict=True))
        # Somebody has to answer where the labels that spread do not reach.
        heads = sorted(fitted.heads, key=lambda branch: weights[branch])
        weights |= {branch: max(weights[branch], _LEAST_WEIGHT) for branch in heads[-1:]}
        kept = {branch: weight for branch, weight in weights.items() if weight >= _LEAST_WEIGHT}
        used = {branch.space for branch in kept}
        spaces = {name: space.fitted for name, space in fitted.spaces.items() if name in ("H", *used)}
        model = FewLabels(
            self.metric, self.num_classes, spaces, fitted.spread,
            {branch: head for branch, head in fitted.heads.items() if branch in kept},
            {branch: judged[branch] for branch in kept if judged}, kept, fitted.spread,
        )  # fmt: skip
        answer = model.fuse(fitted.answers)
        return FewLabels(**{**vars(model), "answer": answer})


def _seen(own: FloatArray, hidden: Mapping[str, FloatArray], spread: FloatArray) -> dict[str, FloatArray]:
    """What the heads of each space see."""
    both = np.hstack([own, hidden["H"]]) / own.dtype.type(2**0.5)
    return {"X": own, "XH": both, "S": spread, **hidden}


def _say(
    branch: Branch, heads: Mapping[Branch, FloatArray], seen: Mapping[str, FloatArray], num_classes: int
) -> FloatArray:
    if branch.space == "S":
        return seen["S"]
    z = logits(seen[branch.space], heads[branch])
    return softmax(z) if num_classes else z


def _folds(label: IntArray) -> Iterator[IntArray]:
    """Places of the rows to leave out, fold by fold: each class is dealt out in turn, one with a single row never."""
    random, fold, dealt = np.random.RandomState(0), np.full(len(label), -1), 0
    sizes = np.bincount(label)
    count = min(_FOLDS, max(int(sizes[sizes > 0].min()), 2))
    for number, size in enumerate(sizes):
        if size > 1:
            members = random.permutation(np.flatnonzero(label == number))
            fold[members] = (dealt + np.arange(size)) % count
            dealt += size
    yield from (np.flatnonzero(fold == number) for number in range(count) if (fold == number).any())
