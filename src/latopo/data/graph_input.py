"""What is done to the features of a set of graphs, so that it can be done to new graphs as well."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from latopo.errors import LatopoError

if TYPE_CHECKING:
    from torch_geometric.data import Data  # takes a second to load

__all__ = ["GraphInput"]


@dataclass(frozen=True)
class GraphInput:
    """The form in which graphs come, and how it becomes the input of a network.

    Attributes:
        features: columns of ``x``; 0 if graphs have none.
        edge_features: columns of ``edge_attr``; 0 if graphs have none.
        has_edges: whether graphs have an ``edge_index``.
        shift, scale: the first columns of ``x`` are standardised, ``(x - shift) / scale``; empty if they are not.
        in_features: whether the first three columns of ``x`` are coordinates; otherwise ``pos`` has them, if any.
        unit: coordinates are divided by it, once each graph is centred; None without coordinates.
        dimensions: columns of the coordinates; 0 without.

    Example:
        >>> known = GraphInput(features=2, shift=(10.0,), scale=(2.0,))
        >>> known.apply(torch.tensor([[14.0, 1.0]]), None, torch.tensor([0, 1]))
        (tensor([[2., 1.]]), None)
    """

    features: int
    edge_features: int = 0
    has_edges: bool = True
    shift: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    in_features: bool = False
    unit: float | None = None
    dimensions: int = 0

    @classmethod
    def of_coordinates(cls, position: Tensor, node_ptr: Tensor, **more: Any) -> "GraphInput":
        """With the deviation of the coordinates [N, 3] of a whole set as their unit."""
        unit = float(_centred(position, node_ptr).square().mean().sqrt().clamp(min=1e-12))
        return cls(unit=unit, dimensions=position.size(1), **more)

    @classmethod
    def of_attributes(cls, values: Tensor, **more: Any) -> "GraphInput":
        """With mean and deviation of these first columns of x [N, k]; constant ones become 0."""
        mean = values.mean(dim=0)
        deviation = (values - mean).square().mean(dim=0).sqrt()
        scale = torch.where(deviation == 0, 1, deviation)
        return cls(shift=tuple(mean.tolist()), scale=tuple(scale.tolist()), **more)

    def is_sound(self) -> bool:
        """Whether the parts belong together; a description from a file may be anything."""
        standardised, numbers = len(self.shift), (*self.scale, *(() if self.unit is None else (self.unit,)))
        coordinates = 3 if self.in_features else 0
        return (
            standardised == len(self.scale)
            and min(self.features, self.edge_features, self.dimensions) >= 0
            and max(standardised, coordinates) <= self.features
            and all(1e-30 < number < 1e30 for number in numbers)  # in float32 neither 0 nor infinite
            and all(abs(number) < 1e30 for number in self.shift)
            and (self.unit is None) == (self.dimensions == 0)
            and not (self.in_features and self.dimensions != 3)
        )

    def check(self, where: str, graph: "Data") -> None:
        """Raise if a graph has other parts or widths than those in training."""
        for key, expected in (("x", self.features), ("edge_attr", self.edge_features)):
            value = getattr(graph, key)
            if (came := 0 if value is None else value.size(1)) != expected:
                raise LatopoError(f"{where}: {key} has {came} columns, expected {expected} as in training")
        if self.has_edges and graph.edge_index is None:
            raise LatopoError(f"{where} has no edge_index, but the graphs in training had one")
        if self.unit is not None and not self.in_features and graph.pos is None:
            raise LatopoError(f"{where} has no coordinates pos, but the graphs in training had them")
        if self.unit is not None and not self.in_features and graph.pos.size(1) != self.dimensions:
            came = graph.pos.size(1)
            raise LatopoError(f"{where}: pos has {came} columns, expected {self.dimensions} as in training")

    def apply(self, x: Tensor, position: Tensor | None, node_ptr: Tensor) -> tuple[Tensor, Tensor | None]:
        """Features [N, d] and coordinates [N, 3] of many graphs as a network gets them."""
        position = x[:, :3] if self.in_features else position
        if position is None or self.unit is None:
            first, position = (x[:, : len(self.shift)] - x.new_tensor(self.shift)) / x.new_tensor(self.scale), None
        else:
            position = _centred(position, node_ptr) / self.unit
            first = position if self.in_features else x[:, :0]
        return torch.cat([first, x[:, first.size(1) :]], dim=1), position


def _centred(position: Tensor, node_ptr: Tensor) -> Tensor:
    """Coordinates from the middle of each graph."""
    counts = node_ptr.diff()
    graph = torch.repeat_interleave(counts)
    total = position.new_zeros(counts.numel(), position.size(1)).index_add_(0, graph, position)
    return position - (total / counts[:, None].clamp(min=1))[graph]
