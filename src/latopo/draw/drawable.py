"""What can be drawn: a cell complex, or anything with its cells."""

from typing import Any, Protocol

import torch
from torch import Tensor

__all__ = ["Drawable"]


class Drawable(Protocol):
    """The part of :class:`~latopo.CellComplex` that drawings use; the complex itself draws itself in notebooks."""

    @property
    def num_nodes(self) -> int: ...  # noqa: D102

    @property
    def num_edges(self) -> int: ...  # noqa: D102

    @property
    def num_polygons(self) -> int: ...  # noqa: D102

    @property
    def edge_index(self) -> Tensor: ...  # noqa: D102

    @property
    def polygons(self) -> dict[int, Tensor]: ...  # noqa: D102

    @property
    def edge_prob(self) -> Tensor | None: ...  # noqa: D102

    @property
    def polygon_prob(self) -> Tensor | None: ...  # noqa: D102

    @property
    def device(self) -> torch.device: ...  # noqa: D102

    def subcomplex(self, nodes: Tensor) -> Any: ...  # noqa: D102

    def node_degree(self) -> Tensor: ...  # noqa: D102

    def edge_homophily(self, labels: Tensor, unlabelled: int | None = None) -> float: ...  # noqa: D102
