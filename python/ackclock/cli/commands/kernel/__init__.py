"""The commands of `kernel`."""

from __future__ import annotations

from collections.abc import Callable

import typer

from ackclock.cli.commands.kernel.check import check
from ackclock.cli.commands.kernel.run import run

kernel = typer.Typer(
    help="Run scenarios on the TCP of this machine's Linux kernel.", no_args_is_help=True, rich_markup_mode=None
)
# In the order of the help.
COMMANDS: dict[str, Callable[..., None]] = {
    "check": check,
    "run": run,
}
for name, command in COMMANDS.items():
    kernel.command(name)(command)
