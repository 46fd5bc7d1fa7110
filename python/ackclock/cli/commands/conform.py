"""The command `conform`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ackclock.cli.asking import ask
from ackclock.cli.options import Address, Budget, EngineName, Force, Jobs, Json, Out, Worlds

if TYPE_CHECKING:
    from ackclock.conformance.result import Conformance


def conform(
    suites: Annotated[
        list[str],
        typer.Argument(metavar="SUITE...", help="Suites, such as rfc9438; all; or files of suites, NAME.toml."),
    ],
    control: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME",
            help="The control to ask in place of what the suite is about: a name or combination as in compare, or a "
            "class in Python such as delay.py:Delay.",
        ),
    ] = None,
    on: Worlds = "simulation",
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Also count the states that a control enters in the simulation.")
    ] = False,
    junit: Annotated[Optional[Path], typer.Option(metavar="FILE", help="Write a JUnit XML file.")] = None,
    markdown: Annotated[Optional[Path], typer.Option(metavar="FILE", help="Write the clauses as Markdown.")] = None,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    budget: Budget = None,
    force: Force = False,
) -> None:
    """Check a control, host or queue against the clauses of a document.

    With --on linux the suite asks the kernel's own control. The exit code is 0 if every clause that can be asked holds
    or deviates for a reason that the suite names, 1 if one fails, and 2 for bad input. --out keeps scenario, packets
    and figure of each that fails.
    """

    def question(where: dict[str, Any]) -> Conformance:
        from ackclock import conform
        from ackclock.files import targets

        if json and any(targets.is_stdout(path) for path in (junit, markdown) if path is not None):
            raise ValueError("--json and a file on standard output exclude each other")
        return conform(
            suites,
            control=control,
            on=on,
            coverage=coverage,
            junit=junit,
            markdown=markdown,
            force=force,
            out=out,
            jobs=jobs,
            **where,
        )

    def show(found: Conformance) -> None:
        from ackclock.cli.conformance import show
        from ackclock.files import targets

        show(found, json_output=json, aside=any(targets.is_stdout(file) for file in (junit, markdown) if file))

    found = ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget)
    if not found.passed:
        raise typer.Exit(1)
