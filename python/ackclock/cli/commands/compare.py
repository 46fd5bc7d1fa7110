"""The command `compare`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MOST, Jobs, Json, Out


def compare(
    contenders: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...",
            help="Slow starts, avoidances, whole controls, hosts, combinations such as linux+bbr, KEY=VALUE of a flow, "
            "or scenario files. The first is the reference.",
        ),
    ],
    on: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="PATHS",
            help="Paths of the matrix, scenario files, or tables of paths (CSV, Parquet), separated by commas. By "
            "default all paths of the matrix; scenario files run as they are.",
        ),
    ] = None,
    reference: Annotated[
        Optional[str],
        typer.Option(metavar="NAME", help="Algorithm or host to compare with, and whose flows may be harmed."),
    ] = None,
    seeds: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            max=MOST,
            metavar="NUMBER",
            help="Drawn paths, each with a seed of its own; by default 10. Of a table: seeds for each path, by default "
            "1.",
        ),
    ] = None,
    within: Annotated[
        Optional[float],
        typer.Option(
            metavar="PERCENT",
            help="Add paths until the speed interval is within ±PERCENT of the reference, up to --seeds (here 100 by "
            "default). Each path of a table runs once.",
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option(metavar="PERCENT", help="Treat smaller differences of speed or harm as equal.")
    ] = 5.0,
    size: Annotated[
        Optional[str], typer.Option(metavar="SIZE", help="Size of every flow under test, such as '1 MB'.")
    ] = None,
    duration: Annotated[
        Optional[str], typer.Option(metavar="TIME", help="Duration of every run; replaces that of the path.")
    ] = None,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
) -> None:
    """Compare algorithms, hosts or scenario files: who wins where, by how much, how sure, and at whose cost."""
    with plain_errors():
        from ackclock.cli.comparisons import compare_command

        compare_command(
            contenders, on, reference=reference, seeds=seeds, within=within, margin=margin, size=size,
            duration=duration, out=out, json_output=json, jobs=jobs,
        )  # fmt: skip
