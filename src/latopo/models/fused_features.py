"""What the branches see that are trained apart: blocks of features, each computed once from the input and the graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from latopo.complex import CellComplex
from latopo.data.features import compact
from latopo.models.arrays import as_array
from latopo.models.settings import EntmaxPolygons
from latopo.nn.polygon_inference import LatentPolygons
from latopo.semi.cell_diffusion import diffuse_cells
from latopo.semi.diffusion import diffuse, diffusion_operator
from latopo.semi.latent_complex import latent_complex
from latopo.semi.metric import Embedded, Metric, Mixture, Numbers, Words, input_metric, unit_rows
from latopo.semi.space import FittedSpace, Space, build_space

__all__ = ["InputFeatures", "Seen", "blocks_of", "choose_metric", "see"]

FloatArray = NDArray[np.floating[Any]]

_RANK = 256
_GIVEN_STEPS = 2
_SPREAD = 0.5  # mean deviation of a block's columns
_SIZE_SPREAD = 2.0  # of one column beside hundreds
_LEAST_SIZE_SPREAD = 0.1  # a tenth more words or less tells nothing
_LEAST_SPREAD = 1e-6
_DEFAULT_SHARE = 0.5


def blocks_of(branch: str) -> tuple[str, ...]:
    """The blocks that a branch sees side by side; next to another one, own features come reduced.

    Example:
        >>> blocks_of("own"), blocks_of("own+latent")
        (('own',), ('reduced', 'latent'))
    """
    parts = branch.split("+")
    return tuple("reduced" if part == "own" and len(parts) > 1 else part for part in parts)


@dataclass(frozen=True)
class InputFeatures:
    """What new rows need to be seen as the fitted ones are.

    Attributes:
        metric: how rows are compared.
        space: the latent graph; None if no branch hears it.
        factor: of each block, by which its columns spread alike.
        size: of the fitted rows' logarithms of their numbers of words the mean, the least and the largest.
    """

    metric: Metric
    space: FittedSpace | None
    factor: dict[str, float]
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def own(self, x: Tensor) -> Tensor:
        """Words as they are, numbers standardised, [n, d]."""
        metric = self.metric
        if isinstance(metric, Words):
            return compact(x)
        if isinstance(metric, Numbers):
            return torch.from_numpy(metric.embed(as_array(x)).own).to(x.device, x.dtype)
        dense = x.to_dense() if x.layout == torch.sparse_csr else x
        is_word = torch.from_numpy(metric.is_word)
        numbers = torch.from_numpy(metric.numbers.embed(as_array(dense[:, ~is_word])).own).to(x.device, x.dtype)
        return torch.cat([dense[:, is_word], numbers], dim=1)

    def sizes(self, rows: Embedded) -> FloatArray:
        """Centred logarithm of the number of words of each row, [n, 1]: as far as the fitted ones go, and no farther.

        No column where rows are not words.
        """
        mean, least, largest = self.size
        return _log_size(rows, self.metric).clip(least, largest) - np.float32(mean)

    def join(self, x: Tensor, branches: Sequence[str]) -> tuple[dict[str, Tensor], Any]:
        """What branches that hear no given graph see of new rows, and whom these choose, sparse [q, n]."""
        rows, chosen = self.metric.embed(as_array(x)), None
        blocks: dict[str, FloatArray] = {"reduced": rows.own, "size": self.sizes(rows)}
        if self.space is not None:
            blocks["latent"], chosen = self.space.join(rows)
        return _side_by_side(self, branches, blocks, x), chosen


class Seen(NamedTuple):
    """What the branches see of the fitted rows.

    Attributes:
        fitted: what is kept for new rows.
        branches: branch → features, [n, width].
        complex: the latent graph, with polygons if they were asked for; None if no branch hears it.
        polygons: the statistics behind the polygons.
    """

    fitted: InputFeatures
    branches: dict[str, Tensor]
    complex: CellComplex | None
    polygons: LatentPolygons | None


def see(
    x: Tensor, edges: Tensor | None, branches: Sequence[str], degree: int | None, polygons: EntmaxPolygons | None
) -> Seen:
    """Compute what the branches see.

    Args:
        x: [n, d], dense or sparse CSR, as it is.
        edges: the given graph, each undirected edge once, [2, E]; needed by the branches that hear it.
        branches: names, see :class:`~latopo.models.fused_settings.FusedSettings`.
        degree: neighbours per row of the latent graph; by default the metric's.
        polygons: how polygons are chosen; None for none.
    """
    wanted = {block for branch in branches for block in blocks_of(branch)}
    array = as_array(x)
    metric = choose_metric(array)
    rows = metric.embed(array)
    log_size = _log_size(rows, metric)
    size = (float(log_size.mean()), float(log_size.min()), float(log_size.max())) if log_size.size else (0.0, 0.0, 0.0)
    blocks: dict[str, FloatArray] = {"reduced": rows.own, "size": log_size - np.float32(size[0])}
    space: Space | None = None
    cells, found = None, None
    if wanted & {"latent", "cells"}:
        space = build_space(metric, rows, degree or metric.degree)
        cells, found = _complex(space, rows, polygons)
        blocks["latent"] = space.hidden
    if "cells" in wanted and cells is not None:
        heard = diffuse_cells(cells, torch.from_numpy(rows.raw.astype(np.float32))).numpy()
        blocks["cells"] = np.hstack([blocks["latent"], _normalised(heard, metric)])
    if edges is not None and wanted & {"given", "adjacency"}:
        adjacency = _adjacency(edges, len(rows.raw))
        blocks["given"] = _given(adjacency, rows, metric)
        blocks["adjacency"] = _reduced(adjacency)
    factor = {name: _factor(name, block) for name, block in blocks.items() if name in wanted}
    fitted = InputFeatures(metric, None if space is None else space.fitted, factor, size)
    return Seen(fitted, _side_by_side(fitted, branches, blocks, x), cells, found)


def choose_metric(x: Any) -> Metric:
    """That of the input, where 0/1 columns beside words are words too: common ones, not categories.

    Example:
        >>> x = np.random.RandomState(0).rand(40, 60) < np.r_[0.9, np.full(59, 0.1)]
        >>> input_metric(x.astype(float)).kind, choose_metric(x.astype(float)).kind
        ('mixture', 'words')
    """
    metric = input_metric(x)
    if not isinstance(metric, Mixture):
        return metric
    others = sparse.csc_array(x)[:, ~metric.is_word].data
    return Words.fit(x) if np.isin(others, (0, 1)).all() else metric


def _side_by_side(
    fitted: InputFeatures, branches: Sequence[str], blocks: dict[str, FloatArray], x: Tensor
) -> dict[str, Tensor]:
    """The features of each branch, in the precision of x."""
    own = fitted.own(x)
    found = {}
    for branch in branches:
        if branch in ("own", "convolved"):
            found[branch] = own
            continue
        parts = [fitted.factor[name] * blocks[name] for name in blocks_of(branch)]
        found[branch] = torch.from_numpy(np.hstack(parts)).to(x.device, x.dtype)
    return found


def _complex(
    space: Space, rows: Embedded, polygons: EntmaxPolygons | None
) -> tuple[CellComplex, LatentPolygons | None]:
    if polygons is None:
        return latent_complex(space.graph, rows.raw, 0, _DEFAULT_SHARE, 1)
    share = _DEFAULT_SHARE if polygons.polygon_share is None else polygons.polygon_share
    return latent_complex(space.graph, rows.raw, polygons.max_length, share, polygons.candidate_budget)


def _adjacency(edges: Tensor, count: int) -> Any:
    start, end = edges.cpu().numpy()
    ones = np.ones(2 * len(start), np.float32)
    return sparse.csr_array((ones, (np.r_[start, end], np.r_[end, start])), shape=(count, count))


def _given(adjacency: Any, rows: Embedded, metric: Metric) -> FloatArray:
    """Features diffused a few steps over the given graph."""
    signal = rows.raw if metric.directional else rows.own
    return _normalised(diffuse(diffusion_operator(adjacency, 1.0), signal, _GIVEN_STEPS), metric)


def _normalised(diffused: FloatArray, metric: Metric) -> FloatArray:
    centred = diffused - diffused.mean(axis=0)
    return unit_rows(centred) if metric.directional else centred


def _reduced(adjacency: Any) -> FloatArray:
    """Rows of the adjacency by their first singular directions, centred, of unit length."""
    from sklearn.decomposition import TruncatedSVD

    rank = max(min(_RANK, adjacency.shape[0] - 1), 1)
    if not adjacency.nnz:
        return np.zeros((adjacency.shape[0], 1), np.float32)
    reduced = TruncatedSVD(rank, random_state=0, n_iter=5).fit_transform(adjacency)
    return unit_rows(reduced - reduced.mean(axis=0))


def _log_size(rows: Embedded, metric: Metric) -> FloatArray:
    """Logarithm of the number of words of each row, [n, 1]; no column where rows are not words."""
    if not isinstance(metric, Words):
        return np.zeros((len(rows.raw), 0), np.float32)
    return np.log1p(np.diff(rows.points.indptr))[:, None].astype(np.float32)


def _factor(name: str, block: FloatArray) -> float:
    """0 where nothing varies: what new rows have of it was never learned from."""
    found = block.std(axis=0).mean() if block.size else 0.0
    if found <= _LEAST_SPREAD:
        return 0.0
    return float(_SIZE_SPREAD / max(found, _LEAST_SIZE_SPREAD) if name == "size" else _SPREAD / found)
