import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from latopo import CellComplex, induced_cycles
from latopo.draw import Snapshot
from latopo.report import (
    Baseline,
    Column,
    Points,
    ReportData,
    Score,
    ShownCell,
    ShownRow,
    ShownTable,
    build_page,
    is_report,
    write_report,
)

OUTSIDE = re.compile(r"""(?:src|href|action|url)\s*[=(]\s*["']?\s*(?:https?:|//)""", re.IGNORECASE)
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "\"' onmouseover=alert(3) x='\"",
    "{{ 7 * 7 }}&<!--",
)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text outside scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.in_script = [], "", False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, attributes))
        self.in_script = tag == "script"

    def handle_endtag(self, tag):
        self.in_script = self.in_script and tag != "script"

    def handle_data(self, data):
        self.text += "" if self.in_script else data


def text_of(page):
    """The text of the page in one line."""
    return " ".join(Elements(page).text.split())


def named(run, text):
    """The run with this text wherever a text can come from data; two classes are still told apart."""
    cell = ShownCell(1.0, 0.5, (0.5, 1.5), text, -1.0)
    table = ShownTable(text, (text,), (text,), (ShownRow((text,), (cell,)),), caption=text, notes=(text,))
    return replace(
        run,
        title=text,
        story=(text,),
        score=Score(0.5, where=text, baselines=(Baseline(text, 0.25, text),)),
        points=replace(
            run.points,
            class_names=(text, "second"),
            names=(text,) * 6,
            labelled=np.arange(6) < 2,
            columns=(Column(text, (text,) * 6), Column("size", (1.0, 1.0, 1.0, 5.0, 6.0, None))),
        ),
        snapshots=tuple(replace(snapshot, title=text) for snapshot in run.snapshots),
        histories={text: run.histories["fold 0"]},
        settings={text: text},
        tables=(table,),
        notes=(text,),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_data_never_becomes_markup(run, text):
    pages = [build_page(named(replace(run, shown=1), name), named(run, name)) for name in ("PLAIN", text)]
    plain, hostile = map(Elements, pages)
    assert plain.text.count("PLAIN") > 40
    assert hostile.text == plain.text.replace("PLAIN", text)
    assert hostile.tags == [
        (tag, [(name, value and value.replace("PLAIN", text)) for name, value in attributes])
        for tag, attributes in plain.tags
    ]


def test_text_from_data_arrives_in_the_script_as_it_is(run):
    page = build_page(named(run, HOSTILE[1]))
    content = json.loads(re.search(r'<script type="application/json" id="content">(.*?)</script>', page)[1])
    assert content["drawing"]["points"]["names"] == [HOSTILE[1]] * 6
    assert content["tables"] == [{"digits": 2, "rows": [[{"value": 1.0, "folds": [0.5, 1.5]}]]}]


def test_the_page_names_nothing_outside(run):
    page = build_page(run)
    assert not OUTSIDE.search(page)
    assert "connect-src 'none'" in page
    assert "default-src 'none'" in page
    assert "'unsafe-eval'" not in page


def test_the_policy_lets_the_pages_own_scripts_run_and_no_other(run):
    page = build_page(run)
    allowed = re.search(r"script-src ([^;]*);", page)[1].split()
    found = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in found]
    assert allowed == [f"'sha256-{digest}'" for digest in digests]
    assert len(digests) == 1


def test_the_same_run_gives_the_same_page(run):
    assert build_page(run) == build_page(run)


def test_sections_follow_what_is_there(run):
    page = build_page(run)
    assert all(f'id="{name}"' in page for name in ("summary", "complex", "polygons", "training", "structure"))
    bare = build_page(ReportData("bare"))
    assert 'id="complex"' not in bare


def test_the_answers_are_sentences(run):
    text = text_of(build_page(replace(run, score=replace(run.score, spread=0.125))))
    assert (
        "The model predicts the right class for 50 % of the test points. This is the mean over the folds; their "
        in text
    )
    assert (
        "their standard deviation is 12.5 points. It is 25.0 points better than “mlp” (a plain network, 25 %)." in text
    )
    assert (
        "Yes, strongly. 80 % of the 5 edges between points of known class join two points of the same class; by chance "
        "it would be 40 %." in text
    )
    assert (
        "100 % of the triangles have all their corners in one class; by chance it would be 10 %, and among all "
        "triangles in this graph it is 100 %." in text
    )
    assert (
        "The complex joins 6 points with 7 edges and 2 polygons (1 triangle, 1 square). A point has 2.3 neighbours on "
        "average." in text
    )
    assert "It is the triangle of ada, bob and cyd; all its corners have the same class: <img" in text


