"""A given graph over the rows of a table."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.reading import RawTable, read_raw_table

__all__ = ["read_edges", "row_ids"]


def row_ids(table: RawTable, column: str | None) -> list[str]:
    """An identifier for each row: a column's cells, or the row's number in the table, from 1.

    Raises:
        LatopoError: the column does not exist, has empty cells or repeats.
    """
    if column is None:
        return [str(row + 1) for row in range(table.num_rows)]
    if column not in table.names:
        raise LatopoError(
            f"there is no column {column!r} for --id; the table has {', '.join(map(repr, table.names[:10]))}"
        )
    cells = table.column(column)
    first: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell is None:
            raise LatopoError(f"the --id column {column!r} is empty in row {row + 1}")
        if cell in first:
            raise LatopoError(f"the --id column {column!r} has {cell!r} twice, in rows {first[cell] + 1} and {row + 1}")
        first[cell] = row
    return list(first)


def read_edges(path: Path, ids: list[str], encoding: str | None = None) -> NDArray[np.int64]:
    """Edges [2, E] as row positions, from the first two columns of a file with a header.

    Raises:
        LatopoError: there are fewer than two columns, an empty cell, or an id that no row has.
    """
    table = read_raw_table(path, encoding)
    if len(table.names) < 2:
        raise LatopoError(f"{path} has one column, expected two: the ids at the ends of each edge")
    position = {name: at for at, name in enumerate(ids)}
    ends = [[position.get(cell or "", -1) for cell in column] for column in table.columns[:2]]
    edges = np.array(ends, np.int64)
    unknown = np.argwhere(edges.T < 0)
    if len(unknown):
        row, side = unknown[0]
        raise LatopoError(
            f"{path}: row {row + 1} names {table.columns[side][row]!r}, which is the id of no row "
            f"({len(unknown)} such cells); ids are those of --id, or row numbers from 1"
        )
    return edges
