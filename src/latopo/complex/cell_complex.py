"""The cell complex of order 2: nodes, edges and polygons."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import torch
from torch import Tensor

from latopo.complex import adjacency, boundary, convert, homology, homophily, relations, storage, validation
from latopo.complex.boundary import MAX_ENTRIES
from latopo.complex.canonical import Cells, canonicalize, edge_keys, find_keys
from latopo.complex.relations import ComplexDifference
from latopo.complex.summary import summarize
from latopo.errors import LatopoError

Derived = TypeVar("Derived")


class CellComplex:
    """Nodes, edges and polygons (chordless cycles of any length), edges and polygons optionally with probabilities.

    A complex is immutable, and its cells stand in one order: edges with u < v, sorted; polygons by length, then
    lexicographically, each written smallest vertex first and second < last. The constructor takes cells in any order
    and sorts them, probabilities along with them; gradients flow through. :meth:`from_canonical` takes sorted cells as
    they are.

    Two complexes are equal if they have the same nodes, edges and polygons, whatever their probabilities.

    Args:
        num_nodes: number of nodes N.
        edge_index: [2, E] int64, each undirected edge once or in both directions.
        polygons: {length: [P_k, k] int64}, the vertices of each polygon in cyclic order; a missing length has none.
        edge_prob: one number in [0, 1] per column of ``edge_index``.
        polygon_prob: one number in [0, 1] per polygon: by increasing length, then in the order of the given rows.
        validate: check the input (see :meth:`validate`). Unchecked, a cell listed twice becomes one, with the mean of
            its probabilities.

    Example:
        >>> edge_index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> CellComplex(4, edge_index, {3: torch.tensor([[2, 0, 1]])})
        CellComplex(num_nodes=4, num_edges=4, polygons={3: 1})
    """

    _cells: Cells
    _derived: dict[str, Any]

    def __init__(
        self,
        num_nodes: int,
        edge_index: Tensor,
        polygons: Mapping[int, Tensor] | None = None,
        edge_prob: Tensor | None = None,
        polygon_prob: Tensor | None = None,
        *,
        validate: bool = True,
    ) -> None:
        """Check and sort the cells."""
        cells = Cells(int(num_nodes), edge_index, dict(polygons or {}), edge_prob, polygon_prob)
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
    ) -> "CellComplex":
        """A complex of cells that are already in canonical order: nothing is copied, only types and shapes are checked.

        No tensor is read, so a GPU does not wait. :meth:`validate` tells whether the trust was justified.

        Example:
            >>> CellComplex.from_canonical(3, torch.tensor([[0, 1], [1, 2]])).num_edges
            2
        """
        ordered = {int(length): rows for length, rows in sorted((polygons or {}).items())}
        cells = Cells(int(num_nodes), edge_index, ordered, edge_prob, polygon_prob)
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
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self._cells.edge_index.device

    @property
    def polygon_lengths(self) -> Tensor:
        """Number of sides of each polygon, [P] int64."""
        return self._once("lengths", boundary.polygon_lengths)

    def polygon_edge_index(self) -> Tensor:
        """Incidence pairs (edge number, polygon number), [2, I] int64, polygon by polygon along its cycle."""
        return self._once("sides", boundary.polygon_sides)[0]

    def polygon_edge_sign(self) -> Tensor:
        """[I] int8 beside :meth:`polygon_edge_index`: +1 where the polygon runs along the edge u → v, −1 against it."""
        return self._once("sides", boundary.polygon_sides)[1]

    def edge_ids(self, pairs: Tensor) -> Tensor:
        """Number of the edge between each pair of nodes, [2, K] in any direction → [K]; −1 where there is no edge.

        Example:
            >>> CellComplex(3, torch.tensor([[0, 1], [1, 2]])).edge_ids(torch.tensor([[2, 2], [1, 0]]))
            tensor([ 1, -1])
        """
        keys = self._once("keys", lambda complex: edge_keys(complex.edge_index, complex.num_nodes))
        inside = ((pairs >= 0) & (pairs < self.num_nodes)).all(dim=0)
        return torch.where(inside, find_keys(keys, edge_keys(pairs, self.num_nodes)), -1)

    def _once(self, name: str, compute: Callable[["CellComplex"], Derived]) -> Derived:
        if name not in self._derived:
            self._derived[name] = compute(self)
        return self._derived[name]

    def validate(self) -> "CellComplex":
        """Check everything a complex promises; returns the complex itself.

        Raises:
            LatopoError: names the first wrong cell and why: a vertex out of range, a self-loop, a duplicate, a repeated
                vertex, a side that is no edge, a chord, a wrong order, type, shape or device, a probability outside
                [0, 1].
        """
        validation.check_form(self._cells)
        validation.check_values(self._cells)
        validation.check_order(self._cells)
        validation.check_closure(self._cells)
        return self

    # Matrices

    def boundary(self, rank: int, dtype: torch.dtype | None = None) -> Tensor:
        """Signed boundary matrix as sparse COO: rank 1 [N, E] (−1 at u, +1 at v), rank 2 [E, P]; their product is 0."""
        return boundary.boundary(self, rank, dtype=dtype)

    def incidence(self, rank: int, dtype: torch.dtype | None = None) -> Tensor:
        """Unsigned incidence matrix as sparse COO, [N, E] or [E, P]: the boundary matrix without signs."""
        return boundary.boundary(self, rank, signed=False, dtype=dtype)

    def hodge_laplacian(self, rank: int, max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None) -> Tensor:
        """Hodge Laplacian of rank 0 [N, N], 1 [E, E] or 2 [P, P] as sparse COO; guarded as :meth:`lower_adjacency`."""
        return boundary.hodge_laplacian(self, rank, max_entries, dtype)

    def lower_adjacency(self, max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None) -> Tensor:
        """Sparse [E, E]: 1 where two edges share a node. More than ``max_entries`` entries are refused beforehand."""
        return adjacency.lower_adjacency(self, max_entries, dtype)

    def upper_adjacency(self, max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None) -> Tensor:
        """Sparse [E, E]: number of polygons that two edges share. Guarded as :meth:`lower_adjacency`."""
        return adjacency.upper_adjacency(self, max_entries, dtype)

    # Message passing

    def lower_product(self, x: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Σ w_f x_f over the edges f ≠ e that share a node with e, x [E, ...]; linear in the number of edges."""
        return adjacency.lower_product(self, x, edge_weight)

    def upper_product(
        self, x: Tensor, edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None
    ) -> Tensor:
        """Σ w_p w_f x_f over the polygons p ∋ e and their other edges f, x [E, ...]; linear in the number of sides."""
        return adjacency.upper_product(self, x, edge_weight, polygon_weight)

    def node_degree(self) -> Tensor:
        """Number of edges at each node, [N] int64."""
        return adjacency.node_degree(self)

    def lower_degree(self, edge_weight: Tensor | None = None) -> Tensor:
        """Row sums of the lower adjacency: deg(u) + deg(v) − 2, [E] int64; with weights Σ w_f."""
        return adjacency.lower_degree(self, edge_weight)

    def upper_degree(self, edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None) -> Tensor:
        """Row sums of the upper adjacency: Σ_{p∋e} (|p| − 1), [E] int64; with weights Σ w_p w_f."""
        return adjacency.upper_degree(self, edge_weight, polygon_weight)

    # Topology and labels

    def euler_characteristic(self) -> int:
        """N − E + P."""
        return homology.euler_characteristic(self)

    def betti_numbers(self) -> tuple[int, int, int]:
        """(b₀, b₁, b₂) over GF(2): components, holes, voids."""
        return homology.betti_numbers(self)

    def edge_homophily(self, labels: Tensor, unlabelled: int | None = None) -> float:
        """Share of edges whose ends have one label; edges at an ``unlabelled`` node do not count; NaN for none."""
        return homophily.edge_homophily(self, labels, unlabelled)

    def polygon_homophily(self, labels: Tensor, unlabelled: int | None = None) -> float:
        """Share of polygons whose nodes all have one label; ``unlabelled`` as in :meth:`edge_homophily`."""
        return homophily.polygon_homophily(self, labels, unlabelled)

    def summary(self) -> dict[str, Any]:
        """Counts by kind and length, degrees, Euler characteristic and Betti numbers."""
        return summarize(self)

    # Other complexes

    def skeleton(self, order: int) -> "CellComplex":
        """The cells of dimension at most ``order``."""
        return relations.skeleton(self, order)

    def subcomplex(self, nodes: Tensor) -> "CellComplex":
        """The cells on ``nodes`` (numbers or a mask), renumbered in increasing order of the old numbers."""
        return relations.subcomplex(self, nodes)

    @staticmethod
    def disjoint_union(complexes: Sequence["CellComplex"]) -> "CellComplex":
        """The complexes side by side, nodes numbered on; ``subcomplex`` takes one out again."""
        return relations.disjoint_union(complexes)

    def difference(self, other: "CellComplex") -> ComplexDifference:
        """Edges and polygons gained, lost and kept on the way from this complex to ``other``."""
        return relations.difference(self, other)

    def detach(self) -> "CellComplex":
        """The same complex with probabilities that carry no gradient."""
        return self._with_probabilities(lambda prob: prob.detach())

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
            return self._with_probabilities(lambda prob: prob.to(dtype))
        polygons = {length: rows.to(device) for length, rows in self.polygons.items()}
        probs = [None if prob is None else prob.to(device, dtype) for prob in (self.edge_prob, self.polygon_prob)]
        return self.from_canonical(self.num_nodes, edge_index, polygons, *probs)

    def _with_probabilities(self, change: Callable[[Tensor], Tensor]) -> "CellComplex":
        edge_prob, polygon_prob = (None if prob is None else change(prob) for prob in self._cells[3:])
        cells = self._cells._replace(edge_prob=edge_prob, polygon_prob=polygon_prob)
        return type(self).__new__(type(self))._hold(cells, self._derived)

    # Other libraries and files

    def to_networkx(self) -> Any:
        """A ``networkx.Graph`` with edge attribute ``prob`` and graph attributes ``polygons`` and ``polygon_prob``."""
        return convert.to_networkx(self)

    def to_toponetx(self) -> Any:
        """A ``toponetx.CellComplex`` (extra ``topox``); probabilities become the attribute ``prob``."""
        return convert.to_toponetx(self)

    def to_data(
        self,
        x_0: Tensor | None = None,
        x_1: Tensor | None = None,
        x_2: Tensor | None = None,
        signed: bool = False,
    ) -> Any:
        """A PyG ``Data`` whose batches are disjoint unions; :meth:`from_data` is the way back.

        Keys: ``num_nodes``, ``edge_index`` [2, E], each edge once, so that its columns are the rows of ``x_1`` (a PyG
        convolution wants ``to_undirected(edge_index)``), ``incidence_1`` [N, E] and ``incidence_2`` [E, P], sparse COO,
        ``polygon_length`` [P] and ``polygon_index``, all polygons' vertices one after another, and, where there are
        any, ``x_0``, ``x_1``, ``x_2`` (features, one row per cell), ``edge_prob`` and ``polygon_prob``. A batch lists
        polygons graph by graph in all of these keys. PyG cannot split a batch that holds sparse matrices again
        (``to_data_list``); take complex i out with ``CellComplex.from_data(batch).subcomplex(batch.batch == i)``.
        """
        return convert.to_data(self, x_0, x_1, x_2, signed)

    @classmethod
    def from_data(cls, data: Any, validate: bool = True) -> "CellComplex":
        """The complex of a PyG ``Data`` or batch from :meth:`to_data`, or of any graph without self-loops.

        Example:
            >>> complex = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
            >>> CellComplex.from_data(complex.to_data()) == complex
            True
        """
        return cls(*convert.read_data(data), validate=validate)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the complex to a safetensors file, atomically and without pickle."""
        storage.write(self._cells, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | torch.device = "cpu") -> "CellComplex":
        """Read a complex that :meth:`save` wrote, and validate it.

        Raises:
            LatopoError: the file is of another kind, broken, or written by a newer latopo.
        """
        return cls.from_canonical(*storage.read(path, device)).validate()

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
        return f"CellComplex(num_nodes={self.num_nodes}, num_edges={self.num_edges}, polygons={counts})"

    def _repr_html_(self) -> str:
        # Imported here: drawings are made of complexes, and nobody else needs them.
        from latopo.draw.notebook import to_html

        return to_html(self)
