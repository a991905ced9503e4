"""Saving a complex as a safetensors file: tensors and a few words of metadata, no pickle."""

import os
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from latopo._files import atomic_path
from latopo.complex.canonical import Cells
from latopo.errors import LatopoError

FORMAT = "latopo.CellComplex"
VERSION = 3  # of complexes of many graphs; 2 if polygons may have chords; all others are written as version 1


def write(cells: Cells, path: str | os.PathLike[str]) -> None:
    """Write the cells to ``path``, whole or not at all: a reader never sees half of a file."""
    content = serialise(cells)
    with atomic_path(path) as draft:
        draft.write_bytes(content)


def serialise(cells: Cells) -> bytes:
    """The content of the file that :func:`write` writes."""
    tensors = {"edge_index": cells.edge_index, "edge_prob": cells.edge_prob, "polygon_prob": cells.polygon_prob}
    tensors |= {"ptr": cells.ptr} | {f"polygons.{length}": rows for length, rows in cells.polygons.items()}
    # Cloned, because safetensors refuses tensors that share memory, as slices of one tensor do.
    stored = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items() if tensor is not None}
    metadata = {"format": FORMAT, "version": "1", "num_nodes": str(cells.num_nodes)}
    if not cells.induced:
        metadata |= {"version": "2", "induced": "false"}
    if cells.ptr is not None:
        metadata |= {"version": str(VERSION)}
    return to_bytes(stored, metadata)


def read(path: str | os.PathLike[str], device: str | torch.device = "cpu") -> Cells:
    """Read what :func:`write` wrote; a file of another kind, a broken one or a newer one gives a clear error."""
    if Path(path).exists() and not Path(path).is_file():
        raise LatopoError(f"CellComplex.load: {path} is not a regular file")
    try:
        with safe_open(os.fspath(path), framework="pt", device=str(device)) as file:
            metadata = file.metadata() or {}
            num_nodes = _read_num_nodes(path, metadata)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except SafetensorError as error:
        raise LatopoError(
            f"CellComplex.load: {path} is no complete safetensors file ({error}); save the complex again"
        ) from error
    return _assemble(path, num_nodes, tensors, induced=metadata.get("induced") != "false")


def _read_num_nodes(path: str | os.PathLike[str], metadata: dict[str, str]) -> int:
    if metadata.get("format") != FORMAT:
        raise LatopoError(f"CellComplex.load: {path} is a safetensors file, but holds no complex saved by latopo")
    try:
        version, num_nodes = int(metadata["version"]), int(metadata["num_nodes"])
    except (KeyError, ValueError) as error:
        raise LatopoError(f"CellComplex.load: {path} has damaged metadata ({error}); save the complex again") from error
    if version > VERSION:
        raise LatopoError(
            f"CellComplex.load: {path} has format version {version}, this latopo reads up to {VERSION}; upgrade latopo"
        )
    return num_nodes


def _assemble(path: str | os.PathLike[str], num_nodes: int, tensors: dict[str, Tensor], induced: bool) -> Cells:
    polygons = {}
    try:
        for name in [name for name in tensors if name.startswith("polygons.")]:
            polygons[int(name.removeprefix("polygons."))] = tensors.pop(name)
        return Cells(num_nodes, tensors.pop("edge_index"), polygons, **tensors, induced=induced)
    except (KeyError, ValueError, TypeError) as error:
        raise LatopoError(
            f"CellComplex.load: {path} has missing or unknown tensors ({error}); save it again"
        ) from error
