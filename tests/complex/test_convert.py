from collections.abc import Callable

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from latopo import CellComplex
from latopo.errors import LatopoError


def test_data_has_the_keys_of_topox(house: CellComplex) -> None:
    x = [torch.rand(6, 2), torch.rand(6, 3), torch.rand(2, 4)]
    data = house.to_data(*x)
    assert data.num_nodes == 6
    assert torch.equal(data.edge_index, house.edge_index)
    assert all(torch.equal(data[f"x_{rank}"], x[rank]) for rank in range(3))
    assert torch.equal(data.incidence_1.to_dense(), house.incidence(1).to_dense())
    assert torch.equal(data.incidence_2.to_dense(), house.incidence(2).to_dense())
    assert torch.equal(house.to_data(signed=True).incidence_2.to_dense(), house.boundary(2).to_dense())
    assert data.polygon_length.tolist() == [3, 4]
    assert data.polygon_index.tolist() == [2, 3, 4, 0, 1, 2, 3]
    with pytest.raises(LatopoError, match="x_2 has 6 rows, expected one per cell, 2"):
        house.to_data(x_2=torch.rand(6, 1))


def _block_diagonal(complexes: list[CellComplex], rank: int) -> torch.Tensor:
    return torch.block_diag(*[complex.incidence(rank).to_dense() for complex in complexes])


def test_a_batch_is_the_disjoint_union(random_complex: Callable[..., CellComplex], house: CellComplex) -> None:
    nothing = torch.zeros(0, dtype=torch.float64)
    empty = CellComplex(0, torch.zeros(2, 0, dtype=torch.int64), None, nothing, nothing)
    complexes = [house, random_complex(1, num_nodes=9), empty, random_complex(4, num_nodes=5), house]
    batch = Batch.from_data_list([complex.to_data(torch.rand(complex.num_nodes, 2)) for complex in complexes])
    sizes = [complex.num_nodes for complex in complexes]
    offsets = [sum(sizes[:i]) for i in range(5)]

    assert batch.num_nodes == sum(sizes)
    assert torch.equal(batch.batch.bincount(minlength=5), torch.tensor(sizes))
    assert torch.equal(batch.incidence_1.to_dense(), _block_diagonal(complexes, 1))
    assert torch.equal(batch.incidence_2.to_dense(), _block_diagonal(complexes, 2))
    shifted = [complex.edge_index + offset for complex, offset in zip(complexes, offsets, strict=True)]
    assert torch.equal(batch.edge_index, torch.cat(shifted, dim=1))

    union = CellComplex.from_data(batch).validate()
    assert union.num_polygons == sum(complex.num_polygons for complex in complexes)
    for index, complex in enumerate(complexes):
        part = union.subcomplex(batch.batch == index)
        assert part == complex
        assert torch.equal(part.edge_prob, complex.edge_prob)
        assert torch.equal(part.polygon_prob, complex.polygon_prob)


def test_a_loader_makes_batches(house: CellComplex, empty: CellComplex) -> None:
    plain = CellComplex(6, house.edge_index, house.polygons)
    (batch,) = DataLoader([empty.to_data(), plain.to_data(), plain.to_data()], batch_size=3)
    assert CellComplex.from_data(batch).betti_numbers() == (4, 0, 0)


def test_from_data_and_back(random_complex: Callable[..., CellComplex], empty: CellComplex) -> None:
    for complex in (random_complex(3), random_complex(0, density=0.0), empty):
        back = CellComplex.from_data(complex.to_data())
        assert back == complex
        if complex.edge_prob is not None:
            assert torch.equal(back.edge_prob, complex.edge_prob)
            assert torch.equal(back.polygon_prob, complex.polygon_prob)


def test_from_data_takes_any_graph() -> None:
    graph = Data(edge_index=torch.tensor([[1, 0, 2, 1], [0, 1, 1, 2]]), num_nodes=4)
    assert CellComplex.from_data(graph) == CellComplex(4, torch.tensor([[0, 1], [1, 2]]))


def test_chords_go_through_data_when_asked_for() -> None:
    chords = CellComplex(4, [[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]], [[0, 1, 2, 3]], induced=False)
    assert CellComplex.from_data(chords.to_data(), induced=False) == chords
    with pytest.raises(LatopoError, match="has the chord"):
        CellComplex.from_data(chords.to_data())
