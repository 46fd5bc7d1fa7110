"""Tables of the user, as CSV or Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.files import limits

if TYPE_CHECKING:
    import polars

HEADER = 1_000_000
"""Bytes in which a CSV file must show the number of its columns."""


def text_columns(path: Path) -> list[tuple[str, str, bytes]]:
    """Read a table as texts.

    Parameters
    ----------
    path
        A ``.csv`` file with a header, or a ``.parquet`` file.

    Returns
    -------
    :
        For each column its header, its cells as one text, and the length of each cell in bytes, as a little-endian
        whole number of four bytes; 0 for an empty cell. A text for each cell would take many times the file. No
        population may have empty cells: the rows end where each column with such cells has shown one.

    Raises
    ------
    ValueError
        If the file is no such table or too large, a header stands twice, or a column holds anything but single values.
    OSError
        If the file cannot be read.
    """
    import polars

    limits.check(path, limits.most("table"))
    content = path.read_bytes()
    parquet = path.suffix == ".parquet"
    try:
        if parquet:
            _check_shape(path, content)
            table = polars.read_parquet(io.BytesIO(content))
        else:
            _check_columns(path, _header(content))
            table = polars.read_csv(io.BytesIO(content), infer_schema=False)
    except polars.exceptions.PolarsError as error:
        raise ValueError(
            f"{path}: cannot be read as a {'Parquet' if parquet else 'CSV'} table: {_first_line(error)}"
        ) from None
    for name, kind in table.schema.items():
        twice = re.fullmatch(r"(.*)_duplicated_\d+", name)
        if twice and twice[1] in table.columns:
            raise ValueError(f'{path}: column "{twice[1]}": stands twice in the table')
        if kind.is_nested():
            raise ValueError(f'{path}: column "{name}": expected single values, but it has the type {kind}')
    empty = [table[name].is_null().arg_max() or 0 for name in table.columns if table[name].null_count()]
    if empty:
        table = table.head(max(empty) + 1)
    return [_column(name, table[name]) for name in table.columns]


def joined(cells: Sequence[str]) -> tuple[str, bytes]:
    """Return cells as one text, and the length of each cell, as `text_columns` returns them."""
    return "".join(cells), b"".join(len(cell.encode()).to_bytes(4, "little") for cell in cells)


def cells(text: str, lengths: bytes) -> list[str]:
    """Return the cells of a column that `text_columns` returned."""
    content, at, found = text.encode(), 0, []
    for place in range(0, len(lengths), 4):
        end = at + int.from_bytes(lengths[place : place + 4], "little")
        found.append(content[at:end].decode())
        at = end
    return found


def _column(name: str, cells: polars.Series) -> tuple[str, str, bytes]:
    """Return a column as `text_columns` does."""
    import polars

    texts = cells.cast(polars.String)
    lengths = texts.str.len_bytes().fill_null(0)
    return name, texts.str.join("").item(), lengths.to_numpy().astype("<u4", copy=False).tobytes()


def _header(content: bytes) -> int:
    """Return the number of columns of a CSV file, as far as its beginning shows it."""
    start = content[:HEADER].decode(errors="replace")
    try:
        return len(next(csv.reader(io.StringIO(start, newline="")), []))
    except csv.Error:
        # A long name in quotes: whatever it is, polars says.
        return 0


def _check_columns(path: Path, columns: int) -> None:
    if columns > (most := limits.most("columns")):
        raise ValueError(f"{path}: has {columns:,} columns; the limit is {most:,}: each is the path of a key")


def _check_shape(path: Path, content: bytes) -> None:
    """Refuse a Parquet file with too many columns or cells, which its footer tells."""
    import polars

    columns = len(polars.read_parquet_schema(io.BytesIO(content)))
    _check_columns(path, columns)
    rows = polars.scan_parquet(io.BytesIO(content)).select(polars.len()).collect().item()
    if rows * columns > (most := limits.most("cells")):
        raise ValueError(f"{path}: has {rows:,} rows of {columns:,} columns; the limit is {most:,} cells: split it")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
