"""Planted polygons found from flows on edges, beside cell-flower: the table of docs/complex.md.

    python benchmarks/flows.py --write docs/complex.md

Graphs: Delaunay triangulations of random points, every fifth edge dropped. Some of their chordless cycles of up to six
sides are planted; a flow is a random circulation around each of them, plus noise on every edge. Both libraries get the
same graphs and flows and the number of planted cells. cell-flower (Hoppe and Schaub 2023) proposes cycles by spanning
trees, with its two heuristics; latopo lists all chordless cycles up to ``--max-length``.
"""

import argparse
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy.spatial import Delaunay
from torch import Tensor

from latopo import CellComplex, induced_cycles
from latopo._files import atomic_path
from latopo.bench.report import machine, rewritten
from latopo.nn import PolygonInference

LONGEST = 6  # planted cycle


class Case(NamedTuple):
    """A complex, and flows [E, d] that run around its polygons."""

    cells: CellComplex
    flow: Tensor


def make_case(points: int, planted: int, flows: int, noise: float, seed: int) -> Case:
    """Plant polygons and let something flow around them."""
    rng = np.random.default_rng(seed)
    corners = Delaunay(rng.random((points, 2))).simplices
    edges = np.unique(
        np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [0, 2]], corners[:, [1, 2]]]), axis=1), axis=0
    )
    edge_index = torch.from_numpy(edges[rng.random(len(edges)) < 0.8].T.astype(np.int64))
    cycles = [row for rows in induced_cycles(edge_index, points, LONGEST).values() for row in rows.tolist()]
    cells = CellComplex(points, edge_index, [cycles[i] for i in rng.choice(len(cycles), planted, replace=False)])
    around = torch.from_numpy(rng.normal(size=(cells.num_polygons, flows)))
    still = torch.from_numpy(rng.normal(size=(cells.num_edges, flows)))
    return Case(cells, cells.boundary(2, dtype=torch.float64) @ around + noise * still)


def names(cells: CellComplex) -> set[tuple[int, ...]]:
    """The polygons by their vertices, smallest first, second < last: also cell-flower's form."""
    return {tuple(row) for rows in cells.polygons.values() for row in rows.tolist()}


def by_latopo(sampler: str, max_length: int) -> Callable[[Case], set[tuple[int, ...]]]:
    """The polygon inference on the flows."""

    def find(case: Case) -> set[tuple[int, ...]]:
        choose = PolygonInference(max_length, score="circulation", sampler=sampler, k=case.cells.num_polygons)
        found = choose.eval()(case.flow, case.cells.edge_index)
        return {tuple(row) for rows in found.polygons.values() for row in rows.tolist()}

    return find


def by_cell_flower(heuristic: str, candidates: int = 5) -> Callable[[Case], set[tuple[int, ...]]]:
    """Its inference, with so many candidates compared in each step."""
    import cell_flower

    def find(case: Case) -> set[tuple[int, ...]]:
        pairs = [tuple(pair) for pair in case.cells.edge_index.t().tolist()]
        given = cell_flower.CellComplex(case.cells.num_nodes, pairs)
        number = {pair: at for at, pair in enumerate(pairs)}
        flows = case.flow.numpy()[[number[tuple(pair)] for pair in given.get_cells(1)]].T
        found = cell_flower.cell_inference_approximation(
            given, flows, candidates, case.cells.num_polygons, seed=0,
            heuristic=cell_flower.CellCandidateHeuristic[heuristic],
        )  # fmt: skip
        return {cell_flower.normalize_cell(tuple(cell)) for cell in found.get_cells(2)}

    return find


def methods(max_length: int) -> dict[str, Callable[[Case], set[tuple[int, ...]]]]:
    """All that are compared, by name."""
    return {
        "latopo, pursuit": by_latopo("pursuit", max_length),
        "latopo, at once": by_latopo("topk", max_length),
        "cell-flower, similarity": by_cell_flower("SIMILARITY"),
        "cell-flower, max": by_cell_flower("MAX"),
    }


def measure(sizes: list[int], noises: list[float], seeds: int, max_length: int, flows: int = 20) -> list[list[str]]:
    """The rows of the table."""
    compared, rows = methods(max_length), []
    warm = make_case(30, 2, flows, 0.0, 0)
    for find in compared.values():
        find(warm)
    for points in sizes:
        for noise in noises:
            recalls, seconds = ({name: [] for name in compared} for _ in range(2))
            for seed in range(seeds):
                case = make_case(points, points // 10, flows, noise, seed)
                for name, find in compared.items():
                    start = time.perf_counter()
                    found = find(case)
                    seconds[name].append(time.perf_counter() - start)
                    recalls[name].append(len(found & names(case.cells)) / case.cells.num_polygons)
            cells = [f"{np.mean(recalls[name]):.0%}, {np.median(seconds[name]):.2g} s" for name in compared]
            rows.append([f"{points:,}", str(points // 10), f"{noise:g}", *cells])
            print(" | ".join(rows[-1]), flush=True)
    return rows


def markdown(rows: list[list[str]], seeds: int, max_length: int) -> str:
    """The table, with what it was measured on."""
    headings = ["nodes", "planted", "noise", *methods(max_length)]
    lines = [f"| {' | '.join(cells)} |" for cells in (headings, ["---"] * len(headings), *rows)]
    facts = machine()
    place = (
        f"{facts['date']}, {facts['cpu']}, one thread, cell-flower {version('cell-flower')}, {seeds} graphs per row, "
        f"20 flows, latopo's cycles up to length {max_length}"
    )
    return "\n".join([*lines, "", f"({place}.)"])


def main() -> None:
    """Read the options, measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.5, 1.0, 1.5])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--max-length", type=int, default=8)
    parser.add_argument("--write", type=Path, help="page with the table between its two marks")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    rows = measure(chosen.points, chosen.noise, chosen.seeds, chosen.max_length)
    table = markdown(rows, chosen.seeds, chosen.max_length)
    if chosen.write is None:
        print(table)
        return
    page = rewritten(chosen.write.read_text(), "flows", f"{table}\n")
    with atomic_path(chosen.write) as draft:
        draft.write_text(page)


if __name__ == "__main__":
    main()
