"""Settings of branches that are trained apart and fused late."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from latopo.errors import LatopoError
from latopo.models.settings import EntmaxPolygons
from latopo.settings import Settings

__all__ = ["GRAPH_BRANCHES", "BranchName", "FusedSettings"]

BranchName = Literal[
    "own", "latent", "own+latent", "given", "adjacency", "given+adjacency", "convolved", "cells",
    "latent+size",
]  # fmt: skip
_SIZE = "+size"
GRAPH_BRANCHES: frozenset[BranchName] = frozenset(["given", "adjacency", "given+adjacency", "convolved"])
"""The branches that hear a given graph."""


@dataclass(frozen=True)
class FusedSettings(Settings):
    """Branches trained apart, and their late fusion.

    Attributes:
        branches: by name. ``own``: a node's own features; ``latent``: features diffused over the α-DGM's graph of the
            *input*; ``cells``: over that graph's edges and polygons; ``given``: over the given graph; ``adjacency``:
            who a node's neighbours are; ``size``, beside others: how many words a row has, which its direction does not
            tell; names with a plus: side by side; ``convolved``: a trained GCN. A name may come again: another branch
            of the same kind, from another seed.
        degree: neighbours per row of the latent graph on average; None: 30 for words, 20 for numbers.
        polygons: how polygons are chosen; only ``cells`` hears them.
        hidden_channels, dropout: of every branch's two layers.
        weight_decays: what each branch tries; all start, and the best after ``first_rung`` epochs goes on.
        branch_epochs, branch_lr, branch_patience: of each branch; patience counts evaluations, one every three epochs.
        enough: with so many held-out nodes each branch is trained once and judged there; with fewer, a committee is.
        members: size of the committee: each member leaves out one part of the training nodes and is judged on it.
        pull: towards equal weights, in units of one judged node.

    Example:
        >>> FusedSettings(branches=("own", "given")).without_graph().branches
        ('own',)
    """

    branches: tuple[BranchName, ...] = ("own", "latent+size", "given", "adjacency", "given+adjacency", "convolved")
    degree: int | None = field(default=None, metadata={"at_least": 1})
    polygons: EntmaxPolygons | None = None
    hidden_channels: int = field(default=64, metadata={"at_least": 1, "at_most": 2**16})
    dropout: float = field(default=0.5, metadata={"at_least": 0, "below": 1})
    weight_decays: tuple[float, ...] = field(default=(1e-4, 5e-4, 5e-3), metadata={"at_least": 0})
    first_rung: int = field(default=30, metadata={"at_least": 1})
    branch_epochs: int = field(default=200, metadata={"at_least": 1})
    branch_lr: float = field(default=0.01, metadata={"above": 0})
    branch_patience: int = field(default=15, metadata={"at_least": 1})
    enough: int = field(default=200, metadata={"at_least": 1})
    members: int = field(default=5, metadata={"at_least": 2, "at_most": 100})
    pull: float = field(default=1.0, metadata={"above": 0})

    def __post_init__(self) -> None:
        """Refuse what cannot predict."""
        super().__post_init__()
        if not self.branches or not self.weight_decays:
            raise LatopoError("branches and weight_decays: each needs at least one")

    def seeds(self) -> tuple[int, ...]:
        """A number for each branch by its name: leaving one out changes nothing in those of other names.

        ``size`` is no part of the name here: ``latent+size`` in place of ``latent`` starts from the same number.

        Example:
            >>> FusedSettings(branches=("latent", "own", "own", "latent+size")).seeds()
            (1, 0, 8, 9)
        """
        known = [name for name in get_args(BranchName) if not name.endswith(_SIZE)]
        names = [name.removesuffix(_SIZE) for name in self.branches]
        return tuple(known.index(name) + len(known) * names[:place].count(name) for place, name in enumerate(names))

    def without_graph(self) -> "FusedSettings":
        """The same without the branches that hear a given graph."""
        kept = tuple(name for name in self.branches if name not in GRAPH_BRANCHES)
        return self.change(branches=kept)
