"""The cell complex: nodes, edges and polygons as tensors, in one documented order."""

from latopo.complex.cell_complex import CellComplex
from latopo.complex.hodge import HodgeDecomposition
from latopo.complex.persistence import Persistence
from latopo.complex.relations import ComplexDifference

__all__ = ["CellComplex", "ComplexDifference", "HodgeDecomposition", "Persistence"]
