"""One training step of ``dcm``, forward and backward, against the same step built by the book."""

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from latopo.bench.dense_step import dense_forward
from latopo.bench.harness import Measurement, best_times, peak_memory
from latopo.models import DCMNet
from latopo.nn import TopologyLoss

__all__ = ["measure"]

CLASSES = 7


def bag_of_words(rows: int, columns: int, share: float) -> tuple[Tensor, Tensor]:
    """Sparse 0/1 features with a topic per class, and the classes; the shape is that of a citation graph."""
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(CLASSES, (rows,), generator=generator)
    words = max(round(share * columns), 2)
    topic = torch.randint(columns, (CLASSES, 4 * words), generator=generator)
    own = topic[y].gather(1, torch.randint(4 * words, (rows, words // 2), generator=generator))
    other = torch.randint(columns, (rows, words - words // 2), generator=generator)
    col = torch.cat([own, other], dim=1)
    row = torch.arange(rows)[:, None].expand_as(col)
    ones = torch.ones(col.numel())
    x = torch.sparse_coo_tensor(torch.stack([row.flatten(), col.flatten()]), ones, (rows, columns)).coalesce()
    return torch.sparse_coo_tensor(x.indices(), torch.ones_like(x.values()), x.shape).to_sparse_csr(), y


def make(rows: int, columns: int, share: float, warm: int = 20) -> tuple[DCMNet, TopologyLoss, Tensor, Tensor]:
    """The paper's model with γ = 50 after a few steps, when its graph has taken shape, and its data."""
    torch.manual_seed(0)
    x, y = bag_of_words(rows, columns, share)
    model, reward = DCMNet(columns, CLASSES, gain=50.0), TopologyLoss(rows, CLASSES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(warm):
        step(model, reward, x, y)
        optimizer.step()
    return model, reward, x, y


def step(model: DCMNet, reward: TopologyLoss, x: Tensor, y: Tensor) -> None:
    """Forward and backward of latopo."""
    model.zero_grad()
    output = model(x)
    loss = torch.nn.functional.cross_entropy(output.prediction, y)
    if output.complex is not None:
        loss = loss + reward(output.prediction, y, output.complex).total
    loss.backward()


def dense_step(model: DCMNet, reward: TopologyLoss, x: Tensor, y: Tensor) -> None:
    """Forward and backward by the book."""
    model.zero_grad()
    prediction, polygons, edges, chosen = dense_forward(model, x)
    delta = reward._reward(prediction.detach(), y, torch.ones_like(y, dtype=torch.bool))
    loss = torch.nn.functional.cross_entropy(prediction, y) + (delta * edges.sum(1)).mean()
    if polygons:
        kept = chosen[chosen > 0]
        inside = torch.stack([delta[list(cycle)].sum() for cycle in polygons])
        loss = loss + (inside * kept).sum() / len(y)
    loss.backward()


def same_complex(model: DCMNet, x: Tensor) -> str:
    """Counts of both sides; raises if they infer different complexes."""
    model.eval()
    with torch.no_grad():
        complex = model(x).complex
        _, polygons, edges, _ = dense_forward(model, x.to_dense())
    model.train()
    if complex is None:
        raise RuntimeError("bench: the model inferred no complex")
    theirs = (int((edges.triu(1) > 0).sum()), len(polygons))
    ours = (complex.num_edges, complex.num_polygons)
    # Single precision may decide differently on the very edge of the support.
    if any(abs(a - b) > 1 + 0.002 * b for a, b in zip(ours, theirs, strict=True)):
        raise RuntimeError(f"bench: edges and polygons differ, {ours} here and {theirs} by the book")
    return f"{ours[0]:,} edges, {ours[1]:,} polygons"


def parts(model: DCMNet, reward: TopologyLoss, x: Tensor, y: Tensor) -> str:
    """Where the time of a step goes, in per cent."""
    spent: dict[str, float] = {}

    def timed(name: str, function: Callable[[], object]) -> object:
        start = time.perf_counter()
        result = function()
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - start
        return result

    for _ in range(5):
        _timed_step(model, reward, x, y, timed)
    total = sum(spent.values())
    return ", ".join(f"{name} {100 * seconds / total:.0f} %" for name, seconds in spent.items())


def _timed_step(
    model: DCMNet, reward: TopologyLoss, x: Tensor, y: Tensor, timed: Callable[[str, Callable[[], object]], object]
) -> None:
    from latopo.complex import CellComplex
    from latopo.cycles import induced_cycles
    from latopo.nn import ComplexNeighborhoods, LatentGraph, LatentPolygons

    assert model.latent is not None
    infer, messages = model.latent.topology, model.latent.messages
    assert infer.polygons is not None
    infer_polygons = infer.polygons
    model.zero_grad()
    hidden = timed("features", lambda: model.first(x).relu())
    assert isinstance(hidden, Tensor)
    graph = timed("graph", lambda: infer.graph(hidden))
    assert isinstance(graph, LatentGraph)
    timed("cycles", lambda: induced_cycles(graph.edge_index, len(y), infer_polygons.max_length))
    polygons = timed("polygons (with their cycles)", lambda: infer_polygons(graph.x_aux, graph.edge_index))
    assert isinstance(polygons, LatentPolygons)
    complex = CellComplex.from_canonical(len(y), graph.edge_index, polygons.polygons, graph.edge_prob, polygons.prob)
    out = timed("message passing", lambda: model.head(messages(hidden, ComplexNeighborhoods(complex))))
    assert isinstance(out, Tensor)
    loss = torch.nn.functional.cross_entropy(out, y) + reward(out, y, complex).total
    timed("backward", loss.backward)


def train_large(rows: int, columns: int, share: float) -> None:
    """Two full steps, as training takes them."""
    make(rows, columns, share, warm=2)


def measure(quick: bool = False) -> list[Measurement]:
    """The bars of a full training step."""
    shape = (300, 200, 0.05) if quick else (2_708, 1_433, 0.0127)
    model, reward, x, y = make(*shape)
    note = same_complex(model, x)
    dense = x.to_dense()
    seconds = best_times(partial(step, model, reward, x, y), partial(dense_step, model, reward, dense, y), repeats=3)
    print(f"one step of dcm: {parts(model, reward, x, y)}")
    large = (1_000, 500, 0.02) if quick else (34_493, 8_415, 0.004)
    memory = peak_memory(partial(train_large, 100, 50, 0.1), partial(train_large, *large))
    return [
        Measurement(
            f"dcm, one step, {shape[0]:,} × {shape[1]:,}, γ = 50",
            seconds[0],
            "dense: cdist, entmax_bisect, igraph, loops",
            seconds[1],
            bar=25.0,
            note=note,
        ),
        Measurement(
            f"dcm, two steps, {large[0]:,} × {large[1]:,}, extra memory",
            memory,
            "3 GB",
            None,
            unit="MB",
            bar=1.0,
            limit=3072.0,
        ),
    ]
