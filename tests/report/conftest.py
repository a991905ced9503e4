"""A small run that has everything: three moments, names and classes that try to be HTML; and real runs."""

import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.data import load
from latopo.draw import Snapshot
from latopo.report import Baseline, Points, ReportData, Score
from latopo.training import Run, RunFolder, train_folds

EVIL = "<img src=x onerror=alert(1)>"
EVIL_TITLE = "</script><script>alert(2)</script>"


def make_complex(edges, polygons=None, edge_prob=None, polygon_prob=None):
    """The complex on six nodes with these cells."""
    return CellComplex(
        6,
        torch.tensor(edges).t(),
        {length: torch.tensor(rows) for length, rows in (polygons or {}).items()},
        None if edge_prob is None else torch.tensor(edge_prob),
        None if polygon_prob is None else torch.tensor(polygon_prob),
    )


# A triangle 0 1 2 (one class), a square 2 3 4 5 (two classes).
FIRST = make_complex([[0, 1], [1, 2]], None, [0.5, 0.25])
SECOND = make_complex([[0, 1], [0, 2], [1, 2], [3, 4]], {3: [[0, 1, 2]]}, [0.5, 0.4, 0.3, 0.2], [0.5])
LAST = make_complex(
    [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5], [2, 5]],
    {3: [[0, 1, 2]], 4: [[2, 3, 4, 5]]},
    [0.9, 0.8, 0.7, 0.1, 0.2, 0.3, 0.4],
    [0.75, 0.05],
)


@pytest.fixture
def run():
    history = {"epoch": [1, 2, 3], "loss": [0.9, 0.5, 0.3], "train_score": [None, 0.5, 1.0], "kept_share": [None, 1, 1]}
    points = Points(
        labels=np.array([0, 0, 0, 1, 1, -1]),
        class_names=(EVIL, "second"),
        names=("ada", "bob", "cyd", "<b>dan</b>", "eve", "fay"),
        predictions=np.array([0, 0, 1, 1, 1, 0]),
        confidence=np.array([0.9, 0.8, 0.7, 0.6, 0.5, np.nan]),
        roles=np.array([0, 0, 2, 2, 1, -1]),
    )
    snapshots = (Snapshot(FIRST, 1), Snapshot(SECOND, 2, polygon_share=1.0), Snapshot(LAST, 3, polygon_share=0.5))
    score = Score(0.5, baselines=(Baseline("mlp", 0.25, "a plain network"),))
    return ReportData(
        EVIL_TITLE, ("A test.",), score, points, snapshots, histories={"fold 0": history}, settings={"model": EVIL}
    )


@pytest.fixture(scope="session")
def train():
    """A function that trains a few epochs and returns the run's folder."""

    def train_run(path, model, folds=(0, 1), protocol="honest", dataset="karate", graph=False, **settings):
        settings = {"epochs": 6, "weight_decay": 5e-4, **settings}
        folder = RunFolder(path, Run(dataset, model, graph, protocol, settings=settings), [3, 6])
        train_folds(folder, load(dataset), folds)
        return folder.path

    return train_run


@pytest.fixture(scope="session")
def runs(train, tmp_path_factory):
    """Two runs on the same folds in the same folder, by the name of their model."""
    folder = tmp_path_factory.mktemp("runs")
    return {model: train(folder / model, model) for model in ("dcm", "mlp")}
