"""Tables of the user, as CSV or Parquet."""

from __future__ import annotations

import io
import re
from pathlib import Path

from ackclock.files import limits


def text_columns(path: Path) -> list[tuple[str, list[str | None]]]:
    """Read the headers and cells of a table as texts; an empty cell is None.

    Parameters
    ----------
    path
        A ``.csv`` file with a header, or a ``.parquet`` file.

    Raises
    ------
    ValueError
        If the file is no such table or too large, a header stands twice, or a column holds anything but single values.
    OSError
        If the file cannot be read.
    """
    import polars

    limits.check(path, limits.most("table"))
    content = io.BytesIO(path.read_bytes())
    parquet = path.suffix == ".parquet"
    try:
        table = polars.read_parquet(content) if parquet else polars.read_csv(content, infer_schema=False)
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"{path}: this is no {'Parquet' if parquet else 'CSV'} table: {_first_line(error)}") from None
    for name, kind in table.schema.items():
        twice = re.fullmatch(r"(.*)_duplicated_\d+", name)
        if twice and twice[1] in table.columns:
            raise ValueError(f'{path}: column "{twice[1]}": stands twice in the table')
        if kind.is_nested():
            raise ValueError(f'{path}: column "{name}": expected single values, but it has the type {kind}')
    return [(name, table[name].cast(polars.String).to_list()) for name in table.columns]


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
