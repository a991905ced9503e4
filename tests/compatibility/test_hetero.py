import pytest
import torch
from torch_geometric.data import HeteroData
from torch_geometric.nn import to_hetero

from latopo.errors import LatopoError


def two_kinds():
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.randn(20, 8), torch.randn(12, 8)
    data["author", "writes", "paper"].edge_index = torch.stack([torch.randint(12, (30,)), torch.randint(20, (30,))])
    data["paper", "of", "author"].edge_index = data["author", "writes", "paper"].edge_index.flip(0)
    return data


def test_several_kinds_of_nodes_are_refused_in_one_line(net):
    data = two_kinds()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dcm = net.dcm

        def forward(self, x, edge_index):
            return self.dcm(x, edge_index)[0]

    model = to_hetero(Layer(), data.metadata())
    with pytest.raises(LatopoError, match=r"x must be one matrix \[nodes, features\], got tuple.*to_homogeneous"):
        model(data.x_dict, data.edge_index_dict)


def test_the_homogeneous_form_works(net):
    data = two_kinds().to_homogeneous()
    assert net(data.x, data.edge_index).shape == (32, 3)
