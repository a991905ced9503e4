"""One complex of many graphs: it knows its parts, whatever is done to it."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from latopo import CellComplex, induced_cycles
from latopo.complex.graphs import node_pointers
from latopo.errors import LatopoError


def random_part(seed, nodes):
    """Random edges, most of their cycles up to length 5, random probabilities; also for 0 and 1 nodes."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(nodes)).reshape(-1, 2)
    edges = pairs[torch.rand(len(pairs), generator=generator) < 0.5].t()
    polygons = {
        length: rows[torch.rand(len(rows), generator=generator) < 0.8]
        for length, rows in induced_cycles(edges, nodes, 5).items()
    }
    count = sum(len(rows) for rows in polygons.values())
    probs = [torch.rand(size, generator=generator, dtype=torch.float64) for size in (edges.size(1), count)]
    return CellComplex(nodes, edges, polygons, *probs)


def parts_of(sizes):
    return [random_part(seed, nodes) for seed, nodes in enumerate(sizes)]


def check(whole, parts):
    assert whole.num_graphs == len(parts)
    for got, part in zip(whole.validate().split(), parts, strict=True):
        assert got.validate() == part
        assert torch.equal(got.edge_prob, part.edge_prob)
        assert torch.equal(got.polygon_prob, part.polygon_prob)
        assert got.ptr is got.batch is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=5))
def test_a_union_knows_its_parts(sizes):
    parts = parts_of(sizes)
    whole = CellComplex.disjoint_union(parts)
    check(whole, parts)
    assert whole.batch.tolist() == [number for number, size in enumerate(sizes) for _ in range(size)]
    assert torch.bincount(whole.edge_graph(), minlength=len(sizes)).tolist() == [part.num_edges for part in parts]
    assert torch.bincount(whole.polygon_graph(), minlength=len(sizes)).tolist() == [p.num_polygons for p in parts]
    assert all(whole[number] == part for number, part in enumerate(parts))
    assert whole[-1] == parts[-1]
    check(CellComplex.disjoint_union([whole, parts[0]]), [*parts, parts[0]])


def test_the_graphs_survive_what_is_done(tmp_path):
    parts = parts_of([6, 0, 8, 1])
    whole = CellComplex.disjoint_union(parts)
    check(whole.detach(), parts)
    check(whole.to("cpu"), parts)
    assert whole.to("meta").num_graphs == 4
    whole.save(tmp_path / "many")
    check(CellComplex.load(tmp_path / "many"), parts)
    assert torch.equal(whole.skeleton(1).ptr, whole.ptr)
    assert torch.equal(whole.skeleton(0).ptr, whole.ptr)
    kept = whole.threshold(edges=0.5, polygons=0.2)
    assert kept.split() == [part.threshold(edges=0.5, polygons=0.2) for part in parts]
    nodes = torch.tensor([1, 2, 3, 8, 9, 12, 14])
    first = [0, 6, 6, 14]
    expected = [
        part.subcomplex(nodes[(nodes >= low) & (nodes < low + part.num_nodes)] - low)
        for part, low in zip(parts, first, strict=True)
    ]
    assert whole.subcomplex(nodes).validate().split() == expected


def test_a_batch_of_pyg_both_ways():
    parts = parts_of([6, 5, 8])
    whole = CellComplex.disjoint_union(parts)
    data = whole.to_data(x_0=torch.arange(19.0)[:, None], x_2=torch.arange(whole.num_polygons)[:, None])
    assert isinstance(data, Batch)
    assert torch.equal(data.batch, whole.batch)
    check(CellComplex.from_data(data), parts)
    assert data.x_0.flatten().tolist() == list(range(19))
    # The third feature row of a polygon is its number in the whole: the batch lists polygons graph by graph.
    assert torch.equal(whole.polygon_graph()[data.x_2.flatten()], whole.polygon_graph().sort().values)
    assert torch.equal(whole.polygon_lengths[data.x_2.flatten()], data.polygon_length)
    check(CellComplex.from_data(Batch.from_data_list([part.to_data() for part in parts])), parts)


def test_any_batch_of_graphs():
    pair = Data(num_nodes=2, edge_index=torch.tensor([[0, 1], [1, 0]]))
    cx = CellComplex.from_data(Batch.from_data_list([pair, pair, pair]))
    assert (cx.num_graphs, cx[2].num_edges) == (3, 1)
    assert repr(cx) == "CellComplex(num_nodes=6, num_edges=3, polygons={}, num_graphs=3)"


def test_one_graph_is_one():
    pair = CellComplex(2, [[0], [1]])
    assert pair.num_graphs == 1
    assert pair.batch is None
    assert pair.split() == [pair] == [pair[0]]
    assert pair.edge_graph().tolist() == [0]


def test_numbers_that_a_batch_leaves_out_are_empty_graphs():
    assert node_pointers("DCM", torch.tensor([1, 1, 4]), 3).tolist() == [0, 0, 2, 2, 2, 3]
    assert node_pointers("DCM", torch.zeros(0, dtype=torch.int64), 0).tolist() == [0]


@pytest.mark.parametrize(
    ("ptr", "message"),
    [
        ([0, 3], "ptr must start at 0, never decrease and end at num_nodes=4"),
        ([0, 3, 2, 4], "never decrease"),
        ([0, 1, 4], r"edge 0 \(0, 1\) runs between two graphs"),
        ([], "ptr must be int64 of shape"),
    ],
)
def test_wrong_pointers(ptr, message):
    with pytest.raises(LatopoError, match=message):
        CellComplex(4, [[0], [1]], ptr=torch.tensor(ptr, dtype=torch.int64))


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (torch.tensor([0, 1]), r"int64 of shape \[3\], got torch.int64 of shape \[2\]"),
        (torch.tensor([0.0, 0.0, 1.0]), "got torch.float32"),
        (torch.tensor([0, 1, 0]), "batch must ascend"),
        (torch.tensor([-1, 0, 0]), "holds the graph number -1"),
    ],
)
def test_wrong_batches(batch, message):
    with pytest.raises(LatopoError, match=f"DCM: batch .*{message}|DCM: {message}"):
        node_pointers("DCM", batch, 3)


def test_no_such_graph():
    cx = CellComplex.disjoint_union([CellComplex(2, [[0], [1]])] * 2)
    with pytest.raises(IndexError, match="graph 2 of a complex of 2 graphs"):
        cx[2]
    assert [part.num_nodes for part in cx] == [2, 2]
