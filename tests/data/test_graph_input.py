import pytest
import torch
from torch_geometric.data import Data

from latopo.data.graph_input import GraphInput
from latopo.errors import LatopoError


def test_attributes_are_standardised_and_labels_stay():
    values = torch.tensor([[1.0, 4.0], [3.0, 4.0]])
    form = GraphInput.of_attributes(values, features=3)
    assert (form.shift, form.scale) == ((2.0, 4.0), (1.0, 1.0))
    x, position = form.apply(torch.tensor([[5.0, 4.0, 7.0]]), None, torch.tensor([0, 1]))
    assert x.tolist() == [[3.0, 0.0, 7.0]]
    assert position is None


@pytest.mark.parametrize("in_features", [True, False])
def test_coordinates_are_centred_in_each_graph_and_have_the_unit_of_training(in_features):
    node_ptr = torch.tensor([0, 2, 3])
    position = torch.tensor([[1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [9.0, 9.0, 9.0]])
    form = GraphInput.of_coordinates(10 * position, node_ptr, features=4 if in_features else 1, in_features=in_features)
    assert form.unit == pytest.approx((200 / 9) ** 0.5)
    label = torch.full((3, 1), 5.0)
    given = (torch.cat([position, label], 1), None) if in_features else (label, position)
    x, found = form.apply(*given, node_ptr)
    expected = torch.tensor([[-1.0, 0, 0], [1.0, 0, 0], [0, 0, 0]]) / form.unit
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(x, torch.cat([expected, label], 1) if in_features else label)


def test_the_parts_of_a_graph_are_checked():
    form, edges = GraphInput(features=2, edge_features=1, unit=1.0, dimensions=3), torch.tensor([[0], [1]])
    good = {"x": torch.ones(2, 2), "edge_index": edges, "edge_attr": torch.ones(1, 1), "pos": torch.ones(2, 3)}
    form.check("graph 0", Data(**good))
    for key, message in (
        ("x", "graph 0: x has 0 columns, expected 2"),
        ("edge_attr", "edge_attr has 0 columns, expected 1"),
        ("edge_index", "graph 0 has no edge_index"),
        ("pos", "graph 0 has no coordinates pos"),
    ):
        with pytest.raises(LatopoError, match=message):
            form.check("graph 0", Data(**good | {key: None}))


@pytest.mark.parametrize(
    "parts",
    [
        {"shift": (1.0,)},
        {"shift": (1.0,) * 3, "scale": (1.0,) * 3},
        {"shift": (1.0,), "scale": (0.0,)},
        {"unit": -1.0},
        {"in_features": True, "unit": 1.0, "dimensions": 3},
        {"unit": 1.0},
        {"dimensions": 3},
        {"edge_features": -1},
    ],
)
def test_what_does_not_belong_together_is_noticed(parts):
    assert GraphInput(2, 1, shift=(1.0,), scale=(2.0,)).is_sound()
    assert not GraphInput(**{"features": 2} | parts).is_sound()
