"""The command `compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ackclock.cli import options
from ackclock.cli.asking import ask
from ackclock.cli.options import MOST, Address, Budget, EngineName, Jobs, Json, Out, Worlds

if TYPE_CHECKING:
    from ackclock.comparisons.result import Comparison


def compare(
    contenders: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...",
            help="Slow starts, avoidances, whole controls, hosts, combinations such as linux+bbr, KEY=VALUE of a flow, "
            "scenario files, or classes in Python such as delay.py:Delay. NAME=… names one, as in eager=delay.py:Eager."
            " The first is the reference.",
        ),
    ],
    paths: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="PATHS",
            help="Paths of the matrix, presets of links, scenario files, tables of paths (CSV, Parquet), suite:NAME, "
            "or population:NAME:COUNT:SEED, separated by commas. By default all paths of the matrix; scenario files "
            "run as they are.",
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
            help="Number of drawn paths, each with a seed of its own; by default 10. With a table: seeds for each "
            "path; by default 1.",
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
        Optional[str],
        typer.Option(
            metavar="TIME",
            help="Duration of every run; by default that of the path. With --size, runs on the paths of a table last "
            "as long as their transfers by default.",
        ),
    ] = None,
    harm: Annotated[
        bool,
        typer.Option(
            "--harm/--no-harm",
            help="Measure the harm to a flow of the reference, and the time lost in start-up; most runs are for these.",
        ),
    ] = True,
    on: Worlds = "simulation",
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    budget: Budget = None,
) -> None:
    """Compare algorithms or hosts: who wins where, and at whose cost.

    The answer says by how much, and how sure it is. Scenario files can be compared, too.
    """

    def question(where: dict[str, Any]) -> Comparison:
        from ackclock import compare

        return compare(
            *contenders, paths=options.listed(paths), on=on, reference=reference, seeds=seeds,
            within=None if within is None else within / 100, margin=margin / 100, size=size, duration=duration,
            harm=harm, out=out, **where,
        )  # fmt: skip

    def show(found: Comparison) -> None:
        from ackclock.cli.comparisons import show

        show(found, json_output=json)

    ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget)
