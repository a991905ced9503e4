"""An epoch of ``dcm`` and ``dcm-plus`` against one of the GCN, every third with its evaluation, in CPU time."""

import time
from functools import partial

from latopo._parallel import one_thread
from latopo.bench.harness import Measurement, best_runs
from latopo.data import load
from latopo.training import Run
from latopo.training.loop import Trainer
from latopo.training.protocol import first_trainer

__all__ = ["measure"]

WARM = 3
PERIOD = 3  # epochs up to an evaluation, and one of it


def measure(quick: bool = False) -> list[Measurement]:
    """The bars of an epoch; a system is measured as it is stored, and with neighbours by search."""
    if quick:
        return _against_gcn("karate", [("dcm-plus", {}, 1 / 10)], repeats=1)
    search = {"search": "auto"}
    return [
        *_against_gcn("cora", [("dcm-plus", {}, 1 / 10), ("dcm", {}, None)], repeats=5),
        *_against_gcn(
            "pubmed", [("dcm-plus", {}, None), ("dcm-plus", search, 1 / 5), ("dcm", search, 1 / 8)], repeats=2
        ),
    ]


def _against_gcn(
    dataset: str, systems: list[tuple[str, dict[str, str], float | None]], repeats: int
) -> list[Measurement]:
    data = load(dataset)
    runs = [Run(dataset, "gcn", graph=True), *(Run(dataset, name, settings=settings) for name, settings, _ in systems)]
    trainers = [first_trainer(data, run, fold=0) for run in runs]
    with one_thread():
        for trainer in trainers:
            trainer.advance(WARM)
        steps = [partial(_period, trainer) for trainer in trainers]
        gcn, *ours = (seconds / PERIOD for seconds, _ in best_runs(*steps, repeats=repeats, clock=time.process_time))
    rows = []
    for (name, settings, bar), seconds, trainer in zip(systems, ours, trainers[1:], strict=True):
        chosen = "".join(f", {key} = {value}" for key, value in settings.items())
        found, looks = trainer.model.search_report(), [row for row in trainer.history if row["mean_degree"] is not None]
        note = f"CPU time, one thread; {seconds / gcn:.1f} GCN epochs; degree {looks[-1]['mean_degree']:.0f}; {found}"
        rows.append(Measurement(f"{name} on {dataset}{chosen}: an epoch", seconds, "GCN", gcn, bar=bar, note=note))
    return rows


def _period(trainer: Trainer) -> None:
    trainer.advance(trainer.epoch + PERIOD)
