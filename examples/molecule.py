"""One molecule as a cell complex: its bonds, all of its rings, and those that a trained network chooses.

The network learns on MUTAG whether a compound is mutagenic, from atoms, bonds and rings; then one compound that it has
not seen is drawn three times::

    python examples/molecule.py
    python examples/molecule.py --epochs 40 --graph 14 --out molecule.png

Left, every ring of up to six bonds is a polygon. In the middle are those that `cells-chosen` takes: the stronger the
colour, the more a polygon counts. On the right `cells-latent` adds bonds of its own, and they close rings of their own.
"""

import argparse
from pathlib import Path

import torch
from matplotlib.figure import Figure

from latopo import CellComplex
from latopo.data import GraphSet, load_graphs
from latopo.draw import draw, layout
from latopo.training import Run, run_fold

ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")


def complex_of(graphs: GraphSet, graph: int, model: str, epochs: int) -> tuple[CellComplex, float]:
    """What a network trained on nine tenths sees of a graph, and its score on the graphs left out."""
    result = run_fold(graphs, Run("mutag", model, graph=True, settings={"epochs": epochs}), fold=0)
    if graph not in result.split.test.tolist():
        print(f"graph {graph} was not left out; those that were: {result.split.test.tolist()}")
    return result.model.complex(graphs.batch(torch.tensor([graph]))), result.test_score


def main(epochs: int = 40, graph: int = 14, out: Path | None = None) -> Figure:
    """Train, print what is chosen, draw."""
    graphs = load_graphs("mutag")
    index = torch.tensor([graph])
    atoms, figure = graphs.labels(index), Figure(figsize=(13, 4.6), layout="constrained")
    names = ("cells-rings", "cells-chosen", "cells-latent")
    position = None
    for name, ax in zip(names, figure.subplots(1, 3), strict=True):
        cells, score = complex_of(graphs, graph, name, epochs)
        position = layout(cells) if position is None else position
        counts = {length: len(rows) for length, rows in cells.polygons.items() if len(rows)}
        print(f"{name}: {cells.num_edges} edges, polygons by length {counts}, test accuracy {score:.2f}")
        draw(cells, atoms, position, ax, class_names=ATOMS, title=f"{name} ({cells.num_polygons} polygons)")
    if out is not None:
        figure.savefig(out, dpi=110)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--graph", type=int, default=14, help="number of the compound in MUTAG, 0 to 187")
    parser.add_argument("--out", type=Path, default=Path("molecule.png"))
    main(**vars(parser.parse_args()))
