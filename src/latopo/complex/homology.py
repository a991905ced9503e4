"""Betti numbers over a field, without any dense matrix, and the Euler characteristic.

With r₁, r₂ the ranks of the two boundary matrices: b₀ = N − r₁, b₁ = E − r₁ − r₂, b₂ = P − r₂. Only r₂ depends on the
field: the Klein bottle has (1, 2, 1) over GF(2), as the torus has, but (1, 1, 0) over the rationals and over GF(3).
"""

from typing import TYPE_CHECKING

from latopo._arguments import checked
from latopo.complex.reduction import read_field, reduce_boundaries

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["betti_numbers", "euler_characteristic"]


def euler_characteristic(cx: "CellComplex") -> int:
    """N − E + P, which is also b₀ − b₁ + b₂ over every field."""
    return cx.num_nodes - cx.num_edges + cx.num_polygons


@checked
def betti_numbers(cx: "CellComplex", field: int | str = 2) -> tuple[int, int, int]:
    """(b₀, b₁, b₂): connected components, independent holes, independent voids.

    Args:
        cx: the complex.
        field: of the coefficients: a prime p below 2³¹ for GF(p), ``"rational"`` or 0 for the rational numbers. The
            answers differ where there is torsion. All of them are exact.

    Example:
        >>> from latopo import CellComplex
        >>> CellComplex(4, [[0, 0, 1], [1, 2, 2]]).betti_numbers()
        (2, 1, 0)
    """
    merged, filled = reduce_boundaries(cx, read_field("betti_numbers", field))
    rank_1, rank_2 = int((merged >= 0).sum()), int((filled >= 0).sum())
    return cx.num_nodes - rank_1, cx.num_edges - rank_1 - rank_2, cx.num_polygons - rank_2
