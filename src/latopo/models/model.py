"""What every model is and gives."""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.alpha_dgm import LatentGraph
from latopo.nn.checks import check_dropout
from latopo.nn.polygon_inference import LatentPolygons
from latopo.nn.topology_loss import EdgeForm

__all__ = ["Model", "ModelOutput"]


class ModelOutput(NamedTuple):
    """The answer of a model.

    Attributes:
        prediction: class scores [N, classes], or values [N, 1].
        complex: the inferred complex; None for models that infer none.
        graph: the choices behind its edges.
        polygons: the statistics behind its polygons; None where there are none to choose.
        alone: what single parts of the head's input predict, those that training has to make predict alone too.
        judged: the prediction again, with a gradient to the weights of its parts and to nothing else.
    """

    prediction: Tensor
    complex: CellComplex | None = None
    graph: LatentGraph | None = None
    polygons: LatentPolygons | None = None
    alone: tuple[Tensor, ...] = ()
    judged: Tensor | None = None


class Model(nn.Module):
    """Base class: ``model(x, edge_index=None)`` gives a :class:`ModelOutput`.

    Attributes:
        settings: the arguments that built the model; with the class name and the weights they restore it.
        edge_form: the form of the :class:`~latopo.nn.TopologyLoss` that trains it; None if its own loss is enough.
        needs_graph: whether it cannot work without a given graph.
        uses_graph: whether a given graph makes a difference.
        judges: share of the training nodes whose labels train only the weights of ``ModelOutput.judged``.
    """

    edge_form: EdgeForm | None = None
    needs_graph: ClassVar[bool] = False
    uses_graph: ClassVar[bool] = True
    judges: float = 0.0

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        name = type(self).__name__
        check_dropout(name, settings.get("dropout", 0.0))
        for setting, least in (("hidden_channels", 1), ("rounds", 0), ("k", 1)):
            value = settings.get(setting, least)
            if not isinstance(value, Integral) or value < least:
                raise LatopoError(f"{name}: {setting} must be a whole number of at least {least}, got {value!r}")
        self.settings = settings

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Predict every node."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(x, edge_index)")

    def trusted(self) -> dict[str, float]:
        """How far judges trust each part of the prediction, in shares; empty if there are none."""
        return {}

    def undecayed(self) -> list[nn.Parameter]:
        """Parameters that weight decay leaves alone: scalars such as γ and α, to which zero means nothing."""
        return [parameter for parameter in self.parameters() if parameter.dim() == 0]

    def reset_parameters(self) -> None:
        """Initialise everything anew."""
        from latopo.nn.reset import reset

        reset(*self.children())
