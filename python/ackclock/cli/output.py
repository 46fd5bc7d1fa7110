"""Output of the command line: tables and data on stdout, messages and progress on stderr."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ackclock.cli import layout
from ackclock.formatting.names import shown, shown_json, shown_text
from ackclock.formatting.numbers import cell, in_words, number

if TYPE_CHECKING:
    from rich.table import Table

Progress = Callable[[int, int], None]
FIRST, EVERY = 10.0, 30.0  # seconds between lines of progress without a terminal
MOST_ROWS = 200  # of a printed table
MOST_LINES = 2000  # of rows that are shown as records
_ANY_WIDTH = 10_000  # of output that is no terminal
_USUAL_WIDTH = 80  # of a terminal that does not know its width


def error(message: str) -> None:
    """Print an error to stderr."""
    _line("error", "bold red", message)


def warning(message: str) -> None:
    """Print a warning to stderr."""
    _line("warning", "bold yellow", message)


def note(message: str) -> None:
    """Print a message to stderr."""
    print(_broken(shown_text(message), sys.stderr), file=sys.stderr)


def place(path: Path) -> None:
    """Print the name of a file to stdout; a terminal gets invisible characters as escapes."""
    name = str(path)
    print(shown(name) if sys.stdout.isatty() else name)


def data(value: Any) -> None:  # noqa: ANN401 - any JSON
    """Print JSON to stdout."""
    print(shown_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)))


def say(text: str) -> None:
    """Print a sentence to stdout; a terminal breaks it between words."""
    print(_broken(shown_text(text), sys.stdout))


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    title: str = "",
    left: int = 1,
    less: Sequence[str] = (),
    see: str = "--json",
) -> None:
    """Print a table to stdout.

    Without a terminal, a row is one line of any length. On a terminal, no word and no number is split: words are
    wrapped, then columns are left out, with a note that says how to see them. A row that is still too wide is shown as
    a record, one line for each column.

    Parameters
    ----------
    columns, rows
        Titles and cells.
    title
        A heading.
    left
        The number of first columns that hold words; the others hold numbers.
    less
        Titles of the columns that a narrow terminal leaves out, the least important first.
    see
        The option or command that shows the whole table, for the note.
    """
    from rich.console import Console
    from rich.text import Text

    titles = [shown(column) for column in columns]
    cells = [[shown(cell(value)) for value in row] for row in rows]
    width = _width(sys.stdout)
    # Without a height, Rich takes 80 columns if TERM is "dumb".
    console = Console(width=width or _ANY_WIDTH, height=len(cells) + 1, highlight=False, soft_wrap=True)
    fit = layout.fitted(titles, cells, left, width or _ANY_WIDTH, [shown(each) for each in less])
    if fit is not None:
        console.print(_grid(titles, cells, title, left, fit), soft_wrap=False)
        hidden = [name for at, name in enumerate(titles) if at not in fit.kept]
        if hidden:
            note(f"left out: {', '.join(hidden)}; a wider terminal or {see} shows them")
        return
    if title:
        console.print(Text(f" {shown(title)}", style="bold"))
    most = max(MOST_LINES // len(titles), 1)
    for row in cells[:most]:
        print()
        for name, value in layout.record(titles, row, width or _ANY_WIDTH):
            console.print(Text.assemble((name, "bold"), value))
    print()
    if len(cells) > most:
        note(f"{len(cells) - most:,} more rows; a wider terminal or {see} shows them")


def _grid(titles: Sequence[str], cells: Sequence[Sequence[str]], title: str, left: int, fit: layout.Fitted) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        title=Text(shown(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        # The box puts a blank between columns.
        padding=(0, 1, 0, fit.gap - 2),
    )
    for at, width in zip(fit.kept, fit.widths, strict=True):
        grid.add_column(Text(titles[at]), justify="left" if at < left else "right", width=width)
    for row in cells:
        grid.add_row(*(Text(row[at]) for at in fit.kept))
    return grid


@contextlib.contextmanager
def aside(wanted: bool) -> Iterator[None]:
    """Print tables to stderr while the block runs, if standard output carries other data."""
    with contextlib.redirect_stdout(sys.stderr) if wanted else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def progress(title: str) -> Iterator[Progress]:
    """Show on stderr how far runs are while the block runs, and how long they still take.

    A terminal has a bar; other output has a line after `FIRST` seconds, and one every `EVERY` seconds.
    """
    shown = _Bar(title) if sys.stderr.isatty() else _Lines(title)
    try:
        yield shown
    finally:
        shown.close()


class _Lines:
    """Lines that say how many runs are finished, and how long the others take."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._began, self._next = time.monotonic(), time.monotonic() + FIRST
        self._before: int | None = None

    def __call__(self, done: int, count: int) -> None:
        now = time.monotonic()
        if self._before is None:
            # The first call has the runs that were stored, or the first new one.
            self._before, self._began = done, now
        elif now >= self._next and done < count and done > self._before:
            self._next = now + EVERY
            left = (now - self._began) / (done - self._before) * (count - done)
            note(f"{self._title}: {done:,} of {count:,}; about {in_words(left)} left")

    def close(self) -> None:
        """Do nothing."""


class _Bar:
    """A bar that begins with the first of several runs, and disappears with the last."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None

    def __call__(self, done: int, count: int) -> None:
        if self._bar is None and done < count:
            self._bar = _made_bar(self._title)
            self._task = self._bar.add_task(self._title, total=count)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=count)
            if done >= count:
                self.close()

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _made_bar(title: str) -> Any:  # noqa: ANN401 - a class of a library that loads late
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        """Finished runs per second."""

        def render(self, task: Task) -> Text:
            return Text(f"{number(task.speed, 3)}/s" if task.speed else "")

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    return Bar(*columns, console=Console(stderr=True), transient=True)


class Handler(logging.Handler):
    """Prints what the package logs: notes and warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message."""
        (warning if record.levelno >= logging.WARNING else note)(record.getMessage())


def _line(word: str, style: str, message: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    text = _broken(f"{word}: {shown_text(message)}", sys.stderr)
    console.print(Text.assemble((f"{word}:", style), text.removeprefix(f"{word}:")))


def _width(stream: TextIO) -> int | None:
    """Return the width of a terminal, in characters; None if the stream is no terminal."""
    if not stream.isatty():
        return None
    wanted = os.environ.get("COLUMNS", "")
    try:
        found = int(wanted) if wanted.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except OSError:
        found = 0
    return found or _USUAL_WIDTH


def _broken(text: str, stream: TextIO) -> str:
    """Return a text as a terminal shows it without splitting words: with line breaks between them."""
    width = _width(stream)
    if width is None:
        return text
    lines = text.split("\n")
    return "\n".join(line if len(line) <= width else "\n".join(layout.wrapped(line, width)) for line in lines)
