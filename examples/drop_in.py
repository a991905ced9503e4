"""The second layer of a GCN replaced by a DCM layer: Cora, the public split, three seeds.

With ``given_edges="keep"`` the citations are in the complex beside the edges that the layer infers, and polygons may
close with both. With ``"encode"``, the paper's, they only help to infer the complex and are not in it.

    python examples/drop_in.py                       # the public split, seeds 0 to 2
    python examples/drop_in.py --runs 8              # seeds 0 to 7
    python examples/drop_in.py --random --runs 10    # ten other splits of that size, without the public test nodes
"""

import argparse
from statistics import fmean, stdev
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout
from torch_geometric.nn import GCNConv

from latopo.data import Split, load, public_split
from latopo.nn import DCM, AlphaDGM, EntmaxSampler

HIDDEN = 16


class GCN(nn.Module):
    """Kipf and Welling's: two graph convolutions, dropout in front of each."""

    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.first, self.second = GCNConv(in_channels, HIDDEN), GCNConv(HIDDEN, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.first(dropout(x, 0.5, self.training), edge_index).relu()
        return self.second(dropout(x, 0.5, self.training), edge_index)


class Same(nn.Module):
    """No encoder: points are near each other if their hidden features are, and these know the graph already."""

    def forward(self, x: Tensor, edge_index: Tensor | None) -> Tensor:
        return x


class DropIn(nn.Module):
    """The same, its second convolution a DCM layer that gives class scores.

    With few labels an inferred graph must not grow dense: its degree is held at 2, and the features are not trained to
    be near each other.
    """

    def __init__(self, in_channels: int, num_classes: int, given_edges: Literal["encode", "keep"]) -> None:
        super().__init__()
        self.first = GCNConv(in_channels, HIDDEN)
        sampler = EntmaxSampler(degree=2.0, hold_degree=True)
        graph = AlphaDGM(HIDDEN, encoder=Same(), sampler=sampler, detach=True)
        self.second = DCM(HIDDEN, num_classes, concat=False, final_relu=False, given_edges=given_edges, graph=graph)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.first(dropout(x, 0.5, self.training), edge_index).relu()
        # The complex is inferred from features without dropout: with it, it would jump from step to step.
        cells = self.second.infer(x, edge_index).complex
        return self.second.propagate(dropout(x, 0.5, self.training), cells)


def accuracy(model: nn.Module, x: Tensor, y: Tensor, edge_index: Tensor, split: Split, epochs: int) -> float:
    """Test accuracy at the best validation epoch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best = (-1.0, 0.0)
    for epoch in range(1, epochs + 1):
        model.train()
        optimizer.zero_grad()
        cross_entropy(model(x, edge_index)[split.train], y[split.train]).backward()
        optimizer.step()
        if epoch % 2 == 0:
            model.eval()
            with torch.no_grad():
                right = (model(x, edge_index).argmax(1) == y).double()
            best = max(
                best, (right[split.selection].mean().item(), right[split.test].mean().item()), key=lambda pair: pair[0]
            )
    return best[1]


def random_split(y: Tensor, public: Split, seed: int) -> Split:
    """Twenty nodes of each class train, 500 choose the epoch, 1,000 test; none is a test node of the public split."""
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    order = order[~torch.isin(order, public.test)]
    train = torch.cat([order[y[order] == label][:20] for label in y.unique()])
    rest = order[~torch.isin(order, train)]
    return Split(train, rest[:500], rest[500:1500])


def main(epochs: int = 200, runs: int = 3, random: bool = False) -> None:
    data, public = load("cora"), public_split("cora")
    x = data.x.to_dense()
    shape = x.size(1), int(data.y.max()) + 1
    models = {
        "GCN": lambda: GCN(*shape),
        'its second layer DCM, given_edges="keep"': lambda: DropIn(*shape, "keep"),
        'its second layer DCM, given_edges="encode"': lambda: DropIn(*shape, "encode"),
    }
    reference: list[float] = []
    for name, make in models.items():
        scores = []
        for seed in range(runs):
            split = random_split(data.y, public, 5000 + seed) if random else public
            torch.manual_seed(seed)
            scores.append(100 * accuracy(make(), x, data.y, data.edge_index, split, epochs))
        reference = reference or scores
        print(f"{name}: {fmean(scores):.1f}{compared(scores, reference)} ({', '.join(f'{s:.1f}' for s in scores)})")


def compared(scores: list[float], reference: list[float]) -> str:
    """The mean difference from the reference run by run, with its standard error."""
    gains = [score - other for score, other in zip(scores, reference, strict=True)]
    if scores is reference or len(gains) < 2:
        return ""
    return f", {fmean(gains):+.2f} ± {stdev(gains) / len(gains) ** 0.5:.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3, help="seeds; with --random each has a split of its own")
    parser.add_argument("--random", action="store_true", help="random splits instead of the public one")
    main(**vars(parser.parse_args()))
