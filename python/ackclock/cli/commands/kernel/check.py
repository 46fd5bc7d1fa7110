"""The command `kernel check`."""

from __future__ import annotations

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Json


def check(json: Json = False) -> None:
    """Try what this machine can run on its kernel.

    The command says what is missing. The exit code is 0 if scenarios can run with at least one control of the kernel,
    and 2 otherwise. Nothing that the command tries remains.
    """
    with plain_errors():
        from ackclock.cli.kernels import check_command

        code = check_command(json_output=json)
    if code:
        raise typer.Exit(code)
