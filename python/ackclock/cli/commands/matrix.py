"""The command `matrix`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from ackclock.cli import options
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MOST, Address, EngineName, Jobs, Json, Out


def _parts(axis: str) -> object:
    return typer.Option(metavar="PARTS", help=f"Parts on the axis {axis}, separated by commas; by default all.")


def matrix(
    slow_start: Annotated[Optional[list[str]], _parts("slow_start")] = None,
    avoidance: Annotated[Optional[list[str]], _parts("avoidance")] = None,
    loss_response: Annotated[Optional[list[str]], _parts("loss_response")] = None,
    recovery: Annotated[Optional[list[str]], _parts("recovery")] = None,
    congestion_control: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="CONTROLS",
            help="Whole controls, such as bbr, separated by commas; by default all, or none if parts are named.",
        ),
    ] = None,
    path: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="PATHS", help="Names of paths, or files, separated by commas; `ackclock list paths` lists them."
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(min=1, max=MOST, metavar="NUMBER", help="Run every combination with the seeds from 1 to this."),
    ] = 3,
    duration: Annotated[
        Optional[str],
        typer.Option(metavar="TIME", help="Duration of every run, such as '10 s'; replaces the duration of the path."),
    ] = None,
    baseline: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="AXIS=PART",
            help="Part of the combination to compare with, such as avoidance=cubic; repeatable. "
            "The other axes have a scenario's defaults.",
        ),
    ] = None,
    sort: Annotated[
        Optional[str],
        typer.Option(
            metavar="METRIC",
            help="Rank by goodput_bps, completion, loss_rate, sojourn_mean, jain or taken; "
            "by default by completion on paths whose flows end, otherwise by goodput_bps.",
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option(min=1, max=MOST, metavar="NUMBER", help="Number of best combinations to show of a large matrix."),
    ] = 3,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """Compare all combinations of parts on several paths.

    Parts are slow starts, avoidances, loss responses and recoveries. The paths favour different parts.
    """
    with plain_errors(), options.engine(engine, address, jobs) as chosen:
        from ackclock.cli.matrices import matrix_command

        parts = {
            "slow_start": slow_start,
            "avoidance": avoidance,
            "loss_response": loss_response,
            "recovery": recovery,
            "congestion_control": congestion_control,
        }
        matrix_command(
            parts, path or [], seeds=seeds, duration=duration, baseline=baseline or [], sort=sort, top=top, out=out,
            json_output=json, engine=chosen,
        )  # fmt: skip
