"""The command `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force


def report(
    directory: Annotated[Path, typer.Argument(help="Folder of a run, sweep, matrix, comparison or paper.")],
    out: Annotated[
        Optional[Path],
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="HTML file to write; by default report.html in the folder; - is standard output.",
        ),
    ] = None,
    opened: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    force: Force = False,
) -> None:
    """Build the report of a folder again from its stored results. Runs no simulation."""
    with plain_errors():
        from ackclock.cli.reporting import report_command

        report_command(directory, out=out, opened=opened, force=force)
