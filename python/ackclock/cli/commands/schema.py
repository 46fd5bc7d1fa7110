"""The command `schema`."""

from __future__ import annotations

import typer

from ackclock import _core
from ackclock.cli.errors import plain_errors


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    with plain_errors():
        typer.echo(_core.schema())
