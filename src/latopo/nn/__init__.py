"""Layers, in the order of the data's way: α-DGM, polygon inference, message passing, the DCM, its loss."""

from latopo.nn.alpha_dgm import AlphaDGM, LatentGraph
from latopo.nn.cell_conv import CellConv
from latopo.nn.cell_messages import CellFeatures, CellMessages
from latopo.nn.dcm import DCM
from latopo.nn.encoder import AuxiliaryEncoder
from latopo.nn.fixed_topology import FixedTopology
from latopo.nn.gain import Gain
from latopo.nn.lifts import Downlift, Uplift
from latopo.nn.neighborhoods import ComplexNeighborhoods
from latopo.nn.node_conv import NodeConv
from latopo.nn.polygon_conv import PolygonConv
from latopo.nn.polygon_inference import LatentPolygons, PolygonInference
from latopo.nn.samplers import BudgetSampler, EdgeSampler, EntmaxSampler, NoEdges, TopKSampler
from latopo.nn.topology_inference import LatentTopology, TopologyInference
from latopo.nn.topology_loss import TopologyLoss, TopologyLossParts

__all__ = [
    "DCM", "AlphaDGM", "AuxiliaryEncoder", "BudgetSampler", "CellConv", "CellFeatures", "CellMessages",
    "ComplexNeighborhoods", "Downlift", "EdgeSampler", "EntmaxSampler", "FixedTopology", "Gain", "LatentGraph",
    "LatentPolygons", "LatentTopology", "NoEdges", "NodeConv", "PolygonConv", "PolygonInference", "TopKSampler",
    "TopologyInference", "TopologyLoss", "TopologyLossParts", "Uplift",
]  # fmt: skip
