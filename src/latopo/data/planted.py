"""A torus with planted polygons: data that show whether polygons are learned."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from latopo.complex import CellComplex
from latopo.errors import LatopoError

__all__ = ["PlantedTorus", "planted_torus"]


@dataclass(frozen=True)
class PlantedTorus:
    """A torus grid whose black faces determine the labels; see :func:`planted_torus`.

    Attributes:
        codes: codes of the two black, then of the two white faces at each node, each pair summed, plus noise, [N, 2k].
        signal: each node's number, which the faces sum up, [N, 1].
        y: label of each node, 0 or 1, [N].
        planted: the torus with its black faces as polygons.
        decoys: the torus with its white faces as polygons.
        train_mask, val_mask, test_mask: three, one and one fifth of the nodes, [N] bool.
    """

    codes: Tensor
    signal: Tensor
    y: Tensor
    planted: CellComplex
    decoys: CellComplex
    train_mask: Tensor
    val_mask: Tensor
    test_mask: Tensor

    @property
    def edge_index(self) -> Tensor:
        """The edges of the torus, [2, 2N], u < v, sorted."""
        return self.planted.edge_index

    def planted_share(self, polygons: Mapping[int, Tensor], weight: Tensor | None = None) -> float:
        """Share of the polygons (or of their weight [P]) that lie inside a black face; NaN if there are none."""
        return _share_inside(self.planted, polygons, weight)

    def decoy_share(self, polygons: Mapping[int, Tensor], weight: Tensor | None = None) -> float:
        """The same for white faces; on the torus itself the two add up to 1, on an inferred graph to at most 1."""
        return _share_inside(self.decoys, polygons, weight)


def planted_torus(
    side: int = 24, *, code_channels: int = 16, decoy: float = 1.0, noise: float = 0.3, seed: int = 0
) -> PlantedTorus:
    r"""A ``side`` × ``side`` torus grid, coloured like a chessboard, on which only the black faces matter.

    Every face F has a random code :math:`\mathbf{c}_F \in \{\pm 1/\sqrt{k}\}^k`, every node a signal
    :math:`s_i \sim N(0, 1)`, and

    .. math::
        \mathbf{x}_i = \Big[\sum_{F \ni i,\,\text{black}} \mathbf{c}_F \;\Big\|\;
        d \sum_{F \ni i,\,\text{white}} \mathbf{c}_F\Big] + \text{noise}, \qquad
        y_i = \Big[\sum_{F \ni i,\,\text{black}} \Big|\sum_{j \in F} s_j\Big| > \text{median}\Big].

    Each edge lies on one face of each colour, so no rule on edges tells black from white. With d = 1 the features do
    not either: swapping the colours would not change their distribution. Only the labels say which ones are planted.

    Args:
        side: nodes along each direction; even, at least 6, so that the faces are the only induced 4-cycles.
        code_channels: length k of a code.
        decoy: size d of the white faces' codes; 0 leaves noise there, and the untrained distances then favour black.
        noise: standard deviation of the noise, in units of a code's entries (:math:`1/\sqrt{k}`).
        seed: of everything random.

    Example:
        >>> data = planted_torus(side=6, code_channels=4)
        >>> data.codes.shape, data.signal.shape, data.edge_index.shape
        (torch.Size([36, 8]), torch.Size([36, 1]), torch.Size([2, 72]))
    """
    if side < 6 or side % 2:
        raise LatopoError(f"planted_torus: side must be even and at least 6, got {side}")
    generator = torch.Generator().manual_seed(seed)
    planted, decoys = _chessboard(side)
    black = _sum_at_nodes(planted, _codes(planted, code_channels, generator))
    white = _sum_at_nodes(decoys, _codes(decoys, code_channels, generator))
    codes = torch.cat([black, decoy * white], dim=1)
    codes = codes + noise * code_channels**-0.5 * torch.randn(codes.shape, generator=generator)
    signal = torch.randn(side * side, 1, generator=generator)
    size = _sum_at_nodes(planted, signal[planted.polygons[4]].sum(1).abs()).flatten()
    train, val, test = _masks(side * side, generator)
    return PlantedTorus(codes, signal, (size > size.median()).long(), planted, decoys, train, val, test)


def _chessboard(side: int) -> tuple[CellComplex, CellComplex]:
    """The torus with its black and with its white faces."""
    row, column = torch.arange(side * side) // side, torch.arange(side * side) % side
    here, right = row * side + column, row * side + (column + 1) % side
    below = (row + 1) % side * side
    faces = torch.stack([here, right, below + (column + 1) % side, below + column], dim=1)
    edges = torch.cat([faces[:, [0, 1]], faces[:, [0, 3]]]).t()
    black = (row + column) % 2 == 0
    return CellComplex(side * side, edges, {4: faces[black]}), CellComplex(side * side, edges, {4: faces[~black]})


def _codes(faces: CellComplex, channels: int, generator: torch.Generator) -> Tensor:
    bits = torch.randint(2, (faces.num_polygons, channels), generator=generator)
    return (2 * bits - 1) / channels**0.5


def _sum_at_nodes(faces: CellComplex, values: Tensor) -> Tensor:
    """Sum of the values [P, k] of the faces at each node, [N, k]."""
    total = values.new_zeros(faces.num_nodes, values.size(1))
    return total.index_add(0, faces.polygons[4].flatten(), values.repeat_interleave(4, dim=0))


def _masks(num_nodes: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    position = torch.randperm(num_nodes, generator=generator)
    train, test = position < 3 * num_nodes // 5, position >= 4 * num_nodes // 5
    return train, ~(train | test), test


def _share_inside(faces: CellComplex, polygons: Mapping[int, Tensor], weight: Tensor | None) -> float:
    """Share of the polygons whose vertices all belong to one of the faces; triangles inside a face count as well."""
    # Every node is a corner of two faces of each colour: sorting the corners by node lists them.
    corners = faces.polygons[4].flatten().argsort(stable=True) // 4
    faces_of_node = corners.view(faces.num_nodes, 2)
    inside = [_inside_one_face(faces_of_node.to(rows.device)[rows]) for _, rows in sorted(polygons.items())]
    hits = torch.cat(inside).double() if inside else torch.zeros(0)
    weights = torch.ones_like(hits) if weight is None else weight.detach().to(hits)
    return float((hits * weights).sum() / weights.sum())


def _inside_one_face(candidates: Tensor) -> Tensor:
    """Whether one of the first vertex' two faces is among those of every vertex, [P, length, 2] → [P]."""
    first = candidates[:, 0]
    matches = candidates[:, :, :, None] == first[:, None, None, :]
    return matches.any(2).all(1).any(1)
