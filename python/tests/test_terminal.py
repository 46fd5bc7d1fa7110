"""Tables on a terminal of 80 and of 60 columns: no word and no number is split, whatever command prints them."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ackclock.cli import app as program
from ackclock.cli import layout, output

from . import every_command
from .commandline import CommandLine
from .conftest import FIRST, SWEEP, Cli
from .test_outputs import commands

WIDTHS = (80, 60)
MARKS = re.compile(r"\x1b\[[0-9;]*m")
RULES = {"─", "━"}

TABLES: dict[str, list[list[str]]] = {
    "run": [["run", "flows.toml"], ["run", "page.toml"]],
    "query": [
        ["query", "s"],
        ["query", "s", "select * from runs"],
        ["query", "s", 'select algorithm, avg(goodput_bps) as "mean goodput" from runs group by all'],
    ],
    "model": [
        ["model"],
        ["model", "mathis"],
        ["model", "pftk", "--param", "loss=0.1%..10%:4"],
        ["model", "mathis", "--over", "runs", "--x", "loss=loss", "--y", "goodput_bps"],
    ],
    "list": [["list"], *(["list", axis] for axis in ("slow_start", "queue", "hosts", "papers", "paths"))],
    "kernel check": [["kernel", "check"]],
    "kernel list": [["kernel", "list"]],
}
# The table of links that `emulate` prints is one of `run`, too.
NO_TABLE = {"emulate", "check", "plot", "report", "schema", "script", "serve", "trace", "kernel build"}


class Terminal(io.StringIO):
    """A terminal that keeps what is printed."""

    def isatty(self) -> bool:
        return True


class Printed:
    """Every table that a command prints, as it is without a terminal and on terminals of `WIDTHS`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.tables: list[tuple[str, dict[int, str]]] = []
        self.patch = patch
        self._print = output.table
        patch.setattr(output, "table", self.table)

    def table(self, *arguments: Any, **options: Any) -> None:
        whole = self._shown(io.StringIO(), *arguments, **options)
        narrow = {}
        for width in WIDTHS:
            self.patch.setenv("COLUMNS", str(width))
            narrow[width] = self._shown(Terminal(), *arguments, **options)
        self.tables.append((whole, narrow))

    def _shown(self, stream: io.StringIO, *arguments: Any, **options: Any) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            self._print(*arguments, **options)
        return MARKS.sub("", stream.getvalue())


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Printed:
    return Printed(monkeypatch)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, command_line: CommandLine) -> Path:
    """Return a folder with scenarios and results."""
    place = tmp_path_factory.mktemp("home")
    (place / "first.toml").write_text(FIRST)
    (place / "sweep.toml").write_text(SWEEP)
    flows = FIRST + '[flow.arrivals]\nkind = "poisson"\nload = "60 %"\nuntil = "4 s"\nsize = { mean = "30 kB" }\n'
    (place / "flows.toml").write_text(flows)
    (place / "page.toml").write_text((Path(__file__).parents[2] / "scenarios" / "page.toml").read_text())
    losses = '[sweep]\n"topology.bottleneck.loss" = ["1 %", "3 %"]\nseed = [1, 2, 3]\n'
    (place / "losses.toml").write_text(FIRST + losses)
    for line in ("sweep sweep.toml --seeds 3 --out s", "run losses.toml --out runs"):
        done = command_line.run(line.split(), place, {**os.environ})
        assert done.returncode == 0, done.stderr
    return place


Shown = Callable[[int, Sequence[str]], str]


def words(text: str) -> set[str]:
    """Return the words and numbers of a text, without rules."""
    return {word for word in text.split() if not set(word) <= RULES}


def check(whole: str, narrow: str, width: int) -> None:
    """Assert that a narrow table has only whole words of the table, and fits."""
    assert words(narrow)
    assert words(narrow) <= words(whole), f"split: {words(narrow) - words(whole)}"
    for line in narrow.splitlines():
        assert len(line.rstrip()) <= width or (len(line.split()) == 1 and len(line.strip()) > width - 4), line


