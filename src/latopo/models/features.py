"""The first linear layer, on dense or sparse features."""

import warnings
import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from latopo.errors import LatopoError

__all__ = ["FeatureLinear"]


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
                self._transposed = torch.sparse_csr_tensor(
                    by_columns.ccol_indices(), by_columns.row_indices(), by_columns.values(), (x.size(1), x.size(0)),
                    check_invariants=False,  # a conversion has just made them; unsaid, torch warns
                )  # fmt: skip
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
