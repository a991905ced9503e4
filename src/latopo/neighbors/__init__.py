"""Edges: the sparse neighbourhoods of the α-DGM, and the similarities that they rest on."""

from latopo.neighbors.entmax_neighbors import NeighborRows, count_neighbors, entmax_neighbors, neighbor_rows
from latopo.neighbors.gain import gain_for_degree, temperature_for_spread
from latopo.neighbors.search import NeighborSearch
from latopo.neighbors.search_report import SearchReport
from latopo.neighbors.similarity import Cosine, Euclidean, Inner, Similarity, SquaredEuclidean, get_similarity
from latopo.neighbors.spaces import Hyperbolic, Product, Spherical
from latopo.neighbors.topk_neighbors import topk_neighbors

__all__ = [
    "Cosine", "Euclidean", "Hyperbolic", "Inner", "NeighborRows", "NeighborSearch", "Product", "SearchReport",
    "Similarity", "Spherical", "SquaredEuclidean", "count_neighbors", "entmax_neighbors", "gain_for_degree",
    "get_similarity", "neighbor_rows", "temperature_for_spread", "topk_neighbors",
]  # fmt: skip
