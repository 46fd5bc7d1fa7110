"""Code of the command `query`."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import extras
from ackclock.cli import output
from ackclock.datasets import Dataset
from ackclock.files import checks, targets
from ackclock.formatting.numbers import counted, finite

if TYPE_CHECKING:
    import polars

FILES = ("csv", "json", "parquet")
FORMATS = ("table", *FILES)


def query_command(directory: Path, sql: str | None, *, form: str | None, out: Path | None, force: bool) -> None:
    """Print or write the result of a query, or the columns of a dataset."""
    chosen = _format(form, out)
    dataset = Dataset(directory)
    # Parquet is no text: without a file it goes to standard output, if that is no terminal.
    target = targets.STDOUT if out is None and chosen == "parquet" else out
    if target is not None:
        targets.check(target, force=force)
    try:
        with dataset.reading():
            table = dataset.describe() if sql is None else dataset.sql(sql)
    except extras.MissingError:
        raise
    except ValueError as error:
        raise ValueError(f"{directory}: {error}") from None
    if sql is None:
        with dataset.reading():
            _state(dataset)
    if chosen == "table":
        # A narrow terminal leaves out nothing that a query asked for.
        _print(table, less=("type", "unit") if sql is None else ())
    elif target is None:
        print(_data(table, chosen).decode(), end="")
    else:
        targets.write(target, _data(table, chosen))
        if not targets.is_stdout(target):
            output.note(f"{target}: {counted(table.height, 'row')}")


def _format(form: str | None, out: Path | None) -> str:
    if form is not None and form not in FORMATS:
        raise ValueError(f"--format {form}: there is no such format{checks.near(form, FORMATS)}")
    if out is None:
        return form or "table"
    chosen = form or out.suffix.removeprefix(".").lower()
    if chosen not in FILES:
        raise ValueError(f"--out {out}: needs the suffix .csv, .json or .parquet, or --format with one of these")
    return chosen


def _state(dataset: Dataset) -> None:
    import polars

    manifest = dataset.manifest
    stored = dataset.runs.select(polars.len()).collect().item()
    runs = f"{stored:,} of {counted(manifest['planned'], 'run')}" if "planned" in manifest else counted(stored, "run")
    output.note(f"{dataset.folder}: {manifest['state']}, {runs} stored")


def _print(table: polars.DataFrame, less: Sequence[str]) -> None:
    words = itertools.takewhile(lambda kind: not kind.is_numeric(), table.dtypes)
    rows = table.head(output.MOST_ROWS).rows()
    output.table(table.columns, rows, left=len(list(words)), less=less, see="--format csv")
    if table.height > output.MOST_ROWS:
        output.note(f"{table.height - output.MOST_ROWS:,} more rows; --format csv prints all")


def _data(table: polars.DataFrame, form: str) -> bytes:
    if form == "json":
        text = json.dumps(finite(table.to_dicts()), indent=2, ensure_ascii=False, allow_nan=False, default=str)
        return f"{text}\n".encode()
    buffer = io.BytesIO()
    if form == "csv":
        table.write_csv(buffer)
    else:
        table.write_parquet(buffer)
    return buffer.getvalue()
