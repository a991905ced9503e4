from collections.abc import Callable

import networkx as nx
import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError, TooManyCellsError


def test_to_networkx(house: CellComplex, empty: CellComplex) -> None:
    graph = house.to_networkx()
    assert sorted(graph.nodes) == [0, 1, 2, 3, 4, 5]
    assert sorted(graph.edges(data="prob")) == [
        (0, 1, 0.1),
        (0, 3, 0.2),
        (1, 2, 0.3),
        (2, 3, 0.4),
        (2, 4, 0.5),
        (3, 4, 0.6),
    ]
    assert graph.graph == {"polygons": [(2, 3, 4), (0, 1, 2, 3)], "polygon_prob": [0.7, 0.8]}
    plain = house.skeleton(1).to(torch.float32)
    assert plain.to_networkx().graph == {"polygons": []}
    assert empty.to_networkx().number_of_nodes() == 0


@pytest.mark.parametrize("seed", range(4))
def test_there_and_back(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed)
    graph = cx.to_networkx()
    back = CellComplex.from_networkx(graph)
    assert back == cx
    assert torch.equal(back.edge_prob, cx.edge_prob)
    assert torch.equal(back.polygon_prob, cx.polygon_prob)
    bare = CellComplex.from_networkx(graph, prob=None)
    assert bare.edge_prob is bare.polygon_prob is None
    mixed = nx.Graph(polygons=graph.graph["polygons"])
    mixed.add_nodes_from(reversed(list(graph)))  # numbers keep their meaning in any order
    mixed.add_edges_from(graph.edges)
    assert CellComplex.from_networkx(mixed) == cx


@pytest.mark.parametrize("seed", range(3))
def test_the_incidence_matrix_is_that_of_networkx(seed: int) -> None:
    graph = nx.gnp_random_graph(12, 0.4, seed=seed)
    cx = CellComplex.from_networkx(graph)
    edges = [tuple(edge) for edge in cx.edge_index.t().tolist()]
    expected = nx.incidence_matrix(graph, nodelist=range(12), edgelist=edges, oriented=True).toarray()
    assert torch.equal(cx.boundary(1, torch.float64).to_dense(), torch.from_numpy(expected))
    adjacency = torch.from_numpy(nx.to_numpy_array(graph, nodelist=range(12)))
    assert torch.equal(cx.node_adjacency(dtype=torch.float64).to_dense(), adjacency)
    laplacian = torch.from_numpy(nx.laplacian_matrix(graph, nodelist=range(12)).toarray()).double()
    assert torch.equal(cx.hodge_laplacian(0, dtype=torch.float64).to_dense(), laplacian)


def test_nodes_of_any_names() -> None:
    graph = nx.Graph()
    graph.add_edge("b", (1, 2), weight=0.5)
    graph.add_edge((1, 2), 7.5, weight=0.25)
    graph.add_edge(7.5, "b", weight=1.0)
    graph.add_node(None.__class__)
    cx = CellComplex.from_networkx(graph, [["b", (1, 2), 7.5]], prob="weight")
    assert cx.num_nodes == 4
    assert cx.edge_index.tolist() == [[0, 0, 1], [1, 2, 2]]  # in the graph's order
    assert cx.edge_prob.tolist() == [0.5, 1.0, 0.25]
    assert cx.polygons[3].tolist() == [[0, 1, 2]]
    other = CellComplex.from_networkx(graph, prob="weight", nodes=[type(None), 7.5, "b", (1, 2)])
    assert other.edge_index.tolist() == [[1, 1, 2], [2, 3, 3]]
    assert other.edge_prob.tolist() == [1.0, 0.25, 0.5]


def test_directed_graphs_have_each_edge_once() -> None:
    graph = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    assert CellComplex.from_networkx(graph) == CellComplex(3, [[0, 1], [1, 2]])
    assert CellComplex.from_networkx(nx.Graph()).num_nodes == 0


def test_chordless_cycles_of_networkx_can_be_polygons() -> None:
    graph = nx.grid_2d_graph(4, 5)
    cx = CellComplex.from_networkx(graph, nx.chordless_cycles(graph, 4))
    assert repr(cx) == "CellComplex(num_nodes=20, num_edges=31, polygons={4: 12})"
    assert cx.betti_numbers() == (1, 0, 0)
    chord = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    assert CellComplex.from_networkx(chord, [(0, 1, 2, 3)], induced=False).num_polygons == 1


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (nx.Graph([(0, 1), (1, 1)]), {}, r"edge 1 \(1, 1\) is a self-loop"),
        (nx.MultiGraph([(0, 1), (0, 1)]), {}, r"edge 1 \(0, 1\) is a duplicate of edge 0"),
        (
            nx.Graph([(0, 1, {"prob": 0.5}), (1, 2, {})]),
            {},
            r"1 cells have the attribute 'prob', but \(1, 2\) does not",
        ),
        (nx.Graph([(0, 1, {"prob": "high"})]), {}, "the attribute 'prob' must be a number: .*high"),
        (nx.Graph([(0, 1, {"prob": 1.5})]), {}, r"edge_prob\[0\] is 1.5, expected a number in"),
        (nx.Graph([(0, 1)]), {"polygons": [(0, 1, "x")]}, "a polygon has the vertex 'x', which is not a node"),
        (nx.Graph([(0, 1)]), {"nodes": [0, 2]}, "nodes must list every node once, but differs in 1, 2"),
        (nx.Graph([(0, 1)]), {"nodes": [0, 1, 0]}, "nodes must list every node once, but names one of them twice"),
        (nx.cycle_graph(4), {"polygons": [(0, 1, 2)]}, r"has the side \(2, 0\), which is no edge"),
    ],
)
def test_what_cannot_come_in(graph: nx.Graph, options: dict[str, object], message: str) -> None:
    with pytest.raises(LatopoError, match=message):
        CellComplex.from_networkx(graph, **options)


def test_isolated_nodes_by_the_billion_are_refused_before_memory_is_taken() -> None:
    with pytest.raises(TooManyCellsError, match=r"to_networkx: num_nodes=2,000,000,000 for 1 edges"):
        CellComplex(2_000_000_000, [[0], [1_999_999_999]]).to_networkx()
