import numpy as np
import pytest
import torch

from latopo.draw.labels import node_look
from latopo.draw.palette import PALETTES
from latopo.errors import LatopoError

PAPER = PALETTES["paper"]


def names(look) -> list[str]:
    return [name for name, _, _ in look.legend]


def test_without_labels_all_are_grey() -> None:
    look = node_look(3, None, PAPER)
    assert look.color.tolist() == [list(PAPER.unlabelled)] * 3
    assert look.legend == []


@pytest.mark.parametrize("y", [[2, 0, 2], np.array([2.0, 0.0, 2.0]), torch.tensor([2, 0, 2])])
def test_classes_take_colours_in_their_order(y) -> None:
    look = node_look(3, y, PAPER)
    assert look.color.tolist() == [list(PAPER.class_color(place)) for place in (1, 0, 1)]
    assert names(look) == ["class 0", "class 2"]


def test_names_in_a_sequence_fix_the_colours_of_absent_classes() -> None:
    look = node_look(2, [2, 0], PAPER, class_names=["a", "b", "c"])
    assert look.color.tolist() == [list(PAPER.class_color(2)), list(PAPER.class_color(0))]
    assert names(look) == ["a", "b", "c"]


def test_names_in_a_dictionary() -> None:
    assert names(node_look(3, ["x", "y", "x"], PAPER, class_names={"x": "Ex"})) == ["Ex", "y"]


def test_unlabelled_nodes_are_grey_and_in_the_legend() -> None:
    look = node_look(3, [0, -1, 1], PAPER, unlabelled=-1)
    assert look.color[1].tolist() == list(PAPER.unlabelled)
    assert names(look) == ["class 0", "class 1", "unlabelled"]


def test_minus_one_is_an_ordinary_class_by_default() -> None:
    assert names(node_look(2, [0, -1], PAPER)) == ["class -1", "class 0"]


def test_a_quantity_goes_from_dark_to_light() -> None:
    look = node_look(4, np.array([0.5, 1.0, 2.5, np.nan]), PAPER)
    luminance = look.color @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance[:3]) > 0).all()
    assert look.color[3].tolist() == list(PAPER.unlabelled)
    assert names(look) == ["0.5", "1", "1.5", "2", "2.5"]


def test_a_constant_quantity() -> None:
    assert np.isfinite(node_look(2, np.array([0.5, 0.5]), PAPER).color).all()


def test_taking_nodes_keeps_looks_and_legend() -> None:
    look = node_look(3, [0, 1, 2], PALETTES["colorblind"])
    part = look.take(np.array([2]))
    assert part.color.tolist() == [list(PALETTES["colorblind"].class_color(2))]
    assert part.mark == ["^"]
    assert part.legend == look.legend


def test_a_wrong_number_of_labels() -> None:
    with pytest.raises(LatopoError, match=r"y has shape \[2\], expected one label per node, \[3\]"):
        node_look(3, [0, 1], PAPER)


def test_too_few_names() -> None:
    with pytest.raises(LatopoError, match="class_names has 1 names, for labels 0 to 0, but y holds 1"):
        node_look(2, [0, 1], PAPER, class_names=["a"])
