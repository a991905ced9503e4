import re

import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.report import build_page, describe_complex, read_run

# A square with a diagonal's triangle missing: 0-1-2-3 filled, 2-3-4 open.
HOUSE = CellComplex(5, [[0, 1, 2, 3, 2, 3], [1, 2, 3, 0, 4, 4]], [[0, 1, 2, 3]])


def glued(turn, size=4):
    """A torus, or turned over a Klein bottle."""

    def number(i, j):
        return (-i if turn and j == size else i) % size * size + j % size

    squares = [
        (number(i, j), number(i, j + 1), number(i + 1, j + 1), number(i + 1, j))
        for i in range(size)
        for j in range(size)
    ]
    edges = [pair for square in squares for pair in zip(square, square[1:] + square[:1], strict=True)]
    sides = torch.tensor(sorted({tuple(sorted(pair)) for pair in edges})).t()
    return CellComplex(size**2, sides, squares, induced=False)


def text(page):
    return re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)


def test_it_says_what_is_in_the_complex():
    data = describe_complex(HOUSE)
    assert data.story == ("This complex has 1 connected piece, 1 hole and no cavities.",)
    assert "joins 5 points with 6 edges and 1 polygon (1 square)" in " ".join(text(build_page(data)).split())


def test_torsion_is_noted_where_there_is_any():
    assert describe_complex(glued(turn=False)).notes == ()
    (note,) = describe_complex(glued(turn=True)).notes
    assert "Over the rationals it has 1 connected piece, 1 hole and no cavities: there is torsion" in note


def test_the_filtration_in_words():
    square = CellComplex(4, [[0, 1, 2, 3], [1, 2, 3, 0]], [[0, 1, 2, 3]], [0.9, 0.8, 0.7, 0.75], [0.25])
    assert describe_complex(square).story[-1] == (
        "As cells come in from the most to the least probable, 1 hole opens; the longest-lived one opens at "
        "probability 0.7 and is filled at 0.25."
    )
    open_ring = square.skeleton(1)
    assert describe_complex(open_ring).story[-1].endswith("opens at probability 0.7 and is never filled.")


def test_no_word_of_a_model_where_there_was_none():
    shown = text(build_page(describe_complex(HOUSE, "My house")))
    assert "My house" in shown
    assert "What is in it?" in shown
    for word in ("model", "training", "Fold", "homophily", "polygons kept", "Strongest polygon", "predict", "classes"):
        assert word not in shown, word


def test_labels_and_names_are_shown():
    data = describe_complex(HOUSE, labels=["a", "a", "b", None, "b"], names=list("vwxyz"))
    assert data.points.class_names == ("a", "b")
    assert data.points.labels.tolist() == [0, 0, 1, -1, 1]
    shown = text(build_page(data))
    assert "Does the structure agree with the classes?" in shown
    assert data.name(3) == "y"
    assert describe_complex(HOUSE, names=list("vwxyz")).name(0) == "v"
    assert describe_complex(HOUSE, labels=np.linspace(0, 1, 5)).points.is_quantity


def test_labels_of_other_nodes_are_refused():
    with pytest.raises(LatopoError, match="labels has 3 entries for 5 nodes"):
        describe_complex(HOUSE, labels=[0, 1, 1])


def test_a_saved_complex_is_read_like_a_run(tmp_path):
    HOUSE.save(tmp_path / "house.safetensors")
    data = read_run(tmp_path / "house.safetensors")
    assert data.title == "house"
    assert data.complex == HOUSE
    with pytest.raises(LatopoError, match="is a complex, so it has no folds"):
        read_run(tmp_path / "house.safetensors", fold=0)


@pytest.mark.parametrize("cells", [CellComplex(0, torch.zeros(2, 0).long()), CellComplex(3, torch.zeros(2, 0).long())])
def test_empty_complexes(cells):
    assert build_page(describe_complex(cells)).startswith("<!DOCTYPE html>")
