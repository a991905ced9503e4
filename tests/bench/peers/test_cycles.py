import pytest

igraph = pytest.importorskip("igraph")

from latopo.cycles import induced_cycles  # noqa: E402
from peers.cycles import chordless_cycles, neighbour_graph  # noqa: E402


def test_the_peer_finds_our_cycles():
    edge_index = neighbour_graph(60)
    peer = {frozenset(cycle) for cycle in chordless_cycles(igraph.Graph(60, edge_index.T.tolist()), 5)}
    ours = [frozenset(row) for rows in induced_cycles(edge_index, 60, 5).values() for row in rows.tolist()]
    assert peer == set(ours)
    assert len(peer) == len(ours) > 100


def test_neighbour_graph_has_every_points_eight():
    edge_index = neighbour_graph(100)
    assert (edge_index[0] < edge_index[1]).all()
    assert edge_index.flatten().bincount().min() >= 8
    assert edge_index.unique(dim=1).shape == edge_index.shape
