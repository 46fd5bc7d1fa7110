"""The command `papers`."""

from __future__ import annotations

from typing import Annotated

import typer

from ackclock.cli import options
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Address, EngineName, Jobs, Out


def papers(
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer seeds, start times and variants.")] = False,
    out: Out = None,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """Run all papers, and write one page about them.

    The page also shows what their ideas change on hosts of today. Stored runs are reused. The folder has a report for
    each paper.
    """
    with plain_errors(), options.engine(engine, address, jobs) as chosen:
        from ackclock.cli.papers import papers_command

        papers_command(quick=quick, out=out, jobs=jobs, engine=chosen)
