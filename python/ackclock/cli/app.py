"""The program: its commands, and how it ends."""

from __future__ import annotations

import io
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ackclock import _core
from ackclock.cli.commands.check import check
from ackclock.cli.commands.compare import compare
from ackclock.cli.commands.conform import conform
from ackclock.cli.commands.emulate import emulate
from ackclock.cli.commands.gate import gate
from ackclock.cli.commands.kernel import kernel
from ackclock.cli.commands.list import list_
from ackclock.cli.commands.matrix import matrix
from ackclock.cli.commands.model import model
from ackclock.cli.commands.paper import paper
from ackclock.cli.commands.papers import papers
from ackclock.cli.commands.plot import plot
from ackclock.cli.commands.query import query
from ackclock.cli.commands.report import report
from ackclock.cli.commands.run import run
from ackclock.cli.commands.schema import schema
from ackclock.cli.commands.script import script
from ackclock.cli.commands.serve import serve
from ackclock.cli.commands.sweep import sweep
from ackclock.cli.commands.trace import trace
from ackclock.cli.commands.tune import tune
from ackclock.cli.errors import BAD_INPUT, INTERRUPTED, fail, hear_interrupts

# Every command, in the order of the help.
HELP = {
    "Run and see": ("run", "sweep", "serve", "plot", "report", "query", "trace", "check"),
    "Compare and judge": ("compare", "matrix", "tune", "gate", "conform", "paper", "papers", "model"),
    "The kernel and endpoints": ("kernel", "emulate", "script"),
    "About": ("list", "schema"),
}


COMMANDS: dict[str, Callable[..., None]] = {
    "run": run,
    "sweep": sweep,
    "paper": paper,
    "papers": papers,
    "matrix": matrix,
    "compare": compare,
    "tune": tune,
    "gate": gate,
    "conform": conform,
    "script": script,
    "emulate": emulate,
    "plot": plot,
    "query": query,
    "trace": trace,
    "report": report,
    "model": model,
    "list": list_,
    "check": check,
    "schema": schema,
    "serve": serve,
}
GROUPS: dict[str, typer.Typer] = {"kernel": kernel}
# What holds for every command; none completes, and none prints the trace of an error in a box.
PLAIN: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}


class Commands(Mapping[str, Any]):
    """The commands by their names. Typer takes 3 ms to build one, and a process uses a single one."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer does not export the types
        return _built(name)

    def __iter__(self) -> Iterator[str]:
        yield from (*COMMANDS, *GROUPS)

    def __len__(self) -> int:
        return len(COMMANDS) + len(GROUPS)


@cache
def _built(name: str) -> Any:  # noqa: ANN401 - typer does not export the types
    alone = GROUPS.get(name)
    if alone is None:
        alone = typer.Typer(**PLAIN)
        alone.command(name)(COMMANDS[name])
    made = get_command(alone)
    made.name = name
    return made


def _summary(name: str) -> str:
    """Return the first sentence of a command's help."""
    text = GROUPS[name].info.help if name in GROUPS else COMMANDS[name].__doc__
    return re.split(r"(?<=\.)\s", str(text or ""), maxsplit=1)[0]


class Grouped(TyperGroup):
    """The commands under the headings of `HELP`."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - those of typer
        super().__init__(**attributes)
        self.commands = Commands()  # type: ignore[assignment]

    def format_commands(self, _context: Any, formatter: Any) -> None:  # noqa: ANN401 - typer does not export the types
        """Write each command with its summary."""
        longest = max(map(len, self.commands))
        width = max(formatter.width - 2 - longest - 2, 10)
        for heading, names in HELP.items():
            lines = [
                (name.ljust(longest), textwrap.shorten(_summary(name), width, placeholder="...")) for name in names
            ]
            with formatter.section(heading):
                formatter.write_dl(lines)


app = typer.Typer(
    name="ackclock",
    cls=Grouped,
    help="A laboratory for TCP start-up and congestion control.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **PLAIN,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"ackclock {_core.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Simulate TCP start-up and congestion control, and judge claims about them."""


def main() -> None:
    """Run the command line.

    The exit code is 0 on success and 2 for errors that the user can mend, such as bad input or a full disk. It is 130
    after Ctrl-C or at the end of --budget, and 1 for other failures, such as a reader that closed the output.
    """
    _open_streams()
    hear_interrupts()
    try:
        code = _run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except OSError as error:
        # Stop quietly, also when Python flushes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of the output has closed it, as `head` does
            raise SystemExit(1) from None
        fail(f"cannot write to standard output: {error.strerror or error}", BAD_INPUT)
    raise SystemExit(code)


def _open_streams() -> None:
    """Replace streams that the caller closed, as with ``>&-``, and write the same bytes to files on every system."""
    # Python sets a closed stream to None, whatever its type says.
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for the whole run
        elif isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            # On Windows it would have the code page of the system, which lacks most signs, and other ends of lines.
            stream.reconfigure(encoding="utf-8", errors=stream.errors, newline="\n")


@cache
def program() -> Callable[..., Any]:
    """Return the commands, which read the words of the process."""
    return get_command(app)


def _run() -> int:
    try:
        ended = int(program()(standalone_mode=False) or 0)
        # Typer ends in silence after Ctrl-C before the command begins; a command ends by itself.
        if ended == INTERRUPTED:
            raise KeyboardInterrupt
        return ended
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except Exception as error:
        # Typer raises errors of options and commands under no public name.
        show, code = getattr(error, "format_message", None), getattr(error, "exit_code", None)
        if show is None or not isinstance(code, int):
            raise
        message = str(show()).strip().rstrip(".")
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(message, err=True)
            return code
        from ackclock.cli import output

        output.error(message[:1].lower() + message[1:])
        return code
