"""Does training find planted polygons, and do they help? A study on a torus that is coloured like a chessboard.

Only the black faces matter for the labels, and nothing but the labels tells them from the white ones; see
:func:`latopo.data.planted_torus`. The model below is an example of one's own model, put together from latopo's layers::

    python examples/planted_complex.py
    python examples/planted_complex.py --skeleton inferred --edges frozen --codes 128
"""

import argparse
from dataclasses import dataclass
from functools import cache
from statistics import mean, stdev
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo import CellComplex
from latopo.data import PlantedTorus, planted_torus
from latopo.nn import (
    AlphaDGM,
    AuxiliaryEncoder,
    CellConv,
    ComplexNeighborhoods,
    Downlift,
    EntmaxSampler,
    NodeConv,
    PolygonInference,
    TopologyLoss,
    Uplift,
)
from latopo.nn.relaxation import Relaxation

Branch = Literal["learned", "frozen", "without", "all"]
BRANCHES: tuple[Branch, ...] = ("learned", "frozen", "without", "all")


class ColumnGains(nn.Module):
    """Auxiliary features: each input column times its own learned gain, 1 at the start."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(channels))

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> Tensor:
        """Scale the columns; the graph is not looked at."""
        return x * self.gain


class TorusNet(nn.Module):
    """The topology is inferred from the codes, messages carry the signal; on a given skeleton only polygons are chosen.

    Nodes pass their features through a linear layer, edges take the mean of their ends, hear their neighbours across
    polygons and nodes in one cell convolution, and hand the result back to the nodes.
    """

    def __init__(
        self,
        encoder: nn.Module,
        polygons: PolygonInference,
        relaxation: Relaxation,
        graph: AlphaDGM | None = None,
        in_channels: int = 1,
        hidden_channels: int = 8,
    ) -> None:
        super().__init__()
        self.encoder, self.polygons, self.relaxation, self.graph = encoder, polygons, relaxation, graph
        self.first = NodeConv(in_channels, hidden_channels)
        self.uplift, self.cell_conv, self.downlift = Uplift(), CellConv(hidden_channels, hidden_channels), Downlift()
        self.head = nn.Linear(2 * hidden_channels, 2)

    def infer(self, codes: Tensor, edge_index: Tensor) -> CellComplex:
        """The complex: the given or inferred skeleton with the polygons that were chosen."""
        edge_prob = codes.new_ones(edge_index.size(1))
        if self.graph is not None:
            _, edge_index, edge_prob, *_ = self.graph(codes)
        polygons = self.polygons(self.encoder(codes), edge_index)
        return CellComplex.from_canonical(codes.size(0), edge_index, polygons.polygons, edge_prob, polygons.prob)

    def forward(self, codes: Tensor, signal: Tensor, edge_index: Tensor) -> tuple[Tensor, CellComplex]:
        """Class scores of every node, and the complex."""
        complex = self.infer(codes, edge_index)
        cells = ComplexNeighborhoods.relaxed(complex, self.relaxation)
        nodes = self.first(signal).relu()
        edges = self.cell_conv(self.uplift(nodes, cells), cells).relu()
        down = self.downlift(edges, cells)
        return self.head(torch.cat([nodes, down], dim=1)), complex


@dataclass(frozen=True)
class Setting:
    """What the study was run with; the fields are those of the command line."""

    skeleton: Literal["given", "inferred"] = "given"
    edges: Literal["shared", "steady", "own", "frozen"] = "shared"
    side: int = 24
    codes: int = 16
    decoy: float = 1.0
    noise: float = 0.3
    steps: int = 150
    learning_rate: float = 0.01
    encoder: Literal["gains", "linear", "mlp"] = "gains"
    alpha: float = 2.0
    polygon_share: float = 0.5
    degree: float = 4.0
    momentum: float = 0.9
    mixed: bool = False


class Outcome(NamedTuple):
    """Planted share of the kept polygons at the start and at the end, and of their weight; how many; accuracies."""

    start: float
    end: float
    weight_end: float
    kept: int
    accuracy: float
    train_accuracy: float


def build(setting: Setting, relaxation: Relaxation, branch: Branch, data: PlantedTorus) -> TorusNet:
    channels = data.codes.size(1) + setting.mixed
    encoder = build_encoder(setting, channels)
    graph = None if setting.skeleton == "given" else build_graph(setting, encoder, channels)
    polygons = PolygonInference(
        2 if branch == "without" else 4,
        alpha=setting.alpha,
        learn_alpha=False,
        polygon_share=setting.polygon_share if branch in ("learned", "frozen") else None,
        sampler="all" if branch == "all" else "entmax",
    )
    model = TorusNet(encoder, polygons, relaxation, graph, in_channels=channels if setting.mixed else 1)
    if branch == "frozen":
        for part in filter(None, (encoder, graph)):
            part.requires_grad_(False)
    return model


def build_encoder(setting: Setting, channels: int) -> nn.Module:
    widths = {"linear": (channels, 32), "mlp": (channels, 32, 32, 32)}
    return ColumnGains(channels) if setting.encoder == "gains" else AuxiliaryEncoder(widths[setting.encoder])


def build_graph(setting: Setting, encoder: nn.Module, channels: int) -> AlphaDGM:
    """One encoder for edges and polygons, as in the paper's DCM, or one of its own for the edges."""
    if setting.edges in ("own", "frozen"):
        encoder = build_encoder(setting, channels)
    learn = setting.edges in ("shared", "own")
    sampler = EntmaxSampler(degree=setting.degree, learn_gain=learn, learn_alpha=learn)
    graph = AlphaDGM(channels, encoder=encoder, sampler=sampler)
    return graph.requires_grad_(False) if setting.edges == "frozen" else graph


