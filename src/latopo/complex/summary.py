"""The counts that describe a complex at a glance."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex


def summarize(cx: "CellComplex") -> dict[str, Any]:
    """Counts by kind and length, node degrees, Euler characteristic and Betti numbers, as plain Python numbers.

    Example:
        >>> import torch
        >>> from latopo import CellComplex
        >>> summarize(CellComplex(3, torch.tensor([[0], [2]])))["isolated_nodes"]
        1
    """
    degree = cx.node_degree()
    return {
        "nodes": cx.num_nodes,
        "edges": cx.num_edges,
        "polygons": {length: rows.size(0) for length, rows in cx.polygons.items()},
        "mean_degree": 2 * cx.num_edges / cx.num_nodes if cx.num_nodes else 0.0,
        "max_degree": int(degree.max()) if cx.num_nodes else 0,
        "isolated_nodes": int((degree == 0).sum()),
        "euler_characteristic": cx.euler_characteristic(),
        "betti_numbers": cx.betti_numbers(),
    }
