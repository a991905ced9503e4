"""Tables and given graphs from files."""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.columns import as_texts, read_cells

__all__ = ["read_blocks", "read_edges", "read_frame", "read_ids"]

_MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "?"})
_LARGEST = 2**32  # bytes of a file that is held as a whole
_LONGEST_LINE = 2**24  # characters
_MOST_CELLS = 2 * 10**8
_SUFFIXES = (".csv", ".tsv", ".parquet")
_NULLABLE: dict[str, Any] = {  # pandas' types by the names of pyarrow's
    "bool": pd.BooleanDtype(), "float": pd.Float32Dtype(), "double": pd.Float64Dtype(),
    "string": pd.StringDtype(), "large_string": pd.StringDtype(),
    "int8": pd.Int8Dtype(), "int16": pd.Int16Dtype(), "int32": pd.Int32Dtype(), "int64": pd.Int64Dtype(),
    "uint8": pd.UInt8Dtype(), "uint16": pd.UInt16Dtype(), "uint32": pd.UInt32Dtype(), "uint64": pd.UInt64Dtype(),
}  # fmt: skip
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


def read_frame(path: Path, encoding: str | None = None) -> pd.DataFrame:
    """Read a CSV, TSV or Parquet file; the cells of text files stay text, None where one is missing.

    A text file is UTF-8, with or without a byte order mark, or UTF-16 with one, unless ``encoding`` says otherwise.
    Commas separate the cells of a CSV file, or semicolons or tabs if its header has no comma. Between semicolons, a
    column of numbers with decimal commas is read with decimal points. Empty cells and NA, NaN, null, None, ? are
    missing; a Parquet file marks its missing cells itself. An unnamed index that pandas left in a Parquet file is not
    a column.

    Raises:
        LatopoError: the file is missing, empty, of another kind, broken, or has unnamed or repeated columns.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "flowers.csv"
        >>> _ = path.write_text("size;colour\\n1,5;red\\n;blue\\n")
        >>> read_frame(path).to_dict("list")
        {'size': ['1.5', None], 'colour': ['red', 'blue']}
    """
    return pd.concat(read_blocks(path, encoding), ignore_index=True)


def read_blocks(path: Path, encoding: str | None = None, rows: int | None = None) -> Iterator[pd.DataFrame]:
    """As :func:`read_frame`, in frames of at most so many rows, read one after another: a file may be of any size.

    One between semicolons is read twice, since decimal commas are known by all cells of a column.
    """
    if not path.is_file():
        missing = "is not a regular file" if path.exists() else "does not exist"
        raise LatopoError(f"{path} {'is a folder, not a file' if path.is_dir() else missing}")
    suffix = path.suffix.lower()
    if path.stat().st_size > _LARGEST and rows is None:
        raise LatopoError(f"{path} has {path.stat().st_size:,} bytes, expected at most {_LARGEST:,}; split it")
    if suffix not in _SUFFIXES:
        raise LatopoError(f"{path} ends in {suffix or 'nothing'!r}, expected one of {', '.join(_SUFFIXES)}")
    blocks = _read_parquet(path, rows) if suffix == ".parquet" else _read_text(path, encoding, rows)
    for number, frame in enumerate(blocks):
        if number == 0:
            _check_columns(path, frame)
        yield frame


def _check_columns(path: Path, frame: pd.DataFrame) -> None:
    names = frame.columns
    if "" in names:
        raise LatopoError(
            f"{path}: column {list(names).index('') + 1} has no name; the first row must name all columns"
        )
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise LatopoError(f"{path}: the column name {twice!r} appears more than once; rename one of them")
    if frame.empty:
        raise LatopoError(f"{path} has a header but no rows")


def _lines(path: Path, encoding: str | None) -> Iterator[str]:
    """The lines of a text file, one after another: a file may be larger than the memory, a line may not."""
    try:
        with path.open("rb") as file:
            start = file.read(2)
        if encoding is None:
            encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        with path.open(encoding=encoding, newline="") as text:
            for number, line in enumerate(iter(lambda: text.readline(_LONGEST_LINE), "")):
                if "\0" in line:
                    raise LatopoError(
                        f"{path} has zero bytes; it is not a text file, or is UTF-16 without a byte order mark"
                    )
                if len(line) >= _LONGEST_LINE:
                    raise LatopoError(
                        f"{path}: line {number + 1} is too long, expected fewer than {_LONGEST_LINE:,} characters; "
                        "save the table as Parquet"
                    )
                # A byte order mark stays where --encoding names a coding that keeps it.
                yield line if number else line.removeprefix("\ufeff")
    except LatopoError:
        raise
    except LookupError as error:
        raise LatopoError(f"--encoding {encoding}: there is no such encoding; utf-8 and latin-1 are common") from error
    except UnicodeDecodeError as error:
        raise LatopoError(
            f"{path} is not {error.encoding.removesuffix('-sig')}: {_first_wrong(path, error.encoding)}"
            "save it as UTF-8, or name its encoding, such as --encoding latin-1"
        ) from error
    except (UnicodeError, ValueError) as error:
        raise LatopoError(f"{path} cannot be read with --encoding {encoding}: {error}; utf-8 is common") from error
    except OSError as error:
        raise LatopoError(f"{path} cannot be read: {error.strerror}") from error


