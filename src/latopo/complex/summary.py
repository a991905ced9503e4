"""The counts that describe a complex at a glance."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex


def summarize(complex: "CellComplex") -> dict[str, Any]:
    """Counts by kind and length, node degrees, Euler characteristic and Betti numbers, as plain Python numbers.

    Example:
        >>> import torch
        >>> from latopo import CellComplex
        >>> summarize(CellComplex(3, torch.tensor([[0], [2]])))["isolated_nodes"]
        1
    """
    degree = complex.node_degree()
    return {
        "nodes": complex.num_nodes,
        "edges": complex.num_edges,
        "polygons": {length: rows.size(0) for length, rows in complex.polygons.items()},
        "mean_degree": 2 * complex.num_edges / complex.num_nodes if complex.num_nodes else 0.0,
        "max_degree": int(degree.max()) if complex.num_nodes else 0,
        "isolated_nodes": int((degree == 0).sum()),
        "euler_characteristic": complex.euler_characteristic(),
        "betti_numbers": complex.betti_numbers(),
    }
