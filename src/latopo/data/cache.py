"""Parsed data sets on disk, as safetensors: quick to read, sparse where the features are, and no code to unpickle."""

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from torch import Tensor
from torch_geometric.data import Data

from latopo.data.features import csr_tensor, is_sparse
from latopo.data.root import written_atomically


def write_data(path: Path, data: Data) -> None:
    """Write the tensors of ``data`` to ``path``; a CSR feature matrix is stored by its three parts."""
    with written_atomically(path) as draft:
        draft.write_bytes(to_bytes(_flatten(data)))


def read_data(path: Path) -> Data | None:
    """Read what :func:`write_data` wrote; None if there is no such file, or it is damaged and has to be made again."""
    try:
        tensors = load_file(path)
    except (FileNotFoundError, SafetensorError):
        return None
    if "x_shape" in tensors:
        rows, columns = tensors.pop("x_shape").tolist()
        parts = (tensors.pop("x_crow"), tensors.pop("x_col"), tensors.pop("x_values"))
        tensors["x"] = csr_tensor(*parts, (rows, columns))
    return Data(**tensors)


def _flatten(data: Data) -> dict[str, Tensor]:
    tensors = {key: value.contiguous() for key, value in data if isinstance(value, Tensor) and key != "x"}
    x: Tensor = data.x
    if not is_sparse(x):
        return tensors | {"x": x.contiguous()}
    shape = x.crow_indices().new_tensor(x.shape)
    return tensors | {"x_crow": x.crow_indices(), "x_col": x.col_indices(), "x_values": x.values(), "x_shape": shape}