def _first_wrong(path: Path, encoding: str) -> str:
    """Where the first byte is that the encoding does not have."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with path.open("rb") as file:
        line = 1
        for raw in chain(iter(lambda: file.readline(_LONGEST_LINE), b""), [b""]):
            try:
                decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                return f"line {line} has the byte {error.object[error.start]:#04x}; "
            line += raw.endswith(b"\n")
    return ""


def _read_text(path: Path, encoding: str | None, size: int | None) -> Iterator[pd.DataFrame]:
    delimiter, blocks = _text_blocks(path, encoding, size)
    if delimiter != ";":
        yield from blocks
        return
    held = list(blocks) if size is None else None
    decimals = _decimal_columns(path, blocks if held is None else held)
    for frame in _text_blocks(path, encoding, size)[1] if held is None else held:
        for place in decimals:
            frame.isetitem(place, frame.iloc[:, place].str.replace(",", "."))
        yield frame


def _text_blocks(path: Path, encoding: str | None, size: int | None) -> tuple[str, Iterator[pd.DataFrame]]:
    """What separates the cells, and frames of at most so many rows: at least one."""
    # Not pandas.read_csv: it fills short rows, shifts long ones and renames repeated columns without a word.
    text = _lines(path, encoding)
    blank, first = 0, next(text, "")
    while first and not first.strip():
        blank, first = blank + 1, next(text, "")
    delimiter = "\t" if path.suffix.lower() == ".tsv" else next((mark for mark in ",;\t" if mark in first), ",")
    lines = csv.reader(chain(repeat("\n", blank), [first], text), delimiter=delimiter, strict=True)
    return delimiter, _frames(path, lines, size)


def _frames(path: Path, lines: Any, size: int | None) -> Iterator[pd.DataFrame]:
    try:
        filled = (cells for cells in lines if len(cells) > 1 or "".join(cells).strip())  # after blank lines
        header: list[str] = next(filled, [])
        if not header:
            raise LatopoError(f"{path} is empty; the first row must name the columns")
        names, found = [name.strip() for name in header], _rows(path, lines, len(header), size is None)
        block = list(islice(found, size))
        yield pd.DataFrame(block, columns=names, dtype=object)
        while size is not None and (block := list(islice(found, size))):
            yield pd.DataFrame(block, columns=names, dtype=object)
    except csv.Error as error:
        raise LatopoError(f"{path} cannot be read as a table: {error} (line {lines.line_num})") from error


def _rows(path: Path, lines: Any, width: int, whole: bool) -> Iterator[list[str | None]]:
    """The cells of each line, None where one is missing; their number is limited if all are held at once."""
    for number, cells in enumerate(filter(None, lines)):
        if whole and width * number > _MOST_CELLS:
            raise LatopoError(f"{path} has more than {_MOST_CELLS:,} cells; split it, or save it as Parquet")
        if len(cells) != width:
            raise LatopoError(
                f"{path}: line {lines.line_num} has {len(cells)} cells, but the header has {width} columns; "
                "quote cells that contain the separator"
            )
        yield [None if (cell := raw.strip()) in _MISSING else cell for raw in cells]


@dataclass
class _Commas:
    """What the commas in a column can be, from all its cells."""

    name: str
    first: str = ""  # cell with a comma
    numbers: bool = True  # whether every cell is a number, with a decimal comma or without
    plain: bool = False  # whether there is a cell without a comma
    thousands: bool = True  # whether every comma may separate thousands

    def add(self, column: pd.Series) -> None:
        known = column.dropna()
        marked = known.str.contains(",").astype(bool)
        commas = known[marked]
        self.first = self.first or next(iter(commas), "")
        self.numbers &= bool(known.str.fullmatch(_DECIMAL_COMMA).all())
        self.plain |= not bool(marked.all())
        self.thousands &= bool(commas.str.fullmatch(_THOUSANDS).all())

    def are_decimal(self, path: Path) -> bool:
        if not self.first or not self.numbers:
            return False
        if self.plain and self.thousands:
            raise LatopoError(
                f"{path}: column {self.name!r} has {self.first!r} beside whole numbers, so the comma may mark "
                "decimals or thousands; write decimal points, or leave out the thousands separators"
            )
        return True


def _decimal_columns(path: Path, blocks: Iterable[pd.DataFrame]) -> list[int]:
    """The columns whose commas mark decimals, by their place; pandas' ``decimal=","`` would not ask."""
    columns: list[_Commas] = []
    for frame in blocks:
        columns = columns or [_Commas(name) for name in frame.columns]
        for place, column in enumerate(columns):
            column.add(frame.iloc[:, place])
    return [place for place, column in enumerate(columns) if column.are_decimal(path)]


