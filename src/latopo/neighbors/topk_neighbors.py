"""The sampler of the DGM: a fixed number of neighbours by the Gumbel top-k trick."""

from threading import Event, Lock

import numpy as np
import numpy.typing as npt
import torch
from torch import Generator, Tensor

from latopo._arguments import AtLeastOne, checked
from latopo._compile import uncompiled
from latopo._parallel import map_blocks, row_blocks
from latopo._precision import widen
from latopo.errors import LatopoError
from latopo.neighbors import _topk, fused
from latopo.neighbors._kernels import IntArray
from latopo.neighbors.entmax_neighbors import NeighborRows
from latopo.neighbors.paired import paired_similarity
from latopo.neighbors.shadow import Shadow, curved_points, flat_shadow
from latopo.neighbors.similarity import (
    Similarity,
    check_distance,
    check_points,
    check_positive,
    get_similarity,
)
from latopo.neighbors.topk_tree import TopKTree

__all__ = ["topk_neighbors"]

_BLOCK_ENTRIES = 2**21
_BLOCK_COORDINATES = 2**22  # of pairs
_TREE_FROM, _SHADOW_FROM = 8_192, 512  # points from which on a tree is tried: over them, or over a shadow
_LEAST = 20  # points for each that is chosen, at least
_SHARE = 0.2  # of the pairs; if more are near, comparing all is faster
_BLOCK_MOVES = 2**28  # of chosen columns, at worst: well under a second, and Ctrl-C waits for it


@uncompiled
@checked
def topk_neighbors(
    x: Tensor,
    k: AtLeastOne,
    temperature: float | Tensor = 1.0,
    similarity: str | Similarity = "euclidean",
    *,
    noise: bool = True,
    generator: Generator | None = None,
) -> NeighborRows:
    r"""k neighbours of every point, drawn without replacement with :math:`p_{ij} = \exp(-t\,d_{ij}^2)`.

    .. math::
        \mathcal{N}(i) = \operatorname{topk}_{j \neq i}\left(\ell_{ij} + g_{ij}\right), \qquad
        \ell_{ij} = -t\, z_{ij}^2, \quad g_{ij} \sim \mathrm{Gumbel}(0, 1)

    for a similarity z that is minus a distance. In the result, ``prob`` is the DGM's unnormalised probability
    :math:`\exp(\ell_{ij})` and ``score`` is :math:`\ell_{ij}`; both carry gradients.

    Args:
        x: points [N, d].
        k: neighbours per point; all other points if there are fewer.
        temperature: t > 0, a number or a scalar tensor.
        similarity: minus a distance, by name or as a module.
        noise: False gives the k nearest neighbours.
        generator: source of the noise; torch's global one by default.

    Example:
        >>> rows = topk_neighbors(torch.tensor([[0.0], [1.0], [3.0]]), k=1, noise=False)
        >>> rows.col.tolist(), rows.score.tolist()
        ([1, 0, 1], [-1.0, -1.0, -4.0])
    """
    measure = get_similarity(similarity)
    check_distance("topk_neighbors", measure)
    check_points("topk_neighbors", "x", x)
    check_positive("topk_neighbors", "temperature", temperature)
    dtype, x = x.dtype, widen(x)
    count = x.size(0)
    taken = max(min(k, count - 1), 0)
    ptr = torch.arange(count + 1, device=x.device) * taken
    col = torch.zeros(0, dtype=torch.int64, device=x.device)
    if taken:
        # Only the compiled choices need a seed; a generator of another device could not give one.
        seed = int(torch.randint(2**62, (), generator=generator)) if noise and x.device.type == "cpu" else 0
        with torch.no_grad():
            col = _Draw(x.detach(), measure, float(temperature), taken, noise, generator, np.uint64(seed))()
    row = torch.repeat_interleave(ptr.diff(), output_size=col.numel())
    score = -temperature * paired_similarity(x, x, row, col, measure).square()
    return NeighborRows(ptr, col, score.exp().to(dtype), score.to(dtype))


class _Budget:
    """A number of pairs that threads take from."""

    def __init__(self, left: int) -> None:
        self.left, self.lock = left, Lock()

    def take(self, count: int) -> bool:
        """Whether so many were left."""
        with self.lock:
            self.left -= count
            return self.left >= 0


