"""latopo: learn a cell complex (nodes, edges, polygons) that helps the task.

The way of the data, and of this source tree: features → :mod:`latopo.neighbors` (edges) → :mod:`latopo.cycles`
(candidate polygons) → :mod:`latopo.complex` (the cell complex). :mod:`latopo.entmax` is the sparse map that chooses.
"""

from typing import TYPE_CHECKING

from latopo._lazy import lazy
from latopo._version import __version__

if TYPE_CHECKING:
    from latopo.complex import CellComplex
    from latopo.cycles import induced_cycles
    from latopo.entmax import segment_entmax
    from latopo.neighbors import entmax_neighbors

__all__ = ["CellComplex", "__version__", "entmax_neighbors", "induced_cycles", "segment_entmax"]

# `latopo --help` must not wait for torch.
__getattr__, __dir__ = lazy(
    __name__,
    {
        "complex": ("CellComplex",),
        "cycles": ("induced_cycles",),
        "entmax": ("segment_entmax",),
        "neighbors": ("entmax_neighbors",),
        "_version": ("__version__",),
    },
)
