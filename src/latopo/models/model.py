"""What every model is and gives."""

from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.nn.alpha_dgm import LatentGraph
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
        own: what each node's own features alone predict, if training has to make them predict too.
    """

    prediction: Tensor
    complex: CellComplex | None = None
    graph: LatentGraph | None = None
    polygons: LatentPolygons | None = None
    own: Tensor | None = None


class Model(nn.Module):
    """Base class: ``model(x, edge_index=None)`` gives a :class:`ModelOutput`.

    Attributes:
        settings: the arguments that built the model; with the class name and the weights they restore it.
        edge_form: the form of the :class:`~latopo.nn.TopologyLoss` that trains it; None if its own loss is enough.
        needs_graph: whether it cannot work without a given graph.
        uses_graph: whether a given graph makes a difference.
    """

    edge_form: EdgeForm | None = None
    needs_graph: ClassVar[bool] = False
    uses_graph: ClassVar[bool] = True

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.settings = settings

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Predict every node."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(x, edge_index)")

    def undecayed(self) -> list[nn.Parameter]:
        """Parameters that weight decay leaves alone: scalars such as γ and α, to which zero means nothing."""
        return [parameter for parameter in self.parameters() if parameter.dim() == 0]

    def reset_parameters(self) -> None:
        """Initialise everything anew."""
        from latopo.nn.reset import reset

        reset(*self.children())
