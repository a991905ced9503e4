"""latopo: learn a cell complex (nodes, edges, polygons) that helps the task.

The way of the data, and of this source tree: features → :mod:`latopo.neighbors` (edges) → :mod:`latopo.cycles`
(candidate polygons) → :mod:`latopo.complex` (the cell complex). :mod:`latopo.entmax` is the sparse map that chooses.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from latopo._version import __version__

if TYPE_CHECKING:
    from latopo.complex import CellComplex
    from latopo.cycles import induced_cycles
    from latopo.entmax import segment_entmax
    from latopo.neighbors import entmax_neighbors

__all__ = ["CellComplex", "__version__", "entmax_neighbors", "induced_cycles", "segment_entmax"]

_HOME = {
    "CellComplex": "latopo.complex",
    "induced_cycles": "latopo.cycles",
    "segment_entmax": "latopo.entmax",
    "entmax_neighbors": "latopo.neighbors",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: `latopo --help` must not wait for torch.
    if name not in _HOME:
        raise AttributeError(f"module 'latopo' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
