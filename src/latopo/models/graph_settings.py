"""Settings of the networks that predict whole graphs."""

from dataclasses import dataclass, field
from typing import ClassVar

from latopo.data.graph_set import MAX_RING
from latopo.errors import LatopoError
from latopo.settings import Settings

__all__ = ["AllRings", "ChosenRings", "GraphNetSettings", "LatentEdges"]


@dataclass(frozen=True)
class AllRings(Settings):
    """Every induced cycle is a polygon: the static lifting of the field."""

    kind: ClassVar[str] = "all"


@dataclass(frozen=True)
class ChosenRings(Settings):
    """Polygons by α-entmax over the rings of each graph: see :class:`~latopo.models.ring_choice.RingChoice`."""

    kind: ClassVar[str] = "chosen"
    ring_gain: float = field(default=2.0, metadata={"above": 0})
    ring_alpha: float = field(default=1.5, metadata={"at_least": 1})


@dataclass(frozen=True)
class LatentEdges(Settings):
    """Edges that an α-DGM infers within each graph.

    Attributes:
        degree: neighbours that a node chooses on average.
        keep_given: whether the given edges are in the complex as well.
    """

    kind: ClassVar[str] = "latent"
    degree: float = field(default=2.0, metadata={"above": 0})
    keep_given: bool = True


@dataclass(frozen=True)
class GraphNetSettings(Settings):
    """A network that predicts graphs.

    Attributes:
        hidden_channels: width everywhere.
        layers: rounds of messages.
        dropout: before the last layer.
        edge_features: whether edges have features and messages of their own, or only carry those of the nodes.
        rings: which rings are polygons, with features and messages of their own; None for none.
        max_length: the most sides of a ring.
        latent_edges: edges besides the given ones; None for none.
    """

    hidden_channels: int = field(default=32, metadata={"at_least": 1, "at_most": 2**16})
    layers: int = field(default=3, metadata={"at_least": 1, "at_most": 1000})
    dropout: float = field(default=0.5, metadata={"at_least": 0, "below": 1})
    edge_features: bool = True
    rings: AllRings | ChosenRings | None = None
    max_length: int = field(default=MAX_RING, metadata={"at_least": 3, "at_most": MAX_RING})
    latent_edges: LatentEdges | None = None

    def __post_init__(self) -> None:
        """Refuse rings that nobody would hear."""
        super().__post_init__()
        if self.rings is not None and not self.edge_features:
            raise LatopoError("rings speak to their edges; add edge_features=true")
