"""The cell complex of order 2: nodes, edges and polygons."""

import os
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

import torch
from torch import Tensor

from latopo._arguments import check_dense
from latopo.complex import (
    adjacency,
    convert,
    convert_gudhi,
    convert_networkx,
    convert_toponetx,
    filtration,
    graphs,
    hodge,
    homology,
    homophily,
    relations,
    storage,
    summary,
    validation,
)
from latopo.complex import boundary as matrices
from latopo.complex import persistence as persistent
from latopo.complex.canonical import Cells, canonicalize, edge_keys, find_edges
from latopo.complex.cell_input import ArrayLike, Polygons, read_cells, read_whole
from latopo.errors import LatopoError

__all__ = ["CellComplex"]

Derived = TypeVar("Derived")


class CellComplex:
    """Nodes, edges and polygons (chordless cycles of any length), edges and polygons optionally with probabilities.

    A complex is immutable, and its cells stand in one order: edges with u < v, sorted; polygons by length, then
    lexicographically, each written smallest vertex first and second < last. The constructor takes cells in any order
    and sorts them, probabilities along with them; gradients flow through. :meth:`from_canonical` takes sorted cells as
    they are.

    Two complexes are equal if they have the same nodes, edges and polygons, whatever their probabilities.

    One complex can hold the complexes of many graphs, side by side, and know which is which: ``ptr``, or
    :meth:`disjoint_union`. Then ``cx.batch`` has the graph of each node, as in PyG, and ``cx[i]`` is graph i alone.

    Args:
        num_nodes: number of nodes N, at most 2³¹.
        edge_index: [2, E], each undirected edge once or in both directions; like everything below a tensor of whole
            numbers, a NumPy array or a list.
        polygons: {length: [P_k, k]}, the vertices of each polygon in cyclic order; a missing length has none. Or a list
            of cycles of any lengths.
        edge_prob: one number in [0, 1] per column of ``edge_index``.
        polygon_prob: one number in [0, 1] per polygon: by increasing length, then in the order of the given rows; or in
            the order of a given list.
        validate: check the input (see :meth:`validate`). Unchecked, a cell listed twice becomes one, with the mean of
            its probabilities.
        induced: refuse polygons with a chord, an edge between vertices that are not neighbours in the cycle.
        ptr: for the complex of many graphs, where the nodes of each start and end, [G + 1], as in a batch of PyG.

    Example:
        >>> CellComplex(4, [[0, 1, 2, 2], [1, 2, 0, 3]], [[2, 0, 1]])
        CellComplex(num_nodes=4, num_edges=4, polygons={3: 1})
    """

    _cells: Cells
    _derived: dict[str, Any]

    def __init__(
        self,
        num_nodes: int,
        edge_index: ArrayLike,
        polygons: Polygons | None = None,
        edge_prob: ArrayLike | None = None,
        polygon_prob: ArrayLike | None = None,
        *,
        validate: bool = True,
        induced: bool = True,
        ptr: ArrayLike | None = None,
    ) -> None:
        """Check and sort the cells."""
        cells = read_cells(num_nodes, edge_index, polygons, edge_prob, polygon_prob, induced, ptr)
        validation.check_form(cells)
        if validate:
            validation.check_values(cells)
        cells = canonicalize(cells)
        if validate:
            validation.check_closure(cells)
        self._hold(cells)

    @classmethod
    def from_canonical(
        cls,
        num_nodes: int,
        edge_index: Tensor,
        polygons: Mapping[int, Tensor] | None = None,
        edge_prob: Tensor | None = None,
        polygon_prob: Tensor | None = None,
        *,
        induced: bool = True,
        ptr: Tensor | None = None,
    ) -> "CellComplex":
        """A complex of cells that are already in canonical order: nothing is copied, only types and shapes are checked.

        No tensor is read, so a GPU does not wait. :meth:`validate` tells whether the trust was justified.

        Example:
            >>> CellComplex.from_canonical(3, torch.tensor([[0, 1], [1, 2]])).num_edges
            2
        """
        num_nodes = read_whole("num_nodes", num_nodes)
        if polygons is not None and not isinstance(polygons, Mapping):
            raise LatopoError(f"CellComplex: polygons must be a dictionary by length, got {type(polygons).__name__}")
        given = {read_whole("a polygon's length", length): rows for length, rows in (polygons or {}).items()}
        ordered = {length: given[length] for length in sorted(given)}
        cells = Cells(int(num_nodes), edge_index, ordered, edge_prob, polygon_prob, induced, ptr)
        validation.check_form(cells)
        return cls.__new__(cls)._hold(cells)

    def _hold(self, cells: Cells, derived: dict[str, Any] | None = None) -> "CellComplex":
        # Past __setattr__, which refuses. What is derived from the cells alone is kept once computed.
        self.__dict__.update(_cells=cells, _derived={} if derived is None else derived)
        return self

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        """Refused: a complex does not change."""
        raise AttributeError(f"CellComplex is immutable: {name} cannot be set; build another complex")

    def __delattr__(self, name: str) -> NoReturn:
        """Refused: a complex does not change."""
        raise AttributeError(f"CellComplex is immutable: {name} cannot be deleted")

    # The cells

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self._cells.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of edges E."""
        return self._cells.edge_index.size(1)

    @property
    def num_polygons(self) -> int:
        """Number of polygons P, of all lengths."""
        return sum(rows.size(0) for rows in self._cells.polygons.values())

    @property
    def edge_index(self) -> Tensor:
        """The edges, [2, E] int64, u < v, sorted."""
        return self._cells.edge_index

    @property
    def polygons(self) -> dict[int, Tensor]:
        """{length: [P_k, k] int64}, lengths increasing, rows sorted; a new dictionary of the same tensors each time."""
        return dict(self._cells.polygons)

    @property
    def edge_prob(self) -> Tensor | None:
        """Probability of each edge, [E], or None."""
        return self._cells.edge_prob

    @property
    def polygon_prob(self) -> Tensor | None:
        """Probability of each polygon, [P], by length, then in row order, or None."""
        return self._cells.polygon_prob

    @property
    def induced(self) -> bool:
        """Whether the polygons are chordless, by promise: False if the complex was built with ``induced=False``."""
        return self._cells.induced

    @property
    def ptr(self) -> Tensor | None:
        """Where the nodes of each graph start and end, [G + 1] int64; None if the complex is one graph."""
        return self._cells.ptr

    @property
    def num_graphs(self) -> int:
        """Number of graphs G."""
        return 1 if self._cells.ptr is None else self._cells.ptr.numel() - 1

    @property
    def batch(self) -> Tensor | None:
        """The graph of each node, [N] int64; None if the complex is one graph."""
        ptr = self._cells.ptr
        return None if ptr is None else self._once("batch", lambda cx: graphs.graph_numbers(ptr, cx.num_nodes))

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self._cells.edge_index.device

    @property
    def polygon_lengths(self) -> Tensor:
        """Number of sides of each polygon, [P] int64."""
        return self._once("lengths", matrices.polygon_lengths)

    def polygon_edge_index(self) -> Tensor:
        """Incidence pairs (edge number, polygon number), [2, I] int64, polygon by polygon along its cycle."""
        return self._once("sides", matrices.polygon_sides)[0]

    def polygon_edge_sign(self) -> Tensor:
        """[I] int8 beside :meth:`polygon_edge_index`: +1 where the polygon runs along the edge u → v, −1 against it."""
        return self._once("sides", matrices.polygon_sides)[1]

    def edge_ids(self, pairs: Tensor) -> Tensor:
        """Number of the edge between each pair of nodes, [2, K] in any direction → [K]; −1 where there is no edge.

        Example:
            >>> CellComplex(3, torch.tensor([[0, 1], [1, 2]])).edge_ids(torch.tensor([[2, 2], [1, 0]]))
            tensor([ 1, -1])
        """
        check_dense("CellComplex.edge_ids", "pairs", pairs)
        if pairs.dtype not in (torch.int64, torch.int32) or pairs.dim() != 2 or pairs.size(0) != 2:
            came = f"{pairs.dtype} {list(pairs.shape)}"
            raise LatopoError(f"CellComplex.edge_ids: pairs must be whole numbers of shape [2, K], got {came}")
        keys = self._once("keys", lambda cx: edge_keys(cx.edge_index, cx.num_nodes))
        return find_edges(keys, pairs, self.num_nodes)

    def _once(self, name: str, compute: Callable[["CellComplex"], Derived]) -> Derived:
        if name not in self._derived:
            self._derived[name] = compute(self)
        return self._derived[name]

    def validate(self) -> "CellComplex":
        """Check everything a complex promises; returns the complex itself.

        Raises:
            LatopoError: names the first wrong cell and why: a vertex out of range, a self-loop, a duplicate, a repeated
                vertex, a side that is no edge, a chord (where they are not admitted), a wrong order, type, shape or
                device, a probability outside [0, 1].
        """
        validation.check_form(self._cells)
        validation.check_values(self._cells)
        validation.check_order(self._cells)
        validation.check_closure(self._cells)
        return self

    # Each of the following is a function of the module named beside it, with the complex as its first argument.

    boundary = matrices.boundary
    incidence = matrices.incidence
    hodge_laplacian = matrices.hodge_laplacian

    node_adjacency = adjacency.node_adjacency
    lower_adjacency = adjacency.lower_adjacency
    upper_adjacency = adjacency.upper_adjacency
    lower_product = adjacency.lower_product
    upper_product = adjacency.upper_product
    node_degree = adjacency.node_degree
    lower_degree = adjacency.lower_degree
    upper_degree = adjacency.upper_degree

    euler_characteristic = homology.euler_characteristic
    betti_numbers = homology.betti_numbers
    hodge_decomposition = hodge.hodge_decomposition
    filtration_values = filtration.filtration_values
    threshold = filtration.threshold
    persistence = persistent.persistence

    edge_homophily = homophily.edge_homophily
    polygon_homophily = homophily.polygon_homophily
    summary = summary.summarize

    edge_graph = graphs.edge_graph
    polygon_graph = graphs.polygon_graph
    split = graphs.split
    __getitem__ = graphs.select_graph

    skeleton = relations.skeleton
    subcomplex = relations.subcomplex
    difference = relations.difference
    disjoint_union = staticmethod(relations.disjoint_union)

    to_edge_index = convert.to_edge_index
    to_data, from_data = convert.to_data, classmethod(convert.from_data)
    to_networkx, from_networkx = convert_networkx.to_networkx, classmethod(convert_networkx.from_networkx)
    to_toponetx, from_toponetx = convert_toponetx.to_toponetx, classmethod(convert_toponetx.from_toponetx)
    to_gudhi, from_gudhi = convert_gudhi.to_gudhi, classmethod(convert_gudhi.from_gudhi)

    def with_probabilities(self, edge_prob: Tensor | None, polygon_prob: Tensor | None = None) -> "CellComplex":
        """The same cells with other probabilities, or with none; what was derived from the cells is not lost.

        Example:
            >>> CellComplex(2, [[0], [1]]).with_probabilities(torch.tensor([0.5])).edge_prob
            tensor([0.5000])
        """
        cells = self._cells._replace(edge_prob=edge_prob, polygon_prob=polygon_prob)
        validation.check_form(cells)
        return type(self).__new__(type(self))._hold(cells, self._derived)

    def detach(self) -> "CellComplex":
        """The same complex with probabilities that carry no gradient."""
        return self._change_probabilities(lambda prob: prob.detach())

    def to(
        self, device: torch.device | torch.dtype | str | int | None = None, dtype: torch.dtype | None = None
    ) -> "CellComplex":
        """The same complex on another device, or with probabilities of another floating dtype, or both.

        Example:
            >>> CellComplex(2, torch.tensor([[0], [1]]), edge_prob=torch.tensor([0.5])).to(torch.float64).edge_prob
            tensor([0.5000], dtype=torch.float64)
        """
        if isinstance(device, torch.dtype):
            device, dtype = None, device
        if dtype is not None and not dtype.is_floating_point:
            raise LatopoError(f"CellComplex.to: probabilities need a floating point dtype, got {dtype}")
        edge_index = self.edge_index.to(device)
        if edge_index.device == self.device:
            return self._change_probabilities(lambda prob: prob.to(dtype))
        polygons = {length: rows.to(device) for length, rows in self.polygons.items()}
        probs = [None if prob is None else prob.to(device, dtype) for prob in (self.edge_prob, self.polygon_prob)]
        ptr = None if self.ptr is None else self.ptr.to(device)
        return self.from_canonical(self.num_nodes, edge_index, polygons, *probs, induced=self.induced, ptr=ptr)

    def _change_probabilities(self, change: Callable[[Tensor], Tensor]) -> "CellComplex":
        return self.with_probabilities(
            *(None if prob is None else change(prob) for prob in (self.edge_prob, self.polygon_prob))
        )

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the complex to a safetensors file, atomically and without pickle."""
        storage.write(self._cells, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | torch.device = "cpu") -> "CellComplex":
        """Read a complex that :meth:`save` wrote, and validate it.

        Raises:
            LatopoError: the file is of another kind, broken, or written by a newer latopo.
        """
        return cls.from_canonical(**storage.read(path, device)._asdict()).validate()

    def __eq__(self, other: object) -> bool:
        """Whether both have the same cells; probabilities are not compared."""
        if not isinstance(other, CellComplex):
            return NotImplemented
        if hash(self) != hash(other) or not torch.equal(self.edge_index, other.edge_index.to(self.device)):
            return False
        pairs = [(rows, other.polygons[length]) for length, rows in self.polygons.items() if rows.size(0)]
        return all(torch.equal(rows, others.to(self.device)) for rows, others in pairs)

    def __hash__(self) -> int:
        """Of the counts, which equal complexes share; no tensor is read."""
        counts = [(length, rows.size(0)) for length, rows in self.polygons.items() if rows.size(0)]
        return hash((self.num_nodes, self.num_edges, *counts))

    def __repr__(self) -> str:
        """Counts only."""
        counts = {length: rows.size(0) for length, rows in self.polygons.items()}
        many = "" if self.ptr is None else f", num_graphs={self.num_graphs}"
        return f"CellComplex(num_nodes={self.num_nodes}, num_edges={self.num_edges}, polygons={counts}{many})"

    def _repr_html_(self) -> str:
        # Imported here: drawings are made of complexes, and nobody else needs them.
        from latopo.draw.notebook import to_html

        return to_html(self)
