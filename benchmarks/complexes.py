"""``CellComplex`` beside TopoNetX, GUDHI and XGI: the same cells, one run, the table of docs/complex.md.

    python benchmarks/complexes.py --write docs/complex.md

The cells are nodes, edges and triangles of the 8-nearest-neighbour graph of Gaussian points in 8 dimensions; edges and
triangles have random probabilities. Every library gets them in the form it likes best, and what they compute is checked
against ours. Times are the fastest of several calls, the libraries taking turns. A library that is not installed, has
no such function, or would take minutes is left out of a row.
"""

import argparse
import gc
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from latopo import CellComplex, induced_cycles
from latopo._files import atomic_path
from latopo.bench.harness import best_runs
from latopo.bench.report import machine, rewritten
from peers.cycles import neighbour_graph

PEERS = ("toponetx", "gudhi", "xgi")
NAMES = {"toponetx": "TopoNetX", "gudhi": "GUDHI", "xgi": "XGI"}
XGI_LIMIT = 150  # points: its matrices take time that grows with the square of the number of cells, a minute at 500

Calls = dict[str, Callable[[], Any]]


class Input(NamedTuple):
    """The cells in every form, and the complexes of the peers that have one."""

    count: int
    cells: dict[str, Any]
    edges: list[list[int]]
    triangles: list[list[int]]
    built: dict[str, Any]

    def complex(self) -> CellComplex:
        """A new complex each time: a complex remembers what it has computed."""
        return CellComplex.from_canonical(**self.cells)


def make_input(count: int, peers: list[str]) -> Input:
    """Cells and complexes on so many points."""
    edge_index = neighbour_graph(count)
    triangles = {3: induced_cycles(edge_index, count, 3)[3]}
    generator = torch.Generator().manual_seed(0)
    probs = [torch.rand(size, generator=generator).double() for size in (edge_index.size(1), len(triangles[3]))]
    cells = {"num_nodes": count, "edge_index": edge_index, "polygons": triangles}
    cells |= {"edge_prob": probs[0], "polygon_prob": probs[1]}
    given = Input(count, cells, edge_index.t().tolist(), triangles[3].tolist(), {})
    for peer in peers:
        if peer != "xgi" or count <= XGI_LIMIT:
            given.built[peer] = builders(given)[peer]()
    return given


def builders(given: Input) -> Calls:
    """How each library builds the complex from the cells."""

    def toponetx() -> Any:
        import toponetx

        built = toponetx.CellComplex()
        built.add_edges_from(given.edges)
        built.add_cells_from(given.triangles, rank=2)
        return built

    def gudhi() -> Any:
        from gudhi import SimplexTree

        edge_value, triangle_value = (value.numpy() for value in given.complex().filtration_values())
        tree = SimplexTree()
        tree.insert_batch(given.cells["edge_index"].numpy(), edge_value)
        tree.insert_batch(np.ascontiguousarray(given.cells["polygons"][3].numpy().T), triangle_value)
        tree.insert_batch(np.arange(given.count)[None], np.zeros(given.count))
        return tree

    def xgi() -> Any:
        from xgi import SimplicialComplex

        built = SimplicialComplex()
        built.add_simplices_from(given.edges)
        built.add_simplices_from(given.triangles)
        return built

    return {"latopo": lambda: CellComplex(**given.cells), "toponetx": toponetx, "gudhi": gudhi, "xgi": xgi}


def boundaries(given: Input) -> Calls:
    """Both signed boundary matrices."""
    calls: Calls = {"latopo": lambda: [given.complex().boundary(rank) for rank in (1, 2)]}
    if "toponetx" in given.built:
        calls["toponetx"] = lambda: [given.built["toponetx"].incidence_matrix(rank) for rank in (1, 2)]
    if "xgi" in given.built:
        from xgi import boundary_matrix

        calls["xgi"] = lambda: [boundary_matrix(given.built["xgi"], order=rank) for rank in (1, 2)]
    return calls


def laplacians(given: Input) -> Calls:
    """The Hodge Laplacian of the edges."""
    calls: Calls = {"latopo": lambda: given.complex().hodge_laplacian(1)}
    if "toponetx" in given.built:
        calls["toponetx"] = lambda: given.built["toponetx"].hodge_laplacian_matrix(1)
    if "xgi" in given.built:
        from xgi import hodge_laplacian

        calls["xgi"] = lambda: hodge_laplacian(given.built["xgi"], order=1)
    return calls


