"""One training step of ``dcm``, forward and backward, against the same step built by the book."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from latopo.bench.harness import Measurement, race
from latopo.data.features import csr_from_scipy
from latopo.models import DCMNet
from latopo.nn import TopologyLoss
from peers._dense_step import dense_forward
from peers._memory import peak_memory

__all__ = ["make", "measure", "same_complex"]

CLASSES = 7


def bag_of_words(rows: int, columns: int, share: float) -> tuple[Tensor, Tensor]:
    """Sparse 0/1 features with a topic per class, and the classes; the shape is that of a citation graph."""
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(CLASSES, (rows,), generator=generator)
    words = max(round(share * columns), 2)
    topic = torch.randint(columns, (CLASSES, 4 * words), generator=generator)
    own = topic[y].gather(1, torch.randint(4 * words, (rows, words // 2), generator=generator))
    other = torch.randint(columns, (rows, words - words // 2), generator=generator)
    col = torch.cat([own, other], dim=1).flatten().numpy()
    row = np.repeat(np.arange(rows), words)
    x = csr_matrix((np.ones(col.size), (row, col)), (rows, columns))
    x.data[:] = 1  # also of words drawn twice
    return csr_from_scipy(x), y


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
    loss = nn.functional.cross_entropy(output.prediction, y)
    if output.complex is not None:
        loss = loss + reward(output.prediction, y, output.complex).total
    loss.backward()


def dense_step(model: DCMNet, reward: TopologyLoss, x: Tensor, y: Tensor) -> None:
    """Forward and backward by the book."""
    model.zero_grad()
    prediction, polygons, edges, chosen = dense_forward(model, x)
    delta = reward._reward(prediction.detach(), y, torch.ones_like(y, dtype=torch.bool))
    loss = nn.functional.cross_entropy(prediction, y) + (delta * edges.sum(1)).mean()
    if polygons:
        inside = torch.stack([delta[list(cycle)].sum() for cycle in polygons])
        loss = loss + (inside * chosen[chosen > 0]).sum() / len(y)
    loss.backward()


def same_complex(model: DCMNet, x: Tensor) -> str:
    """Counts of both sides; raises if they infer different complexes."""
    model.eval()
    with torch.no_grad():
        cx = model(x).complex
        _, polygons, edges, _ = dense_forward(model, x.to_dense())
    model.train()
    if cx is None:
        raise RuntimeError("bench: the model inferred no complex")
    ours, theirs = (cx.num_edges, cx.num_polygons), (int((edges.triu(1) > 0).sum()), len(polygons))
    # Single precision may decide differently on the very edge of the support.
    if any(abs(a - b) > 1 + 0.002 * b for a, b in zip(ours, theirs, strict=True)):
        raise RuntimeError(f"bench: edges and polygons differ, {ours} here and {theirs} by the book")
    return f"{ours[0]:,} edges, {ours[1]:,} polygons"


def shares(model: DCMNet, run: Callable[[], None], repeats: int = 5) -> str:
    """Where the time of a step goes, in per cent; the rest is the losses and the backward pass."""
    assert model.latent is not None
    topology = model.latent.topology
    assert topology.polygons is not None
    stations: dict[str, nn.Module] = {
        "features": model.first,
        "graph": topology.graph,
        "cycles and polygons": topology.polygons,
        "messages": model.latent.messages,
    }
    spent = dict.fromkeys([*stations, "backward"], 0.0)

    def clock(name: str, sign: int) -> Callable[..., None]:
        def note_time(*_: object) -> None:
            spent[name] += sign * time.perf_counter()

        return note_time

    hooks = [part.register_forward_pre_hook(clock(name, -1)) for name, part in stations.items()]
    hooks += [part.register_forward_hook(clock(name, 1)) for name, part in stations.items()]
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    total = time.perf_counter() - start
    for hook in hooks:
        hook.remove()
    spent["backward"] = total - sum(spent.values())
    return ", ".join(f"{name} {100 * seconds / total:.0f} %" for name, seconds in spent.items())


def train_large(rows: int, columns: int, share: float) -> None:
    """Two full steps, as training takes them."""
    make(rows, columns, share, warm=2)


def measure(quick: bool = False) -> list[Measurement]:
    """The bars of a full training step."""
    shape = (300, 200, 0.05) if quick else (2_708, 1_433, 0.0127)
    model, reward, x, y = make(*shape)
    ours = partial(step, model, reward, x, y)
    theirs = partial(dense_step, model, reward, x.to_dense(), y)
    name, peer = f"dcm, one step, {shape[0]:,} × {shape[1]:,}, γ = 50", "dense: cdist, entmax_bisect, igraph, loops"
    note = f"{same_complex(model, x)}; {shares(model, ours)}"
    large = (1_000, 500, 0.02) if quick else (34_493, 8_415, 0.004)
    memory = peak_memory(partial(train_large, 100, 50, 0.1), partial(train_large, *large))
    what = f"dcm, two steps, {large[0]:,} × {large[1]:,}, extra memory"
    return [
        race(name, ours, peer, theirs, bar=25.0, note=note),
        Measurement(what, memory, "3 GB", 3072.0, "MB", bar=1.0),
    ]
