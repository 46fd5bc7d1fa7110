"""The command `matrix`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ackclock.cli import options
from ackclock.cli.asking import ask
from ackclock.cli.options import MOST, Address, Budget, EngineName, Jobs, Json, Out, Worlds

if TYPE_CHECKING:
    from ackclock.comparisons.parts import PartSpec
    from ackclock.comparisons.result import Comparison


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
    all: Annotated[  # noqa: A002 - as the parameter of the function
        bool,
        typer.Option(
            "--all",
            help="Draw a map of the field: every slow start with every avoidance, and every whole control, on the paths"
            " called field with hosts of today, against what Linux has. Other options restrict it.",
        ),
    ] = False,
    paths: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="PATHS",
            help="Names of paths, presets of links, field (twelve paths), suite:NAME, population:NAME:COUNT:SEED, or "
            "files, separated by commas; `ackclock list` lists them.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(min=1, max=MOST, metavar="NUMBER", help="Number of drawn paths, each with a seed of its own."),
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
    margin: Annotated[
        float, typer.Option(metavar="PERCENT", help="Treat smaller differences of speed as equal.")
    ] = 5.0,
    sort: Annotated[
        Optional[str],
        typer.Option(
            metavar="METRIC",
            help="Rank by goodput_bps, completion, sojourn_p95, resent, jain or taken; "
            "by default by completion on paths whose flows end, otherwise by goodput_bps.",
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option(min=1, max=MOST, metavar="NUMBER", help="Number of best combinations to show of a large matrix."),
    ] = 3,
    on: Worlds = "simulation",
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    budget: Budget = None,
) -> None:
    """Compare all combinations of parts on several paths.

    Parts are slow starts, avoidances, loss responses and recoveries. The paths favour different parts.
    """

    def question(where: dict[str, Any]) -> Comparison:
        from ackclock import matrix
        from ackclock.cli import comparisons
        from ackclock.comparisons import parts

        def read(axis: str, texts: list[str] | None) -> list[PartSpec] | None:
            return parts.read_parts(axis, texts) if texts else None

        return matrix(
            slow_start=read("slow_start", slow_start), avoidance=read("avoidance", avoidance),
            loss_response=read("loss_response", loss_response), recovery=read("recovery", recovery),
            congestion_control=read("congestion_control", congestion_control), all=all,
            paths=options.listed(paths), on=on, seeds=seeds, duration=duration,
            baseline=comparisons.baseline(baseline or []), margin=margin / 100, sort=sort, top=top, out=out, **where,
        )  # fmt: skip

    def show(found: Comparison) -> None:
        from ackclock.cli.comparisons import show

        show(found, json_output=json)

    ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget)
