"""Flows on edges, and how much of them runs around each polygon."""

import torch
from torch import Tensor

from latopo.complex import CellComplex
from latopo.errors import LatopoError

__all__ = ["check_flow", "circulation_energy", "pursue_flow"]


def check_flow(caller: str, flow: Tensor, edge_index: Tensor) -> int:
    """Raise unless flow [E, d] has a row for each of the edges [2, E], u < v, sorted; how many nodes they reach."""
    if flow.dim() != 2 or not flow.is_floating_point() or edge_index.dim() != 2 or flow.size(0) != edge_index.size(1):
        raise LatopoError(
            f"{caller}: score='circulation' needs a flow [edges, d] on the edges, got {flow.dtype} of shape "
            f"{list(flow.shape)} and edge_index of shape {list(edge_index.shape)}"
        )
    if edge_index.size(1) == 0:
        return 0
    count = int(edge_index.max()) + 1
    keys = edge_index[0] * count + edge_index[1]
    if not bool((edge_index[0] < edge_index[1]).all()) or not bool((keys.diff() > 0).all()):
        raise LatopoError(
            f"{caller}: a flow runs from u to v, so edge_index must list each edge once, u < v, sorted, as "
            "CellComplex(num_nodes, edge_index).edge_index does"
        )
    return count


def circulation_energy(flow: Tensor, cells: CellComplex) -> Tensor:
    r"""The energy of flows [E, d] that each polygon explains by itself, [P].

    .. math::
        z_c = \frac{1}{|c|} \sum_s \left(\mathbf{b}_c^\top \mathbf{f}_s\right)^2

    with the polygon's boundary :math:`\mathbf{b}_c` (entries ±1 on its |c| sides): what the projection of the flows on
    :math:`\mathbf{b}_c` has of their squared norm. A gradient flow has none.

    Example:
        >>> triangle = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]])
        >>> circulation_energy(torch.tensor([[1.0], [-1.0], [1.0]]), triangle)  # around it, 0 → 1 → 2 → 0
        tensor([3.])
    """
    edge, polygon = cells.polygon_edge_index()
    signed = flow.index_select(0, edge) * cells.polygon_edge_sign().to(flow.dtype)[:, None]
    around = flow.new_zeros(cells.num_polygons, flow.size(1)).index_add(0, polygon, signed)
    return around.square().sum(1) / cells.polygon_lengths


def pursue_flow(flow: Tensor, cells: CellComplex, count: int) -> tuple[Tensor, Tensor]:
    """Polygons one after another, each explaining most of what the earlier ones left (orthogonal matching pursuit).

    Stops where nothing but rounding is left, so there may be fewer than ``count``.

    Shapes:
        - **flow**: [E, d]
        - **output**: numbers of the polygons [C] in the order of choice, and the share of the flows' squared norm that
          each added, [C]
    """
    total = flow.square().sum()
    rest, chosen, shares = flow, list[int](), list[Tensor]()
    found: list[Tensor] = []  # an orthonormal basis of the chosen boundaries
    for _ in range(min(count, cells.num_polygons)):
        energy = circulation_energy(rest.detach(), cells).index_fill(0, rest.new_tensor(chosen).long(), -1.0)
        best = int(energy.argmax())
        if float(energy[best]) <= 16 * torch.finfo(flow.dtype).eps * float(total.detach()):
            break
        direction = _direction(cells, best, found, flow)
        along = direction @ rest
        rest = rest - direction[:, None] * along
        chosen.append(best)
        found.append(direction)
        shares.append(along.square().sum() / total)
    return torch.tensor(chosen, dtype=torch.int64, device=flow.device), torch.stack([flow[:0].sum(), *shares])[1:]


def _direction(cells: CellComplex, polygon: int, found: list[Tensor], like: Tensor) -> Tensor:
    """The boundary of a polygon, less what the earlier ones span, of norm 1."""
    edge, owner = cells.polygon_edge_index()
    own = owner == polygon
    boundary = like.new_zeros(cells.num_edges).index_put((edge[own],), cells.polygon_edge_sign()[own].to(like.dtype))
    for _ in range(2 if found else 0):  # twice: once leaves rounding where boundaries are nearly dependent
        basis = torch.stack(found)
        boundary = boundary - basis.t() @ (basis @ boundary)
    return boundary / boundary.norm()
