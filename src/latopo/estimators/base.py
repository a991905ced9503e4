"""What the three estimators share: parameters, fitting, and queries that join the fitted complex."""

import sys
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from latopo._device import find_device
from latopo._parallel import row_blocks
from latopo.complex import CellComplex
from latopo.errors import LatopoError, TooManyCellsError
from latopo.estimators.choosing import choose_bins
from latopo.estimators.progress import epoch_progress, time_note
from latopo.estimators.scaling import Scaling
from latopo.estimators.splitting import interleaved, validation_split
from latopo.estimators.weighting import DistinctRows, distinct_rows
from latopo.models import SYSTEMS, Model, System, find_system
from latopo.models.branch_net import BranchNet
from latopo.models.branches import FittedLatent
from latopo.neighbors.search import Method
from latopo.nn.checks import simple_edges
from latopo.settings import checked_fields, names_of
from latopo.training import TrainingSettings, plain_torch, seeded, train

__all__ = ["DCMEstimator"]

FloatArray = NDArray[np.float64]

_CANDIDATES_PER_ROW = 10
_CANDIDATES = 50_000
_DEGREE = 3.0  # neighbours per row, unless they are named
_ENOUGH_TO_STOP = 10_000  # labelled rows
_MANY = 1_000  # labelled rows
_BLOCK = 2**12  # queries at a time
_TIED = 2**8  # queries at a time whose ties are taken away one by one
_ANSWERED = 2**16  # rows whose answers are held at a time
_MOST_ANCHORS = 100_000  # rows that make the complex at most, unless max_anchors says otherwise
_CERTIFIED, _APPROXIMATE = 10_000, 30_000  # rows up to which all pairs are compared, and neighbours are certified


class Answers(NamedTuple):
    """What queries get."""

    prediction: Tensor  # class scores or values, [Q, out]
    features: Tensor  # what the head saw, [Q, width]
    ptr: Tensor  # the anchors of query i are anchor[ptr[i]:ptr[i + 1]], [Q + 1]
    anchor: Tensor  # numbers of training rows, ascending for each query, [D]
    prob: Tensor  # probability with which the query chose the anchor, [D]