def persistences(given: Input) -> Calls:
    """All pairs of the filtration by probability, over GF(2)."""
    calls: Calls = {"latopo": lambda: given.complex().persistence()}
    if "gudhi" in given.built:
        tree = given.built["gudhi"]
        calls["gudhi"] = lambda: tree.persistence(homology_coeff_field=2, persistence_dim_max=True)
    return calls


def bettis(field: int) -> Callable[[Input], Calls]:
    """Betti numbers over GF(field), all cells there from the start."""

    def calls(given: Input) -> Calls:
        found: Calls = {"latopo": lambda: list(given.complex().betti_numbers(field))}
        if "gudhi" in given.built:
            tree = given.built["gudhi"].copy()
            tree.reset_filtration(0.0)

            def gudhi() -> list[int]:
                tree.compute_persistence(homology_coeff_field=field, persistence_dim_max=True)
                return tree.betti_numbers()

            found["gudhi"] = gudhi
        return found

    return calls


def check(what: str, answers: dict[str, Any]) -> None:
    """Raise if a library computes something else."""
    ours = answers["latopo"]
    for peer, theirs in answers.items():
        if what.startswith("Betti"):
            same = ours == theirs
        elif what.startswith("persistence"):
            same = sorted(ours.to_gudhi()) == sorted(theirs) if peer == "gudhi" else True
        elif what.startswith("boundary") and peer == "toponetx":
            same = all(np.array_equal(a.to_dense().numpy(), b.toarray()) for a, b in zip(ours, theirs, strict=True))
        elif what.startswith("Hodge") and peer == "toponetx":
            same = np.array_equal(ours.to_dense().numpy(), theirs.toarray())
        else:  # XGI numbers its cells in an order of its own
            same = True
        if not same:
            raise RuntimeError(f"{what}: {peer} finds something else than latopo")


def time_calls(calls: Calls, repeats: int) -> dict[str, float]:
    """Seconds of the fastest call of each library; XGI, whose calls take seconds, has two of them."""
    slow = {name: call for name, call in calls.items() if name == "xgi"}
    fast = {name: call for name, call in calls.items() if name not in slow}
    runs = best_runs(*fast.values(), repeats=min(repeats, 50)) + best_runs(*slow.values(), repeats=2)
    times = [seconds for seconds, _ in runs]
    return dict(zip([*fast, *slow], times, strict=True))


def measure(counts: list[int]) -> list[list[str]]:
    """The rows of the table."""
    installed = [peer for peer in PEERS if find_spec(peer) is not None]
    rows = []
    for count in counts:
        given = make_input(count, installed)
        gc.freeze()  # the complexes of the peers are millions of objects, through which every collection would go
        build = {name: call for name, call in builders(given).items() if name == "latopo" or name in given.built}
        size = f"{count + len(given.edges) + len(given.triangles):,}"
        for what, calls in (
            ("build, checked and sorted", build),
            ("boundary matrices", boundaries(given)),
            ("Hodge Laplacian of the edges", laplacians(given)),
            ("Betti numbers over GF(2)", bettis(2)(given)),
            ("Betti numbers over GF(3)", bettis(3)(given)),
            ("persistence, all pairs", persistences(given)),
        ):
            if count <= 1000:
                check(what, {name: call() for name, call in calls.items()})
            seconds = time_calls(calls, repeats=max(300_000 // count, 8))
            ratios = [f"×{seconds[peer] / seconds['latopo']:.3g}" if peer in seconds else "–" for peer in PEERS]
            rows.append([what, size, f"{1000 * seconds['latopo']:.3g} ms", *ratios])
            print(" | ".join(rows[-1]), flush=True)
    return rows


def markdown(rows: list[list[str]]) -> str:
    """The table, with what it was measured on."""
    facts = machine()
    versions = []
    for peer in PEERS:
        try:
            versions.append(f"{NAMES[peer]} {version(peer)}")
        except PackageNotFoundError:
            versions.append(f"{NAMES[peer]} not installed")
    headings = ["what", "cells", "latopo", *NAMES.values()]
    lines = [f"| {' | '.join(cells)} |" for cells in (headings, ["---"] * len(headings), *rows)]
    place = f"{facts['date']}, {facts['cpu']}, one thread, torch {facts['torch']}, {', '.join(versions)}"
    return "\n".join([*lines, "", f"({place}.)"])


def main() -> None:
    """Read the options, measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[150, 1000, 9000])
    parser.add_argument("--write", type=Path, help="page with the table between its two marks")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    table = markdown(measure(chosen.points))
    if chosen.write is None:
        print(table)
        return
    page = rewritten(chosen.write.read_text(), "speed", f"{table}\n")
    with atomic_path(chosen.write) as draft:
        draft.write_text(page)


if __name__ == "__main__":
    main()