@pytest.mark.parametrize(("command", "line"), [(command, line) for command, lines in TABLES.items() for line in lines])
def test_no_table_splits_a_word_or_a_number(
    command: str, line: list[str], home: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    try:
        program.app(line, standalone_mode=False)
    except (SystemExit, program.typer.Exit) as stop:
        assert command == "kernel check", stop
    assert printed.tables, "the command printed no table"
    for whole, narrow in printed.tables:
        for width in WIDTHS:
            check(whole, narrow[width], width)


def test_every_command_is_known_to_print_tables_or_none() -> None:
    assert {name for name, _ in commands()} == TABLES.keys() | NO_TABLE | {*every_command.NAMES}


@pytest.fixture
def on_terminal(home: Path, cli: Cli) -> Shown:
    """Return a function that runs a command on a terminal, and returns what it shows."""

    def run(width: int, line: Sequence[str]) -> str:
        done = cli(*line, cwd=home, width=width)
        return done.stdout + done.stderr

    return run


def test_the_first_run_of_a_newcomer_on_a_terminal(on_terminal: Shown) -> None:
    shown = on_terminal(80, ["run", "first.toml"])
    assert re.search(r"1,\d{3},\d{3}", shown), "goodput in bit/s, unsplit"
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "left out: " in shown
    assert "a wider terminal or --json shows them" in " ".join(shown.split())
    wide = on_terminal(160, ["run", "first.toml"])
    assert "left out" not in wide
    assert words(shown.partition("left out")[0]) <= words(wide)


def test_only_limited_links_are_printed(on_terminal: Shown) -> None:
    shown = on_terminal(120, ["run", "first.toml"])
    assert re.findall(r"n\d>n\d", shown) == ["n1>n2"]
    assert "5 links with unlimited queues: only in --json and --out" in shown
    free = on_terminal(120, ["run", "first.toml", "--set", "topology.bottleneck.queue=unlimited"])
    assert len(re.findall(r"n\d>n\d", free)) == 6


def test_sentences_break_between_words(on_terminal: Shown) -> None:
    shown = on_terminal(60, ["run", "missing.toml", "--set", "flow.slow_start=standard"])
    long = on_terminal(400, ["run", "missing.toml", "--set", "flow.slow_start=standard"])
    assert words(shown) == words(long)
    assert len(long.splitlines()) == 1


@pytest.mark.parametrize(
    ("columns", "rows", "less", "width", "kept"),
    [
        (["name", "goodput (bit/s)"], [["a", "9,199,200"]], (), 80, ["name", "goodput (bit/s)"]),
        (["name", "goodput (bit/s)", "sent"], [["a", "9,199,200", "1"]], ["sent"], 18, ["name", "goodput (bit/s)"]),
        (["name", "goodput (bit/s)"], [["a", "9,199,200"]], (), 14, None),
    ],
)  # fmt: skip
def test_columns_are_left_out_by_importance(
    columns: list[str], rows: list[list[str]], less: Sequence[str], width: int, kept: list[str] | None
) -> None:
    fit = layout.fitted(columns, rows, 1, width, less)
    assert (None if fit is None else [columns[at] for at in fit.kept]) == kept
    if fit is not None:
        assert sum(fit.widths) + fit.gap * (len(fit.widths) - 1) + 2 * layout.EDGE <= width


def test_a_record_has_a_line_for_each_column_and_long_words_alone() -> None:
    lines = list(layout.record(["a", "hash"], ["1 2", "f" * 30], 36))
    assert lines == [(" a     ", "1 2"), (" hash", ""), ("   ", "f" * 30)]
    assert list(layout.record(["of many words"], ["of many more words"], 22)) == [
        (" of many     ", "of many"),
        (" words       ", "more"),
        ("             ", "words"),
    ]


def test_the_help_has_every_command_once_with_a_summary_of_one_line(on_terminal: Shown) -> None:
    named = [name for names in program.HELP.values() for name in names]
    assert sorted(named) == sorted([*program.COMMANDS, *program.GROUPS])
    for line in (["--help"], ["kernel", "--help"]):
        shown = on_terminal(80, line)
        assert "..." not in shown.partition("Options:")[2]
        assert all(len(each) <= 80 for each in shown.splitlines())
    assert re.findall(r"^(\S.*):$", on_terminal(80, ["--help"]), re.MULTILINE) == ["Options", *program.HELP]
