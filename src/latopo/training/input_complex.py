"""The complex of a given graph: what training starts from, and is drawn beside."""

from torch import Tensor

from latopo.complex import CellComplex
from latopo.cycles import induced_cycles
from latopo.errors import TooManyCellsError, TooManyStepsError
from latopo.nn.checks import simple_edges

__all__ = ["input_complex"]


def input_complex(edge_index: Tensor, num_nodes: int, max_length: int = 4, max_polygons: int = 50_000) -> CellComplex:
    """The graph with every induced cycle as a polygon, or with none if there are more than ``max_polygons``."""
    edges = simple_edges("input_complex", edge_index, num_nodes)
    try:
        polygons = induced_cycles(edges, num_nodes, max_length, max_cycles=max_polygons)
    except (TooManyCellsError, TooManyStepsError):
        polygons = {}
    return CellComplex.from_canonical(num_nodes, edges, polygons)
