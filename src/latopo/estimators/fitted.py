"""What a fitted complex has to remember so that a query can join it."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from latopo.complex import CellComplex
from latopo.entmax import LearnableAlpha
from latopo.estimators.query_cycles import Graph
from latopo.models import DCMNet, ModelOutput
from latopo.nn import GraphConv
from latopo.nn.cell_conv import effective_polygon_weight
from latopo.nn.duplicates import group_duplicates
from latopo.nn.polygon_inference import LatentPolygons
from latopo.nn.relaxation import cell_weights

__all__ = ["AnchorStates", "FittedTopology", "PolygonRule", "fitted_topology"]


@dataclass(frozen=True)
class PolygonRule:
    """The fitted polygon choice, for cycles that were not there: p = [(α − 1) γ (z − μ) / σ − τ]₊^(1 / (α − 1)).

    Attributes:
        mean: μ of the fitted candidates' scores.
        deviation: σ of their scores; 0 if all are equal (then every cycle weighs the same).
        gain: γ.
        alpha: α.
        threshold: τ.
        largest: the largest fitted probability, by which weights are divided.
        share: share of the candidates that were scored. A query has no budget; its polygons are weighed by the share
            instead, which is what the budget does on average.
    """

    mean: float
    deviation: float
    gain: float
    alpha: float
    threshold: float
    largest: float
    share: float

    def weights(self, scores: Tensor) -> Tensor:
        """Weights p / max p of cycles with these scores, at most the weight of the best fitted one."""
        if self.largest == 0:
            return torch.zeros_like(scores)
        if self.deviation == 0:
            return torch.full_like(scores, self.share)
        standard = (scores - self.mean) / self.deviation
        base = ((self.alpha - 1) * self.gain * standard - self.threshold).clamp(min=0)
        return self.share * (base.pow(1 / (self.alpha - 1)) / self.largest).clamp(max=1)


@dataclass(frozen=True)
class FittedTopology:
    """The fitted complex and the features that it stands on; with the model's weights all there is to save.

    Attributes:
        complex: nodes (anchors), edges and polygons with probabilities.
        hidden: the anchors' hidden features, float64 [N, H].
        x_aux: their auxiliary features, float64 [N, d].
        rule: how polygons were chosen.
    """

    complex: CellComplex
    hidden: Tensor
    x_aux: Tensor
    rule: PolygonRule


@torch.no_grad()
def fitted_topology(model: DCMNet, x: Tensor, edge_index: Tensor | None) -> tuple[FittedTopology, ModelOutput]:
    """The topology of the training rows under a trained model in evaluation mode, and the model's answer for them."""
    output = model(x, edge_index)
    assert output.complex is not None
    assert output.graph is not None
    assert output.polygons is not None
    x_aux = output.graph.x_aux
    rule = _polygon_rule(model, x_aux, output.complex, output.polygons)
    return FittedTopology(output.complex, model.first(x).relu(), x_aux, rule), output


def _polygon_rule(model: DCMNet, x_aux: Tensor, complex: CellComplex, polygons: LatentPolygons) -> PolygonRule:
    prob = complex.polygon_prob
    if prob is None or prob.numel() == 0:
        return PolygonRule(0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 1.0)
    inference = model.dcm.polygons
    alpha = float(inference.alpha() if isinstance(inference.alpha, LearnableAlpha) else inference.alpha)
    share = polygons.num_scored / polygons.num_candidates
    scores = inference.scores(x_aux, complex.edge_index, complex.polygons)
    # As in the polygon inference, scores that differ by rounding alone are equal.
    if polygons.deviation <= 16 * torch.finfo(scores.dtype).eps * float(scores.abs().max()):
        return PolygonRule(polygons.mean, 0.0, polygons.gain, alpha, 0.0, float(prob.max()), share)
    best = int(prob.argmax())
    standard = (float(scores[best]) - polygons.mean) / polygons.deviation
    threshold = (alpha - 1) * polygons.gain * standard - float(prob[best]) ** (alpha - 1)
    return PolygonRule(polygons.mean, polygons.deviation, polygons.gain, alpha, threshold, float(prob[best]), share)


class AnchorStates(NamedTuple):
    """Everything that flows from the fitted complex to a query, computed once.

    Attributes:
        graph: the fitted graph.
        representatives: anchors with distinct auxiliary features: the ones that queries choose from, [U].
        x_aux: auxiliary features of all anchors, [N, d].
        message: what an anchor sends in the graph convolution before the query's own degree is known, [N, F].
        x_node: node features after the graph convolution, [N, F].
        degree: Σ of the edge weights at each anchor, [N].
        lower_sum: what an anchor's edges send to an edge at it, [N, F].
        edge_weight: weights of the edges, [E].
        edge_message: what an edge sends to its upper neighbours, [E, F].
    """

    graph: Graph
    representatives: Tensor
    x_aux: Tensor
    message: Tensor
    x_node: Tensor
    degree: Tensor
    lower_sum: Tensor
    edge_weight: Tensor
    edge_message: Tensor

    @classmethod
    @torch.no_grad()
    def of(cls, model: DCMNet, topology: FittedTopology) -> "AnchorStates":
        """The states of a fitted topology under its model; one pass of message passing on the complex."""
        complex, layer = topology.complex, model.dcm
        edge_weight, polygon_weight = cell_weights(complex, layer.relaxation)
        assert edge_weight is not None
        node_conv = layer.node_convs[0]
        assert isinstance(node_conv, GraphConv)
        start, end = complex.edge_index
        degree = edge_weight.new_zeros(complex.num_nodes)
        degree = degree.index_add(0, start, edge_weight).index_add(0, end, edge_weight)
        message = (1 + degree).rsqrt()[:, None] * (topology.hidden @ node_conv.weight)
        x_node = node_conv(topology.hidden, complex.edge_index, edge_weight).relu()
        x_edge = layer.uplift(x_node, complex.edge_index)
        weight = effective_polygon_weight(complex, edge_weight, polygon_weight)
        upper_scale = (1 + complex.upper_degree(polygon_weight=weight)).rsqrt()[:, None]
        lower = (edge_weight * (1 + complex.lower_degree(edge_weight)).rsqrt())[:, None] * x_edge
        return cls(
            graph=Graph.of(complex.edge_index, complex.num_nodes),
            representatives=group_duplicates(topology.x_aux)[0],
            x_aux=topology.x_aux,
            message=message,
            x_node=x_node,
            degree=degree,
            lower_sum=torch.zeros_like(x_node).index_add(0, start, lower).index_add(0, end, lower),
            edge_weight=edge_weight,
            edge_message=upper_scale * x_edge,
        )
