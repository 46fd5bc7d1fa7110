"""The command `kernel compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MOST, MOST_JOBS, ChangeHystart, Json, Out


def compare(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scenario files; of a file with [sweep], every variant.")
    ],
    repetitions: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST,
            metavar="NUMBER",
            help="Runs of each scenario on the kernel. Fewer than 3 do not show its spread.",
        ),
    ] = 3,
    tolerance: Annotated[
        float,
        typer.Option(metavar="PERCENT", help="Largest difference of data delivered and completion times that is none."),
    ] = 2.0,
    attempts: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST,
            metavar="NUMBER",
            help="Largest number of runs for a repetition that this machine disturbs.",
        ),
    ] = 3,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=MOST_JOBS,
            metavar="NUMBER",
            help="Runs on the kernel at the same time; more make packets late.",
        ),
    ] = 1,
    change_hystart: ChangeHystart = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare simulations with the kernel's TCP: how far apart they are, and what is known of larger differences.

    Each scenario runs in real time on the kernel. With --out, every finished run is stored at once, and the same
    command continues after an interruption.
    """
    with plain_errors():
        from ackclock.cli.kernelcomparisons import compare_command

        compare_command(
            files,
            repetitions=repetitions,
            tolerance=tolerance,
            attempts=attempts,
            change_hystart=change_hystart,
            out=out,
            json_output=json,
            jobs=jobs,
        )