def read(setting: Setting, seed: int) -> tuple[PlantedTorus, tuple[Tensor, Tensor, Tensor]]:
    """The data and what the model takes: features for the topology, features for the messages, the torus' edges."""
    data = planted_torus(setting.side, code_channels=setting.codes, decoy=setting.decoy, noise=setting.noise, seed=seed)
    both = torch.cat([data.codes, data.signal], dim=1)
    features = (both, both) if setting.mixed else (data.codes, data.signal)
    return data, (*features, data.edge_index)


@cache
def run(setting: Setting, relaxation: Relaxation, branch: Branch, seed: int) -> Outcome:
    """Train one model; the test accuracy is that of the step with the best validation accuracy."""
    data, inputs = read(setting, seed)
    torch.manual_seed(seed)
    model = build(setting, relaxation, branch, data)
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.learning_rate)
    rewarded = relaxation == "none" and branch == "learned"
    reward = TopologyLoss(data.y.numel(), num_classes=2, momentum=setting.momentum) if rewarded else None
    start = data.planted_share(model.infer(inputs[0], inputs[2]).polygons)
    history = []
    for _ in range(setting.steps):
        prediction, complex = model(*inputs)
        history.append(accuracies(prediction, data))
        optimizer.zero_grad()
        objective(prediction, complex, data, reward).backward()
        optimizer.step()
    end, weight_end = (data.planted_share(complex.polygons, weight) for weight in (None, complex.polygon_prob))
    best = max(history, key=lambda accuracy: accuracy["val"])
    return Outcome(start, end, weight_end, complex.num_polygons, best["test"], history[-1]["train"])


def objective(prediction: Tensor, complex: CellComplex, data: PlantedTorus, reward: TopologyLoss | None) -> Tensor:
    loss = functional.cross_entropy(prediction[data.train_mask], data.y[data.train_mask])
    return loss if reward is None else loss + reward(prediction, data.y, complex, data.train_mask).total


def accuracies(prediction: Tensor, data: PlantedTorus) -> dict[str, float]:
    right = (prediction.argmax(1) == data.y).double()
    masks = {"train": data.train_mask, "val": data.val_mask, "test": data.test_mask}
    return {part: float(right[mask].mean()) for part, mask in masks.items()}


def spread(values: list[float]) -> str:
    return f"{100 * mean(values):.0f} ± {100 * stdev(values) if len(values) > 1 else 0:.0f}"


