"""Classification of table rows on a learned cell complex."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from latopo.errors import LatopoError
from latopo.estimators.base import DCMEstimator
from latopo.estimators.weighting import class_weights, row_weights

__all__ = ["DCMClassifier", "class_targets"]


@dataclass(eq=False, repr=False)
class DCMClassifier(ClassifierMixin, DCMEstimator):
    """Classifier that learns a cell complex over the training rows and lets every new row join it.

    Training infers edges between similar rows and polygons among them, passes messages on both and learns all of it
    from the labels. A row to predict joins the fitted complex on its own: it chooses anchors
    among the training rows and closes polygons with them, and hears them without being heard. So ``predict(X)[i]`` does
    not depend on the other rows; and predicting a training row again need not give its ``transduction_``, in which the
    row was part of the complex.

    There is no ``warm_start``: a fit on other rows is another complex.

    Args:
        max_length: longest polygon; below 3 there are none.
        model: a name of :data:`latopo.models.SYSTEMS`; ``"auto"``: with unlabelled rows ``alpha-diffusion``, the recipe
            for few labels; with a given graph ``dcm-judged``, which finds out how far to rely on it; else ``dcm-plus``.
            What a system does not have (``degree`` of an ``mlp``) is not used.
        degree: neighbours that a row chooses on average; ``"auto"``: 3 to begin with, the gain being set for it from
            the features alone; for ``alpha-diffusion`` 10, or 30 among words.
        hidden_channels: width of all hidden layers; ``"auto"``: 32, or 64 from 1,000 labelled rows on.
        dropout: before message passing and before the head.
        learning_rate: of Adam.
        weight_decay: of Adam; ``"auto"``: 15 / labelled rows, at most 0.03.
        max_epochs: most epochs; each is one step on all rows.
        early_stopping: whether a part of the labelled rows is kept from training and chooses the epoch; ``"auto"``:
            from 10,000 labelled rows on. Without it, all epochs are done, and the one with the best score on the
            training rows is kept.
        validation_fraction: that part.
        patience: evaluations (one every third epoch) without progress after which training stops.
        search: how neighbours are found: ``"exact"`` compares all pairs of rows; ``"certified"`` searches, with a proof
            for every row, by row statistics of 512 sampled rows; ``"approximate"`` takes near ones without a proof,
            and measures the share that it finds. ``"auto"``: exact up to 10,000 rows, approximate from 30,000 on.
            Queries are always answered exactly.
        bins: above 0, a number enters not only as it is, but by its place in so many quantile bins as well: the model
            can bend at values, as trees do. ``"auto"``: 0 or 8, by a small inner cross-validation, which ``verbose``
            prints with its time. Sparse matrices, and rows with a given graph, have none.
        max_anchors: with more rows than this (at least 2), a random part of them makes the complex and the others are
            not used, as all rows make it without a limit (None). ``"auto"``: 100,000.
        unlabelled: the value of ``y`` that means "no label", such as −1. Such rows take part in the topology, and the
            recipe for few labels learns from them. By default every value is a class.
        random_state: seed, ``RandomState`` or None.
        device: where training runs: ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"``. Queries run in float64
            on the CPU.
        verbose: 1 prints the expected time and a progress bar.
        class_weight: how much the rows of a class count: None (all alike), ``"balanced"`` (each class as much as any
            other), or a dictionary from classes to weights.

    Attributes:
        classes_: the classes.
        complex_: the fitted :class:`~latopo.CellComplex`; its nodes are the training rows ``anchor_rows_``.
        edge_probabilities_: probability of each of its edges, [E].
        transduction_: class of every training row, labelled or not, within the complex.
        label_distributions_: probability of each class for every training row, within the complex, [N, classes].
        anchor_rows_: numbers of the training rows in the complex: all, unless ``max_anchors`` cut them.
        history_: one dictionary per epoch.
        best_epoch_: the epoch whose weights were kept.
        bins_: how many bins a column has at most, 0 for none.
        n_features_in_, feature_names_in_: as in scikit-learn.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = DCMClassifier(random_state=0, max_epochs=40).fit(X[::2], y[::2])
        >>> bool(classifier.score(X[1::2], y[1::2]) > 0.9)
        True
    """

    _: KW_ONLY
    class_weight: Any = None

    def fit(self, X: Any, y: Any, edge_index: Any = None, sample_weight: Any = None) -> "DCMClassifier":
        """Learn the complex and the classes.

        Equal rows of one class are one node of the complex, which counts as often as they do.

        Args:
            X: features [N, d], an array, a data frame or a sparse matrix.
            y: classes [N], numbers or strings.
            edge_index: a given graph over the rows [2, E], if there is one; queries have no edges in it.
            sample_weight: how much each row counts in the loss [N]: 2 is like the row twice, 0 like no such row. What
                the weights sum to counts as the number of rows, so weights with the mean 1 are the usual ones.
        """
        X, y = self._checked(X, y, ensure_min_samples=2)
        y = column_or_1d(y, warn=True)
        name = type(self).__name__
        weights = row_weights(sample_weight, X)
        classes, target, labelled = class_targets(name, y, self.unlabelled)
        weights = class_weights(name, self.class_weight, classes, target, labelled, weights)
        if weights is not None and len(np.unique(target[labelled & (weights > 0)])) < 2:
            raise LatopoError(f"{name}: sample_weight or class_weight is zero for all classes but one; two must count")
        prediction = self._fit(X, target, labelled, len(classes), edge_index, weights)
        self.classes_ = classes
        self.label_distributions_ = softmax(prediction, axis=1)
        self.transduction_ = self.classes_[prediction.argmax(axis=1)]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row, [N, classes]."""
        return self._answers(X).prediction.softmax(dim=1).numpy()

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row, [N]."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_with_ties(self, X: Any) -> tuple[NDArray[np.float64], Any]:
        """:meth:`predict_proba` and :meth:`attachments` at once; the rows join the complex only once."""
        answer = self._answers(X)
        return answer.prediction.softmax(dim=1).numpy(), self._ties(answer)

    def tie_effects(self, X: Any) -> list[dict[int, NDArray[np.float64]]]:
        """What each row's probabilities become without each of its ties, and the polygons at it.

        Returns:
            for each row a dictionary from anchors (columns of :meth:`attachments`) to probabilities [classes].
        """
        return [
            dict(zip(anchors.tolist(), guesses.softmax(dim=1).numpy(), strict=True))
            for anchors, guesses in self._without_ties(X)
        ]


def class_targets(
    caller: str, y: NDArray[Any], unlabelled: Any
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.bool_]]:
    """The classes, every row's class number (0 where there is no label), and which rows have a label."""
    texts = y.dtype.kind in "US"
    if unlabelled is not None and y.dtype.kind != "O" and isinstance(unlabelled, str) != texts:
        kind = "texts" if texts else "numbers"
        raise LatopoError(f"{caller}: unlabelled={unlabelled!r} can be no entry of y, which holds {kind}")
    labelled = np.ones(len(y), bool) if unlabelled is None else np.asarray(y != unlabelled)
    if not labelled.any():
        raise LatopoError(f"{caller}: y has no label at all; at least two classes are needed")
    check_classification_targets(y[labelled])
    classes, numbers = np.unique(y[labelled], return_inverse=True)
    if len(classes) < 2:
        raise LatopoError(f"{caller}: y has one class, {classes[0]}; at least two are needed")
    target = np.zeros(len(y), np.int64)
    target[labelled] = numbers
    return classes, target, labelled
