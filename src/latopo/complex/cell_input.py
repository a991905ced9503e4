"""What a user may give for cells, as tensors: NumPy arrays, lists, tensors of any whole-number type."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from latopo.complex.canonical import Cells
from latopo.errors import LatopoError

__all__ = ["ArrayLike", "Polygons", "check_plain", "group_cycles", "read_cells", "read_whole"]

ArrayLike = Tensor | npt.ArrayLike
Polygons = Mapping[int, ArrayLike] | Iterable[Sequence[int]]

_WIDE_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)  # for which torch has next to no operations


def read_cells(
    num_nodes: int,
    edge_index: ArrayLike,
    polygons: Polygons | None = None,
    edge_prob: ArrayLike | None = None,
    polygon_prob: ArrayLike | None = None,
    induced: bool = True,
    ptr: ArrayLike | None = None,
) -> Cells:
    """The constructor's arguments as tensors, in the given order; what has no device goes where ``edge_index`` is.

    Example:
        >>> read_cells(3, [[0, 0, 1], [1, 2, 2]], [[2, 0, 1]], polygon_prob=[0.5])
        Cells(num_nodes=3, edge_index=tensor([[0, 0, 1],
                [1, 2, 2]]), polygons={3: tensor([[2, 0, 1]])}, edge_prob=None, polygon_prob=tensor([0.5000]),
                induced=True, ptr=None)
    """
    edges = _vertices("edge_index", edge_index, (2, 0))
    prob = _probabilities("polygon_prob", polygon_prob, edges.device)
    given: Mapping[int, Any]
    if isinstance(polygons, Tensor) or not isinstance(polygons, Iterable | None):
        raise LatopoError(
            f"CellComplex: polygons must be a dictionary by length or a list of cycles, got {type(polygons).__name__}"
        )
    if polygons is None or isinstance(polygons, Mapping):
        given = {read_whole("a polygon's length", length): rows for length, rows in (polygons or {}).items()}
    else:
        given, order = group_cycles([_cycle(cycle) for cycle in polygons])
        # A probability per cycle of the list; a wrong number of them is told later, by count.
        prob = prob[order] if prob is not None and prob.shape == (len(order),) else prob
    rows = {k: _vertices(f"polygons[{k}]", part, (0, k), edges.device) for k, part in given.items()}
    edge_prob = _probabilities("edge_prob", edge_prob, edges.device)
    first = None if ptr is None else _whole_numbers("ptr", torch.as_tensor(ptr, device=edges.device))
    return Cells(read_whole("num_nodes", num_nodes), edges, rows, edge_prob, prob, induced, first)


def _cycle(cycle: Any) -> tuple[Any, ...]:
    if isinstance(cycle, str) or not isinstance(cycle, Iterable):
        raise LatopoError(f"CellComplex: a polygon is a list of its vertices, got {str(cycle)[:50]!r}")
    return tuple(cycle)


def group_cycles(cycles: Sequence[tuple[Any, ...]]) -> tuple[dict[int, list[tuple[Any, ...]]], list[int]]:
    """Cycles of mixed lengths by length, lengths increasing, and their numbers in that order.

    Example:
        >>> group_cycles([(0, 1, 2, 3), (0, 1, 4), (1, 2, 4)])
        ({3: [(0, 1, 4), (1, 2, 4)], 4: [(0, 1, 2, 3)]}, [1, 2, 0])
    """
    order = sorted(range(len(cycles)), key=lambda number: len(cycles[number]))
    groups: dict[int, list[tuple[Any, ...]]] = {}
    for number in order:
        groups.setdefault(len(cycles[number]), []).append(cycles[number])
    return groups, order


def read_whole(name: str, value: Any) -> int:
    """A whole number, whatever type it has."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError as error:
        raise LatopoError(f"CellComplex: {name} must be a whole number, got {value!r}") from error


def _vertices(name: str, value: Any, empty: tuple[int, int], device: torch.device | None = None) -> Tensor:
    """``value`` as int64; a list without entries has the shape ``empty``."""
    if isinstance(value, Tensor):
        _check_readable(name, value)
        if value.dtype not in _WIDE_UNSIGNED:
            return _whole_numbers(name, value)
        device = value.device
    array = _array(name, value)
    if array.size == 0 and array.ndim < 2:
        return torch.zeros(empty, dtype=torch.int64, device=device)
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise LatopoError(f"CellComplex: {name} holds {array.max()}, which int64 cannot hold; renumber the vertices")
    if array.dtype.kind not in "iuf":
        raise LatopoError(f"CellComplex: {name} must hold whole numbers, got an array of {array.dtype}")
    signed = array.astype(np.int64) if array.dtype.kind in "iu" else array.astype(np.float64)
    return _whole_numbers(name, torch.from_numpy(np.ascontiguousarray(signed)).to(device))


def _array(name: str, value: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(value.cpu() if isinstance(value, Tensor) else value)
    except ValueError as error:
        raise LatopoError(f"CellComplex: {name} has rows of different lengths; give one array per length") from error


def check_plain(name: str, tensor: Any) -> None:
    """Raise unless it is a dense tensor, be it on the meta device, which ``check_dense`` refuses."""
    if not isinstance(tensor, Tensor):
        raise LatopoError(f"CellComplex: {name} must be a tensor, got {type(tensor).__name__}")
    if tensor.layout != torch.strided or tensor.is_nested:
        raise LatopoError(
            f"CellComplex: {name} must be an ordinary, dense tensor, got a sparse or nested one; of a sparse matrix "
            "take matrix.coalesce().indices()"
        )


def _check_readable(name: str, tensor: Tensor) -> None:
    check_plain(name, tensor)
    if tensor.device.type == "meta":
        raise LatopoError(
            f"CellComplex: {name} is on the meta device and has no content to sort; CellComplex.from_canonical reads "
            "none"
        )


def _whole_numbers(name: str, tensor: Tensor) -> Tensor:
    if tensor.dtype == torch.bool or tensor.is_complex() or tensor.is_quantized:
        raise LatopoError(f"CellComplex: {name} must hold whole numbers, got {tensor.dtype}")
    if tensor.is_floating_point():
        tensor = tensor.detach()
        wrong = tensor[(tensor != tensor.trunc()) | ~(tensor.abs() < 2.0**53)]
        if wrong.numel():
            raise LatopoError(f"CellComplex: {name} must hold whole numbers, got {float(wrong[0])}")
    return tensor.long()


def _probabilities(name: str, value: Any, device: torch.device) -> Tensor | None:
    """A tensor as it is, an array in its own precision, a list in torch's default one."""
    if isinstance(value, Tensor):
        _check_readable(name, value)
    if value is None or isinstance(value, Tensor):
        return value
    try:
        array = np.asarray(value)
        floating = array if array.dtype.kind == "f" else array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise LatopoError(f"CellComplex: {name} must be a list or an array of numbers: {error}") from error
    exact = isinstance(value, np.ndarray) and array.dtype.kind == "f"
    return torch.tensor(floating, dtype=None if exact else torch.get_default_dtype(), device=device)
