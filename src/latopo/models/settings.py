"""Settings of the models' parts; a part that is None is left out."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from latopo.errors import LatopoError
from latopo.neighbors.search import Method
from latopo.nn.relaxation import Relaxation
from latopo.nn.topology_loss import EdgeForm
from latopo.settings import Settings

__all__ = [
    "AllPolygons", "BaselineSettings", "Entmax", "EntmaxPolygons", "Latent", "NetSettings", "Own", "SeparateGiven",
    "SharedGiven", "TopK", "TopKPolygons", "Weighing",
]  # fmt: skip


@dataclass(frozen=True)
class Entmax(Settings):
    """Edges by α-entmax: see :class:`~latopo.nn.EntmaxSampler`. Either the gain is given, or the degree rules it."""

    kind: ClassVar[str] = "entmax"
    gain: float | None = field(default=50.0, metadata={"above": 0})
    degree: float | None = field(default=None, metadata={"above": 0})
    hold_degree: bool = False
    search: Method = field(default="exact", metadata={"unsaid": True})

    def __post_init__(self) -> None:
        """Refuse a gain beside a degree: it would change nothing."""
        super().__post_init__()
        if (self.gain is None) == (self.degree is None):
            raise LatopoError(
                f"gain and degree: one of them sets γ and the other must be null, got gain={self.gain} and "
                f"degree={self.degree}"
            )
        if self.hold_degree and self.degree is None:
            raise LatopoError("hold_degree needs the degree to hold")


@dataclass(frozen=True)
class TopK(Settings):
    """Edges by the Gumbel top-k trick: see :class:`~latopo.nn.TopKSampler`."""

    kind: ClassVar[str] = "topk"
    k: int = field(default=5, metadata={"at_least": 1})


@dataclass(frozen=True)
class _Polygons(Settings):
    max_length: int = field(default=4, metadata={"at_least": 0, "at_most": 1000})
    candidate_budget: int = field(default=50_000, metadata={"at_least": 1, "at_most": 10**8})


@dataclass(frozen=True)
class EntmaxPolygons(_Polygons):
    """Polygons by α-entmax: see :class:`~latopo.nn.PolygonInference`."""

    kind: ClassVar[str] = "entmax"
    polygon_share: float | None = field(default=None, metadata={"above": 0, "at_most": 1})
    polygon_score: Literal["sum", "mean", "per-length", "distance"] = "sum"


@dataclass(frozen=True)
class AllPolygons(_Polygons):
    """Every candidate cycle becomes a polygon (the paper's "α = 1")."""

    kind: ClassVar[str] = "all"


@dataclass(frozen=True)
class TopKPolygons(_Polygons):
    """As many polygons as nodes, by the Gumbel top-k trick."""

    kind: ClassVar[str] = "topk"
    polygon_score: Literal["sum", "mean", "per-length"] = "sum"


@dataclass(frozen=True)
class Latent(Settings):
    """The branch that hears an inferred topology.

    Attributes:
        sampler: how edges are chosen.
        space: where distances are measured; ``squared`` takes their squares, whose statistics have a closed form
            (large data), ``manifold`` is Euclidean × hyperbolic × spherical.
        detach: whether the auxiliary branch is cut from the gradient of the features.
        learn_alpha: whether the α of edges and polygons are parameters, or stay at 1.5.
        encoder_layers: layers of the encoder of the graph.
        encoder_dropout: before each of them; the graph then jumps from step to step.
        decay_encoder: whether weight decay acts on the encoder of the graph. The graph does not see the encoder's
            scale, so there a decay only makes its steps larger.
        polygons: how polygons are chosen; None for none.
        edge_features: whether edges have features and messages of their own (a DCM) or only nodes do (a DGM).
        rounds: rounds of message passing.
        lift: how nodes give features to edges and get them back: the mean, or the sum.
        detach_edges: whether edges take the features of nodes without gradient.
        relaxation: how probabilities enter message passing.
        latent_dropout: probability with which a step hides all that a node got from the topology from the head, so that
            the head does not come to rely on it alone.
    """

    sampler: Entmax | TopK = Entmax()
    space: Literal["euclidean", "squared", "manifold"] = "euclidean"
    detach: bool = True
    decay_encoder: bool = True
    polygons: EntmaxPolygons | AllPolygons | TopKPolygons | None = EntmaxPolygons()
    edge_features: bool = True
    rounds: int = field(default=1, metadata={"at_least": 0, "at_most": 1000})
    relaxation: Relaxation = "none"
    latent_dropout: float = field(default=0.0, metadata={"at_least": 0, "below": 1})
    learn_alpha: bool = field(default=True, metadata={"unsaid": True})
    encoder_layers: int = field(default=3, metadata={"at_least": 1, "at_most": 1000, "unsaid": True})
    encoder_dropout: float = field(default=0.0, metadata={"at_least": 0, "below": 1, "unsaid": True})
    lift: Literal["mean", "sum"] = field(default="mean", metadata={"unsaid": True})
    detach_edges: bool = field(default=False, metadata={"unsaid": True})


@dataclass(frozen=True)
class Own(Settings):
    """The branch of the node's own hidden features.

    Attributes:
        own_loss: whether training also asks this branch alone to predict, so that an inferred graph that fits the
            training nodes too well does not leave it untrained.
    """

    own_loss: bool = False


@dataclass(frozen=True)
class SharedGiven(Settings):
    """The branch of the given graph as one convolution of the shared hidden features."""

    kind: ClassVar[str] = "shared"


@dataclass(frozen=True)
class SeparateGiven(Settings):
    """The branch of the given graph as a GCN with a first layer of its own, which has to predict alone too."""

    kind: ClassVar[str] = "separate"


@dataclass(frozen=True)
class Weighing(Settings):
    """Learned weights of the branches.

    On the nodes that it learns from every branch looks perfect, so how far each is to be trusted can only be seen on
    others.

    Attributes:
        held_out: share of the training nodes whose labels train only these weights.
    """

    held_out: float = field(default=0.1, metadata={"above": 0, "below": 1})


@dataclass(frozen=True)
class NetSettings(Settings):
    """A model of branches.

    Attributes:
        hidden_channels: width everywhere between input and head.
        dropout: before message passing, between rounds and before the head.
        input_dropout: before the first layer.
        normalize_rows: whether rows of the input are divided by their sums first (of absolute values).
        latent, own, given: the branches.
        weighing: whether the branches are weighed against each other.
        edge_form: form of the :class:`~latopo.nn.TopologyLoss` that trains the topology; None if its relaxation does.
            With neither, the encoder of the graph stays as it was initialised.

    Example:
        >>> NetSettings().change(rounds=2, sampler="topk", k=3).latent.sampler
        TopK(k=3)
    """

    hidden_channels: int = field(default=32, metadata={"at_least": 1, "at_most": 2**16})
    dropout: float = field(default=0.5, metadata={"at_least": 0, "below": 1})
    latent: Latent | None = Latent()
    own: Own | None = None
    given: SharedGiven | SeparateGiven | None = None
    weighing: Weighing | None = None
    edge_form: EdgeForm | None = None
    input_dropout: float = field(default=0.0, metadata={"at_least": 0, "below": 1, "unsaid": True})
    normalize_rows: bool = field(default=False, metadata={"unsaid": True})

    def __post_init__(self) -> None:
        """Refuse combinations that cannot predict or would not be used."""
        super().__post_init__()
        if self.latent is None and self.own is None and self.given is None:
            raise LatopoError("latent, own and given are all null; at least one branch has to predict")
        if self.latent is not None and self.latent.latent_dropout and self.own is None:
            raise LatopoError("latent_dropout needs the branch of the node's own features; add own=true")
        if self.weighing is not None and (self.own is None or not isinstance(self.given, SeparateGiven)):
            raise LatopoError("weighing needs the branches own and given to weigh; add own=true and given=separate")
        if self.edge_form is not None and self.latent is None:
            raise LatopoError(f"edge_form={self.edge_form} rewards an inferred topology, and latent is null")


@dataclass(frozen=True)
class BaselineSettings(Settings):
    """A two-layer network: its width between the layers, and the dropout before the second."""

    hidden_channels: int = field(default=32, metadata={"at_least": 1, "at_most": 2**16})
    dropout: float = field(default=0.5, metadata={"at_least": 0, "below": 1})