@dataclass(eq=False, repr=False)
class DCMEstimator(BaseEstimator):
    """Base class of the estimators; the parameters are described there, and checked when a fit begins."""

    max_length: int = field(default=4, metadata={"at_least": 0, "at_most": 1000})
    _few_labels: ClassVar[bool] = True  # whether unlabelled rows bring in the recipe for few labels
    _: KW_ONLY
    model: str = "auto"
    degree: float | Literal["auto"] = field(default="auto", metadata={"above": 0, "at_most": 1e6})
    hidden_channels: int | Literal["auto"] = field(default="auto", metadata={"at_least": 1, "at_most": 2**16})
    dropout: float = field(default=0.5, metadata={"at_least": 0, "below": 1})
    learning_rate: float = field(default=0.01, metadata={"above": 0, "at_most": 1e6})
    weight_decay: float | Literal["auto"] = field(default="auto", metadata={"at_least": 0, "at_most": 1e6})
    max_epochs: int = field(default=50, metadata={"at_least": 1, "at_most": 10**6})
    early_stopping: bool | Literal["auto"] = "auto"
    validation_fraction: float = field(default=0.1, metadata={"at_least": 0, "below": 1})
    patience: int = field(default=10, metadata={"at_least": 1})
    search: Method = "auto"
    bins: int | Literal["auto"] = field(default="auto", metadata={"at_least": 0, "at_most": 1000})
    max_anchors: int | Literal["auto"] | None = field(default="auto", metadata={"at_least": 2})
    unlabelled: Any = None
    random_state: Any = None
    device: str = "auto"
    verbose: int | bool = field(default=0, metadata={"at_least": 0})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @plain_torch()
    def _fit(
        self,
        X: Any,
        target: NDArray[Any],
        labelled: NDArray[np.bool_],
        num_classes: int,
        edge_index: Any,
        weights: FloatArray | None = None,
    ) -> Any:
        """Train on checked data and answer for every row; ``target``: classes from 0, or values (``num_classes`` 0)."""
        name = type(self).__name__
        self.__dict__.pop("_model", None)  # a fit that fails leaves no mixture of two
        random = self._check_parameters()
        seed = int(random.randint(2**31 - 1))
        edges = _edge_tensor(name, edge_index, X.shape[0])
        system = self._system(edges is not None, bool(labelled.all()), weights is not None)
        if system.model.solves and weights is not None:
            raise LatopoError(f"{name}: the model {self.model!r} takes no weights; choose another model")
        # A row of a given graph is a node whatever it equals, and a system that solves for its weights takes no others.
        nodes = self._nodes(X, target, labelled, weights, edges is not None or system.model.solves)
        chosen = self._chosen_nodes(labelled[nodes.rows], target[nodes.rows] if num_classes else None, random)
        self.anchor_rows_, weight = nodes.rows[chosen], nodes.weight[chosen]
        anchors, edges = X[self.anchor_rows_], _induced(edges, self.anchor_rows_, X.shape[0])
        target, labelled = target[self.anchor_rows_], labelled[self.anchor_rows_] & (weight > 0)
        index = np.flatnonzero(labelled)
        rows = float(weight[index].sum())  # a row of weight 2 is two rows
        # A system that solves for its weights compares the rows as they are.
        plain = system.model.solves or edges is not None or sparse.issparse(X)
        self.bins_ = 0 if plain else self._bins(anchors[index], target[index], num_classes, rows, seed)
        self._scaling = Scaling.none(X.shape[1]) if system.model.solves else Scaling.of(name, anchors, self.bins_)
        x = self._scaling.apply(anchors)
        fraction = self.validation_fraction if self._stops_early(rows) and not system.model.solves else 0.0
        parts = validation_split(index, target[index] if num_classes else None, fraction, random)
        with seeded(seed):
            model = self._build(system, x.size(0), rows, x.size(1), max(num_classes, 1), edges is not None)
        seen = x if model.solves else x.float()
        targets = torch.from_numpy(target), None if (weight == 1).all() else torch.from_numpy(weight)
        result = self._train(model, seen, *targets, edges, parts, num_classes, seed, rows)
        self.history_, self.best_epoch_ = result.history, result.best_epoch
        self.target_mean_, self.target_scale_ = result.target_mean, result.target_scale
        with torch.no_grad():
            output, fitted = model.cpu().double().eval().fit(x, edges)
        self._adopt(model, fitted, output.complex)
        if self.verbose and (found := model.search_report()) is not None:
            print(f"neighbours: {found}", file=sys.stderr)
        return self._all_rows(X, output.prediction, nodes.node)

    def _nodes(
        self, X: Any, target: NDArray[Any], labelled: NDArray[np.bool_], weights: FloatArray | None, each: bool
    ) -> DistinctRows:
        """The nodes that the rows become: ``each`` of them one, or equal rows together."""
        nodes = None if each else distinct_rows(X, target, labelled, weights)
        every = np.arange(X.shape[0])
        return nodes or DistinctRows(every, every, np.ones(len(every)) if weights is None else weights)

    def _check_parameters(self) -> np.random.RandomState:
        """Refuse bad parameters by name; returns the source of random numbers."""
        try:
            checked_fields(self)
            if self.model != "auto" and self.model not in SYSTEMS:
                raise LatopoError(f"model must be auto or one of {', '.join(SYSTEMS)}, got {self.model!r}")
        except LatopoError as error:
            raise LatopoError(f"{type(self).__name__}: {error}") from error
        try:
            return check_random_state(self.random_state)
        except ValueError as error:
            raise LatopoError(
                f"{type(self).__name__}: random_state must be a seed from 0 to 2**32 - 1, a RandomState or None, "
                f"got {self.random_state!r}"
            ) from error

    def _width(self, labelled: float) -> int:
        return (32 if labelled < _MANY else 64) if self.hidden_channels == "auto" else self.hidden_channels

    def _decay(self, labelled: float) -> float:
        # A prior weighs as much as a fixed number of rows: the more rows, the less it counts beside their mean loss.
        return min(0.03, 15 / labelled) if self.weight_decay == "auto" else self.weight_decay

    def _search(self, rows: int) -> Method:
        if self.search != "auto":
            return self.search
        if find_device(self.device).type != "cpu":
            return "exact"
        return "exact" if rows <= _CERTIFIED else "certified" if rows <= _APPROXIMATE else "approximate"

    def _bins(self, x: FloatArray, target: NDArray[Any], num_classes: int, labelled: float, seed: int) -> int:
        if self.bins != "auto":
            return self.bins
        choice = choose_bins(type(self).__name__, x, target, num_classes, self._decay(labelled), seed)
        if self.verbose:
            print(choice, file=sys.stderr)
        return choice.bins

    def _stops_early(self, labelled: float) -> bool:
        return labelled >= _ENOUGH_TO_STOP if self.early_stopping == "auto" else bool(self.early_stopping)

    def _chosen_nodes(
        self, labelled: NDArray[np.bool_], classes: NDArray[Any] | None, random: np.random.RandomState
    ) -> NDArray[np.int64]:
        """The nodes that make the complex: all, or a random part, labelled ones first, with each class its share."""
        most = _MOST_ANCHORS if self.max_anchors == "auto" else self.max_anchors
        if most is None or len(labelled) <= most:
            return np.arange(len(labelled))
        if self.verbose and self.max_anchors == "auto":
            print(
                f"{len(labelled):,} rows: a random {most:,} of them are fitted (max_anchors); the others are answered "
                "at the end, in time that is not part of the estimate; --max-anchors fits fewer",
                file=sys.stderr,
            )
        order = random.permutation(len(labelled))
        if classes is not None:
            order = interleaved(order, np.where(labelled, classes, -1))
        order = order[np.argsort(~labelled[order], kind="stable")]
        return np.sort(order[:most])

    def _all_rows(self, X: Any, prediction: Tensor, node: NDArray[np.int64]) -> FloatArray:
        """Predictions within the complex; rows that ``max_anchors`` or a weight of 0 left out are answered as queries.

        ``node``: the node of each row before ``max_anchors``, −1 for none.
        """
        answers = np.empty((X.shape[0], prediction.size(1)))
        number = np.full(X.shape[0] + 1, -1)
        number[node[self.anchor_rows_]] = np.arange(len(self.anchor_rows_))  # the last, −1, stays
        place = number[node]
        answers[place >= 0] = prediction.numpy()[place[place >= 0]]
        left = np.flatnonzero(place < 0)
        self._left_out = {
            "left_out_rows": int(((place < 0) & (node >= 0)).sum()), "weightless_rows": int((node < 0).sum())
        }  # fmt: skip
        for start, stop in row_blocks(left.size, _ANSWERED):
            answers[left[start:stop]] = self._join(X[left[start:stop]]).prediction.numpy()
        return answers

    def _system(self, graph: bool, all_labelled: bool, weighted: bool) -> System:
        """The named system; by default the one for a given graph, for few labels, or for labels everywhere."""
        if self.model != "auto":
            return find_system(self.model)
        if graph or all_labelled or weighted or not self._few_labels:
            return find_system("dcm-judged" if graph else "dcm-plus")
        return find_system("alpha-diffusion")

    def _build(
        self, system: System, rows: int, labelled: float, in_channels: int, out_channels: int, graph: bool
    ) -> Model:
        known = names_of(system.settings)
        changes: dict[str, Any] = {"hidden_channels": self._width(labelled), "dropout": self.dropout}
        changes = {name: value for name, value in changes.items() if name in known}
        if system.model.solves:
            changes |= {} if self.degree == "auto" else {"degree": max(round(self.degree), 1)}
            if "branch_epochs" in known:  # parts trained apart
                steps = {"branch_epochs": self.max_epochs, "branch_lr": self.learning_rate}
                changes |= steps | {"branch_patience": self.patience}
        elif "degree" in known:
            changes |= {"degree": _DEGREE if self.degree == "auto" else self.degree, "gain": None}
            changes["search"] = self._search(rows)
        if "max_length" in known:
            # The degree is held on average only, and a clique has cubes of its size in triangles: a few for each row
            # are enough, and keep the step's time and memory linear.
            budget = min(_CANDIDATES_PER_ROW * max(rows, 1), _CANDIDATES)
            changes |= {"max_length": self.max_length, "candidate_budget": budget}
        return system.build(in_channels, out_channels, graph, **changes)

    def _train(
        self,
        model: Model,
        x: Tensor,
        y: Tensor,
        weight: Tensor | None,
        edges: Tensor | None,
        parts: tuple[NDArray[np.int64], NDArray[np.int64]],
        num_classes: int,
        seed: int,
        labelled: float,
    ) -> Any:
        device = find_device(self.device)
        settings = TrainingSettings(
            epochs=int(self.max_epochs),
            lr=float(self.learning_rate),
            weight_decay=float(self._decay(labelled)),
            seed=seed,
            patience=int(self.patience) if self._stops_early(labelled) else None,
        )
        if self.verbose and not model.solves:
            print(time_note(model, x, edges, self.max_epochs), file=sys.stderr)
        model.to(device)
        rows, chosen = (torch.from_numpy(part).to(device) for part in parts)
        moved = None if edges is None else edges.to(device)
        label = "training score" if parts[0] is parts[1] else "validation score"
        with epoch_progress(1 if model.solves else int(self.max_epochs), bool(self.verbose), label) as on_epoch:
            return train(
                model, x.to(device), y.to(device), moved, rows, chosen, settings,
                num_classes=num_classes, weight=None if weight is None else weight.to(device), on_epoch=on_epoch,
            )  # fmt: skip

    def _adopt(self, model: Model, fitted: FittedLatent | None, cells: CellComplex | None) -> None:
        """Take over a trained model and its fitted complex, from a fit or from a file."""
        self._model, self._fitted = model, fitted
        if cells is None:  # the model infers nothing
            nobody, no_prob = torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0, dtype=torch.float64)
            cells = CellComplex(len(self.anchor_rows_), nobody, edge_prob=no_prob)
        self.complex_: CellComplex = cells if fitted is None else fitted.topology.complex
        prob = self.complex_.edge_prob
        assert prob is not None
        self.edge_probabilities_ = prob.numpy()

    def _checked(self, X: Any, *y: Any, **options: Any) -> Any:
        """Features, and a target if there is one, as numbers; texts are answered by what turns them into numbers."""
        try:
            return validate_data(self, X, *y, accept_sparse="csr", dtype=np.float64, **options)
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            raise LatopoError(
                f"{type(self).__name__}: X has texts ({error}), expected numbers; put a latopo.table.TableEncoder() "
                "before it, as in make_pipeline(TableEncoder(), ...)"
            ) from error

    def _answers(self, X: Any) -> Answers:
        check_is_fitted(self)
        return self._join(self._checked(X, reset=False))

    @plain_torch()
    def _join(self, X: Any) -> Answers:
        """Answers to all queries, put together from blocks; float64, so that no answer depends on the other rows."""
        parts = [self._scaling.apply(X[start:stop]) for start, stop in row_blocks(X.shape[0], _BLOCK)]
        blocks = [block for part in parts for block in self._blocks(part)]
        pointers = [blocks[0].ptr[:1]]
        for block in blocks:
            pointers.append(block.ptr[1:] + pointers[-1][-1])
        columns = [torch.cat(parts) for parts in zip(*blocks, strict=True)]
        return Answers(*columns)._replace(ptr=torch.cat(pointers))

    def _blocks(self, x: Tensor) -> list[Answers]:
        """The answers to queries together, or to each half of them if they choose too many anchors."""
        try:
            return [self._block(x)]
        except TooManyCellsError:
            if x.size(0) == 1:
                raise
        half = x.size(0) // 2
        return [*self._blocks(x[:half]), *self._blocks(x[half:])]

    @torch.no_grad()
    def _block(self, x: Tensor) -> Answers:
        output = self._model.join(x, self._fitted)
        if output.query is None:
            nobody = torch.zeros(x.size(0) + 1, dtype=torch.int64)
            return Answers(output.prediction, output.features, nobody, nobody[:0], output.prediction.new_zeros(0))
        return Answers(output.prediction, output.features, *output.query[:3])

    @plain_torch()
    @torch.no_grad()
    def _without_ties(self, X: Any) -> list[tuple[NDArray[np.int64], Tensor]]:
        """For each row, its anchors [D] and its raw predictions without each of them, [D, out]."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if self._fitted is None or not isinstance(self._model, BranchNet):
            raise LatopoError(f"{type(self).__name__}: the model infers no complex to join, so there are no ties")
        found: list[tuple[NDArray[np.int64], Tensor]] = []
        for start, stop in row_blocks(X.shape[0], _TIED):
            ptr, *columns = self._model.without_ties(self._scaling.apply(X[start:stop]), self._fitted)
            anchors, guesses = (column.split(ptr.diff().tolist()) for column in columns)
            found += [(anchor.numpy(), guess) for anchor, guess in zip(anchors, guesses, strict=True)]
        return found

    def attachments(self, X: Any) -> Any:
        """Which training rows each row of X was tied to, and how strongly.

        These are *similar rows*, by what the model has learned; they are not the reason of a prediction, which rests on
        the row's own features as well. What a prediction owes to a tie is in :meth:`tie_effects`.

        Returns:
            sparse CSR array [len(X), training rows]; a row's entries are its probabilities, which sum to 1.
        """
        return self._ties(self._answers(X))

    def _ties(self, answer: Answers) -> Any:
        shape = (answer.prediction.size(0), self.complex_.num_nodes)
        return sparse.csr_array((answer.prob.numpy(), answer.anchor.numpy(), answer.ptr.numpy()), shape=shape)


def _edge_tensor(name: str, edge_index: Any, count: int) -> Tensor | None:
    if edge_index is None:
        return None
    try:
        edges = torch.as_tensor(np.asarray(edge_index))
    except (TypeError, ValueError) as error:
        raise LatopoError(f"{name}: edge_index must be an integer array [2, E], got {edge_index!r}") from error
    return simple_edges(name, edges, count)


def _induced(edges: Tensor | None, rows: NDArray[np.int64], count: int) -> Tensor | None:
    """The edges between some of the rows, renumbered."""
    if edges is None or len(rows) == count:
        return edges
    number = torch.full((count,), -1)
    number[torch.from_numpy(rows)] = torch.arange(len(rows))
    edges = number[edges]
    return edges[:, (edges >= 0).all(dim=0)]
