"""The command `list`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Json


def list_(
    axis: Annotated[
        Optional[str],
        typer.Argument(
            help="An axis, hosts, links, measures, papers, paths, suites, conformance or populations; by default all.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List parts, presets, measures, papers and paths.

    Parts are slow starts, queues and so on.
    """
    with plain_errors():
        from ackclock.cli.listing import list_command

        list_command(axis, json_output=json)
