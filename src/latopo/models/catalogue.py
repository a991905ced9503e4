"""The systems by name, each with everything that is known of it: those of the paper's tables, and ours.

To add one is to add an entry here. Command line, tables, report and documentation read it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from latopo.data.catalogue import Level
from latopo.errors import LatopoError
from latopo.models.alpha_diffusion import AlphaDiffusion
from latopo.models.branch_net import BranchNet, DCMNet, DGMNet
from latopo.models.fused_net import FusedNet
from latopo.models.fused_settings import FusedSettings
from latopo.models.gcn import GCN
from latopo.models.graph_net import GraphNet
from latopo.models.graph_settings import AllRings, ChosenRings, GraphNetSettings, LatentEdges
from latopo.models.mlp import MLP
from latopo.models.model import Model
from latopo.models.settings import (
    AllPolygons,
    Entmax,
    EntmaxPolygons,
    Latent,
    NetSettings,
    Own,
    SeparateGiven,
    SharedGiven,
    TopK,
    TopKPolygons,
    Weighing,
)
from latopo.settings import Settings, changed

if TYPE_CHECKING:  # it would bring PyG, which takes a second
    from latopo.data.splits import Protocol

__all__ = ["GRAPH_SYSTEMS", "SYSTEMS", "Role", "System", "build_model", "find_system"]

Role = Literal["baseline", "paper", "ours", "ablation"]


@dataclass(frozen=True)
class System:
    """A system of the catalogue.

    Attributes:
        name: as on the command line and in the tables.
        role: ``baseline``; ``paper`` (the paper's own systems); ``ours``, what we recommend; ``ablation``, one of ours
            with a part left out.
        words: one line for readers.
        model: the class.
        settings: those of its parts.
        needs_graph: whether it cannot do without a given graph.
        ignores_graph: whether a given graph makes no difference, though it would to the model with other settings.
        few_labels: whether it is made for few labels, and stands in their table alone.
        authors: settings that the authors set data set by data set, taken from the data set's entry: ``gain``,
            ``normalize_rows``.
        weight_decay: its own one; None if it is searched for like that of all others.
    """

    name: str
    role: Role
    words: str
    model: type[Model]
    settings: Settings
    needs_graph: bool = False
    ignores_graph: bool = False
    few_labels: bool = False
    authors: tuple[str, ...] = ()
    weight_decay: float | None = None

    @property
    def level(self) -> Level:
        """Whether it predicts nodes or graphs."""
        return self.model.level

    @property
    def uses_graph(self) -> bool:
        """Whether a given graph makes a difference."""
        return self.model.uses_graph and not self.ignores_graph

    @property
    def protocols(self) -> tuple["Protocol", ...]:
        """Those that it can be run under: one that fits itself at once has no epochs to choose."""
        if self.model.solves:
            return ("honest",)
        return ("honest", "paper") if self.level == "graph" else ("honest", "paper", "patient")

    def resolved(self, graph: bool, changes: dict[str, Any] | None = None) -> Any:
        """The settings with and without a given graph: the branch that hears it is left out where there is none."""
        if self.needs_graph and not graph:
            raise LatopoError(f"model {self.name} needs a graph, and none is given; use mlp or a model that infers one")
        settings = self.settings
        if isinstance(settings, NetSettings) and not graph:
            settings = settings.change(given=None)
        if isinstance(settings, FusedSettings) and not graph:
            settings = settings.without_graph()
        if isinstance(settings, GraphNetSettings) and settings.latent_edges is not None and not graph:
            settings = settings.change(keep_given=False)
        try:
            return changed(settings, changes or {})
        except LatopoError as error:
            raise LatopoError(f"model {self.name}: {error}") from error

    def build(self, in_channels: int, out_channels: int, graph: bool = False, **changes: Any) -> Model:
        """The model; arguments as in :func:`build_model`."""
        return self.model(in_channels, out_channels, self.resolved(graph, changes))


# Our recipe, one setting for all data sets (docs/diary.md says where it comes from).
_LATENT = Latent(
    sampler=Entmax(gain=None, degree=5.0, hold_degree=True), decay_encoder=False, relaxation="weighted",
    polygons=EntmaxPolygons(polygon_share=0.5), latent_dropout=0.5,
)  # fmt: skip
_PLUS = NetSettings(latent=_LATENT, own=Own(own_loss=True), given=SharedGiven())
_JUDGED = _PLUS.change(given=SeparateGiven(), weighing=Weighing())
# On development sets the DGM's reward does harm (docs/diary.md), so the tables have the DGMs without it.
# DGMNet() is the DGM as published.
_DGM = DGMNet.default.change(edge_form=None)
# The authors' public settings, point by point (docs/method.md): nothing trains the topology.
_RELEASED = DCMNet.default.change(
    rounds=0, lift="sum", detach_edges=True, encoder_layers=2, learn_alpha=False, polygon_score="distance",
    edge_form=None, dropout=0.0, input_dropout=0.5, encoder_dropout=0.5, normalize_rows=True,
)  # fmt: skip
_TOPK = DCMNet.default.change(sampler=TopK(), polygons=TopKPolygons(), edge_form="score")
# Branches trained apart and fused late, one setting for all data sets (docs/fusion.md).
_FUSED = FusedNet.default
_without_latent = tuple(name for name in _FUSED.branches if "latent" not in name)

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System("mlp", "baseline", "a plain neural network that looks at each point by itself", MLP, MLP.default),
        System("gcn", "baseline", "a network that averages over the given graph", GCN, GCN.default, needs_graph=True),
        System("dgm-e", "baseline", "a network that joins each point to a random choice of near ones", DGMNet, _DGM),
        System(
            "dgm-m", "baseline", "a network that joins each point to a random choice of near ones, in a curved space",
            DGMNet, _DGM.change(space="manifold"),
        ),
        System(
            "dcm", "paper", "the paper's model, which infers edges and polygons", DCMNet, DCMNet.default,
            authors=("gain",),
        ),
        System(
            "dcm-all", "paper", "the paper's model with every ring of edges taken as a polygon", DCMNet,
            DCMNet.default.change(polygons=AllPolygons()), authors=("gain",),
        ),
        System(
            "dcm-released", "paper", "the paper's model as the authors' public settings have it, without convolutions",
            DCMNet, _RELEASED, authors=("gain", "normalize_rows"), weight_decay=0.0,
        ),
        System(
            "dcm-per-length", "ablation", "the paper's model with polygons that compete with those of their own length",
            DCMNet, DCMNet.default.change(polygon_score="per-length"), authors=("gain",),
        ),
        System("topk-dcm", "paper", "the paper's model with a fixed number of edges per point", DCMNet, _TOPK),
        System(
            "topk-dcm-all", "paper", "the paper's model with a fixed number of edges per point and all polygons",
            DCMNet, _TOPK.change(polygons=AllPolygons()),
        ),
        System(
            "gcn-plus", "ablation",
            "this library's model with nothing inferred: each point by itself, and the given graph", BranchNet,
            _PLUS.change(latent=None), needs_graph=True,
        ),
        System(
            "alpha-dgm", "ablation", "this library's model with edges alone and messages between points only",
            BranchNet, _PLUS.change(polygons=None, edge_features=False),
        ),
        System(
            "dcm-plus-edges", "ablation", "this library's model without polygons", BranchNet,
            _PLUS.change(polygons=None),
        ),
        System(
            "dcm-plus", "ours",
            "this library's model, which infers edges and polygons and weighs them by their probabilities",
            BranchNet, _PLUS,
        ),
        System(
            "gcn-judged", "ablation",
            "this library's model with nothing inferred, which first judges how far to trust the given graph",
            BranchNet, _JUDGED.change(latent=None), needs_graph=True,
        ),
        System(
            "dcm-judged", "ours", "this library's model, which first judges how far to trust a given graph",
            BranchNet, _JUDGED, needs_graph=True,
        ),
        System(
            "alpha-diffusion", "ours",
            "for few labels: features and labels diffused over the inputs' own latent graph, self-trained",
            AlphaDiffusion, AlphaDiffusion.default, few_labels=True,
        ),
        System(
            "mlp-fused", "ablation", "three plain networks, trained apart and fused like this library's branches",
            FusedNet, _FUSED.change(branches=("own", "own", "own")), ignores_graph=True,
        ),
        System(
            "gcn-fused", "ablation", "three networks on the given graph, trained apart and fused alike", FusedNet,
            _FUSED.change(branches=("convolved", "convolved", "convolved")), needs_graph=True,
        ),
        System(
            "given-fused", "ablation",
            "this library's branches, trained apart and fused, without those that hear an inferred graph", FusedNet,
            _FUSED.change(branches=_without_latent), needs_graph=True,
        ),
        System(
            "dcm-fused", "ours",
            "this library's branches (own features, inferred graph, given graph), trained apart and fused late",
            FusedNet, _FUSED,
        ),
        System(
            "dcm-fused-cells", "ablation", "the same with a branch that hears inferred edges and polygons", FusedNet,
            _FUSED.change(branches=("cells", *_FUSED.branches), polygons=EntmaxPolygons(polygon_share=0.5)),
        ),
    )
}  # fmt: skip

# One recipe for all sets of graphs, chosen on validation parts (docs/graphs.md); they differ in their cells alone.
GRAPH_SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System(
            "gin", "baseline", "a network whose nodes listen to their neighbours, without cells", GraphNet,
            GraphNet.default.change(edge_features=False),
        ),
        System(
            "cells-edges", "baseline", "a network on the nodes and edges of each graph, without polygons", GraphNet,
            GraphNet.default,
        ),
        System(
            "cells-rings", "ours", "a network on nodes, edges and every ring of up to six edges", GraphNet,
            GraphNet.default.change(rings=AllRings()),
        ),
        System(
            "cells-chosen", "ours", "a network on nodes, edges and the rings that it chooses as polygons", GraphNet,
            GraphNet.default.change(rings=ChosenRings()),
        ),
        System(
            "cells-latent", "ours",
            "a network that adds edges of its own to each graph, and chooses its polygons among all rings", GraphNet,
            GraphNet.default.change(rings=ChosenRings(), latent_edges=LatentEdges()),
        ),
    )
}  # fmt: skip


def find_system(name: str) -> System:
    """The entry of that name.

    Example:
        >>> find_system("dcm").role
        'paper'
    """
    known = SYSTEMS | GRAPH_SYSTEMS
    if name not in known:
        raise LatopoError(f"model: expected one of {', '.join(known)}, got {name!r}")
    return known[name]


def build_model(name: str, in_channels: int, out_channels: int, graph: bool = False, **changes: Any) -> Model:
    """A model by its name in the tables.

    Args:
        name: one of :data:`SYSTEMS`.
        in_channels: width of x.
        out_channels: classes, or 1 for regression.
        graph: whether a graph will be given; our own models then convolve over it beside the inferred one.
        changes: settings with other values, such as ``gain=20.0``, ``rounds=2`` or ``max_length=5``.

    Example:
        >>> type(build_model("dcm", in_channels=4, out_channels=3)).__name__
        'DCMNet'
    """
    return find_system(name).build(in_channels, out_channels, graph, **changes)