def test_the_answers_fit_small_and_unlabelled_complexes(run):
    lonely = text_of(build_page(replace(run, shown=0)))
    assert "2 edges and 0 polygons. A point has 0.7 neighbours on average. 3 points have no neighbour at all." in lonely
    bare = text_of(build_page(replace(run, points=None)))
    assert "It is the triangle of 0, 1 and 2." in bare
    assert "agree with the classes?" not in bare
    mixed = replace(run.points, labels=np.array([0, 1, -1, 0, 0, 0]))
    assert "; their classes are <img src=x onerror=alert(1)>, second, unknown." in text_of(
        build_page(replace(run, points=mixed))
    )


def test_the_confusion_matrix_says_which_points_it_counts(run):
    assert "the diagonal is correct: 1 of 2 test points." in text_of(build_page(run))
    for roles, words in (
        (None, "4 of 5 points."),
        (np.zeros(6, np.int64), "4 of 5 training points. The model learned from these points"),
    ):
        assert words in text_of(build_page(replace(run, points=replace(run.points, roles=roles))))


def test_results_have_spread_difference_remark_and_level(run):
    cells = (ShownCell(80.0, 2.0, (78.0, 82.0), "paper 81.0", -1.0), ShownCell(None, remark="paper 3"))
    rows = ShownRow(("dcm",), cells), ShownRow(("mlp",), (ShownCell(70.0), ShownCell(None)))
    page = build_page(ReportData("x", tables=(ShownTable("Scores", ("model",), ("Texas", "Cora"), rows),)))
    assert "dcm80.00 ± 2.00−1.00paper 81.0–paper 3 mlp70.00– " in text_of(page)
    assert 'class="difference worse"' in page
    assert page.count('style="--level:1.000" tabindex="0"') == 1
    assert page.count('style="--level:0.000"') == 1
    assert 'id="results"' not in build_page(run)


def test_regression_has_no_classes_but_a_page(run):
    points = Points(np.array([0.5, 1.5, np.nan, 2.0, 3.0, 4.0]), predictions=np.arange(6.0))
    page = build_page(replace(run, points=points, confusion=None))
    assert "Edges within a class" not in page
    assert "Strongest polygon" in page


def test_regression_says_whether_the_structure_agrees_with_the_values(run):
    values = Points(np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2]), predictions=np.arange(6.0))
    text = text_of(build_page(replace(run, points=values)))
    assert "Does the structure agree with the values?" in text
    assert "Correlation of values across edges0.58" in text
    assert "have a correlation of 0.58, edges weighed by their probability" in text
    assert "agree with the values?" not in text_of(build_page(run))
    table = re.search(r"<caption>Topology over the training.*?</table>", build_page(replace(run, points=values)), re.S)
    assert "homophily" not in table[0]


def test_polygons_have_strengths_and_what_their_members_share(run):
    text = text_of(build_page(run))
    assert "The 2 strongest polygons" in text
    assert "strength" in text
    rows = re.findall(r"<td>(triangle|square)</td><td>(.*?)</td>", build_page(run))
    assert rows == [("triangle", "1"), ("square", "0.0667")]  # 0.05 / 0.75
    own = re.findall(r"<td>(triangle|square)</td><td>(.*?)</td>", build_page(replace(run, learned=False)))
    assert own == [("triangle", "0.75"), ("square", "0.05")]
    columns = (Column("size", (1.0, 1.0, 1.0, 5.0, 6.0, None)), Column("free", tuple("abcdef")))
    shared = text_of(build_page(replace(run, points=replace(run.points, columns=columns))))
    assert "of 2 columns they are closer than 19 of 20 groups of 3 random points" in shared
    assert shared.count("of 2 columns") == 3  # in the answers, and once for each polygon
    assert "Privacy: this file holds the columns’ values" in shared
    assert "in common" not in text


def test_rows_without_a_label_are_shown_by_their_prediction(run):
    points = replace(run.points, labelled=np.array([True, False, False, True, True, False]))
    text = text_of(build_page(replace(run, points=points)))
    assert "their classes are <img src=x onerror=alert(1)>, <img src=x onerror=alert(1)>, second (some" in text
    assert "2 predicted" in text
    assert "Outlined points came with a label" in text


def test_comparison_counts_cells(run):
    page = build_page(replace(run, shown=1, title="A"), replace(run, title="B"))
    # Edges: four in both, none only in A, three only in B.
    assert "edges</th><td>4</td><td>0</td><td>3</td><td>57.1 %</td>" in page
    assert "triangles within a class</th><td>100 %</td><td>100 %</td>" in page
    assert "squares within a class</th><td>–</td><td>–</td>" in page
    assert "Strongest polygons only in B" in page


def test_a_page_with_everything_carries_little_but_its_data(run):
    assert len(build_page(run).encode()) < 120_000


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
    assert path.stat().st_size < 1.5e6


def test_a_report_is_told_from_other_files(run, tmp_path):
    (tmp_path / "other.html").write_text("<!DOCTYPE html><p>latopo report</p>")
    assert not is_report(tmp_path / "other.html")
    assert is_report(write_report(tmp_path / "report.html", run))
