"""A million clustered points, from the points to polygons, stage by stage, in a process of its own with two threads."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from latopo.bench.harness import Measurement
from latopo.bench.search import DEGREE, clusters, ours
from latopo.complex.canonical import edge_keys
from latopo.neighbors import NeighborSearch, gain_for_degree
from latopo.nn import PolygonInference
from peers._memory import in_process, peak_megabytes

__all__ = ["measure", "stages"]

THREADS = 2
BUDGET = 1_000_000  # candidate cycles that are scored
STEP = 1e-3  # how far points move until the later step, in standard deviations of a cluster


class Stage(NamedTuple):
    """Seconds of a stage, the most memory of the process so far in MB, and a remark with the CPU time."""

    seconds: float
    megabytes: float
    note: str


def measure(quick: bool = False) -> list[Measurement]:
    """The bars of a million points."""
    count = 20_000 if quick else 1_000_000
    found, recall = in_process(partial(stages, count))
    first, later, cycles = found["first"], found["later"], found["polygons"]
    what, left = f"{count:,} clustered points, {THREADS} threads: {{}}", max(360.0 - first.seconds, 1.0)
    return [
        Measurement(what.format("first forward + backward"), first.seconds, "6 min", 360.0, bar=1.0, note=first.note),
        Measurement(what.format("peak memory"), cycles.megabytes, "8 GB", 8192.0, "MB", bar=1.0),
        Measurement(what.format("later step"), later.seconds, "30 s", 30.0, bar=1.0, note=later.note),
        Measurement(what.format("missed neighbours"), 1 - recall, "5 %", 0.05, "", bar=1.0, note="on 1,000 rows"),
        Measurement(what.format("cycles, polygons"), cycles.seconds, "rest of 6 min", left, bar=1.0, note=cycles.note),
    ]


def stages(count: int) -> tuple[dict[str, Stage], float]:
    """Every stage by its name, and the recall of the first one."""
    torch.set_num_threads(THREADS)  # of this process alone
    x, found = clusters(count), {}
    search = NeighborSearch("approximate")
    ours(clusters(5_000), 20.0, NeighborSearch("approximate"))  # compiles
    gain = gain_for_degree(x, DEGREE, similarity="squared", search=search)
    (ptr, col, _), found["first"] = timed(lambda: ours(x, gain, search), lambda _: str(search.report))
    recall = search.report.recall if search.report is not None else None
    moved = x + STEP * torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
    _, found["later"] = timed(lambda: ours(moved, gain, search), lambda _: str(search.report))
    inference = PolygonInference(4, polygon_share=0.2, candidate_budget=BUDGET).eval()
    edges = undirected(ptr, col)
    _, found["polygons"] = timed(
        lambda: inference(x, edges),
        lambda polygons: (
            f"{edges.size(1):,} edges, {polygons.num_candidates:,} induced cycles up to 4, "
            f"{polygons.num_scored:,} scored, {polygons.prob.numel():,} polygons"
        ),
    )
    return found, 0.0 if recall is None else recall


def undirected(ptr: Tensor, col: Tensor) -> Tensor:
    """The edges under directed rows, [2, E], u < v, sorted."""
    count = ptr.numel() - 1
    keys = edge_keys(torch.stack([torch.repeat_interleave(ptr.diff()), col]), count).unique()
    return torch.stack([keys // count, keys % count])


def timed(work: Callable[[], Any], remark: Callable[[Any], str]) -> tuple[Any, Stage]:
    """What the work returns, and what it took."""
    started, cpu = time.perf_counter(), time.process_time()
    answer = work()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return answer, Stage(seconds, peak_megabytes(), f"{cpu:.0f} s of CPU time; {remark(answer)}")
