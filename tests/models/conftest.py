import pytest
import torch

from latopo.models import SYSTEMS, build_model


class _Targets:
    """What a model may know of the targets: here all of them, three classes."""

    num_classes = 3

    def __init__(self, y):
        self.target, self.train_index = y, torch.arange(len(y))

    def loss(self, prediction, index):
        return torch.nn.functional.cross_entropy(prediction[index], self.target[index])


@pytest.fixture(scope="session")
def targets():
    return _Targets


@pytest.fixture(scope="session")
def problem():
    """Three blobs, labels by blob, and a ring through all points."""

    def make(num_nodes=40, columns=6, classes=3, seed=0):
        generator = torch.Generator().manual_seed(seed)
        y = torch.arange(num_nodes) % classes
        centres = 2 * torch.randn(classes, columns, generator=generator, dtype=torch.float64)
        x = centres[y] + torch.randn(num_nodes, columns, generator=generator, dtype=torch.float64)
        ring = torch.stack([torch.arange(num_nodes), torch.arange(1, num_nodes + 1) % num_nodes])
        return x, y, ring

    return make


@pytest.fixture(scope="session")
def make():
    """A small model in double precision whose graph is neither empty nor full on the problem."""

    def build(name, graph, seed=0, **changes):
        torch.manual_seed(seed)
        sampler = getattr(SYSTEMS[name].settings, "latent", None)
        sampler = None if sampler is None else sampler.sampler
        if getattr(sampler, "degree", None):
            changes = {"degree": 4.0, **changes}
        elif getattr(sampler, "gain", None):
            changes = {"gain": 4.0, **changes}
        return build_model(name, 6, 3, graph=graph, **{"hidden_channels": 8, **changes}).double()

    return build


@pytest.fixture(scope="session")
def step():
    """The loss of one step, and the output it comes from."""

    def loss_of(model, x, y, edges):
        output = model(x, edges)
        return sum(model.loss_terms(_Targets(y), seed=0)(output).values()), output

    return loss_of