def _read_parquet(path: Path, rows: int | None) -> Iterator[pd.DataFrame]:
    try:
        from pyarrow import ArrowException, Table
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise LatopoError(
            'Parquet files need pyarrow: pip install "latopo[table]"; or save the table as CSV'
        ) from error
    try:
        with ParquetFile(path) as file:
            shape, step = file.metadata, rows or max(file.metadata.num_rows, 1)
            if min(shape.num_rows, step) * shape.num_columns > _MOST_CELLS:  # a small file may hold many equal cells
                raise LatopoError(
                    f"{path} has {shape.num_rows:,} rows of {shape.num_columns:,} columns, expected at most "
                    f"{_MOST_CELLS:,} cells{'' if rows is None else ' at a time'}; split it"
                )
            if not shape.num_rows:
                yield _as_frame(file.schema_arrow.empty_table(), 0)
            before = 0
            for batch in file.iter_batches(step):
                yield _as_frame(Table.from_batches([batch]), before)
                before += batch.num_rows
    except LatopoError:
        raise
    except (ArrowException, OSError, ValueError, OverflowError, TypeError, RecursionError) as error:
        raise LatopoError(f"{path} is not a readable Parquet file: {error}") from error
    except (AttributeError, LookupError) as error:
        raise LatopoError(
            f"{path}: what pandas noted in it about columns and index is damaged ({error!r}); write the file again"
        ) from error


def _as_frame(table: Any, before: int) -> pd.DataFrame:
    """Rows of a Parquet file in pandas' types that know what is missing; so many rows came before them."""
    frame = table.to_pandas(types_mapper=lambda kind: _NULLABLE.get(str(kind)))
    for index in (table.schema.pandas_metadata or {}).get("index_columns", []):
        if isinstance(index, dict):  # a range, which stands in the file by its ends only
            first, step = index["start"] + before * index["step"], index["step"]
            frame.index = pd.RangeIndex(first, first + len(frame) * step, step, name=index["name"])
    named = [name for name in frame.index.names if name is not None]
    return frame.reset_index(named).reset_index(drop=True).rename(columns=str)


def read_ids(frame: pd.DataFrame, column: str | None) -> list[str]:
    """A name for each row: its cell in a column, where none may be empty or repeat, or its number from 1."""
    if column is None:
        return [str(row) for row in range(1, len(frame) + 1)]
    ids = pd.Series(as_texts(read_cells(frame[column])))
    if ids.isna().any():
        raise LatopoError(f"the --id column {column!r} is empty in row {ids.isna().argmax() + 1}")
    if not ids.is_unique:
        twice = ids[ids == ids[ids.duplicated()].iloc[0]]
        raise LatopoError(
            f"the --id column {column!r} has {twice.iloc[0]!r} twice, in rows {twice.index[0] + 1} and "
            f"{twice.index[1] + 1}"
        )
    return ids.tolist()


def read_edges(path: Path, ids: list[str], encoding: str | None = None) -> NDArray[np.int64]:
    """Edges [2, E] as row positions, from the ids in the first two columns of a file with a header."""
    frame = read_frame(path, encoding)
    if frame.shape[1] < 2:
        raise LatopoError(f"{path} has one column, expected two: the ids at the ends of each edge")
    ends = np.array([as_texts(read_cells(frame.iloc[:, side])) for side in (0, 1)])
    edges = pd.Index(ids).get_indexer(ends.ravel()).reshape(ends.shape)
    unknown = np.argwhere(edges.T < 0)
    if len(unknown):
        row, side = unknown[0]
        raise LatopoError(
            f"{path}: row {row + 1} names {ends[side, row]!r}, which is not the id of any row ({len(unknown)} such "
            "cells); ids are those of --id, or row numbers from 1"
        )
    return edges
