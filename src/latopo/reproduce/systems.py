"""What the tables know of a system by its name. Provisional: the catalogue of models is to hold all of it."""

from latopo.models import MODELS, needs_graph

__all__ = ["ROLES", "needs_graph", "uses_graph"]

# In the order of the tables' rows.
ROLES = {
    "mlp": "baseline", "gcn": "baseline", "dgm-e": "baseline", "dgm-m": "baseline",
    "dcm": "paper", "dcm-all": "paper", "topk-dcm": "paper", "topk-dcm-all": "paper",
    "gcn-plus": "ablation", "alpha-dgm": "ablation", "dcm-plus-edges": "ablation", "dcm-plus": "ours",
    "gcn-judged": "ablation", "dcm-judged": "ours",
}  # fmt: skip


def uses_graph(name: str) -> bool:
    """Whether a given graph makes a difference to a model.

    Example:
        >>> uses_graph("mlp"), uses_graph("dcm")
        (False, True)
    """
    return MODELS[name][0].uses_graph