class _Draw:
    """The columns that the points choose."""

    def __init__(
        self, x: Tensor, measure: Similarity, temperature: float, taken: int, noise: bool,
        generator: Generator | None, seed: np.uint64,
    ) -> None:  # fmt: skip
        self.x, self.measure, self.temperature, self.taken = x, measure, temperature, taken
        self.noise, self.generator, self.seed = noise, generator, seed
        self.compiled = x.device.type == "cpu"
        self.fused = fused.supports(measure, x)

    def __call__(self) -> Tensor:
        """Chosen columns, ascending within each row, [N k]."""
        near = self._choose_by_tree()
        if near is not None:
            return torch.from_numpy(near).flatten()
        choose = self._choose_by_kernel if self.compiled else self._choose_by_torch
        return torch.cat([choose(*block) for block in row_blocks(len(self.x), max(_BLOCK_ENTRIES // len(self.x), 1))])

    def _choose_by_tree(self) -> IntArray | None:
        """The same choice as over all pairs; None where the tree would not be faster."""
        if not self.compiled or len(self.x) < max(_TREE_FROM if self.fused else _SHADOW_FROM, _LEAST * self.taken):
            return None
        limits = torch.finfo(self.x.dtype)
        shadow = Shadow(self.x, 0.0) if self.fused else flat_shadow(self.measure, self.x)
        # A rate that vanishes in the points' precision, or is infinite, ties all pairs.
        if shadow is None or not TopKTree.serves(shadow.points) or not limits.tiny <= self.temperature <= limits.max:
            return None
        tree = TopKTree(shadow.points, self.temperature, self.seed if self.noise else None)
        return tree.choose(self.taken, _SHARE) if self.fused else self._choose_by_bound(tree, shadow.room)

    def _choose_by_bound(self, tree: TopKTree, room: float) -> IntArray | None:
        """The similarity is taken only of pairs that can be among the chosen ones, as far as rounding lets one see."""
        curved = curved_points(self.measure, self.x[torch.from_numpy(tree.tree.order)])
        if curved is None:
            return None
        chosen, given_up = np.empty((len(self.x), self.taken), np.int64), Event()
        budget = _Budget(int(_SHARE * len(chosen) ** 2))

        def block(first: int, last: int) -> None:
            if given_up.is_set():
                return
            rows, sizes, col = tree.candidates(first, last, self.taken, curved, room)
            if (sizes < self.taken).any() or not budget.take(col.size):
                given_up.set()
                return
            best = np.empty((len(rows), self.taken), np.int64)
            _topk.choose_among(self._values(rows.repeat(sizes), col), col, sizes, best)
            chosen[rows] = best

        map_blocks(block, tree.leaves, tree.block)
        return None if given_up.is_set() else chosen

    @torch.no_grad()  # said here: threads of their own do not know what their caller said
    def _values(self, row: IntArray, col: IntArray) -> npt.NDArray[np.float64]:
        """Scores, with their noise, of these pairs.

        Those that all pairs would have, but for a last digit where torch computes the end of a vector otherwise.
        """
        size = max(_BLOCK_COORDINATES // self.x.size(1), 1)
        parts = zip(*(torch.from_numpy(ids).split(size) for ids in (row, col)), strict=True)
        # Each pair as two sets of one point.
        pairs = [self.measure.pairwise(self.x[i][:, None], self.x[j][:, None]).flatten() for i, j in parts]
        values = torch.cat(pairs).square_().mul_(-self.temperature).double().numpy()
        if self.noise:
            _topk.add_noise(values, row, col, len(self.x), self.seed)
        return values

    def _choose_by_kernel(self, start: int, stop: int) -> Tensor:
        """The choice of the points ``start`` to ``stop`` (excluded) among all."""
        pair = self.x[start:stop], self.x
        similarity = fused.all_pairs(*pair, self.measure) if self.fused else self.measure.pairwise(*pair)
        if not similarity.is_floating_point():
            name = type(self.measure).__name__
            raise LatopoError(f"topk_neighbors: {name} gives {similarity.dtype}, expected floating point numbers")
        values = similarity.resolve_neg().numpy()
        chosen = np.empty((len(values), self.taken), np.int64)
        for first, last in row_blocks(len(values), _BLOCK_MOVES // (values.shape[1] * self.taken)):
            part = slice(first, last)
            _topk.choose_rows(
                values[part], self.temperature, start + first, self.taken, self.noise, self.seed, chosen[part]
            )
        return torch.from_numpy(chosen).flatten()

    def _choose_by_torch(self, start: int, stop: int) -> Tensor:
        scores = self.measure.pairwise(self.x[start:stop], self.x).square().mul_(-self.temperature)
        if self.noise:
            # Minus the logarithm of an exponential variable is a Gumbel variable.
            scores -= torch.empty_like(scores).exponential_(generator=self.generator).log_()
        rows = torch.arange(len(scores), device=scores.device)
        scores[rows, rows + start] = -torch.inf
        return scores.topk(self.taken, dim=1).indices.sort(dim=1).values.flatten()
