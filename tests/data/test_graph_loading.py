import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from latopo.data import as_clouds, from_graphs, load, load_graphs
from latopo.errors import LatopoError


def triangle(y=0, **more):
    given = {"x": torch.ones(3, 2), "edge_index": torch.tensor([[0, 1, 2, 1], [1, 2, 0, 0]]), "y": y}
    return Data(**(given | more))


def test_mutag_is_as_published():
    graphs = load_graphs("MUTAG")
    assert (len(graphs), graphs.x.shape, graphs.edge_index.size(1)) == (188, (3371, 7), 3721)
    assert (graphs.num_classes, int(graphs.y.sum()), graphs.edge_attr.size(1)) == (2, 125, 4)
    assert torch.equal(graphs.x.sum(1), torch.ones(3371))
    assert graphs.ring_length.bincount().tolist() == [0, 0, 0, 0, 0, 68, 470]


def test_bzr_has_coordinates_in_the_middle():
    graphs = load_graphs("bzr")
    assert (len(graphs), graphs.x.size(1)) == (405, 13)
    first = graphs.batch(torch.tensor([7]))
    assert first.position.mean(0).abs().max() < 1e-5
    clouds = as_clouds(graphs, k=3)
    assert torch.equal(clouds.x, graphs.position)
    cloud = clouds.batch(torch.tensor([7]))
    distance = torch.cdist(first.position, first.position).fill_diagonal_(torch.inf)
    for node, near in enumerate(distance.topk(3, largest=False).indices.tolist()):
        joined = (cloud.edge_index == node).any(0)
        assert set(near) <= set(cloud.edge_index[:, joined].flatten().tolist())
    ends = first.position[cloud.edge_index]
    assert torch.allclose(cloud.edge_attr.flatten(), (ends[0] - ends[1]).norm(dim=1))


def test_nothing_is_written_beside_the_raw_files(tmp_path, monkeypatch):
    monkeypatch.setenv("LATOPO_CACHE", str(tmp_path))
    load_graphs("mutag")
    assert [path.name for path in (tmp_path / "parsed").iterdir()] == ["mutag-v1.safetensors"]


def test_the_two_ways_of_loading_are_told_apart():
    with pytest.raises(LatopoError, match="MUTAG is a set of graphs"):
        load("mutag")
    with pytest.raises(LatopoError, match="not a set of graphs"):
        load_graphs("iris")


def test_clouds_need_coordinates():
    graphs, entry = from_graphs([triangle(number % 2) for number in range(10)])
    assert not entry.coordinates
    with pytest.raises(LatopoError, match="no coordinates"):
        as_clouds(graphs)


def test_repeated_edges_count_once_with_the_features_of_the_first():
    attr = torch.tensor([[1.0], [2.0], [3.0], [9.0]])
    graphs, entry = from_graphs([triangle(0.5 * number, edge_attr=attr) for number in range(10)])
    assert graphs.edge_attr[:3].flatten().tolist() == [1.0, 3.0, 2.0]
    assert (graphs.num_classes, entry.task, entry.level) == (0, "regression", "graph")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": torch.ones(3, 5)}, "graph 4: x has 5 columns, expected 2 as in the first graph"),
        ({"x": torch.full((3, 2), torch.nan)}, "graph 4: x holds values that are not finite"),
        ({"x": torch.ones(3)}, r"x has shape \[3\], expected \[3 nodes, features\]; turn labels into one-hot rows"),
        ({"x": torch.ones(3, 0)}, r"x has shape \[3, 0\], expected"),
        ({"x": torch.ones(3, 2).to_sparse()}, "x must be dense, got torch.sparse_coo"),
        ({"x": np.ones((3, 2))}, "x must be a tensor, got ndarray"),
        ({"x": torch.ones(0, 2), "edge_index": torch.zeros(2, 0).long()}, "graph 4 has no nodes; leave it out"),
        ({"x": None, "num_nodes": 3}, "all graphs have x, or none"),
        ({"y": None}, "graph 4 must have one target y, a class .* got None"),
        ({"y": "toxic"}, "graph 4 must have one target y, a class .* got 'toxic'"),
        ({"y": torch.ones(2)}, r"graph 4 must have one target y, .* got shape \[2\]"),
        ({"edge_attr": torch.ones(4)}, "all graphs have edge_attr, or none"),
        ({"edge_index": torch.tensor([[0], [7]])}, "graph 4: edge_index holds vertex 7"),
        ({"y": 5}, "without gaps"),
    ],
)
def test_a_wrong_graph_is_named(change, words):
    graphs = [triangle(number % 2) for number in range(12)]
    graphs[4] = triangle(**{"y": 0, **change})
    with pytest.raises(LatopoError, match=words):
        from_graphs(graphs)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("edge_attr", torch.ones(4), r"graph 4: edge_attr has shape \[4\], .* numbers into edge_attr\[:, None\]"),
        ("edge_attr", torch.ones(3, 2), r"graph 4: edge_attr has shape \[3, 2\], expected \[4 edges, features\]"),
        ("edge_attr", torch.ones(4, 3), "graph 4: edge_attr has 3 columns, expected 2"),
        ("edge_attr", torch.full((4, 2), torch.inf), "graph 4: edge_attr holds values that are not finite"),
        ("pos", torch.ones(3, 2), "graph 4: pos has 2 columns, expected 3"),
        ("pos", torch.full((3, 3), torch.nan), "graph 4: pos holds values that are not finite"),
    ],
)
def test_wrong_edge_features_and_coordinates_are_named(key, value, words):
    right = {"edge_attr": torch.ones(4, 2), "pos": torch.rand(3, 3)}
    graphs = [triangle(number % 2, **right) for number in range(12)]
    graphs[4] = triangle(**right | {key: value})
    with pytest.raises(LatopoError, match=words):
        from_graphs(graphs)


def test_graphs_need_edges_or_coordinates():
    with pytest.raises(LatopoError, match="graph 0 has neither edge_index nor pos"):
        from_graphs([Data(x=torch.ones(3, 2), y=0)] * 10)
    with pytest.raises(LatopoError, match="graph 0 must be PyG Data, got int"):
        from_graphs([3] * 10)


def test_without_features_the_structure_is_left():
    edges = triangle().edge_index
    graphs, _ = from_graphs([Data(edge_index=edges, num_nodes=4, y=number % 2) for number in range(10)])
    assert torch.equal(graphs.x, torch.ones(40, 1))
    assert graphs.node_ptr.tolist() == list(range(0, 41, 4))


def test_a_single_node_is_a_graph():
    alone = Data(x=torch.ones(1, 2), edge_index=torch.zeros(2, 0, dtype=torch.int64), y=1)
    graphs, _ = from_graphs([alone, triangle()] * 5)
    assert graphs.edge_ptr.diff().tolist() == [0, 3] * 5
    assert graphs.ring_ptr.diff().tolist() == [0, 1] * 5


def test_too_few_graphs_and_taken_names_are_refused():
    with pytest.raises(LatopoError, match="at least 10"):
        from_graphs([triangle()] * 9)
    with pytest.raises(LatopoError, match="is MUTAG of the catalogue"):
        from_graphs([triangle(number % 2) for number in range(10)], "mutag")
