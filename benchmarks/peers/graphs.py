"""An epoch of training on a set of graphs, beside a GIN of the same size in PyG on its ``DataLoader``."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo._parallel import one_thread
from latopo.bench.harness import Measurement, race
from latopo.data.graph_loading import load_graphs
from latopo.data.graph_set import GraphSet
from latopo.data.graph_splits import graph_split
from latopo.training.graph_protocol import first_graph_trainer
from latopo.training.run import Run

__all__ = ["PlainGIN", "measure"]

WIDTH = 32
BATCH = 64


class PlainGIN(nn.Module):
    """Three of PyG's ``GINConv`` with batch norm, and the sum over the nodes after each."""

    def __init__(self, in_channels: int, classes: int) -> None:
        from torch_geometric.nn import GINConv

        super().__init__()
        widths = (in_channels, WIDTH, WIDTH)
        self.convs = nn.ModuleList(GINConv(_mlp(width), train_eps=True) for width in widths)
        self.head = nn.Sequential(nn.Linear(3 * WIDTH, WIDTH), nn.ReLU(), nn.Dropout(0.5), nn.Linear(WIDTH, classes))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Class scores of every graph."""
        from torch_geometric.nn import global_add_pool

        pooled = []
        for conv in self.convs:
            x = conv(x, edge_index)
            pooled.append(global_add_pool(x, batch))
        scores: Tensor = self.head(torch.cat(pooled, dim=1))
        return scores


def _mlp(width: int) -> nn.Sequential:
    parts: list[nn.Module] = []
    for channels in (width, WIDTH):
        parts += [nn.Linear(channels, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU()]
    return nn.Sequential(*parts)


def measure(quick: bool = False) -> list[Measurement]:
    """NCI1 (quick: MUTAG), fold 0: each system's epoch beside the peer's. No bar was set."""
    name = "mutag" if quick else "nci1"
    graphs = load_graphs(name)
    with one_thread():
        theirs = partial(_epoch, *_peer(graphs))
        rows = []
        for model in ("gin", "cells-rings", "cells-chosen", "cells-latent"):
            ours = first_graph_trainer(graphs, Run(name, model, graph=True, settings={"batch_size": BATCH}), 0)._step
            ours()  # compiles
            rows.append(race(f"an epoch of {model} on {name}", ours, "GINConv on PyG's DataLoader", theirs, repeats=3))
    return rows


def _peer(graphs: GraphSet) -> tuple[nn.Module, Any, torch.optim.Optimizer]:
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader

    parts = []
    for number in graph_split(graphs.y, 0).train.tolist():
        one = graphs.batch(torch.tensor([number]))
        both = torch.cat([one.edge_index, one.edge_index.flip(0)], dim=1)
        parts.append(Data(x=one.x, edge_index=both, y=graphs.y[number : number + 1]))
    net = PlainGIN(graphs.num_features, graphs.num_classes)
    return net, DataLoader(parts, batch_size=BATCH, shuffle=True), torch.optim.Adam(net.parameters(), lr=0.003)


def _epoch(net: nn.Module, loader: Any, optimizer: torch.optim.Optimizer) -> None:
    for batch in loader:
        loss = functional.cross_entropy(net(batch.x, batch.edge_index, batch.batch), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
