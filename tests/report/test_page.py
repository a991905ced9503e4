import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from latopo import CellComplex, induced_cycles
from latopo.draw import Snapshot
from latopo.errors import LatopoError
from latopo.report import Points, ReportData, build_page, write_report

EVIL = "<img src=x onerror=alert(1)>"
OUTSIDE = re.compile(r"""(?:src|href|action|url)\s*[=(]\s*["']?\s*(?:https?:|//)""", re.IGNORECASE)


def without_plotly(page):
    """The page up to plotly's own code."""
    return page.partition("<script>/**")[0]


def test_no_text_of_the_data_is_html(run):
    page = without_plotly(build_page(run))
    assert "<img" not in page
    assert "alert(2)</script>" not in page
    assert "<b>dan" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_the_page_names_nothing_outside(run):
    page = build_page(run)
    assert not OUTSIDE.search(without_plotly(page))
    assert "connect-src 'none'" in page
    assert "'unsafe-eval'" not in page
    assert re.search(r"script-src( 'sha256-[\w+/]+=*')+;", page)


def test_the_same_run_gives_the_same_page(run):
    assert build_page(run) == build_page(run)


def test_sections_follow_what_is_there(run):
    page = without_plotly(build_page(run))
    assert all(f'id="{name}"' in page for name in ("summary", "complex", "polygons", "training", "structure"))
    bare = build_page(ReportData("bare"))
    assert 'id="complex"' not in bare
    assert "plotly.js v" not in bare  # nothing to chart, nothing carried


def test_the_confusion_matrix_says_of_which_points_it_is(run):
    assert "1 of 2 test points are right" in build_page(run)
    for roles, words in (
        (None, "4 of 5 points are right"),
        (np.zeros(6, np.int64), "4 of 5 training points are right"),
    ):
        assert words in build_page(replace(run, points=replace(run.points, roles=roles)))


def test_regression_has_no_classes_but_a_page(run):
    points = Points(np.array([0.5, 1.5, np.nan, 2.0, 3.0, 4.0]), predictions=np.arange(6.0))
    page = without_plotly(build_page(replace(run, points=points, confusion=None)))
    assert "Edges within a class" not in page
    assert "Strongest polygon" in page


def test_runs_on_other_points_cannot_be_compared(run):
    smaller = ReportData("small", snapshots=(Snapshot(CellComplex(2, torch.tensor([[0], [1]]))),))
    with pytest.raises(LatopoError, match="different points \\(6 and 2\\)"):
        build_page(run, smaller)
    with pytest.raises(LatopoError, match="none has no complex to compare"):
        build_page(run, ReportData("none"))
    others = replace(run.points, names=("a", "b", "c", "d", "e", "f"))
    with pytest.raises(LatopoError, match="different points"):
        build_page(run, replace(run, points=others))


def test_comparison_counts_cells(run):
    page = without_plotly(build_page(replace(run, shown=1, title="A"), replace(run, title="B")))
    # Edges: four in both, none only in A, three only in B.
    assert re.search(r"edges</th><td>4</td><td>0</td><td>3</td>", page)
    assert "Strongest polygons only in B" in page


def test_a_page_of_coras_size_is_small(tmp_path):
    generator = torch.Generator().manual_seed(0)
    nodes = 2708
    near = torch.arange(nodes).repeat(4)
    edges = torch.stack([near, (near + torch.randint(1, 30, near.shape, generator=generator)) % nodes])
    edges = edges.sort(dim=0).values.unique(dim=1)
    polygons = induced_cycles(edges, nodes, 4)
    snapshots = []
    for epoch in range(10):
        chosen = {length: rows[torch.rand(len(rows), generator=generator) < 0.5] for length, rows in polygons.items()}
        count = sum(map(len, chosen.values()))
        probs = torch.rand(edges.size(1), generator=generator), torch.rand(count, generator=generator)
        snapshots.append(Snapshot(CellComplex(nodes, edges, chosen, *probs, validate=False), epoch))
    points = Points(np.arange(nodes) % 7, tuple("abcdefg"), predictions=np.arange(nodes) % 7)
    path = write_report(
        tmp_path / "deep" / "report.html", ReportData("Cora", points=points, snapshots=tuple(snapshots))
    )
    assert edges.size(1) > 10_000
    assert path.stat().st_size < 10e6
