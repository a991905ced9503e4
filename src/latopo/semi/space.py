"""Rows on their latent graph: where new rows enter it, and what diffusion makes of their features."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo.semi.diffusion import RESTART, diffuse, diffusion_operator
from latopo.semi.latent_rows import LatentRows, join_rows, latent_rows
from latopo.semi.metric import Embedded, Metric, unit_rows

__all__ = ["FittedSpace", "Space", "build_space"]

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class FittedSpace:
    """What new rows need of a space.

    Attributes:
        points: of the fitted rows, [n, p], dense or sparse.
        similarity: between points.
        gain, degree: of the latent graph.
        diffused: diffused features of the fitted rows, [n, r].
        center: their mean, [r].
        scale: one number for the size of their spread; 0 where rows are brought to unit length.
        stretch: factors of the points' columns, if they were learned, [p].
    """

    points: Any
    similarity: str
    gain: float
    degree: int
    diffused: FloatArray
    center: FloatArray
    scale: float
    stretch: FloatArray | None = None

    def normalise(self, diffused: FloatArray) -> FloatArray:
        """What a head sees of diffused features."""
        centred = diffused - self.center
        return centred / self.scale if self.scale else unit_rows(centred)

    def join(self, rows: Embedded) -> tuple[FloatArray, Any]:
        """Features of new rows as a head sees them [q, r], and their choice among the fitted rows, sparse [q, n].

        A new row takes the step that the fitted ones took last: it hears its neighbours' diffused features and itself.
        """
        points = rows.points if self.stretch is None else stretched(rows.points, self.stretch)
        chosen = join_rows(points, self.points, self.similarity, self.gain, self.degree)
        raw, loop = rows.raw.astype(np.float64), 1 / self.degree
        heard = (chosen @ self.diffused.astype(np.float64) + loop * raw) / (1 + loop)
        return self.normalise((1 - RESTART) * heard + RESTART * raw), chosen


class Space(NamedTuple):
    """A space with what learning needs besides: the graph, its operator and the features of all rows.

    Attributes:
        fitted: what is kept.
        graph: the latent rows.
        operator: of the diffusion, sparse [n, n].
        hidden: normalised diffused features, [n, r].
    """

    fitted: FittedSpace
    graph: LatentRows
    operator: Any
    hidden: FloatArray


def build_space(metric: Metric, rows: Embedded, degree: int, stretch: FloatArray | None = None) -> Space:
    """The latent graph of all rows, and their features diffused over it.

    Example:
        >>> from latopo.semi.metric import Numbers
        >>> x = np.random.RandomState(0).randn(60, 2)
        >>> metric = Numbers.fit(x)
        >>> build_space(metric, metric.embed(x), degree=5).hidden.shape
        (60, 2)
    """
    points = rows.points if stretch is None else stretched(rows.points, stretch)
    graph = latent_rows(points, metric.similarity, degree)
    operator = diffusion_operator(graph.rows, 1 / graph.degree)
    diffused = diffuse(operator, rows.raw)
    center = diffused.mean(axis=0)
    scale = 0.0 if metric.directional else float((diffused - center).std(axis=0).mean()) or 1.0
    fitted = FittedSpace(points, metric.similarity, graph.gain, graph.degree, diffused, center, scale, stretch)
    return Space(fitted, graph, operator, fitted.normalise(diffused))


def stretched(points: Any, factors: FloatArray) -> Any:
    """Columns of dense or sparse points times factors."""
    return points * factors if isinstance(points, np.ndarray) else points.multiply(factors[None, :]).tocsr()
