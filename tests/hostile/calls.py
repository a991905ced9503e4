"""Calls of the public API that are right, and the values that break them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from latopo import CellComplex, entmax_neighbors, induced_cycles, segment_entmax
from latopo.cycles import count_induced_cycles
from latopo.entmax import SegmentEntmax
from latopo.estimators import DCMClassifier, DCMRegressor, DCMTransformer
from latopo.neighbors import topk_neighbors
from latopo.nn import (
    DCM,
    AlphaDGM,
    BudgetSampler,
    CellConv,
    CellMessages,
    Downlift,
    EntmaxSampler,
    Gain,
    NodeConv,
    PolygonInference,
    TopKSampler,
    TopologyLoss,
    Uplift,
)


class Call(NamedTuple):
    """A function with arguments that are right; each is replaced in turn."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


def points(count=12, width=3):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(0))


def square_and_triangle():
    edges = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 2, 3, 0, 4, 2]])
    return CellComplex(5, edges, {3: [[2, 3, 4]], 4: [[0, 1, 2, 3]]}, torch.full((6,), 0.5), torch.tensor([0.5, 0.4]))


def layer(kind, *arguments, **more):
    torch.manual_seed(0)
    return kind(*arguments, **more)


def fit(kind, **parameters):
    x, y = parameters.pop("x"), parameters.pop("y")
    return kind(**{"max_epochs": 2, "random_state": 0, **parameters}).fit(x, y)


X, EDGES, CELLS = points(), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), square_and_triangle()
TABLE = {"x": points(20).numpy().astype(np.float64), "y": np.arange(20) % 2}

CALLS = {
    "entmax_neighbors": Call(
        entmax_neighbors,
        {"x": X, "gain": 5.0, "alpha": 1.5, "similarity": "euclidean", "anchors": None, "max_edges": None},
    ),
    "topk_neighbors": Call(topk_neighbors, {"x": X, "k": 2, "temperature": 1.0, "similarity": "euclidean"}),
    "segment_entmax": Call(
        segment_entmax, {"scores": torch.tensor([1.0, 2.0, 3.0]), "ptr": torch.tensor([0, 2, 3]), "alpha": 1.5}
    ),
    "induced_cycles": Call(
        induced_cycles,
        {"edge_index": EDGES, "num_nodes": 5, "max_length": 4, "max_cycles": 10, "max_steps": 10**6, "budget": None},
    ),
    "count_induced_cycles": Call(count_induced_cycles, {"edge_index": EDGES, "num_nodes": 5, "max_length": 4}),
    "CellComplex": Call(
        CellComplex,
        {
            "num_nodes": 5,
            "edge_index": CELLS.edge_index,
            "polygons": {3: [[2, 3, 4]]},
            "edge_prob": CELLS.edge_prob,
            "polygon_prob": [0.5],
        },
    ),
    "from_canonical": Call(
        CellComplex.from_canonical,
        {
            "num_nodes": 5,
            "edge_index": CELLS.edge_index,
            "polygons": CELLS.polygons,
            "edge_prob": CELLS.edge_prob,
            "polygon_prob": CELLS.polygon_prob,
        },
    ),
    "boundary": Call(CELLS.boundary, {"rank": 1}),
    "hodge_laplacian": Call(CELLS.hodge_laplacian, {"rank": 1, "part": "both"}),
    "betti_numbers": Call(CELLS.betti_numbers, {"field": 2}),
    "threshold": Call(CELLS.threshold, {"edges": 0.1, "polygons": 0.1}),
    "persistence": Call(CELLS.persistence, {"field": 2, "min_persistence": 0.0}),
    "skeleton": Call(CELLS.skeleton, {"order": 1}),
    "subcomplex": Call(CELLS.subcomplex, {"nodes": torch.tensor([0, 1, 2])}),
    "edge_homophily": Call(CELLS.edge_homophily, {"labels": torch.tensor([0, 1, 0, 1, 0])}),
    "edge_ids": Call(CELLS.edge_ids, {"pairs": torch.tensor([[0], [1]])}),
    "DCM": Call(
        lambda **given: layer(DCM, **given),
        {
            "in_channels": 3,
            "out_channels": 2,
            "max_length": 4,
            "alpha": 1.5,
            "gain": 5.0,
            "relaxation": "weighted",
            "rounds": 1,
            "dropout": 0.0,
        },
    ),
    "DCM()": Call(layer(DCM, 3, 2), {"x": X, "edge_index": EDGES, "batch": None}),
    "AlphaDGM": Call(
        lambda **given: layer(AlphaDGM, **given),
        {"in_channels": 3, "hidden_channels": 4, "num_layers": 2, "similarity": "euclidean"},
    ),
    "AlphaDGM()": Call(layer(AlphaDGM, 3), {"x": X, "edge_index": EDGES}),
    "PolygonInference": Call(
        lambda **given: layer(PolygonInference, **given),
        {
            "max_length": 4,
            "alpha": 1.5,
            "gain": 1.0,
            "polygon_share": None,
            "sampler": "entmax",
            "candidate_budget": 50,
        },
    ),
    "PolygonInference()": Call(layer(PolygonInference), {"x_aux": X, "edge_index": EDGES}),
    "EntmaxSampler": Call(EntmaxSampler, {"gain": 5.0, "alpha": 1.5, "degree": None, "max_edges": None}),
    "TopKSampler": Call(TopKSampler, {"k": 3}),
    "BudgetSampler": Call(BudgetSampler, {"budget": 5.0}),
    "Gain": Call(Gain, {"start": 5.0}),
    "SegmentEntmax": Call(SegmentEntmax, {"alpha": 1.5, "learnable": False}),
    "CellConv": Call(CellConv, {"in_channels": 3, "out_channels": 2}),
    "CellConv()": Call(layer(CellConv, 2, 2), {"x": torch.ones(6, 2), "cells": CELLS, "edge_weight": None}),
    "NodeConv()": Call(layer(NodeConv, 3, 2), {"x": X, "graph": EDGES, "edge_weight": None}),
    "CellMessages": Call(CellMessages, {"in_channels": 3, "out_channels": 2, "rounds": 1, "dropout": 0.0}),
    "Uplift()": Call(Uplift(), {"x": torch.ones(5, 2), "cells": CELLS}),
    "Downlift()": Call(Downlift(), {"x": torch.ones(6, 2), "cells": CELLS, "edge_weight": None}),
    "TopologyLoss": Call(TopologyLoss, {"num_nodes": 5, "num_classes": 2, "edge_form": "log", "momentum": 0.9}),
    "TopologyLoss()": Call(
        TopologyLoss(5, 2),
        {"prediction": torch.ones(5, 2), "y": torch.tensor([0, 1, 0, 1, 0]), "complex": CELLS, "mask": None},
    ),
    "DCMClassifier": Call(
        lambda **given: fit(DCMClassifier, **given),
        {
            **TABLE,
            "max_length": 4,
            "degree": 3.0,
            "hidden_channels": 4,
            "dropout": 0.5,
            "learning_rate": 0.01,
            "weight_decay": 0.1,
            "max_epochs": 2,
            "max_anchors": None,
            "random_state": 0,
            "model": "auto",
            "device": "cpu",
        },
    ),
    "DCMRegressor": Call(lambda **given: fit(DCMRegressor, **given), {**TABLE, "max_epochs": 1}),
    "DCMTransformer": Call(lambda **given: fit(DCMTransformer, **given), {**TABLE, "max_epochs": 1}),
}

