import torch
from torch_geometric.nn import EdgeConv

from peers.batches import DenseEdgeConv, measure


def test_the_peer_is_pygs_edge_conv_on_the_nearest_neighbours():
    x = torch.randn(3, 12, 8, generator=torch.Generator().manual_seed(0))
    peer = DenseEdgeConv(8, k=4)
    conv = EdgeConv(peer.mlp)  # initialises the MLP anew
    flat, batch = x.flatten(0, 1), torch.arange(3).repeat_interleave(12)
    distance = torch.cdist(flat, flat).masked_fill(batch[:, None] != batch, torch.inf).fill_diagonal_(torch.inf)
    near = distance.topk(4, largest=False).indices
    edges = torch.stack([near.flatten(), torch.arange(36).repeat_interleave(4)])
    torch.testing.assert_close(peer(x).flatten(0, 1), conv(flat, edges))


def test_both_bars_are_measured():
    rows = measure(quick=True)
    assert [row.name.split(",")[0] for row in rows] == ["DCM on 8 clouds of 30 points", "DCM on 4 clouds of 100 points"]
    assert all(row.ours > 0 and row.theirs > 0 and "edges" in row.note for row in rows)
