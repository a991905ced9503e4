import pytest
import torch

from latopo import CellComplex, induced_cycles
from latopo.errors import LatopoError
from latopo.nn import DCM, PolygonInference
from latopo.nn.circulation import circulation_energy, pursue_flow


@pytest.fixture
def grid():
    """A 5 × 5 grid with all chordless cycles of up to 8 sides: 16 squares, and cycles around several of them."""
    number = torch.arange(25).view(5, 5)
    across = torch.stack([number[:, :-1].flatten(), number[:, 1:].flatten()])
    down = torch.stack([number[:-1].flatten(), number[1:].flatten()])
    edge_index = CellComplex(25, torch.cat([across, down], dim=1)).edge_index
    return CellComplex(25, edge_index, induced_cycles(edge_index, 25, 8))


def planted(grid, chosen, flows=6, noise=0.0):
    generator = torch.Generator().manual_seed(0)
    boundary = grid.boundary(2, dtype=torch.float64).to_dense()[:, chosen]
    around = torch.randn(len(chosen), flows, generator=generator, dtype=torch.float64)
    still = torch.randn(grid.num_edges, flows, generator=generator, dtype=torch.float64)
    return boundary @ around + noise * still


def test_energy_is_that_of_the_projection_on_the_boundary(grid):
    flow = planted(grid, [0, 7], noise=1.0)
    boundary = grid.boundary(2, dtype=torch.float64).to_dense()
    projected = [column[:, None] * (column @ flow) / column.square().sum() for column in boundary.t()]
    expected = torch.stack([part.square().sum() for part in projected])
    torch.testing.assert_close(circulation_energy(flow, grid), expected)


def test_a_gradient_flow_runs_around_nothing(grid):
    flow = grid.boundary(1, dtype=torch.float64).t() @ torch.randn(25, 3, dtype=torch.float64)
    assert float(circulation_energy(flow, grid).max()) < 1e-20
    assert pursue_flow(flow, grid, 5)[0].numel() == 0


def test_pursuit_finds_overlapping_polygons_and_stops(grid):
    chosen = [0, 1, 5, 10, 11]  # neighbours among them
    numbers, share = pursue_flow(planted(grid, chosen), grid, 20)
    assert sorted(numbers.tolist()) == chosen
    assert float(share.sum()) == pytest.approx(1.0)


def test_each_step_takes_what_least_squares_takes(grid):
    flow = planted(grid, [2, 3, 8], noise=0.5)
    numbers, share = pursue_flow(flow, grid, 6)
    for count in range(1, 7):
        part = grid.boundary(2, dtype=torch.float64).to_dense()[:, numbers[:count]]
        left = flow - part @ torch.linalg.lstsq(part, flow).solution
        assert float(1 - share[:count].sum()) == pytest.approx(float(left.square().sum() / flow.square().sum()))


def test_gradients_of_the_shares(grid):
    flow = planted(grid, [2, 3], noise=0.3).requires_grad_()
    assert torch.autograd.gradcheck(lambda f: pursue_flow(f, grid, 3)[1], flow)


@pytest.mark.parametrize("sampler", ["pursuit", "topk"])
def test_the_inference_finds_planted_squares(grid, sampler):
    chosen = [0, 6, 15]
    choose = PolygonInference(8, score="circulation", sampler=sampler, k=3).eval()
    found = choose(planted(grid, chosen, noise=0.1), grid.edge_index)
    assert {tuple(row) for row in found.polygons[4].tolist()} == {tuple(grid.polygons[4][i].tolist()) for i in chosen}
    assert found.num_candidates == grid.num_polygons
    CellComplex(25, grid.edge_index, found.polygons, polygon_prob=found.prob)  # probabilities are in the order of cells


def test_entmax_of_the_circulation_carries_a_gradient_to_the_flow(grid):
    flow = planted(grid, [0, 6], noise=0.2).requires_grad_()
    found = PolygonInference(4, score="circulation", gain=0.3)(flow, grid.edge_index)
    found.prob.square().sum().backward()
    assert float(flow.grad.abs().max()) > 0


def test_no_edges_no_polygons():
    found = PolygonInference(score="circulation", sampler="pursuit")(torch.zeros(0, 2), torch.zeros(2, 0).long())
    assert found.num_candidates == 0


def test_what_is_not_a_flow_is_refused(grid):
    choose = PolygonInference(score="circulation")
    with pytest.raises(LatopoError, match=r"needs a flow \[edges, d\] on the edges"):
        choose(torch.zeros(25, 2), grid.edge_index)
    with pytest.raises(LatopoError, match="each edge once, u < v, sorted"):
        choose(torch.zeros(40, 2), grid.edge_index.flip(0))
    with pytest.raises(LatopoError, match="one graph at a time"):
        choose(torch.zeros(40, 2), grid.edge_index, torch.tensor([0, 25]))
    with pytest.raises(LatopoError, match="needs a flow"):
        DCM(4, 4, polygons=choose)(torch.randn(30, 4))
    with pytest.raises(LatopoError, match="pursuit goes with score circulation"):
        PolygonInference(sampler="pursuit")
    with pytest.raises(LatopoError, match="score must be sum, mean, per-length, distance or circulation, got 'flow'"):
        PolygonInference(score="flow")
