"""Models: compositions of named parts, and the catalogue of systems."""

from latopo.models.alpha_diffusion import AlphaDiffusion
from latopo.models.branch_net import BranchNet, DCMNet, DGMNet
from latopo.models.catalogue import GRAPH_SYSTEMS, SYSTEMS, System, build_model, find_system
from latopo.models.fused_net import FusedNet
from latopo.models.gcn import GCN
from latopo.models.graph_net import GraphNet
from latopo.models.mlp import MLP
from latopo.models.model import Model, ModelOutput
from latopo.models.storage import load_model, save_model

__all__ = [
    "GCN",
    "GRAPH_SYSTEMS",
    "MLP",
    "SYSTEMS",
    "AlphaDiffusion",
    "BranchNet",
    "DCMNet",
    "DGMNet",
    "FusedNet",
    "GraphNet",
    "Model",
    "ModelOutput",
    "System",
    "build_model",
    "find_system",
    "load_model",
    "save_model",
]
