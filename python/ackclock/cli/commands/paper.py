"""The command `paper`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ackclock.cli.asking import ask
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Address, EngineName, Jobs, Json, Out, Worlds

if TYPE_CHECKING:
    from ackclock.literature.report import Report
    from ackclock.literature.verification import Verified


def paper(
    name: Annotated[str, typer.Argument(help="A paper; `ackclock list papers` lists them.")],
    new: Annotated[
        bool, typer.Option("--new", help="Write a small paper that runs into papers/NAME, as a start for your own.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer seeds, start times and variants.")] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Run a sample of the stored runs anew (5 %, at least 50, at most 1,000), and compare every row with "
            "the stored one, bit by bit. The exit code is 1 if one differs.",
        ),
    ] = False,
    on: Worlds = "simulation",
    budget: Annotated[
        Optional[str],
        typer.Option(
            metavar="TIME",
            help='Real time for the runs, such as "20 min": no run begins later, and the same command continues. With '
            "--on, it chooses the claims whose runs in each other world last as long: on machine real time, by "
            "default 1 h, or 10 min with --quick; on linux virtual time, by default without a limit.",
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
    if new:
        with plain_errors():
            from ackclock.cli.papers import new_command

            given = verify or (on, engine, budget, out, jobs, address) != (
                "simulation",
                "local",
                None,
                None,
                None,
                None,
            )
            new_command(name, ran=quick or brief or json or given)
        return

    if verify:
        with plain_errors():
            if brief or on != "simulation":
                raise ValueError("--verify repeats stored runs of the simulation, and takes neither --brief nor --on")

        def check(where: dict[str, Any]) -> Verified:
            from ackclock import verify

            return verify(name, quick=quick, out=out, **where)

        def tell(found: Verified) -> None:
            from ackclock.cli.papers import show_verified

            show_verified(found, json_output=json)

        if not ask(check, tell, engine=engine, address=address, jobs=jobs, budget=budget).passed:
            raise typer.Exit(1)
        return

    def question(where: dict[str, Any]) -> Report:
        from ackclock import paper

        return paper(name, quick=quick, on=on, out=out, **where)

    def show(written: Report) -> None:
        from ackclock.cli.papers import show

        show(written, brief=brief, json_output=json)

    ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget)
