"""Output of the command line: tables and data on stdout, messages and progress on stderr."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ackclock.texts.names import shown, shown_json, shown_text
from ackclock.texts.numbers import cell, number

Progress = Callable[[int, int], None]
MOST_ROWS = 200  # of a printed table


def error(message: str) -> None:
    """Print an error to stderr."""
    _line("error", "bold red", message)


def warning(message: str) -> None:
    """Print a warning to stderr."""
    _line("warning", "bold yellow", message)


def note(message: str) -> None:
    """Print a message to stderr."""
    print(shown_text(message), file=sys.stderr)


def place(path: Path) -> None:
    """Print the name of a file to stdout; a terminal gets invisible characters as escapes."""
    name = str(path)
    print(shown(name) if sys.stdout.isatty() else name)


def sentence(text: str) -> None:
    """Print a sentence to stdout: on a terminal, lines break between words; elsewhere it is one line."""
    text = shown_text(text)
    print(textwrap.fill(text, shutil.get_terminal_size().columns) if sys.stdout.isatty() else text)


def data(value: Any) -> None:  # noqa: ANN401 - any JSON
    """Print JSON to stdout."""
    print(shown_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)))


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "", left: int = 1) -> None:
    """Print a table to stdout; its first `left` columns hold words, the others numbers.

    A row is one line of any length, except on a terminal.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)
    grid = Table(
        title=Text(shown(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for index, column in enumerate(columns):
        grid.add_column(Text(shown(column)), justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(shown(cell(value))) for value in row))
    console.print(grid)


@contextlib.contextmanager
def aside(wanted: bool) -> Iterator[None]:
    """Print tables to stderr while the block runs, if standard output carries other data."""
    with contextlib.redirect_stdout(sys.stderr) if wanted else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def progress(title: str, total: int) -> Iterator[Progress | None]:
    """Show a progress bar on stderr while the block runs, if stderr is a terminal and there are several runs."""
    if total < 2 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        """Finished runs per second."""

        def render(self, task: Task) -> Text:
            return Text(f"{number(task.speed, 3)}/s" if task.speed else "")

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done, count: bar.update(task, completed=done, total=count)


def _line(word: str, style: str, message: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text.assemble((f"{word}: ", style), shown_text(message)))
