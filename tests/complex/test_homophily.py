import math

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError


def test_shares_of_the_house(house: CellComplex) -> None:
    labels = torch.tensor([0, 1, 1, 1, 1, 0])
    assert house.edge_homophily(labels) == pytest.approx(4 / 6)
    assert house.polygon_homophily(labels) == 0.5
    assert house.edge_homophily(torch.arange(6)) == house.polygon_homophily(torch.arange(6)) == 0.0
    assert house.edge_homophily(torch.zeros(6)) == house.polygon_homophily(torch.zeros(6)) == 1.0


def test_minus_one_is_a_class_unless_told_otherwise(house: CellComplex) -> None:
    labels = torch.tensor([-1, -1, 2, 2, 2, 0])
    assert house.edge_homophily(labels) == pytest.approx(4 / 6)
    # Unknown, nodes 0 and 1 leave the edges 23, 24, 34 and the roof.
    assert house.edge_homophily(labels, unlabelled=-1) == 1.0
    assert house.polygon_homophily(labels) == 0.5
    assert house.polygon_homophily(labels, unlabelled=-1) == 1.0


def test_nothing_to_count_is_not_a_number(house: CellComplex, empty: CellComplex) -> None:
    assert math.isnan(empty.edge_homophily(torch.zeros(0)))
    assert math.isnan(empty.polygon_homophily(torch.zeros(0)))
    assert math.isnan(house.edge_homophily(torch.zeros(6), unlabelled=0))


def test_labels_must_fit(house: CellComplex) -> None:
    with pytest.raises(LatopoError, match=r"labels have shape \[3\], expected \[6\]"):
        house.polygon_homophily(torch.zeros(3))
