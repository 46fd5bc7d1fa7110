"""The command `paper`."""

from __future__ import annotations

from typing import Annotated

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Jobs, Out


def paper(
    name: Annotated[str, typer.Argument(help="A paper; `ackclock list papers` lists them.")],
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer seeds, start times and variants.")] = False,
    out: Out = None,
    jobs: Jobs = None,
) -> None:
    """Run the experiments of a paper and judge its claims. Writes figures and a report."""
    with plain_errors():
        from ackclock.cli.papers import paper_command

        paper_command(name, quick=quick, out=out, jobs=jobs)
