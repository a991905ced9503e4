"""The files of a run of ``latopo train``, with errors that name the file."""

import csv
from functools import partial
from pathlib import Path
from typing import Any

from latopo import _stored
from latopo.errors import LatopoError

__all__ = ["read_columns", "read_json"]

read_json = partial(_stored.read_json, remedy="run it again")


def read_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of a CSV file with a header: ``part`` as text, others as floats, None where empty."""
    try:
        header, *rows = csv.reader(_stored.read_stored(path).decode("utf-8").splitlines())
        columns = zip(*rows, strict=True) if rows else ((),) * len(header)
        return {
            name: [cell if name == "part" else float(cell) if cell else None for cell in cells]
            for name, cells in zip(header, columns, strict=True)
        }
    except ValueError as error:
        raise LatopoError(f"{path} is damaged ({error}); run it again") from error
