"""The numbers that describe an inferred complex during training; no homology, nothing costly."""

import math
from typing import Any

import torch
from torch import Tensor

from latopo.models import Model, ModelOutput

__all__ = ["MEASURES", "kept_share", "measure"]

MEASURES = (
    "mean_degree",
    "num_edges",
    "num_polygons",
    "num_candidates",
    "kept_share",
    "train_homophily",
    "polygon_gain",
)


@torch.no_grad()
def measure(model: Model, output: ModelOutput, train_labels: Tensor | None = None) -> dict[str, Any]:
    """Size of the inferred complex, None where there is none, and the model's own facts.

    ``train_homophily`` is the share of edges between equal labels among the edges between *training* nodes: the only
    homophily that may be looked at before the test.
    """
    found: dict[str, Any] = {**dict.fromkeys(MEASURES), **model.facts()}
    cells, polygons = output.complex, output.polygons
    if cells is None:
        return found
    found |= {
        "mean_degree": 2 * cells.num_edges / max(cells.num_nodes, 1),
        "num_edges": cells.num_edges,
        "num_polygons": cells.num_polygons,
        "kept_share": kept_share(output),
    }
    if polygons is not None:
        gain = None if polygons.prob is None else polygons.gain
        found |= {"num_candidates": polygons.num_candidates, "polygon_gain": gain}
    if train_labels is not None:
        homophily = cells.edge_homophily(train_labels, unlabelled=-1)
        found["train_homophily"] = None if math.isnan(homophily) else homophily
    return found


def kept_share(output: ModelOutput) -> float | None:
    """Polygons as a share of the candidate cycles that were scored; None if there were none."""
    if output.complex is None or output.polygons is None or output.polygons.num_scored == 0:
        return None
    return output.complex.num_polygons / output.polygons.num_scored
