"""The commands of `kernel`."""

from __future__ import annotations

from collections.abc import Callable

import typer

from ackclock.cli.commands.kernel.build import build
from ackclock.cli.commands.kernel.check import check
from ackclock.cli.commands.kernel.compare import compare
from ackclock.cli.commands.kernel.list import list_
from ackclock.cli.commands.kernel.run import run

kernel = typer.Typer(
    help="Build Linux kernels, run scenarios on them, and compare.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
# In the order of the help.
COMMANDS: dict[str, Callable[..., None]] = {
    "check": check,
    "compare": compare,
    "run": run,
    "build": build,
    "list": list_,
}
for name, command in COMMANDS.items():
    kernel.command(name)(command)