def row(setting: Setting, relaxation: Relaxation, seeds: int) -> str:
    outcomes: dict[Branch, list[Outcome]] = {}
    for branch in BRANCHES:
        # On a given skeleton with no or all polygons nothing is chosen: the relaxation has nothing to act on.
        fixed = setting.skeleton == "given" and branch in ("without", "all")
        outcomes[branch] = [run(setting, "none" if fixed else relaxation, branch, seed) for seed in range(seeds)]
    learned, frozen = outcomes["learned"], outcomes["frozen"]
    shares = [[outcome.start for outcome in learned], [outcome.end for outcome in learned]]
    shares += [[outcome.weight_end for outcome in learned], [outcome.end for outcome in frozen]]
    accuracy = [[outcome.accuracy for outcome in outcomes[branch]] for branch in BRANCHES]
    train = [outcome.train_accuracy for outcome in learned]
    kept = f"{mean(outcome.kept for outcome in learned):.0f}"
    return "| " + " | ".join([relaxation, *map(spread, shares), kept, *map(spread, [*accuracy, train])]) + " |"


def gradient(setting: Setting, relaxation: Relaxation, warm_up: int, seed: int) -> tuple[float, float]:
    """Size of the descent direction of the column gains, and its cosine with "black columns up, white ones down".

    Everything but the gains is trained for ``warm_up`` steps before.
    """
    data, inputs = read(setting, seed)
    torch.manual_seed(seed)
    model = build(setting, relaxation, "learned", data)
    others = [parameter for name, parameter in model.named_parameters() if name != "encoder.gain"]
    optimizer = torch.optim.Adam(others, lr=setting.learning_rate)
    reward = TopologyLoss(data.y.numel(), 2, momentum=setting.momentum) if relaxation == "none" else None
    for step in range(warm_up + 1):
        model.zero_grad()
        objective(*model(*inputs), data, reward).backward()
        if step < warm_up:
            optimizer.step()
    descent = -next(model.encoder.parameters()).grad
    # A common factor of all columns changes no probability: only the differences count.
    descent = descent - descent.mean()
    ideal = torch.cat([torch.ones(setting.codes), -torch.ones(setting.codes)])
    return float(descent.norm()), float(functional.cosine_similarity(descent, ideal, dim=0))


def print_gradients(setting: Setting, modes: list[Relaxation], seeds: int) -> None:
    print("| mode | steps before | size of the gradient | cosine with the right direction |\n|---|---|---|---|")
    for mode in modes:
        for warm_up in (0, 20, 60, 120):
            sizes, cosines = zip(*(gradient(setting, mode, warm_up, seed) for seed in range(seeds)), strict=True)
            spreading = stdev(cosines) if seeds > 1 else 0.0
            print(f"| {mode} | {warm_up} | {mean(sizes):.0e} | {mean(cosines):.2f} ± {spreading:.2f} |", flush=True)


def print_table(setting: Setting, modes: list[Relaxation], seeds: int) -> None:
    shares = "planted share: start | end | end, by weight | frozen | polygons kept"
    print(f"| mode | {shares} | accuracy: learned | frozen | without | all | learned, on training nodes |")
    print("|---" * 11 + "|")
    for mode in modes:
        print(row(setting, mode, seeds), flush=True)


def main() -> None:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=summary, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--modes", default="weighted,straight_through,none", help="relaxations; none means the reward")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    parser.add_argument("--skeleton", choices=("given", "inferred"), default=Setting.skeleton)
    parser.add_argument(
        "--edges",
        choices=("shared", "steady", "own", "frozen"),
        default=Setting.edges,
        help="inferred skeleton: encoder shared with the polygons, the same with fixed gain and alpha, an encoder of "
        "its own, or the same without training",
    )
    parser.add_argument("--encoder", choices=("gains", "linear", "mlp"), default=Setting.encoder)
    parser.add_argument("--mixed", action="store_true", help="codes and signal side by side, for both branches")
    parser.add_argument("--gradients", action="store_true", help="print gradients on a given skeleton, do not train")
    for name in ("side", "codes", "steps"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Setting, name))
    for name in ("decoy", "noise", "learning_rate", "alpha", "polygon_share", "degree", "momentum"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=getattr(Setting, name))
    # The tensors are small: more threads would only wait for each other.
    torch.set_num_threads(1)
    arguments = vars(parser.parse_args())
    modes, seeds = arguments.pop("modes").split(","), arguments.pop("seeds")
    gradients = arguments.pop("gradients")
    setting = Setting(**arguments)
    if gradients and (setting.skeleton, setting.encoder, setting.mixed) != ("given", "gains", False):
        parser.error("--gradients goes with a given skeleton and column gains, without --mixed")
    print(setting, f"seeds={seeds}", sep="\n")
    (print_gradients if gradients else print_table)(setting, modes, seeds)


if __name__ == "__main__":
    main()
