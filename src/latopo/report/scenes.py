"""The interactive drawing's content: positions, points, and the cells at every moment."""

from collections.abc import Sequence
from typing import Any

import torch

from latopo.complex import CellComplex
from latopo.draw import PALETTES, Snapshot, layout, sample_neighborhoods
from latopo.draw.palette import polygon_name
from latopo.draw.sample import take_nodes
from latopo.report.cells import DrawnCells, difference_cells, drawn_cells, strongest
from latopo.report.data import ROLES, FloatArray, IntArray, Points, ReportData
from latopo.report.encode import Packer
from latopo.report.facts import Facts

__all__ = ["describe_drawing", "moment_title"]

MOST_NODES = 5000
# What a browser draws smoothly, and what keeps the page below 10 MB with a dozen snapshots.
MOST_EDGES = 30_000
MOST_POLYGONS = 20_000


def describe_drawing(
    data: ReportData, facts: Sequence[Facts], packer: Packer, other: ReportData | None = None
) -> dict[str, Any]:
    """The drawing as the page's script reads it; ``other`` adds its moments and what differs."""
    complexes = [item.complex for item in (data, other) if item is not None and item.complex is not None]
    model = complexes[0] if len(complexes) == 1 else _union(*complexes)
    node_ids = sample_neighborhoods(model, MOST_NODES)
    position = layout(take_nodes(model, node_ids))
    scenes = [_run_scene("This run" if other is None else "Run A", data, facts, node_ids, packer)]
    if other is not None and other.complex is not None:
        scenes.append(_run_scene("Run B", other, [], node_ids, packer))
        scenes.append(_difference_scene(complexes, node_ids, packer))
    return {
        "points": _points(data.points, node_ids, position, packer),
        "total": model.num_nodes,
        "scenes": scenes,
        "palettes": {name: _palette(name) for name in PALETTES},
        "polygonNames": {length: polygon_name(length) for length in _lengths(scenes)},
    }


def _run_scene(
    name: str, data: ReportData, facts: Sequence[Facts], node_ids: IntArray, packer: Packer
) -> dict[str, Any]:
    moments = []
    for number, snapshot in enumerate(data.snapshots):
        drawn = _moment(drawn_cells(take_nodes(snapshot.complex, node_ids)), packer)
        degree = snapshot.complex.node_degree().cpu().numpy()
        drawn |= {"title": moment_title(snapshot), "degree": packer.integers(degree[node_ids])}
        drawn["degrees"] = drawn["degree"] if len(node_ids) == len(degree) else packer.integers(degree)
        drawn["facts"] = _facts(facts[number]) if facts else None
        moments.append(drawn)
    return {"name": name, "moments": moments, "shown": range(len(moments))[data.shown]}


def _difference_scene(complexes: list[CellComplex], node_ids: IntArray, packer: Packer) -> dict[str, Any]:
    first, second = (take_nodes(complex, node_ids) for complex in complexes)
    drawn = _moment(difference_cells(first, second), packer)
    degree = _union(*complexes).node_degree().cpu().numpy()
    drawn |= {"title": "What differs", "degree": packer.integers(degree[node_ids]), "facts": None}
    drawn["degrees"] = drawn["degree"] if len(node_ids) == len(degree) else packer.integers(degree)
    return {"name": "What differs", "moments": [drawn], "shown": 0}


def _moment(groups: list[DrawnCells], packer: Packer) -> dict[str, Any]:
    edges, polygons = strongest(groups[:1], MOST_EDGES), strongest(groups[1:], MOST_POLYGONS)
    left_out = [
        f"the {limit:,} most probable of {count:,} {kind}"
        for kind, limit, count in (
            ("edges", MOST_EDGES, _count(groups[:1])),
            ("polygons", MOST_POLYGONS, _count(groups[1:])),
        )
        if count > limit
    ]
    kept = [group for group in polygons if len(group.corners)]
    return {"groups": [group.pack(packer) for group in (*edges, *kept)], "leftOut": left_out}


def _count(groups: list[DrawnCells]) -> int:
    return sum(len(group.corners) for group in groups)


def _facts(facts: Facts) -> dict[str, Any]:
    return {
        "edges": facts.edges,
        "polygons": facts.num_polygons,
        "degree": facts.mean_degree,
        "homophily": facts.homophily,
        "purity": facts.polygon_purity,
        "betti": facts.betti,
    }


def _points(points: Points | None, node_ids: IntArray, position: FloatArray, packer: Packer) -> dict[str, Any]:
    described: dict[str, Any] = {
        "count": len(node_ids),
        "numbers": packer.integers(node_ids),
        "x": packer.floats(position[:, 0]),
        "y": packer.floats(position[:, 1]),
        "classNames": [],
        "roleNames": list(ROLES),
    }
    if points is None:
        return described
    pack = packer.floats if points.is_quantity else packer.integers
    columns = {"labels": (points.labels, pack), "predictions": (points.predictions, pack)}
    columns |= {"confidence": (points.confidence, packer.floats), "roles": (points.roles, packer.integers)}
    described |= {name: write(column[node_ids]) for name, (column, write) in columns.items() if column is not None}
    described["classNames"] = list(points.class_names)
    if points.names is not None:
        described["names"] = [points.names[node] for node in node_ids.tolist()]
    return described


def _palette(name: str) -> dict[str, Any]:
    palette = PALETTES[name]
    classes = range(7 * len(palette.classes))  # as many as there are marks for each colour
    return {
        "edge": palette.edge,
        "polygons": palette.polygons,
        "classes": palette.classes,
        "unlabelled": palette.unlabelled,
        "marks": [palette.class_mark(number) for number in classes],
    }


def _lengths(scenes: list[dict[str, Any]]) -> list[int]:
    groups = [group for scene in scenes for moment in scene["moments"] for group in moment["groups"]]
    return sorted({group["length"] for group in groups} - {2})


def _union(first: CellComplex, second: CellComplex) -> CellComplex:
    edges = torch.cat([first.edge_index, second.edge_index.to(first.device)], dim=1).unique(dim=1)
    return CellComplex.from_canonical(first.num_nodes, edges)


def moment_title(snapshot: Snapshot) -> str:
    """What to call a moment of the training.

    Example:
        >>> moment_title(Snapshot(CellComplex(1, torch.zeros(2, 0, dtype=torch.int64)), epoch=30))
        'Epoch 30'
    """
    if snapshot.title is not None:
        return snapshot.title
    return "Input" if snapshot.epoch is None else f"Epoch {snapshot.epoch}"
