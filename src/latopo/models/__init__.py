"""Models: the paper's systems, its baselines, and our own recipe."""

from latopo.models.catalogue import MODELS, build_model, needs_graph
from latopo.models.dcm_net import DCMNet
from latopo.models.dgm_net import DGMNet
from latopo.models.gcn import GCN
from latopo.models.mlp import MLP
from latopo.models.model import Model, ModelOutput
from latopo.models.skip_gcn import SkipGCN
from latopo.models.storage import load_model, save_model

__all__ = [
    "GCN",
    "MLP",
    "MODELS",
    "DCMNet",
    "DGMNet",
    "Model",
    "ModelOutput",
    "SkipGCN",
    "build_model",
    "load_model",
    "needs_graph",
    "save_model",
]
