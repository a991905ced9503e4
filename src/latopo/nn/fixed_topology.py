"""A topology that is given, in the place of one that is inferred."""

import torch
from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.alpha_dgm import LatentGraph
from latopo.nn.topology_inference import LatentTopology

__all__ = ["FixedTopology"]


class FixedTopology(nn.Module):
    r"""Answers every call with one complex: put it in the place of a DCM's ``topology`` once the complex is known.

    The layer then has nothing left to infer, so that the model can be exported (``torch.export``, ONNX), compiled in
    one piece, or explained: PyG's explainers mask the *latent* edges, given in the form of
    :meth:`CellComplex.to_edge_index <latopo.CellComplex.to_edge_index>`. An edge with the masks :math:`m_{uv}` and
    :math:`m_{vu}` then weighs :math:`p_e (m_{uv} + m_{vu}) / 2`, which also reaches the polygons that it bounds; it
    needs ``relaxation="weighted"``.

    Args:
        cells: the complex.

    Shapes:
        - **x**: [N, F], **others**: what an inference is given besides, not looked at
        - **output**: :class:`LatentTopology`, the chosen neighbours being the edges

    Example:
        >>> from latopo.nn import DCM
        >>> layer = DCM(8, 4, gain=10.0)
        >>> x = torch.randn(30, 8, generator=torch.Generator().manual_seed(0))
        >>> before, cells = layer(x)
        >>> layer.topology = FixedTopology(cells.detach())
        >>> torch.equal(layer(x)[0], before)
        True
    """

    def __init__(self, cells: CellComplex) -> None:
        super().__init__()
        from torch_geometric.nn import MessagePassing  # takes a second to load

        self.cells = cells
        cells.polygon_edge_index()  # derived once, and shared with the masked complexes
        self.edges = MessagePassing()  # where PyG's explainers leave their mask

    def forward(self, x: Tensor, *others: Tensor | None) -> LatentTopology:
        """The complex, masked if an explainer is at work."""
        if x.size(0) != self.cells.num_nodes:
            raise LatopoError(f"FixedTopology: x has {x.size(0)} rows, but the complex {self.cells.num_nodes} nodes")
        cells = self.cells.to(x.device)
        prob = x.new_ones(cells.num_edges) if cells.edge_prob is None else cells.edge_prob
        if self.edges.explain:
            prob = prob * self._mask(cells.num_edges).to(prob.dtype)
        cells = cells.with_probabilities(prob, cells.polygon_prob)
        start, end = cells.edge_index
        graph = LatentGraph(x, cells.edge_index, prob, start, end, prob, torch.zeros_like(prob))
        return LatentTopology(cells, graph, None)

    def _mask(self, num_edges: int) -> Tensor:
        """What the explainer gives each undirected edge, [E]."""
        mask: Tensor = self.edges._edge_mask
        if mask.numel() != 2 * num_edges:
            raise LatopoError(
                f"FixedTopology: the explainer masks {mask.numel()} edges, expected both directions of {num_edges} "
                "latent ones; give it edge_index, _ = cells.to_edge_index()"
            )
        there, back = (mask.sigmoid() if self.edges._apply_sigmoid else mask).view(2, num_edges)
        return (there + back) / 2

    def extra_repr(self) -> str:
        """The complex."""
        return repr(self.cells)
