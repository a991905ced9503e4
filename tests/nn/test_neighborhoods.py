import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.nn import CellConv, ComplexNeighborhoods, Downlift, NodeConv, Uplift
from latopo.nn.neighborhoods import as_neighborhoods, effective_polygon_weight
from latopo.nn.relaxation import cell_weights

RELAXATIONS = ["none", "weighted", "straight_through"]


class Loops:
    """The sums from their definitions, cell by cell."""

    def __init__(self, cx, edge_weight, polygon_weight):
        self.count = cx.num_nodes
        self.edges_ = [tuple(edge) for edge in cx.edge_index.t().tolist()]
        self.weight = [1.0] * cx.num_edges if edge_weight is None else edge_weight.tolist()
        by_edge = dict(zip(self.edges_, self.weight, strict=True))
        self.polygons = []
        for rows in cx.polygons.values():
            for row in rows.tolist():
                sides = [tuple(sorted(pair)) for pair in zip(row, row[1:] + row[:1], strict=True)]
                own = 1.0 if polygon_weight is None else polygon_weight[len(self.polygons)].item()
                self.polygons.append((sides, own * min(by_edge[side] for side in sides)))

    def nodes(self, x):
        pairs = [(i, i, 1.0) for i in range(self.count)]
        for (u, v), w in zip(self.edges_, self.weight, strict=True):
            pairs += [(u, v, w), (v, u, w)]
        return self._normalised(x, pairs, own=False)

    def ends(self, x):
        return torch.stack([x[u] + x[v] for u, v in self.edges_])

    def edges(self, x):
        upper, lower = [], []
        for at, edge in enumerate(self.edges_):
            for other, neighbour in enumerate(self.edges_):
                if at != other:
                    upper += [(at, other, w) for sides, w in self.polygons if {edge, neighbour} <= set(sides)]
                    if set(edge) & set(neighbour):
                        lower.append((at, other, self.weight[other]))
        return self._normalised(x, upper), self._normalised(x, lower)

    def around(self, x):
        total, degree = x.new_zeros(self.count, x.size(1)), x.new_ones(self.count, 1)
        for edge, w, row in zip(self.edges_, self.weight, x, strict=True):
            for node in edge:
                total[node] += w * row
                degree[node] += w
        return total, degree

    @staticmethod
    def _normalised(x, pairs, own=True):
        """Sums over (hearer, sender, weight); the degree has a 1 of its own unless a pair brings it."""
        degree, total = [float(own)] * len(x), torch.zeros_like(x)
        for hearer, _, w in pairs:
            degree[hearer] += w
        for hearer, sender, w in pairs:
            total[hearer] += w / (degree[hearer] * degree[sender]) ** 0.5 * x[sender]
        return total


def features(count, width=3):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("relaxation", RELAXATIONS)
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_equal_loops_over_cells(random_complex, seed, relaxation):
    cx = random_complex(seed)
    assert cx.num_polygons > 2
    found, expected = ComplexNeighborhoods.relaxed(cx, relaxation), Loops(cx, *cell_weights(cx, relaxation))
    nodes, edges = features(12), features(cx.num_edges)
    torch.testing.assert_close(found.nodes(nodes), expected.nodes(nodes))
    torch.testing.assert_close(found.ends(nodes), expected.ends(nodes))
    torch.testing.assert_close(found.edges(edges), expected.edges(edges))
    torch.testing.assert_close(found.around(edges), expected.around(edges))


@pytest.mark.parametrize("kinds", [(True, False), (False, True)])
def test_one_kind_of_weights_alone(random_complex, kinds):
    cx = random_complex(0)
    weights = [prob if used else None for prob, used in zip((cx.edge_prob, cx.polygon_prob), kinds, strict=True)]
    edges = features(cx.num_edges)
    torch.testing.assert_close(ComplexNeighborhoods(cx, *weights).edges(edges), Loops(cx, *weights).edges(edges))


