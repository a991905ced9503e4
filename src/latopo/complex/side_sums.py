r"""Sums over the sides of polygons in one pass each: what message passing on edges spends its time with.

Written with torch's operations, the messages between all sides of a polygon
(:func:`~latopo.complex.adjacency.upper_product`) take five passes over a matrix with a row for each side, and more in
the backward pass. On the CPU compiled loops read the features of the edges themselves. Every sum has the order of
torch's own, so both ways agree to the last digit.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from latopo._compile import is_traced
from latopo.complex import _sides

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["sum_over_upper"]

_PLAIN = (torch.float32, torch.float64)


def sum_over_upper(cx: "CellComplex", x: Tensor, polygon_weight: Tensor | None = None) -> Tensor:
    """:meth:`~latopo.CellComplex.upper_product` of x [E, F]; differentiable once.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> sum_over_upper(triangle, torch.tensor([[1.0], [10.0], [100.0]]), torch.tensor([0.5])).flatten()
        tensor([55.0000, 50.5000,  5.5000])
    """
    if not _served(cx, x, polygon_weight) or not _same_order(cx, x):
        return cx.upper_product(x, polygon_weight=polygon_weight)
    shapes = [(rows.size(0), length) for length, rows in cx.polygons.items()]
    found: Tensor = _UpperSum.apply(x, polygon_weight, cx.polygon_edge_index()[0], shapes)
    return found


def _served(cx: "CellComplex", x: Tensor, weight: Tensor | None) -> bool:
    """Whether the compiled loops can serve: ordinary tensors on the CPU, nobody tracing, all sides known."""
    if is_traced() or x.device.type != "cpu" or x.dtype not in _PLAIN or x.dim() != 2:
        return False
    fits = weight is None or (weight.dtype, weight.shape) == (x.dtype, (cx.num_polygons,))
    if x.size(0) != cx.num_edges or not fits:
        return False  # refused by the other way
    return cx.num_polygons > 0 and int(cx.polygon_edge_index()[0].min()) >= 0


def _same_order(cx: "CellComplex", x: Tensor) -> bool:
    """Whether torch adds the sides of all polygons one after another; those of long ones it does in wide rows only."""
    return max(cx.polygons) <= 4 or x.size(1) % 32 == 0


class _UpperSum(torch.autograd.Function):
    """Sums over the other sides; ``shapes`` says how many polygons of which length there are."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor | None, edge: Tensor, shapes: list[tuple[int, int]]) -> Tensor:
        ctx.save_for_backward(x, weight, edge)
        ctx.shapes = shapes
        out = torch.zeros(x.shape, dtype=x.dtype)
        total = x.new_empty(x.size(1)).numpy()
        for part, length, weights in _parts(edge, weight, shapes, x):
            _sides.add_other_sides(_array(x), part, length, weights, out.numpy(), total)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, edge = ctx.saved_tensors
        with_x, with_weight = ctx.needs_input_grad[:2]
        to_x, to_weight, width = None, [], x.size(1)
        total = x.new_empty(width).numpy()
        for part, length, weights in reversed(_parts(edge, weight, ctx.shapes, x)):  # as autograd goes backwards
            own = torch.zeros(x.shape if with_x else (0, width), dtype=x.dtype)
            products = x.new_empty(len(part) // length if with_weight else 0, length, width)
            mine = x.new_empty(length, width).numpy()
            _sides.other_sides_gradient(
                _array(x), part, length, weights, _array(outer), own.numpy(), products.numpy(), total, mine
            )
            to_weight.append(products.sum((1, 2)))
            to_x = own if to_x is None else to_x + own
        return to_x if with_x else None, torch.cat(to_weight[::-1]) if with_weight else None, None, None


def _parts(edge: Tensor, values: Tensor | None, shapes: list[tuple[int, int]], like: Tensor) -> list[Any]:
    """For each length: the edges of the sides, the length, and the polygons' values (empty if there are none)."""
    sides = edge.split([count * length for count, length in shapes])
    given = [like.new_empty(0)] * len(shapes) if values is None else values.split([count for count, _ in shapes])
    return [
        (_array(part), length, _array(value))
        for part, (_, length), value in zip(sides, shapes, given, strict=True)
    ]  # fmt: skip


def _array(tensor: Tensor) -> Any:
    return tensor.detach().contiguous().numpy()
