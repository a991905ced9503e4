"""How rows are compared before anything is learned: words, numbers (categories one-hot), or both.

A metric is fitted to all rows, labelled or not, and puts new rows where the fitted ones are. Each names what goes with
it: ``degree`` of the latent graph, whether features are ``directional`` (of unit length), and the ``sharpness`` with
which branches are weighed.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from latopo.semi.dependence import dependent_columns

__all__ = ["Embedded", "Metric", "Mixture", "Numbers", "Words", "input_metric", "unit_rows"]

FloatArray = NDArray[np.floating[Any]]

_RANK = 256
# What counts as words: so many columns, each of them empty in a third of the rows, and so few entries overall.
_LEAST_WORDS, _MOST_FILLED, _MOST_DENSE = 50, 2 / 3, 0.2


class Embedded(NamedTuple):
    """Rows as the recipe needs them.

    Attributes:
        points: where neighbours are looked for, [n, p], dense or sparse CSR.
        own: what a head sees of the row itself, [n, q].
        raw: what is diffused, [n, r].
    """

    points: Any
    own: FloatArray
    raw: FloatArray


def unit_rows(x: FloatArray) -> FloatArray:
    """Rows divided by their length; zero rows stay.

    Example:
        >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
        [[0.6, 0.8], [0.0, 0.0]]
    """
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


@dataclass(frozen=True)
class Words:
    r"""Counts or presence of words: unit rows of :math:`[x > 0]\sqrt{\mathrm{idf}}`, compared by the inner product.

    With :math:`\mathrm{idf} = \log(n / (1 + n_{word}))`, at least 0. Heads see the first 256 singular directions.

    Attributes:
        weight: √idf of each word, [d].
        directions: [d, r].
        center: mean of the projected rows, [r].

    Example:
        >>> x = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
        >>> words = Words.fit(x)
        >>> points = words.embed(x).points
        >>> (points @ points.T).toarray()[0].round(2)
        array([1.  , 0.32, 0.32, 0.  , 0.  , 0.  ], dtype=float32)
    """

    kind: ClassVar[str] = "words"
    similarity: ClassVar[Literal["inner"]] = "inner"
    degree: ClassVar[int] = 30
    directional: ClassVar[bool] = True
    sharpness: ClassVar[float] = 0.5

    weight: FloatArray
    directions: FloatArray
    center: FloatArray

    @classmethod
    def fit(cls, x: Any) -> "Words":
        """From counts [n, d], dense or sparse, of any positive scale."""
        from sklearn.decomposition import TruncatedSVD

        present = _presence(x)
        count = np.asarray(present.sum(axis=0)).ravel()
        weight = np.sqrt(np.maximum(np.log(present.shape[0] / (1 + count)), 0)).astype(np.float32)
        points = _unit_sparse(present, weight)
        rank = max(min(_RANK, min(points.shape) - 1), 1)
        svd = TruncatedSVD(rank, random_state=0, n_iter=5).fit(points)
        directions = np.ascontiguousarray(svd.components_.T, np.float32)
        return cls(weight, directions, (points @ directions).mean(axis=0))

    def embed(self, x: Any) -> Embedded:
        """Rows, fitted or new."""
        points = _unit_sparse(_presence(x, self.weight.dtype), self.weight)
        raw = points @ self.directions
        return Embedded(points, unit_rows(raw - self.center), raw)


@dataclass(frozen=True)
class Numbers:
    """Numbers, and categories as 0/1 columns: standardised, compared by minus the Euclidean distance.

    Neighbours are looked for over the columns that depend on another one (:mod:`latopo.semi.dependence`): noise beside
    the structure would drown it. Heads see all columns.

    Attributes:
        mean, factor: [d]; a constant column has factor 0.
        kept: which columns make neighbours, bool [d].

    Example:
        >>> Numbers.fit(np.array([[1.0, 5.0], [3.0, 5.0]])).embed(np.array([[4.0, 5.0]])).own.tolist()
        [[2.0, 0.0]]
    """

    kind: ClassVar[str] = "numbers"
    similarity: ClassVar[Literal["euclidean"]] = "euclidean"
    degree: ClassVar[int] = 20
    directional: ClassVar[bool] = False
    sharpness: ClassVar[float] = 1.5

    mean: FloatArray
    factor: FloatArray
    kept: NDArray[np.bool_]

    @classmethod
    def fit(cls, x: Any) -> "Numbers":
        """From values [n, d], dense or sparse."""
        values = _dense(x)
        mean, deviation = values.mean(axis=0), values.std(axis=0)
        rounding = 16 * np.finfo(np.float64).eps * np.abs(values).max(axis=0, initial=0.0)
        factor = np.where(deviation > rounding, 1 / np.where(deviation > rounding, deviation, 1.0), 0.0)
        return cls(mean, factor, dependent_columns((values - mean) * factor))

    def embed(self, x: Any) -> Embedded:
        """Rows, fitted or new."""
        own = (_dense(x) - self.mean) * self.factor
        return Embedded(own[:, self.kept], own, own[:, self.kept])


@dataclass(frozen=True)
class Mixture:
    """Words beside numbers: both blocks brought to a mean squared length of 1, then the Euclidean distance.

    Attributes:
        is_word: which columns are words, bool [d].
        words, numbers: their metrics.
        scale: length of the numbers' points and of their raw features, [2].
    """

    kind: ClassVar[str] = "mixture"
    similarity: ClassVar[Literal["euclidean"]] = "euclidean"
    degree: ClassVar[int] = 20
    directional: ClassVar[bool] = False
    sharpness: ClassVar[float] = 1.5

    is_word: NDArray[np.bool_]
    words: Words
    numbers: Numbers
    scale: FloatArray

    @classmethod
    def fit(cls, x: Any, is_word: NDArray[np.bool_]) -> "Mixture":
        """From rows [n, d] of which some columns are words."""
        table = sparse.csc_array(x)
        words, numbers = Words.fit(table[:, is_word]), Numbers.fit(table[:, ~is_word])
        found = numbers.embed(table[:, ~is_word])
        lengths = [np.sqrt(max((part**2).sum(axis=1).mean(), 1e-12)) for part in (found.points, found.raw)]
        return cls(is_word, words, numbers, np.array(lengths))

    def embed(self, x: Any) -> Embedded:
        """Rows, fitted or new."""
        table = sparse.csc_array(x)
        words, numbers = self.words.embed(table[:, self.is_word]), self.numbers.embed(table[:, ~self.is_word])
        return Embedded(
            np.hstack([words.raw, numbers.points / self.scale[0]]),
            np.hstack([words.own, numbers.own]),
            np.hstack([words.raw, numbers.raw / self.scale[1]]),
        )


Metric = Words | Numbers | Mixture


def input_metric(x: Any) -> Metric:
    """The metric that suits the rows x [n, d], by what the columns hold.

    Columns without a negative entry that are empty in a third of the rows or more are words, if there are at least 50
    of them and at most a fifth of their entries are set; all others are numbers.

    Example:
        >>> type(input_metric(np.random.RandomState(0).randn(20, 3))).__name__
        'Numbers'
    """
    table = sparse.csc_array(x)
    table.eliminate_zeros()
    filled = np.diff(table.indptr)
    smallest = np.asarray(table.min(axis=0).todense()).ravel()
    is_word = (smallest >= 0) & (filled <= _MOST_FILLED * table.shape[0])
    entries = filled[is_word].sum()
    if is_word.sum() < _LEAST_WORDS or entries > _MOST_DENSE * is_word.sum() * table.shape[0]:
        return Numbers.fit(x)
    return Words.fit(x) if is_word.all() else Mixture.fit(x, is_word)


def _dense(x: Any) -> NDArray[np.float64]:
    return np.asarray(x.toarray() if sparse.issparse(x) else x, np.float64)


def _presence(x: Any, dtype: Any = np.float32) -> Any:
    found = sparse.csr_array(x)
    return sparse.csr_array((found > 0).astype(dtype))


def _unit_sparse(present: Any, weight: FloatArray) -> Any:
    """Weighted presence in unit rows, sparse."""
    weighed = present.multiply(weight[None, :]).tocsr()
    length = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
    inverse = np.divide(1, length, out=np.zeros_like(length), where=length > 0)
    return sparse.csr_array(weighed.multiply(inverse[:, None]).tocsr())
