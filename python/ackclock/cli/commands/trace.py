"""The command `trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli import output
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force


def trace(
    file: Annotated[
        Path, typer.Argument(help="A trace of Mahimahi, a CSV file, or the data file of irtt (-o) or flent.")
    ],
    step: Annotated[
        Optional[float],
        typer.Option(
            metavar="SECONDS",
            help="Width of the steps of a trace of Mahimahi or of irtt; by default 0.1 and 1.",
        ),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option("--out", "-o", metavar="FILE", help="CSV file to write, which a scenario's link reads."),
    ] = None,
    force: Force = False,
) -> None:
    """Say what a measured path holds, and write it as a link's table.

    The lines at the end read the table in a scenario, which repeats it.
    """
    with plain_errors():
        from ackclock.files import targets
        from ackclock.traces import trace as read

        found = read(file, step=step, out=out, force=force)
        if out is None or not targets.is_stdout(out):
            for line in found.summary():
                output.say(line)
        if out is not None and not targets.is_stdout(out):
            print()
            for line in found.lines(out.name):
                print(line)