def test_effective_weight_where_one_kind_has_none(house):
    assert effective_polygon_weight(house, None, None) is None
    assert effective_polygon_weight(house, None, house.polygon_prob) is house.polygon_prob
    expected = torch.tensor([0.4, 0.1], dtype=torch.float64)
    torch.testing.assert_close(effective_polygon_weight(house, house.edge_prob, None), expected)
    assert effective_polygon_weight(house.skeleton(1), house.edge_prob, None).shape == (0,)


def test_gradcheck(house):
    inputs = [features(7, 2), features(7, 2), house.edge_prob.clone(), house.polygon_prob.clone()]

    def sums(nodes, edges, *weights):
        cells = ComplexNeighborhoods(house, *weights)
        return cells.nodes(nodes), cells.ends(nodes), *cells.edges(edges), *cells.around(edges)

    assert torch.autograd.gradcheck(sums, [part.requires_grad_() for part in inputs])


def test_layers_take_a_complex_or_its_neighborhoods(house):
    weights = house.edge_prob, house.polygon_prob
    cells, nodes, edges = ComplexNeighborhoods(house, *weights), features(7), features(7)
    assert as_neighborhoods(cells) is cells
    node_conv, cell_conv = NodeConv(3, 2).double(), CellConv(3, 2).double()
    assert torch.equal(node_conv(nodes, cells), node_conv(nodes, house.edge_index, house.edge_prob))
    assert torch.equal(cell_conv(edges, cells), cell_conv(edges, house, *weights))
    assert torch.equal(Uplift()(nodes, cells), Uplift()(nodes, house))
    assert torch.equal(Downlift()(edges, cells), Downlift()(edges, house, house.edge_prob))


def test_weights_beside_neighborhoods_are_refused(house):
    cells, x = ComplexNeighborhoods(house), torch.ones(7, 2)
    for call in (
        lambda: CellConv(2, 2)(x, cells, house.edge_prob),
        lambda: CellConv(2, 2)(x, cells, None, house.polygon_prob),
        lambda: Downlift()(x, cells, house.edge_prob),
    ):
        with pytest.raises(LatopoError, match="weights of their own; give weights with a CellComplex only"):
            call()
    for graph in (cells, None):
        with pytest.raises(LatopoError, match="NodeConv: edge_weight goes with an edge_index only"):
            NodeConv(2, 2)(x, graph, house.edge_prob)


def test_wrong_number_of_rows(house):
    cells = ComplexNeighborhoods(house)
    for sums, kind in ((cells.nodes, "nodes"), (cells.ends, "nodes"), (cells.edges, "edges"), (cells.around, "edges")):
        with pytest.raises(LatopoError, match=f"Neighborhoods: x has 8 rows, expected one for each of 7 {kind}"):
            sums(torch.ones(8, 2))


def test_no_cells():
    cells = ComplexNeighborhoods(CellComplex(3, torch.zeros(2, 0, dtype=torch.int64)))
    x, none = torch.ones(3, 2), torch.zeros(0, 2)
    assert torch.equal(cells.nodes(x), x)
    assert cells.ends(x).shape == (0, 2)
    assert [part.shape for part in cells.edges(none)] == [(0, 2), (0, 2)]
    total, degree = cells.around(none)
    assert torch.equal(total, torch.zeros(3, 2))
    assert torch.equal(degree, torch.ones(3, 1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_hub_in_half_precision(dtype):
    star = CellComplex(3000, torch.stack([torch.zeros(2999, dtype=torch.int64), torch.arange(1, 3000)]))
    cells = ComplexNeighborhoods(star)
    total, degree = cells.around(torch.ones(2999, 1, dtype=dtype))
    assert total[0].item() == 2999
    assert degree[0].item() == 3000
    ones = torch.ones(3000, 1)
    torch.testing.assert_close(cells.nodes(ones.to(dtype)).float(), cells.nodes(ones), rtol=0.01, atol=0)
    assert cells.nodes(ones.to(dtype)).dtype == dtype
