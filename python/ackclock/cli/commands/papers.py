"""The command `papers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ackclock.cli.asking import ask
from ackclock.cli.options import Address, Budget, EngineName, Jobs, Json, Out, Worlds

if TYPE_CHECKING:
    from ackclock.literature.summary import Reproduced


def papers(
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer seeds, start times and variants.")] = False,
    on: Worlds = "simulation",
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    budget: Budget = None,
) -> None:
    """Run all papers, and write one page about them.

    The page also shows what their ideas change on hosts of today, in each world of --on, beside a control that has all
    of the idea but its rule. Stored runs are reused. The folder has a report for each paper.
    """

    def question(where: dict[str, Any]) -> list[Reproduced]:
        from ackclock import papers

        return papers(quick=quick, on=on, out=out, **where)

    def show(done: list[Reproduced]) -> None:
        from ackclock.cli.papers import show_all

        show_all(done, json_output=json)

    ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget)
