"""To TopoNetX and back."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from latopo.complex.canonical import Cells
from latopo.complex.convert_networkx import as_edges, number_nodes, polygon_tuples, read_probabilities, to_networkx
from latopo.complex.subdivision import add_cells, not_polygons
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["from_toponetx", "to_toponetx"]


def to_toponetx(cx: "CellComplex") -> Any:
    """A ``toponetx.CellComplex`` (extra ``topox``); probabilities become the attribute ``prob``."""
    result = _toponetx("to_toponetx").CellComplex(to_networkx(cx.skeleton(1)))
    cells = polygon_tuples(cx)
    if cx.polygon_prob is None:
        result.add_cells_from(cells, rank=2)
    else:
        for cell, prob in zip(cells, cx.polygon_prob.tolist(), strict=True):
            result.add_cell(cell, rank=2, prob=prob)
    return result


def _toponetx(caller: str) -> Any:
    try:
        import toponetx
    except ImportError as error:
        raise LatopoError(f'CellComplex.{caller}: TopoNetX is missing; run pip install "latopo[topox]"') from error
    return toponetx


def from_toponetx(
    cls: type["CellComplex"],
    given: Any,
    *,
    prob: str | None = "prob",
    nodes: Sequence[Hashable] | None = None,
    subdivide: bool = False,
) -> "CellComplex":
    """The complex of a TopoNetX ``CellComplex``, or of a ``SimplicialComplex`` of dimension at most 2.

    Polygons may have chords (``induced=False``). A 2-cell with fewer than three corners, with a repeated corner or
    with the boundary of another one is not a polygon: it is refused, or, with ``subdivide``, cut into polygons,
    which adds nodes at the end and leaves the space and its homology as they are.

    Args:
        given: the TopoNetX complex.
        prob: the attribute of edges and of 2-cells with the probabilities; None: ignore them.
        nodes: all names in the order in which they are numbered; by default sorted, as in TopoNetX's matrices (or
            as they come, if they cannot be compared).
        subdivide: what to do with 2-cells that are not polygons.

    Example:
        >>> from latopo import CellComplex
        >>> import toponetx as tnx
        >>> CellComplex.from_toponetx(tnx.CellComplex([["a", "b", "c"], ["b", "c", "d", "e"]]))
        CellComplex(num_nodes=5, num_edges=6, polygons={3: 1, 4: 1})
    """
    toponetx = _toponetx("from_toponetx")
    if isinstance(given, toponetx.SimplicialComplex):
        names, edges, cells = _simplices(given)
    elif isinstance(given, toponetx.CellComplex):
        names, edges = list(given.nodes), [((u, v), data) for u, v, data in given.edges(data=True)]
        cells = [(cell.elements, cell._attributes) for cell in given.cells]
    else:
        raise LatopoError(
            "CellComplex.from_toponetx: expected a toponetx.CellComplex or SimplicialComplex, got "
            f"{type(given).__module__}.{type(given).__name__}"
        )
    number = number_nodes("from_toponetx", names, _sorted(names) if nodes is None else nodes)
    graph = Cells(
        len(number),
        as_edges([(number[u], number[v]) for (u, v), _ in edges]),
        {},
        read_probabilities("from_toponetx", edges, prob),
    )
    cycles = [tuple(number[node] for node in cell) for cell, _ in cells]
    odd = {} if subdivide else not_polygons(cycles)
    if odd:
        place, why = next(iter(odd.items()))
        raise LatopoError(
            f"CellComplex.from_toponetx: the 2-cell {cells[place][0]} is not a polygon ({why}); subdivide=True cuts "
            "such cells into polygons, which leaves the space and its homology as they are"
        )
    return cls(**add_cells(graph, cycles, read_probabilities("from_toponetx", cells, prob))._asdict())


def _simplices(given: Any) -> tuple[list[Any], list[Any], list[Any]]:
    if given.dim > 2:
        raise LatopoError(
            f"CellComplex.from_toponetx: the simplicial complex has dimension {given.dim}, a CellComplex at most 2; "
            "take given.restrict_to_simplices(given.skeleton(2))"
        )
    simplices = [given.skeleton(rank) if rank <= given.dim else [] for rank in range(3)]
    by_rank = [[(tuple(simplex.elements), given[simplex]) for simplex in part] for part in simplices]
    return [name for (name,), _ in by_rank[0]], by_rank[1], by_rank[2]


def _sorted(names: list[Any]) -> list[Any]:
    """In the order of TopoNetX's matrices, or as they come if they cannot be compared."""
    try:
        return sorted(names)
    except TypeError:
        return names
