"""The layer of the paper: infer a cell complex, pass messages on it."""

from torch import Tensor, nn

from latopo._arguments import Count, Size, checked
from latopo._compile import refuse_script
from latopo.complex import CellComplex
from latopo.complex.graphs import node_pointers
from latopo.errors import LatopoError
from latopo.nn.alpha_dgm import AlphaDGM
from latopo.nn.cell_conv import CellConv
from latopo.nn.cell_messages import CellFeatures, CellMessages, NewConv
from latopo.nn.checks import check_width, check_within
from latopo.nn.given_edges import GivenEdges
from latopo.nn.neighborhoods import ComplexNeighborhoods
from latopo.nn.node_conv import NodeConv
from latopo.nn.polygon_inference import PolygonInference
from latopo.nn.relaxation import Relaxation
from latopo.nn.reset import reset
from latopo.nn.samplers import EntmaxSampler, NoEdges
from latopo.nn.topology_inference import LatentTopology, TopologyInference

__all__ = ["DCM"]


class DCM(nn.Module):
    r"""Differentiable Cell Complex Module with message passing on nodes and edges (figure 2 of the paper).

    From features X and an optional graph, :class:`~latopo.nn.TopologyInference` infers edges and polygons, and
    :class:`~latopo.nn.CellMessages` passes messages on the complex that they make.

    Args:
        in_channels: width of x.
        out_channels: width of each half of the output.
        max_length: longest polygon; below 3 there are no polygons and edges hear their lower neighbours only.
        alpha: start of the learned α of both entmax maps.
        gain: start of the learned gain γ of the α-DGM; larger means a sparser graph.
        given_edges: what becomes of ``edge_index``. ``"encode"`` (the paper): it helps to infer the complex, but is not
            in it; for a graph that may be wrong. ``"keep"``: its edges are in the complex beside the inferred ones,
            with probability 1 or their ``edge_weight``, and polygons may close with them; for a graph that is right as
            far as it goes, and wherever the layer takes the place of a graph convolution. ``"only"``: the complex has
            no other edges, and only polygons are inferred; for rings of molecules. With both the layer starts as the
            graph convolution on its edges (``gated`` of :class:`~latopo.nn.CellMessages`); on those given alone that is
            PyG's ``GCNConv``. In place of a GCN's second layer (``examples/drop_in.py``) ``"keep"`` was a point above
            it on random splits of Cora and CiteSeer, and level with it on Cora's public split.
        relaxation: how probabilities enter message passing. ``"weighted"`` and ``"straight_through"`` let the task's
            loss reach the topology; ``"none"`` (the paper) needs a :class:`~latopo.nn.TopologyLoss`.
        polygon_features: whether polygons have features and messages of their own, with an embedding of their length
            (:class:`~latopo.nn.PolygonConv`). By default (the paper) they only say which edges hear each other.
        rounds, concat, dropout, final_relu, node_conv, edge_conv: see :class:`~latopo.nn.CellMessages`.
        graph: an :class:`~latopo.nn.AlphaDGM` of your own; ``gain`` and ``alpha`` are then not used for the edges.
        polygons: a :class:`~latopo.nn.PolygonInference` of your own; ``max_length`` and ``alpha`` are then not used
            for the polygons.

    Several graphs or point clouds in one x need ``batch``, as in PyG; without it points would choose neighbours across
    them. All are inferred in one pass, with the same result as a call for each: neighbours, polygons, statistics and
    limits are those of each graph. (An α-DGM with a ``degree`` is calibrated by the first graph with enough points.)
    The complex returned knows them: ``cells.batch``, ``cells.num_graphs``, ``cells[i]``, ``cells.split()``.

    Shapes:
        - **x**: [N, in_channels], **edge_index**: [2, E'] in any form, or None, **batch**: [N] ascending, or None,
          **edge_weight**: [E'] in [0, 1], or None, for edges that are kept
        - **output**: [N, 2 · out_channels] (or [N, out_channels]) and a :class:`~latopo.CellComplex`

    Example:
        >>> import torch
        >>> x = torch.randn(50, 16, generator=torch.Generator().manual_seed(0))
        >>> out, cell_complex = DCM(16, 32)(x)
        >>> out.shape, cell_complex.num_nodes
        (torch.Size([50, 64]), 50)

        In place of a graph convolution, as class scores:

        >>> ring = torch.stack([torch.arange(50), (torch.arange(50) + 1) % 50])
        >>> scores, cell_complex = DCM(16, 7, concat=False, final_relu=False, given_edges="keep")(x, ring)
        >>> scores.shape, cell_complex.num_edges >= 50
        (torch.Size([50, 7]), True)
    """

    @checked
    def __init__(
        self,
        in_channels: Size,
        out_channels: Size,
        max_length: int = 4,
        alpha: float = 1.5,
        gain: float = 50.0,
        relaxation: Relaxation = "weighted",
        *,
        given_edges: GivenEdges = "encode",
        polygon_features: bool = False,
        rounds: Count = 1,
        concat: bool = True,
        dropout: float = 0.0,
        final_relu: bool = True,
        graph: AlphaDGM | None = None,
        polygons: PolygonInference | None = None,
        node_conv: NewConv = NodeConv,
        edge_conv: NewConv = CellConv,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.relaxation = in_channels, out_channels, relaxation
        self.given_edges = given_edges
        if graph is None:
            graph = AlphaDGM(in_channels, sampler=NoEdges() if given_edges == "only" else EntmaxSampler(gain, alpha))
        elif given_edges == "only" and not isinstance(graph.sampler, NoEdges):
            raise LatopoError("DCM: given_edges='only' infers no edges; leave graph out, or give its α-DGM NoEdges()")
        polygons = PolygonInference(max_length, alpha=alpha) if polygons is None else polygons
        self.topology = TopologyInference(graph, polygons, keep_given=given_edges != "encode")
        self.messages = CellMessages(
            in_channels, out_channels, rounds, polygons=polygons.max_length if polygon_features else None,
            concat=concat, gated=given_edges != "encode", dropout=dropout, final_relu=final_relu, node_conv=node_conv,
            edge_conv=edge_conv,
        )  # fmt: skip

    __prepare_scriptable__ = refuse_script

    def reset_parameters(self) -> None:
        """Initialise every part anew."""
        reset(*self.children())

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | None = None,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> tuple[Tensor, CellComplex]:
        """Features and the complex that they were computed on."""
        cells = self.infer(x, edge_index, batch, edge_weight).complex
        return self.propagate(x, cells), cells

    def infer(
        self,
        x: Tensor,
        edge_index: Tensor | None = None,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> LatentTopology:
        """The complex alone, with the directed choices that the other forms of the topology loss need."""
        check_width("DCM", x, self.in_channels)
        ptr = None if batch is None else node_pointers("DCM", batch, x.size(0))
        if batch is not None and edge_index is not None:
            check_within("DCM", edge_index, batch)
        return self.topology(x, edge_index, ptr, edge_weight)

    def propagate(self, x: Tensor, cells: CellComplex) -> Tensor:
        """Message passing on a given complex: polygons are weighted relative to the best one of their graph."""
        return self.features(x, cells).nodes

    def features(self, x: Tensor, cells: CellComplex) -> CellFeatures:
        """The same, with the features of edges and polygons beside those of the nodes, for read-outs over all cells."""
        check_width("DCM", x, self.in_channels)
        if x.size(0) != cells.num_nodes:
            raise LatopoError(f"DCM: x has {x.size(0)} rows, but the complex {cells.num_nodes} nodes")
        return self.messages.features(x, ComplexNeighborhoods.relaxed(cells, self.relaxation))

    def extra_repr(self) -> str:
        """What differs from layer to layer."""
        given = "" if self.given_edges == "encode" else f", given_edges={self.given_edges!r}"
        return f"{self.in_channels}, {self.out_channels}, relaxation={self.relaxation!r}{given}"
