"""What every model is and gives."""

from collections.abc import Callable, Sequence
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

__all__ = ["LossTerms", "Model", "ModelOutput", "Targets", "TrainPart", "TrainedPart"]


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


class TrainedPart(NamedTuple):
    """A part of a model, trained apart from the others.

    Attributes:
        model: with the weights of its best epoch, in evaluation mode.
        score: accuracy, or R², on the nodes that chose the epoch.
        loss: the task's loss there.
    """

    model: "Model"
    score: float
    loss: float


class TrainPart(Protocol):
    """Trains a part of a model apart from the others, as :func:`latopo.training.train` trains whole models."""

    def __call__(
        self,
        build: "Callable[[], Model]",
        x: Tensor,
        edge_index: Tensor | None,
        rows: Tensor | None,
        train_index: Tensor,
        selection_index: Tensor,
        number: int,
        *,
        weight_decays: Sequence[float],
        first_rung: int,
        **settings: Any,
    ) -> TrainedPart:
        """Build and train.

        Args:
            build: makes the part; called under its seed.
            x: what the part sees of all nodes.
            edge_index: the graph that it hears, if it does.
            rows: the only nodes that it needs to see while it is trained; None for all of them.
            train_index: nodes to learn from.
            selection_index: nodes that choose its epoch.
            number: makes its random numbers others than those of other parts.
            weight_decays: what to try; all start, and the best after the first rung goes on.
            first_rung: epochs that each of them gets.
            settings: of :class:`latopo.training.TrainingSettings`.
        """
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

    def solve(
        self, x: Tensor, edge_index: Tensor | None, targets: Targets, held_out: Tensor | None, train_part: TrainPart
    ) -> float:
        """Fit a model that ``solves`` to the training nodes; returns its loss there.

        Args:
            x: all rows.
            edge_index: the given graph, each undirected edge once, or None.
            targets: the targets that may be seen.
            held_out: nodes to choose on that are not trained on; None if there are none.
            train_part: trains a part of it by Adam, for a model whose parts are trained apart.
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
