"""Edges: the sparse neighbourhoods of the α-DGM, and the similarities that they rest on."""

from latopo.neighbors.entmax_neighbors import entmax_neighbors
from latopo.neighbors.similarity import Cosine, Euclidean, Inner, Similarity, SquaredEuclidean, get_similarity
from latopo.neighbors.spaces import Hyperbolic, Product, Spherical

__all__ = [
    "Cosine",
    "Euclidean",
    "Hyperbolic",
    "Inner",
    "Product",
    "Similarity",
    "Spherical",
    "SquaredEuclidean",
    "entmax_neighbors",
    "get_similarity",
]
