"""The PyG ``Data`` of a complex: batching gives the disjoint union."""

from typing import Any

from torch_geometric.data import Data


class CellData(Data):
    """``Data`` whose incidence matrices are stacked along the diagonal when PyG makes a batch.

    ``edge_index`` and ``polygon_index`` hold node numbers; their names make PyG shift them by the number of nodes.
    """

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Both dimensions for an incidence matrix, PyG's own choice for everything else."""
        if key.startswith("incidence_"):
            return (0, 1)
        return super().__cat_dim__(key, value, *args, **kwargs)
