"""The command `schema`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ackclock import _core
from ackclock.cli.errors import plain_errors


def schema(
    of: Annotated[
        Literal["scenario", "summary"],
        typer.Argument(help="Scenario files, or the summary of a run that `ackclock run --json` prints."),
    ] = "scenario",
) -> None:
    """Print the JSON Schema of scenario files, or of a run's summary."""
    with plain_errors():
        typer.echo(_core.schema() if of == "scenario" else _core.summary_schema())
