"""The command `query`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force


def query(
    directory: Annotated[Path, typer.Argument(help="Directory written by `ackclock sweep --out`.")],
    sql: Annotated[
        Optional[str],
        typer.Argument(
            metavar="[SQL]",
            help="Query on runs, flows, links, transfers, pages and media; by default their columns are listed.",
        ),
    ] = None,
    format: Annotated[  # noqa: A002
        Optional[str],
        typer.Option(
            metavar="FORMAT",
            help="Output: table, csv, json or parquet; by default that of the suffix of --out, without it table.",
        ),
    ] = None,
    out: Annotated[
        Optional[Path], typer.Option("--out", "-o", metavar="FILE", help="File to write to; - is standard output.")
    ] = None,
    force: Force = False,
) -> None:
    """Query a dataset by SQL, also while a sweep writes it.

    si('5 ms') is 0.005: the number of a label in seconds, bit/s, bytes or packets.
    """
    with plain_errors():
        from ackclock.cli.queries import query_command

        query_command(directory, sql, form=format, out=out, force=force)
