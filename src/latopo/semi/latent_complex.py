"""The latent graph of the input as a complex, with polygons among its cycles."""

import numpy as np
import torch
from numpy.typing import NDArray

from latopo.complex import CellComplex
from latopo.nn.polygon_inference import LatentPolygons, PolygonInference
from latopo.semi.latent_rows import LatentRows, edges_of

__all__ = ["latent_complex"]


@torch.no_grad()
def latent_complex(
    graph: LatentRows, raw: NDArray[np.floating], max_length: int, polygon_share: float, candidate_budget: int
) -> tuple[CellComplex, LatentPolygons | None]:
    """Nodes, the graph's edges with their probabilities, and a share of its induced cycles as polygons.

    Args:
        graph: the latent rows.
        raw: features that score the cycles, [n, r].
        max_length: longest polygon; below 3 there are none, and the second answer is None.
        polygon_share: share of the candidates that become polygons.
        candidate_budget: most candidates.

    Example:
        >>> from latopo.semi import latent_rows
        >>> x = np.random.RandomState(0).randn(60, 2)
        >>> cells, found = latent_complex(latent_rows(x, "euclidean", 5), x, 3, 0.5, 1000)
        >>> cells.num_nodes, list(cells.polygons), cells.num_polygons > 0
        (60, [3], True)
    """
    edges, prob = (torch.from_numpy(part) for part in edges_of(graph.rows))
    prob, count = prob.double(), len(raw)
    if max_length < 3:
        return CellComplex.from_canonical(count, edges, None, prob), None
    choose = PolygonInference(
        max_length, polygon_share=polygon_share, candidate_budget=candidate_budget, learn_alpha=False
    )
    found = choose.eval()(torch.from_numpy(raw.astype(np.float64)), edges)
    return CellComplex.from_canonical(count, edges, found.polygons, prob, found.prob), found
