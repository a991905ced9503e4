"""The first linear layer, on dense or sparse features."""

import warnings
import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from latopo.errors import LatopoError

__all__ = ["FeatureLinear", "drop_entries", "normalize_rows"]


def normalize_rows(x: Tensor) -> Tensor:
    """Rows of x, dense or sparse CSR, divided by the sums of their absolute values; rows of zeros stay.

    Example:
        >>> normalize_rows(torch.tensor([[1.0, 3.0], [0.0, 0.0]]))
        tensor([[0.2500, 0.7500],
                [0.0000, 0.0000]])
    """
    if x.layout != torch.sparse_csr:
        return functional.normalize(x, p=1.0)
    row, values = torch.repeat_interleave(x.crow_indices().diff()), x.values()
    total = values.new_zeros(x.size(0)).index_add_(0, row, values.abs())
    return _with_values(x, values / torch.where(total == 0, 1, total)[row])


def drop_entries(x: Tensor, p: float, training: bool) -> Tensor:
    """Dropout of the entries of x, dense or sparse CSR: zeros stay zeros, so only stored entries are drawn."""
    if not p or not training:
        return x
    if x.layout != torch.sparse_csr:
        return functional.dropout(x, p)
    return _with_values(x, functional.dropout(x.values(), p))


def _with_values(x: Tensor, values: Tensor) -> Tensor:
    """The CSR matrix x with other entries in the same places."""
    return _csr(x.crow_indices(), x.col_indices(), values, (x.size(0), x.size(1)))


def _csr(crow: Tensor, col: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CS[RC] tensor support is in beta")
        # The indices come from a matrix that has been checked; unsaid, torch warns.
        return torch.sparse_csr_tensor(crow, col, values, shape, check_invariants=False)


class FeatureLinear(nn.Linear):
    r"""Linear layer :math:`\mathbf{X}\mathbf{W}^\top + \mathbf{b}` whose input may be a sparse CSR matrix.

    Bags of words have thousands of columns and under one per cent of non-zero entries; both passes cost as many
    products as there are such entries. The transpose that the backward pass needs is made once per matrix.

    Shapes:
        - **x**: [N, in_features], dense or sparse CSR
        - **output**: [N, out_features]

    Example:
        >>> x = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
        >>> layer = FeatureLinear(2, 3)
        >>> torch.allclose(layer(x.to_sparse_csr()), layer(x))
        True
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self._seen: tuple[weakref.ReferenceType[Tensor], int] | None = None
        self._transposed: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Features of every row."""
        if x.dim() != 2 or x.size(1) != self.in_features:
            raise LatopoError(f"FeatureLinear: x has shape {list(x.shape)}, expected [N, {self.in_features}]")
        if x.layout != torch.sparse_csr:
            return super().forward(x)
        product = _SparseProduct.apply(x, self._transpose(x), self.weight.t())
        return product if self.bias is None else product + self.bias

    def _transpose(self, x: Tensor) -> Tensor:
        version = x.values()._version  # counts changes in place
        # Not compared by ==, which sparse tensors do not have.
        if self._transposed is None or self._seen is None or self._seen[0]() is not x or self._seen[1] != version:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sparse CS[RC] tensor support is in beta")
                # A CSR matrix read by columns is its transpose; the conversion sorts once.
                by_columns = x.to_sparse_csc()
            indices = by_columns.ccol_indices(), by_columns.row_indices()
            self._transposed = _csr(*indices, by_columns.values(), (x.size(1), x.size(0)))
            self._seen = weakref.ref(x), version
        return self._transposed

    def __getstate__(self) -> dict[str, Any]:
        # A weak reference cannot be copied or pickled, and the transpose can be made again.
        return {**self.__dict__, "_seen": None, "_transposed": None}


class _SparseProduct(torch.autograd.Function):
    """Sparse times dense with the gradient of the dense factor alone."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, transposed: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(transposed)
        return x @ weight

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:
        (transposed,) = ctx.saved_tensors
        return None, None, transposed @ gradient