# What the API may never answer with a raw error, a crash or a guess. Functions, so that nothing is shared.
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "x",
    "empty text": lambda: "",
    "object": object,
    "list": lambda: [[0.0, 1.0]],
    "empty list": list,
    "ragged list": lambda: [[1], [2, 3]],
    "dict": dict,
    "bool": lambda: True,
    "zero": lambda: 0,
    "minus": lambda: -1,
    "fraction": lambda: 4.9,
    "huge": lambda: 2**62,
    "beyond int64": lambda: 10**400,
    "large float": lambda: 1e308,
    "tiny float": lambda: 5e-324,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "complex number": lambda: 1j,
    "numpy integer": lambda: np.int32(2),
    "numpy float": lambda: np.float32(0.5),
    "array": lambda: np.ones((12, 3)),
    "object array": lambda: np.array([object()]),
    "tensor": lambda: torch.ones(12, 3),
    "scalar tensor": lambda: torch.tensor(1.5),
    "whole numbers": lambda: torch.zeros(2, 3, dtype=torch.int64),
    "uint64": lambda: torch.tensor([[0, 1], [1, 2]], dtype=torch.uint64),
    "negative": lambda: torch.tensor([[0, -1], [1, 2]]),
    "far vertex": lambda: torch.tensor([[0, 3 * 10**8], [1, 2]]),
    "booleans": lambda: torch.ones(12, dtype=torch.bool),
    "complex tensor": lambda: torch.ones(12, 3, dtype=torch.complex64),
    "half": lambda: torch.ones(12, 3, dtype=torch.bfloat16),
    "nan tensor": lambda: torch.full((12, 3), float("nan")),
    "huge tensor": lambda: torch.full((12, 3), 1e38),
    "no rows": lambda: torch.zeros(0, 3),
    "no columns": lambda: torch.zeros(12, 0),
    "three dimensions": lambda: torch.zeros(2, 3, 4),
    "meta": lambda: torch.ones(12, 3, device="meta"),
    "sparse": lambda: torch.ones(12, 3).to_sparse(),
    "sparse rows": lambda: torch.ones(12, 3).to_sparse_csr(),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(12, 3), 0.1, 0, torch.qint8),
}
