"""What every model is and gives."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.data.catalogue import Level
from latopo.neighbors.search_report import SearchReport
from latopo.nn.alpha_dgm import LatentGraph
from latopo.nn.polygon_inference import LatentPolygons
from latopo.nn.query_neighborhoods import QueryCells
from latopo.nn.reset import reset
from latopo.settings import Settings, changed

__all__ = ["LossTerms", "Model", "ModelOutput", "Targets"]


class ModelOutput(NamedTuple):
    """The answer of a model.

    Attributes:
        prediction: class scores [N, classes], or values [N, 1].
        features: what the last layer saw, [N, width].
        complex: the inferred complex; None for models that infer none.
        graph: the choices behind its edges.
        polygons: the statistics behind its polygons; None where there are none to choose.
        branches: what single branches predict, those that training has to make predict alone too.
        weighed: the prediction again, with a gradient to the weights of the branches and to nothing else.
        query: the cells that queries brought, if they joined a fitted complex.
    """

    prediction: Tensor
    features: Tensor
    complex: CellComplex | None = None
    graph: LatentGraph | None = None
    polygons: LatentPolygons | None = None
    branches: dict[str, Tensor] = {}  # noqa: RUF012  # never changed
    weighed: Tensor | None = None
    query: QueryCells | None = None


class Targets(Protocol):
    """What a model may know of the targets while it is trained."""

    num_classes: int
    target: Tensor
    train_index: Tensor

    def loss(self, prediction: Tensor, index: Tensor) -> Tensor:
        """Mean loss of predictions at some nodes."""
        ...


LossTerms = Callable[[ModelOutput], dict[str, Tensor]]
"""From an answer to the named terms whose sum is minimised."""


class Model(nn.Module):
    """Base class: ``model(x, edge_index=None)`` gives a :class:`ModelOutput`.

    Args:
        in_channels: width of x.
        out_channels: classes, or 1 for regression.
        settings: those of the model's parts; the class's own by default.
        changes: fields of them with other values, such as ``gain=20.0``.

    Attributes:
        uses_graph: whether a given graph makes a difference.
        solves: whether it fits itself at once (:meth:`solve`); all others are trained by Adam.
        level: whether it predicts the nodes of one graph, or graphs.
    """

    default: ClassVar[Settings]
    uses_graph: ClassVar[bool] = True
    solves: ClassVar[bool] = False
    level: ClassVar[Level] = "node"

    def __init__(self, in_channels: int, out_channels: int, settings: Any = None, **changes: Any) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.settings: Any = changed(type(self).default if settings is None else settings, changes)

    @property
    def feature_channels(self) -> int:
        """Width of what the last layer sees."""
        return int(self.settings.hidden_channels)

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Predict every node."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(x, edge_index)")

    def fit(self, x: Tensor, edge_index: Tensor | None = None) -> tuple[ModelOutput, Any]:
        """The answer for the training rows of a trained model, and what queries need to join them (None: nothing)."""
        return self(x, edge_index), None

    def join(self, x: Tensor, fitted: Any) -> ModelOutput:
        """Predict queries [Q, in_channels] that join the training rows, each on its own."""
        return self(x, None)

    def solve(self, x: Tensor, targets: Targets, held_out: Tensor | None) -> float:
        """Fit a model that ``solves`` to the training nodes; returns its loss there.

        Args:
            x: all rows.
            targets: the targets that may be seen.
            held_out: nodes to choose on that are not trained on; None if there are none.
        """
        raise NotImplementedError(f"{type(self).__name__} must define solve, or be trained by Adam")

    def loss_terms(self, targets: Targets, seed: int) -> LossTerms:
        """The terms that training minimises; here the task's alone.

        Args:
            targets: the targets of the training nodes.
            seed: of random choices that are made once, before the training.
        """
        return lambda output: {"task": targets.loss(output.prediction, targets.train_index)}

    def facts(self) -> dict[str, float]:
        """Learned scalars that a user may want to watch, by name."""
        return {}

    def search_report(self) -> SearchReport | None:
        """How the last call found the neighbours; None where none were searched for."""
        return None

    def undecayed(self) -> list[nn.Parameter]:
        """Parameters that weight decay leaves alone: scalars such as γ and α, to which zero means nothing."""
        return [parameter for parameter in self.parameters() if parameter.dim() == 0]

    def reset_parameters(self) -> None:
        """Initialise everything anew."""
        reset(*self.children())
