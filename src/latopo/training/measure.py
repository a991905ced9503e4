"""The numbers that describe an inferred complex during training; no homology, nothing costly."""

import math
from typing import Any

import torch
from torch import Tensor

from latopo.entmax import LearnableAlpha
from latopo.models import Model, ModelOutput
from latopo.nn import AlphaDGM, PolygonInference

__all__ = ["MEASURES", "kept_share", "measure"]

MEASURES = (
    "mean_degree",
    "num_edges",
    "num_polygons",
    "num_candidates",
    "kept_share",
    "train_homophily",
    "alpha",
    "gain",
    "polygon_alpha",
    "polygon_gain",
    "trust_own",
    "trust_given",
    "trust_complex",
)


@torch.no_grad()
def measure(model: Model, output: ModelOutput, train_labels: Tensor | None = None) -> dict[str, Any]:
    """Size of the inferred complex and the state of what inferred it; None where a model has no such thing.

    ``train_homophily`` is the share of edges between equal labels among the edges between *training* nodes: the only
    homophily that may be looked at before the test.

    Example:
        >>> import torch
        >>> from latopo.models import build_model
        >>> model = build_model("mlp", 2, 2)
        >>> set(measure(model, model(torch.ones(3, 2))).values())
        {None}
    """
    found: dict[str, Any] = dict.fromkeys(MEASURES) | {
        f"trust_{part}": share for part, share in model.trusted().items()
    }
    complex, polygons = output.complex, output.polygons
    if complex is None:
        return found
    found |= {
        "mean_degree": 2 * complex.num_edges / max(complex.num_nodes, 1),
        "num_edges": complex.num_edges,
        "num_polygons": complex.num_polygons,
        "num_candidates": None if polygons is None else polygons.num_candidates,
        "kept_share": kept_share(output),
    }
    if train_labels is not None:
        homophily = complex.edge_homophily(train_labels, unlabelled=-1)
        found["train_homophily"] = None if math.isnan(homophily) else homophily
    for module in model.modules():
        if isinstance(module, AlphaDGM):
            found |= {"alpha": _alpha(module), "gain": float(module.gain())}
        elif isinstance(module, PolygonInference) and polygons is not None and polygons.prob is not None:
            found |= {"polygon_alpha": _alpha(module), "polygon_gain": polygons.gain}
    return found


def kept_share(output: ModelOutput) -> float | None:
    """Polygons as a share of the candidate cycles that were scored; None if there were none."""
    if output.complex is None or output.polygons is None or output.polygons.num_scored == 0:
        return None
    return output.complex.num_polygons / output.polygons.num_scored


def _alpha(module: AlphaDGM | PolygonInference) -> float | None:
    if module.sampler == "topk":
        return None
    return float(module.alpha()) if isinstance(module.alpha, LearnableAlpha) else float(module.alpha)
