"""The content of the interactive drawing: positions, points, and the cells at every moment."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from latopo.complex import CellComplex
from latopo.draw import PALETTES, layout, sample_neighborhoods
from latopo.draw.palette import Palette, polygon_name
from latopo.draw.sample import take_nodes
from latopo.report.cells import DrawnCells, difference_cells, drawn_cells, most_probable
from latopo.report.facts import Facts
from latopo.report.packer import Packer
from latopo.report.report_data import ROLES, FloatArray, IntArray, Points, ReportData

__all__ = ["describe_drawing"]

MOST_NODES = 5000
# What a browser draws smoothly, and what keeps the page below 10 MB with a dozen snapshots.
MOST_EDGES = 30_000
MOST_POLYGONS = 20_000
MOST_COLUMNS = 60


def describe_drawing(runs: Sequence[ReportData], facts: Sequence[Sequence[Facts]], packer: Packer) -> dict[str, Any]:
    """The drawing as the page's script reads it.

    Args:
        runs: one run with a complex, or two on the same points, which adds a scene of what differs.
        facts: of each run's snapshots.
        packer: takes the arrays.
    """
    complexes = [run.complex for run in runs if run.complex is not None]
    union = complexes[0] if len(complexes) == 1 else _union(*complexes)
    node_ids = sample_neighborhoods(union, MOST_NODES)
    names = ["This run"] if len(runs) == 1 else ["Run A", "Run B"]
    scenes = [_run_scene(*scene, node_ids, packer) for scene in zip(names, runs, facts, strict=True)]
    if len(complexes) == 2:
        cells = difference_cells(*(take_nodes(cx, node_ids) for cx in complexes))
        moment = _moment("What differs", cells, union, node_ids, packer)
        scenes.append({"name": "What differs", "moments": [moment], "shown": 0})
    lengths = {group["length"] for scene in scenes for moment in scene["moments"] for group in moment["groups"]}
    return {
        "points": _points(runs[0].points, node_ids, layout(take_nodes(union, node_ids)), packer),
        "total": union.num_nodes,
        "scenes": scenes,
        "palettes": {name: _palette(palette) for name, palette in PALETTES.items()},
        "polygonWord": runs[0].polygon_word,
        "polygonNames": {length: polygon_name(length) for length in sorted(lengths - {2})},
    }


def _union(first: CellComplex, second: CellComplex) -> CellComplex:
    edges = torch.cat([first.edge_index, second.edge_index.to(first.device)], dim=1).unique(dim=1)
    return CellComplex.from_canonical(first.num_nodes, edges)


def _run_scene(
    name: str, data: ReportData, facts: Sequence[Facts], node_ids: IntArray, packer: Packer
) -> dict[str, Any]:
    moments = []
    for snapshot, measured in zip(data.snapshots, facts, strict=True):
        cells = drawn_cells(take_nodes(snapshot.complex, node_ids))
        moment = _moment(snapshot.moment, cells, snapshot.complex, node_ids, packer)
        moments.append(moment | {"facts": _facts(measured)})
    return {"name": name, "moments": moments, "shown": range(len(moments))[data.shown]}


def _moment(
    title: str, groups: list[DrawnCells], cx: CellComplex, node_ids: IntArray, packer: Packer
) -> dict[str, Any]:
    """``degree`` is that of the drawn points, ``degrees`` that of all."""
    drawn, left_out = [], []
    for kind, most, part in (("edges", MOST_EDGES, groups[:1]), ("polygons", MOST_POLYGONS, groups[1:])):
        drawn += most_probable(part, most)
        if (count := sum(len(group.corners) for group in part)) > most:
            left_out.append(f"the {most:,} most probable of {count:,} {kind}")
    every = cx.node_degree().cpu().numpy()
    degree = packer.integers(every[node_ids])
    return {
        "title": title,
        "groups": [group.pack(packer) for group in drawn],
        "leftOut": left_out,
        "degree": degree,
        "degrees": degree if len(node_ids) == len(every) else packer.integers(every),
        "facts": None,
    }


def _facts(facts: Facts) -> dict[str, Any]:
    return {
        "edges": facts.edges,
        "polygons": facts.num_polygons,
        "degree": facts.mean_degree,
        "homophily": facts.share(2),
        "purity": facts.polygon_purity.share,
        "correlation": None if facts.agreement is None else facts.agreement.correlation,
        "betti": facts.betti,
    }


def _points(points: Points | None, node_ids: IntArray, position: FloatArray, packer: Packer) -> dict[str, Any]:
    described: dict[str, Any] = {
        "count": len(node_ids),
        "numbers": packer.integers(node_ids),
        "x": packer.floats(position[:, 0]),
        "y": packer.floats(position[:, 1]),
        "classNames": [],
        "roleNames": ROLES,
        "columns": [],
    }
    if points is None:
        return described
    pack = packer.floats if points.is_quantity else packer.integers
    labelled = None if points.labelled is None else points.labelled.astype(np.int64)
    columns = {"labels": (points.labels, pack), "predictions": (points.predictions, pack)}
    columns |= {"confidence": (points.confidence, packer.floats), "roles": (points.roles, packer.integers)}
    columns["labelled"] = (labelled, packer.integers)
    described |= {name: write(column[node_ids]) for name, (column, write) in columns.items() if column is not None}
    described["classNames"] = points.class_names
    if points.names is not None:
        described["names"] = [points.names[node] for node in node_ids.tolist()]
    described["columns"] = [
        {"name": column.name, "values": packer.texts([_text(column.values[node]) for node in node_ids.tolist()])}
        for column in points.columns[:MOST_COLUMNS]
    ]
    return described


def _text(value: str | float | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.6g}"


def _palette(palette: Palette) -> dict[str, Any]:
    classes = range(7 * len(palette.classes))  # as many as there are marks for each colour
    return {**asdict(palette), "marks": [palette.class_mark(number) for number in classes]}
