import torch

from latopo import CellComplex
from latopo.draw.arrays import cell_arrays


def test_strengths_are_relative_to_the_most_probable_cell(house: CellComplex) -> None:
    cells = cell_arrays(house)
    torch.testing.assert_close(torch.from_numpy(cells.edge_strength), torch.arange(1, 7).double() / 6)
    assert {length: strength.tolist() for length, strength in cells.polygon_strength.items()} == {3: [0.5], 4: [1.0]}
    assert cells.edges.tolist() == house.edge_index.t().tolist()


def test_lengths_beyond_the_limit_are_left_out(house: CellComplex) -> None:
    cells = cell_arrays(house, max_length=3)
    assert list(cells.polygons) == [3]
    assert cells.polygon_strength[3].tolist() == [0.5]


def test_probabilities_in_half_precision_and_with_gradients(house: CellComplex) -> None:
    prob = torch.full((6,), 0.5, dtype=torch.bfloat16, requires_grad=True)
    complex = CellComplex(6, house.edge_index, edge_prob=prob)
    assert cell_arrays(complex).edge_strength.tolist() == [1.0] * 6


def test_probabilities_that_are_all_zero(house: CellComplex) -> None:
    assert cell_arrays(CellComplex(6, house.edge_index, edge_prob=torch.zeros(6))).edge_strength.tolist() == [0.0] * 6
