"""The command `paper`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from ackclock.cli import options
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Address, EngineName, Jobs, Json, Out, Worlds


def paper(
    name: Annotated[str, typer.Argument(help="A paper; `ackclock list papers` lists them.")],
    new: Annotated[
        bool, typer.Option("--new", help="Write a small paper that runs into papers/NAME, as a start for your own.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer seeds, start times and variants.")] = False,
    on: Worlds = "simulation",
    budget: Annotated[
        Optional[str],
        typer.Option(
            metavar="TIME",
            help='Time of the runs in each other world, such as "20 min": on machine real time, by default 1 h, or '
            "10 min with --quick; on linux virtual time, by default without a limit.",
        ),
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Print the paper's answer in words, without the verdict on each claim.")
    ] = False,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """Run the experiments of a paper and judge its claims. Writes figures and a report."""
    with plain_errors(), options.engine(engine, address, jobs) as chosen:
        from ackclock.cli.papers import new_command, paper_command

        if new:
            given = (on, engine, budget, out, jobs, address) != ("simulation", "local", None, None, None, None)
            new_command(name, ran=quick or brief or json or given)
            return
        paper_command(
            name, quick=quick, on=on, budget=budget, brief=brief, out=out, json_output=json,
            engine=chosen,
        )  # fmt: skip
