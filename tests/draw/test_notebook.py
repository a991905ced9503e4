from xml.etree import ElementTree

import numpy as np
import torch

from latopo import CellComplex
from latopo.draw.notebook import to_html


def test_counts_and_shapes(house: CellComplex) -> None:
    root = ElementTree.fromstring(house._repr_html_())
    cells = [[cell.text or "".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    assert [(name.strip("■ "), count) for name, count in cells] == [
        ("nodes", "6"),
        ("edges", "6"),
        ("triangles", "1"),
        ("squares", "1"),
    ]
    assert [len(list(root.iter(tag))) for tag in ("circle", "line", "polygon", "small")] == [6, 6, 2, 0]


def test_everything_lies_inside_the_picture(house: CellComplex) -> None:
    root = ElementTree.fromstring(to_html(house))
    numbers = [float(circle.get(name)) for circle in root.iter("circle") for name in ("cx", "cy", "r")]
    x, y, r = np.reshape(numbers, (-1, 3)).T
    assert (np.minimum(x, y) - r).min() >= 0
    assert (np.maximum(x, y) + r).max() <= 280


def test_edges_end_at_nodes(house: CellComplex) -> None:
    root = ElementTree.fromstring(to_html(house))
    nodes = [(circle.get("cx"), circle.get("cy")) for circle in root.iter("circle")]
    ends = [((e.get("x1"), e.get("y1")), (e.get("x2"), e.get("y2"))) for e in root.iter("line")]
    assert ends == [(nodes[u], nodes[v]) for u, v in house.edge_index.t().tolist()]


def test_a_large_complex_is_sampled_and_says_so(communities) -> None:
    complex, _ = communities(groups=5, size=200, inside=0.2)
    html = to_html(complex)
    root = ElementTree.fromstring(html)
    assert len(list(root.iter("circle"))) == 300
    assert len(list(root.iter("line"))) == 1000
    assert "Drawn: 300 of 1,000 nodes" in html
    assert "1,000 most probable" in html
    assert len(html) < 200_000


def test_an_empty_complex_has_counts_only(empty: CellComplex) -> None:
    root = ElementTree.fromstring(to_html(empty))
    assert not list(root.iter("svg"))
    assert len(list(root.iter("tr"))) == 2


def test_names_are_escaped() -> None:
    hostile = type("<img src=x onerror=alert(1)>", (CellComplex,), {})
    html = hostile(2, torch.tensor([[0], [1]]))._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x" in html
