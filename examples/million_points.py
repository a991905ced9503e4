"""A million points become a cell complex: neighbours, edges, induced cycles, polygons, and a picture of a part of it.

The points lie on tori in 32 dimensions, two thousand on each. Nothing of size N × N is ever computed: row statistics
are closed forms, neighbours come from the nearest cells of k-means, and the share of them that is found is measured.
Each stage prints its time and the most memory that was used so far.

    python examples/million_points.py --points 1000000 --threads 2
"""

import argparse
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from latopo import CellComplex, entmax_neighbors
from latopo.draw import draw
from latopo.neighbors import NeighborSearch, gain_for_degree
from latopo.nn import PolygonInference

POINTS_PER_TORUS = 2_000


def tori(count: int, width: int = 32) -> tuple[Tensor, Tensor]:
    """Points [count, width] on tori that are turned and placed at random, with some noise; and the torus of each."""
    generator = torch.Generator().manual_seed(0)
    number = max(count // POINTS_PER_TORUS, 1)
    torus = torch.randint(number, (count,), generator=generator)
    outer, inner = 2 * torch.pi * torch.rand(2, count, generator=generator)
    radius = 3 + inner.cos()
    flat = torch.stack([radius * outer.cos(), radius * outer.sin(), inner.sin()], dim=1)
    frames = torch.linalg.qr(torch.randn(number, width, 3, generator=generator)).Q
    x = 4 * torch.randn(number, width, generator=generator)[torus]
    for axis in range(3):
        x += flat[:, axis, None] * frames[torus, :, axis]
    return x + 0.01 * torch.randn(count, width, generator=generator), torus


@contextmanager
def stage(name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name:<28} {time.perf_counter() - started:8.1f} s   {memory:5.2f} GB", flush=True)


def undirected(ptr: Tensor, col: Tensor, prob: Tensor) -> tuple[Tensor, Tensor]:
    """Edges [2, E], u < v, sorted, and their probabilities p_e = (p_i(j) + p_j(i)) / 2."""
    count = ptr.numel() - 1
    row = torch.repeat_interleave(ptr.diff())
    keys, position = torch.unique(torch.minimum(row, col) * count + torch.maximum(row, col), return_inverse=True)
    edge_prob = prob.new_zeros(keys.numel()).index_add(0, position, prob / 2)
    return torch.stack([keys // count, keys % count]), edge_prob


def infer(x: Tensor, degree: float, search: NeighborSearch) -> CellComplex:
    with stage("gain for the degree"):
        gain = gain_for_degree(x, degree, similarity="squared", high=1e5, search=search)
    with stage("neighbours"):
        rows = entmax_neighbors(x, gain, similarity="squared", search=search)
    with stage("edges"):
        edge_index, edge_prob = undirected(*rows)
    with stage("cycles and polygons"):
        inference = PolygonInference(4, polygon_share=0.7, score="mean", candidate_budget=10_000_000).eval()
        polygons = inference(x, edge_index)
    print(f"\n{search.report}")
    print(f"{polygons.num_candidates:,} induced cycles up to length 4, {polygons.num_scored:,} of them scored")
    return CellComplex.from_canonical(len(x), edge_index, polygons.polygons, edge_prob, polygons.prob)


def describe(cx: CellComplex, torus: Tensor) -> None:
    u, v = cx.edge_index.numpy()
    graph = coo_array((torch.ones(len(u)).numpy(), (u, v)), shape=(cx.num_nodes, cx.num_nodes))
    counts = ", ".join(f"{len(rows):,} of length {length}" for length, rows in cx.polygons.items())
    print(f"{cx.num_nodes:,} nodes, {cx.num_edges:,} edges (mean degree {2 * cx.num_edges / cx.num_nodes:.1f})")
    print(f"polygons: {counts}; Euler characteristic {cx.euler_characteristic():,}")
    print(f"connected components: {connected_components(graph, directed=False)[0]:,}")
    print(f"edges within one torus: {100 * cx.edge_homophily(torus):.2f} %\n")


def seen_aslant(x: Tensor) -> Tensor:
    """Positions [n, 2]: the three main directions of the points, looked at from above and a little from the side."""
    first, second, third = torch.pca_lowrank(x, q=3)[0].t() * torch.linalg.svdvals(x - x.mean(0))[:3, None]
    return torch.stack([first, 0.5 * second + 0.9 * third], dim=1)


def main(points: int = 1_000_000, degree: float = 6.0, out: str | Path = "million_points.png") -> None:
    with stage("points"):
        x, torus = tori(points)
    search = NeighborSearch()
    with torch.no_grad():
        cx = infer(x, degree, search)
    describe(cx, torus)
    with stage("picture"):
        nodes = (torus == 0).nonzero().flatten()
        title = f"one of {int(torus.max()) + 1:,} tori: {len(nodes):,} of {points:,} points"
        draw(cx.subcomplex(nodes), pos=seen_aslant(x[nodes]), node_size=2, title=title).save(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=6.0, help="neighbours that a point chooses on average")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", default="million_points.png", help="the picture")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    main(arguments.points, arguments.degree, arguments.out)
