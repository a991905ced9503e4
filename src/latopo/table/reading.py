"""Tables from files: every cell as text, so that one set of rules decides what a column is."""

import csv
import io
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from latopo.errors import LatopoError

__all__ = ["RawTable", "read_raw_table"]

_MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "?"})
_SUFFIXES = (".csv", ".tsv", ".parquet")
_INDEX = re.compile(r"__index_level_\d+__")  # an index without a name, as pandas writes it: the numbers of the rows
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class RawTable(NamedTuple):
    """A table of text.

    Attributes:
        names: names of the columns, all different.
        columns: the cells of each column; None where a cell is missing.
    """

    names: list[str]
    columns: list[list[str | None]]

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> list[str | None]:
        """The cells of a column."""
        return self.columns[self.names.index(name)]

    def take(self, rows: list[int]) -> "RawTable":
        """Some of the rows."""
        return RawTable(self.names, [[column[row] for row in rows] for column in self.columns])


def read_raw_table(path: Path, encoding: str | None = None) -> RawTable:
    """Read a CSV, TSV or Parquet file.

    A CSV file is UTF-8, with or without a byte order mark, or UTF-16 with one, unless ``encoding`` says otherwise;
    where its header has semicolons or tabs and no comma, they separate. Between semicolons, a column of numbers with
    decimal commas is read with decimal points. Empty cells and NA, NaN, null, None, ? are missing; in a Parquet file,
    which has a way to say so, only nulls, NaN and empty texts are. An index without a name that pandas left in a
    Parquet file is no column.

    Raises:
        LatopoError: the file is missing, empty, of another kind, broken, or has unnamed or repeated columns.
    """
    if not path.exists():
        raise LatopoError(f"{path} does not exist; give a file (CSV, TSV, Parquet) or the name of an embedded data set")
    if not path.is_file():
        raise LatopoError(f"{path} is a folder, expected a file (CSV, TSV or Parquet)")
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise LatopoError(f"{path} ends in {suffix or 'nothing'!r}, expected one of {', '.join(_SUFFIXES)}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LatopoError(f"{path} cannot be read: {error.strerror}") from error
    if not content:
        raise LatopoError(f"{path} is empty; the first row must name the columns")
    table = _read_parquet(path) if suffix == ".parquet" else _read_text(path, _decode(path, content, encoding))
    _check_names(path, table.names)
    if table.num_rows == 0:
        raise LatopoError(f"{path} has a header and no rows")
    return table


def _decode(path: Path, content: bytes, encoding: str | None) -> str:
    if encoding is None:
        encoding = next((name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)), "utf-8-sig")
    try:
        text = content.decode(encoding)
    except LookupError as error:
        raise LatopoError(f"--encoding {encoding}: there is no such encoding; utf-8 and latin-1 are common") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise LatopoError(
            f"{path} is not {encoding.removesuffix('-sig')}: line {line} has the byte {content[error.start]:#04x}; "
            "save it as UTF-8, or name its encoding, such as --encoding latin-1"
        ) from error
    if "\0" in text:
        raise LatopoError(f"{path} has zero bytes; it is no text file, or it is UTF-16 without a byte order mark")
    return text.removeprefix("\ufeff")  # the byte order mark, where --encoding names a coding that keeps it


def _delimiter(path: Path, text: str) -> str:
    header = next((line for line in io.StringIO(text, newline=None) if line.strip()), "")
    if path.suffix.lower() == ".tsv":
        return "\t"
    return next((mark for mark in ",;\t" if mark in header), ",")


def _read_text(path: Path, text: str) -> RawTable:
    delimiter = _delimiter(path, text)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = next((cells for cells in lines if len(cells) > 1 or "".join(cells).strip()), [])  # after blank lines
        names = [name.strip() for name in header]
        rows = []
        for cells in lines:
            if not cells:  # an empty line
                continue
            if len(cells) != len(names):
                raise LatopoError(
                    f"{path}: line {lines.line_num} has {len(cells)} cells, but the header has {len(names)} columns; "
                    "quote cells that hold the separator"
                )
            rows.append([None if (cell := raw.strip()) in _MISSING else cell for raw in cells])
    except csv.Error as error:
        raise LatopoError(f"{path} cannot be read as a table: {error} (line {lines.line_num})") from error
    if not names:
        raise LatopoError(f"{path} is empty; the first row must name the columns")
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in names]
    if delimiter == ";":
        columns = [_with_decimal_points(path, name, column) for name, column in zip(names, columns, strict=True)]
    return RawTable(names, columns)


def _with_decimal_points(path: Path, name: str, cells: list[str | None]) -> list[str | None]:
    """Decimal commas as points, if every cell is such a number: with semicolons between cells, they are the custom."""
    if not all(cell is None or _DECIMAL_COMMA.fullmatch(cell) for cell in cells):
        return cells
    commas = [cell for cell in cells if cell and "," in cell]
    whole = any(cell and "," not in cell for cell in cells)
    if commas and whole and all(_THOUSANDS.fullmatch(cell) for cell in commas):
        raise LatopoError(
            f"{path}: column {name!r} has {commas[0]!r} beside whole numbers, a decimal or thousands; write decimal "
            "points, or leave out the separator of thousands"
        )
    return [cell and cell.replace(",", ".") for cell in cells]


def _read_parquet(path: Path) -> RawTable:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise LatopoError(
            'Parquet files need pyarrow: pip install "latopo[table]"; or save the table as CSV'
        ) from error
    try:
        table = parquet.read_table(path)
        table = table.select([at for at, name in enumerate(table.column_names) if not _INDEX.fullmatch(name)])
        names = [str(name) for name in table.column_names]
        columns = [[_text(cell) for cell in column.to_pylist()] for column in table.columns]
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        raise LatopoError(f"{path} is no readable Parquet file: {error}") from error
    return RawTable(names, columns)


def _text(cell: object) -> str | None:
    """A typed cell as a CSV file would hold it."""
    if cell is None or cell != cell:  # NaN
        return None
    isoformat = getattr(cell, "isoformat", None)
    return str(isoformat() if callable(isoformat) else cell).strip() or None


def _check_names(path: Path, names: list[str]) -> None:
    if "" in names:
        raise LatopoError(f"{path}: column {names.index('') + 1} has no name; the first row must name all columns")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise LatopoError(f"{path}: the column name {repeated[0]!r} comes up more than once; rename one of them")
