"""Feature matrices: kept sparse where that pays, and treated the same for all models.

One rule decides the layout: a matrix is held as a torch sparse CSR tensor if it has at least
:data:`SPARSE_MIN_ENTRIES` entries and at most :data:`SPARSE_MAX_DENSITY` of them are not zero. So the bags of words of
Cora, CiteSeer, CS, Physics, Actor, Chameleon and Squirrel (also filtered) are sparse; PubMed, a tenth of whose entries
are set, WebKB and the tables are dense.
"""

import warnings
from typing import Any

import torch
from scipy.sparse import csr_matrix
from torch import Tensor

SPARSE_MIN_ENTRIES = 1 << 20  # 4 MB in single precision: below that, nothing is gained
SPARSE_MAX_DENSITY = 0.05  # above that, the dense product is as fast


def csr_tensor(crow: Tensor, col: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A sparse CSR matrix, its indices checked (a bad one could crash the process), without torch's beta notice."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=True)


def csr_from_scipy(matrix: Any) -> Tensor:
    """A scipy sparse matrix as a single-precision CSR tensor: columns sorted, no entry stored twice, no stored zero."""
    matrix = csr_matrix(matrix, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    crow, col = torch.from_numpy(matrix.indptr).long(), torch.from_numpy(matrix.indices).long()
    return csr_tensor(crow, col, torch.from_numpy(matrix.data).float(), matrix.shape)


def is_sparse(x: Tensor) -> bool:
    """Whether ``x`` is a sparse CSR tensor."""
    return x.layout == torch.sparse_csr


def compact(x: Tensor) -> Tensor:
    """Hold a dense matrix as CSR if it is large and sparse enough (the rule of this file), else return it unchanged."""
    if is_sparse(x) or x.numel() < SPARSE_MIN_ENTRIES or int(x.count_nonzero()) > SPARSE_MAX_DENSITY * x.numel():
        return x
    return csr_from_scipy(csr_matrix(x.numpy()))


def row_normalize(x: Tensor) -> Tensor:
    """Divide every row by its sum; rows of zeros stay."""
    if not is_sparse(x):
        total = x.sum(dim=1, keepdim=True)
        return x / torch.where(total == 0, 1, total)
    crow, col, values = x.crow_indices(), x.col_indices(), x.values()
    row = torch.repeat_interleave(crow.diff())
    total = values.new_zeros(x.size(0)).index_add_(0, row, values)
    return csr_tensor(crow, col, values / total[row], (x.size(0), x.size(1)))


def standardize(x: Tensor) -> Tensor:
    """Give every column of a dense matrix mean 0 and standard deviation 1; constant columns become 0."""
    centred = x - x.mean(dim=0)
    deviation = centred.square().mean(dim=0).sqrt()
    return centred / torch.where(deviation == 0, 1, deviation)
