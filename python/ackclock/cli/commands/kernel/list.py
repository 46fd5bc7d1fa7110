"""The command `kernel list`."""

from __future__ import annotations

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Json


def list_(json: Json = False) -> None:
    """List the kernels for virtual time, and that of this machine."""
    with plain_errors():
        from ackclock.cli.kernelbuilds import list_command

        list_command(json_output=json)
