"""The command `gate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force, Json


def gate(
    directory: Annotated[Path, typer.Argument(help="New result: a directory of ackclock run --out or ackclock sweep.")],
    against: Annotated[
        Path, typer.Option(metavar="DIRECTORY", help="Baseline: an earlier result of the same experiment.")
    ],
    tolerance: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="[MEASURE=]CHANGE",
            help="Ignore changes up to this: 2%, goodput_bps=2%, drops=5 or 'sojourn_mean=1 ms'; repeatable. "
            "By default 1%.",
        ),
    ] = None,
    measures: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="MEASURES",
            help="Measures to compare, separated by commas; by default all that can become better or worse.",
        ),
    ] = None,
    significance: Annotated[
        float,
        typer.Option(
            metavar="PROBABILITY",
            help="Accept at most this probability of a false alarm, over all measures and points together.",
        ),
    ] = 0.05,
    correction: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Correction for many comparisons: holm, or bh (Benjamini-Hochberg), which limits the share of false "
            "alarms among all alarms.",
        ),
    ] = "holm",
    strict: Annotated[bool, typer.Option("--strict", help="Fail on improvements, too.")] = False,
    junit: Annotated[Optional[Path], typer.Option(metavar="FILE", help="Write a JUnit XML file.")] = None,
    markdown: Annotated[
        Optional[Path], typer.Option(metavar="FILE", help="Write Markdown for a comment in a pull request.")
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Compare a result with a baseline, and fail if it became worse.

    A measure moved if its change exceeds the tolerance, and what noise explains. The exit code is 0 if the gate passes,
    1 if a measure became worse or runs are missing, and 2 for bad input.
    """
    with plain_errors():
        from ackclock import gate
        from ackclock.cli import gates, output
        from ackclock.files import targets

        to_stdout = any(targets.is_stdout(path) for path in (junit, markdown) if path is not None)
        if json and to_stdout:
            raise ValueError("--json and a file on standard output exclude each other")
        outcome = gate(
            directory, against, tolerance=tolerance or (), measures=measures or (), significance=significance,
            correction=correction, strict=strict, junit=junit, markdown=markdown, force=force,
        )  # fmt: skip
        if json:
            output.data(outcome.to_dict())
        else:
            with output.aside(to_stdout):
                gates.show(outcome)
    if not outcome.passed:
        raise typer.Exit(1)
