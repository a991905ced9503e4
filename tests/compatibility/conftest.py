import pytest
import torch
from torch import nn

from latopo.nn import DCM


class Net(nn.Module):
    """What a user writes: layers around a DCM, only the prediction returned."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(8, 16)
        self.dcm = DCM(16, 8, gain=10.0)
        self.classify = nn.Linear(16, 3)

    def forward(self, x, edge_index=None, batch=None):
        x, self.cells = self.dcm(self.encode(x).relu(), edge_index, batch)
        return self.classify(x)


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net()


@pytest.fixture
def x():
    return torch.randn(40, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def edge_index():
    return torch.randint(40, (2, 60), generator=torch.Generator().manual_seed(2))
