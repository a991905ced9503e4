"""The paper's figures: how a complex changes over the training, drawn, and its numbers beside the captions."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from latopo._device import find_device
from latopo._files import atomic_path
from latopo._parallel import one_thread
from latopo.complex import CellComplex
from latopo.data.loading import load
from latopo.draw import Snapshot, draw_evolution
from latopo.errors import LatopoError
from latopo.reproduce.paper import figure_points
from latopo.training.loop import OnEpoch
from latopo.training.run import Run
from latopo.training.run_folder import RunFolder, train_folds

__all__ = ["FIGURE_DATASETS", "FIGURE_EPOCHS", "make_figure"]

FIGURE_DATASETS = ("texas", "wisconsin")
# The epochs of both of the paper's figures, for both data sets.
FIGURE_EPOCHS = (10, 40, 50, 100, 150, 180, 200)
_HEADER = (
    "dataset", "model", "epoch", "polygon_percent", "homophily", "mean_degree", "polygons", "paper_polygon_percent",
    "paper_homophily",
)  # fmt: skip
_State = tuple[int, CellComplex, float | None]


def make_figure(
    folder: Path,
    dataset: str,
    model: str = "dcm",
    *,
    epochs: int = 200,
    data_root: Path | None = None,
    device: str = "cpu",
    on_start: Callable[[int], OnEpoch | None] | None = None,
) -> list[Path]:
    """Train on fold 0 without the graph, keeping the complex at the paper's epochs, and draw it; returns the files.

    In ``folder``: ``<dataset>-<model>.png``, ``.pdf``, ``.svg``, ``.csv`` (the captions' numbers, ours and the paper's)
    and the run itself (:mod:`latopo.training.run_folder`), which is not trained again. The weight decay is 5e-4.

    Args:
        folder: where to.
        dataset: a data set with classes; the paper draws Texas and Wisconsin.
        model: a model that infers a complex.
        epochs: length of the training; figures end there.
        data_root: folder with raw files.
        device: where to train.
        on_start: as in :func:`~latopo.training.train_folds`.
    """
    name, data = f"{dataset}-{model}", load(dataset, data_root)
    wanted = [epoch for epoch in FIGURE_EPOCHS if epoch < epochs] + [epochs]
    run = Run(dataset, model, settings={"epochs": epochs, "weight_decay": 5e-4})
    kept = RunFolder(folder / name, run, wanted)
    with one_thread():
        train_folds(kept, data.clone().to(find_device(device)), [0], on_start=on_start)
    snapshots = list(_snapshots(kept.path, wanted))
    if all(epoch == 0 for epoch, _, _ in snapshots):
        raise LatopoError(f"figures: {model} infers no complex to draw; choose a model such as dcm")
    panels = [Snapshot(cx, epoch or None, polygon_share=share) for epoch, cx, share in snapshots]
    drawn = draw_evolution(panels, data.y).save(folder / name, ("png", "pdf", "svg"))
    return [*drawn, _write_numbers(folder / f"{name}.csv", dataset, model, snapshots, data.y)]


def _snapshots(path: Path, epochs: list[int]) -> Iterator[_State]:
    """Epoch (0 is the input), complex and share of the candidates that are polygons."""
    if (path / "input.safetensors").exists():
        given = CellComplex.load(path / "input.safetensors")
        yield 0, given, 1.0 if given.num_polygons else None  # none are kept where there are too many
    metrics = pd.read_csv(path / "fold-0" / "metrics.csv", index_col="epoch")
    for epoch in epochs:
        stored = path / "fold-0" / "complexes" / f"epoch-{epoch:04d}.safetensors"
        if stored.exists():
            share = metrics.kept_share[epoch]
            yield epoch, CellComplex.load(stored), None if pd.isna(share) else float(share)


def _write_numbers(path: Path, dataset: str, model: str, snapshots: list[_State], y: Any) -> Path:
    drawn = figure_points(dataset) if model == "dcm" and dataset in FIGURE_DATASETS else ()
    printed = {point.epoch: (point.polygon_percent, point.homophily) for point in drawn}
    rows = []
    for epoch, cx, share in snapshots:
        percent = None if share is None else 100 * share
        homophily = cx.edge_homophily(y) if cx.num_edges else None
        ours = (percent, homophily, 2 * cx.num_edges / cx.num_nodes, cx.num_polygons)
        rows.append((dataset, model, epoch, *ours, *printed.get(epoch, (None, None))))
    with atomic_path(path) as draft:
        pd.DataFrame(rows, columns=_HEADER, dtype=object).to_csv(draft, index=False, lineterminator="\n")
    return path
