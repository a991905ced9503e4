"""What sampled statistics cost in accuracy: the same training with statistics of all pairs and of a few columns.

``python benchmarks/sampled.py FILE`` trains, on development sets and on the validation nodes of Cora, one fold after
another, appends a line of JSON for each to the file, skips those that it has, and prints the table of
``benchmarks/README.md``. No test node of the paper's graphs is looked at.
"""

import json
import sys
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch
from torch_geometric.data import Data

from latopo._parallel import one_thread
from latopo.data import from_data, load
from latopo.data.catalogue import DatasetEntry
from latopo.neighbors import NeighborSearch
from latopo.training import Run
from latopo.training.protocol import first_trainer

FOLDS, EPOCHS, DECAY = 10, 60, 5e-4
MODELS = ("dcm", "dcm-plus")
# Columns: as few as the library takes from large data; fewer on a set that has no more points itself.
SETS = {"cora": 512, "digits": 512, "actor-part": 512, "cornell": 64}


def data_of(name: str) -> tuple[Data, str | DatasetEntry]:
    """The data set, or 2,000 random nodes of Actor without their graph."""
    if name != "actor-part":
        return load(name), name
    whole = load("actor")
    rows = torch.randperm(whole.num_nodes, generator=torch.Generator().manual_seed(0))[:2000]
    x = whole.x.to_dense() if whole.x.layout != torch.strided else whole.x
    return from_data(Data(x=x[rows], y=whole.y[rows]), name)


def score(data: Data, run: Run, fold: int, search: NeighborSearch) -> float:
    """Validation accuracy of the best epoch."""
    trainer = first_trainer(data, run, fold)
    trainer.model.latent.topology.graph.sampler.search = search
    trainer.advance()
    return trainer.result().best_score


def measure(file: Path) -> list[dict[str, Any]]:
    """All lines of the file, after the trainings that were missing."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(line["set"], line["model"], line["fold"]) for line in lines}
    for name, columns in SETS.items():
        data, entry = data_of(name)
        for fold in range(FOLDS):
            for model in MODELS:
                if (name, model, fold) in done:
                    continue
                run = Run(entry, model, settings={"epochs": EPOCHS, "weight_decay": DECAY})
                exact = score(data, run, fold, NeighborSearch("exact"))
                sampled = score(data, run, fold, NeighborSearch("certified", columns=columns))
                line = {"set": name, "model": model, "fold": fold, "columns": columns, "exact": exact}
                lines.append({**line, "sampled": sampled})
                with file.open("a") as out:
                    print(json.dumps(lines[-1]), file=out)
    return lines


def table(lines: list[dict[str, Any]]) -> str:
    """Mean accuracies in per cent, and the mean difference with its standard error over the folds."""
    rows = ["| set | model | folds | columns | all pairs | sampled | difference |", "|---|---|---|---|---|---|---|"]
    for name, columns in SETS.items():
        for model in MODELS:
            found = [line for line in lines if (line["set"], line["model"]) == (name, model)]
            if len(found) < 2:
                continue
            exact, sampled = ([100 * line[how] for line in found] for how in ("exact", "sampled"))
            gaps = [after - before for before, after in zip(exact, sampled, strict=True)]
            error = stdev(gaps) / len(gaps) ** 0.5
            rows.append(
                f"| {name} | `{model}` | {len(found)} | {columns} | {fmean(exact):.1f} | {fmean(sampled):.1f} "
                f"| {fmean(gaps):+.1f} ± {error:.1f} |"
            )
    return "\n".join(rows)


if __name__ == "__main__":
    with one_thread():
        print(table(measure(Path(sys.argv[1]))))
