"""Layers, in the order of the data's way: α-DGM, polygon inference, lifts, convolutions, the DCM, its loss."""

from latopo.nn.alpha_dgm import AlphaDGM, LatentGraph
from latopo.nn.cell_conv import CellConv
from latopo.nn.dcm import DCM, LatentTopology
from latopo.nn.encoder import AuxiliaryEncoder
from latopo.nn.gain import Gain
from latopo.nn.graph_conv import GraphConv
from latopo.nn.lifts import Downlift, Uplift
from latopo.nn.polygon_inference import LatentPolygons, PolygonInference
from latopo.nn.topology_loss import TopologyLoss, TopologyLossParts

__all__ = [
    "DCM",
    "AlphaDGM",
    "AuxiliaryEncoder",
    "CellConv",
    "Downlift",
    "Gain",
    "GraphConv",
    "LatentGraph",
    "LatentPolygons",
    "LatentTopology",
    "PolygonInference",
    "TopologyLoss",
    "TopologyLossParts",
    "Uplift",
]
