"""What every command that runs or judges an experiment promises: kills, Ctrl-C, terminals, Python, JSON, bad options.

Ray is in `test_ray.py`, which has the cluster.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ackclock.cli import app as program
from ackclock.literature import library, today

from . import every_command
from .commandline import CommandLine
from .conftest import NO_KERNEL, present
from .every_command import COMMANDS, NAMES, OWN_OPTIONS, SHARED, Command, contents, finished

RUNS = re.compile(r"^([\d,]+) runs? in [\d.]+ s(?:, ([\d,]+) were stored)?", re.MULTILINE)
WIDTHS = (80, 60)


@dataclass(frozen=True)
class Undisturbed:
    """A command that ran without a disturbance.

    Attributes
    ----------
    place : Path
        Its folder.
    done : CompletedProcess
        What it printed.
    seconds : float
        How long it took.
    """

    place: Path
    done: subprocess.CompletedProcess[str]
    seconds: float


Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def start(command_line: CommandLine) -> Start:
    """Return a function that runs a command, which writes only if asked to; options are those of `CommandLine.run`."""

    def run(
        command: Command, place: Path, *words: str, written: bool = True, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        line, environment = command.words if written else command.line.split(), {**os.environ, "NO_COLOR": "1"}
        return command_line.run([*line, *words], place, environment, before=command.before, **options)

    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, command_line: CommandLine) -> Path:
    """Return a folder with what the commands read."""
    place = tmp_path_factory.mktemp("home")
    every_command.prepare(place)
    for name, queue in (("base", "20 packets"), ("new", "3 packets")):
        words = ["run", "sweep.toml", "--out", name, "--set", f"topology.bottleneck.queue={queue}"]
        assert command_line.run(words, place, {**os.environ}).returncode == 0
    return place


KNOWN: dict[str, Undisturbed] = {}


@pytest.fixture(params=COMMANDS)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of each command; one that needs a kernel is skipped without one."""
    if COMMANDS[request.param].kernel and not present():
        pytest.skip(NO_KERNEL)
    return str(request.param)


@pytest.fixture
def command(name: str) -> Command:
    """Return each command."""
    return COMMANDS[name]


@pytest.fixture
def fresh(home: Path, tmp_path: Path) -> Callable[[], Path]:
    """Return a function that makes a folder with what the commands read."""
    made = iter(range(100))
    return lambda: shutil.copytree(home, tmp_path / str(next(made)))


@pytest.fixture
def whole(name: str, command: Command, home: Path, start: Start) -> Undisturbed:
    """Return the undisturbed command, which runs once."""
    if name not in KNOWN:
        place = shutil.copytree(home, home.with_name(f"{home.name} {name}"))
        began = time.monotonic()
        done = start(command, place)
        KNOWN[name] = Undisturbed(place, done, time.monotonic() - began)
        assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    return KNOWN[name]


def ran(errors: str) -> tuple[int, int]:
    """Return the numbers of runs that a command says to be new and stored."""
    found = [[int((each or "0").replace(",", "")) for each in match] for match in RUNS.findall(errors)]
    return sum(new for new, _ in found), sum(stored for _, stored in found)


def end(command: Command, place: Path, start: Start, by: int, moments: random.Random, seconds: float) -> str:
    """End a command by a signal at a random moment of its time, and return what it said; no finished run is lost."""
    for _ in range(9):
        before = finished(place, command)
        done = start(command, place, ending=(by, moments.uniform(0, seconds)))
        assert "Traceback" not in done.stderr, done.stderr
        assert finished(place, command) >= before, "a finished run was lost"
        if done.returncode == (130 if by == signal.SIGINT else -by):
            return done.stderr
        assert done.returncode in (0, 1), done.stderr
        seconds /= 2  # it had ended: what is stored makes it faster
    pytest.fail(f"it ends in less than {seconds} s")


def check_end(command: Command, place: Path, start: Start, whole: Undisturbed) -> None:
    """Assert that a disturbed command goes on where it was, and ends with what the undisturbed one wrote."""
    stored = finished(place, command)
    done = start(command, place)
    assert (done.returncode, done.stdout) == (whole.done.returncode, whole.done.stdout), done.stderr
    total = sum(ran(whole.done.stderr))
    assert ran(done.stderr) == (total - stored, stored), "a finished run ran again"
    assert contents(place, command) == contents(whole.place, command)
    left = [file for file in place.rglob("*") if ".ackclock" in file.name]
    assert not left, "files of a killed process stay"


def disturb(signals: list[int], seed: int, command: Command, place: Path, start: Start, whole: Undisturbed) -> None:
    """End a command by one signal after the other, let it end by itself, and check what it has written."""
    moments = random.Random(f"{seed} {command.line}")
    for each in signals:
        said = end(command, place, start, each, moments, whole.seconds)
        assert each == signal.SIGKILL or re.search(r"^error: interrupted", said, re.MULTILINE), said
    check_end(command, place, start, whole)


def test_killed_at_random_moments_and_after_ctrl_c_it_goes_on(
    command: Command, start: Start, fresh: Callable[[], Path], whole: Undisturbed
) -> None:
    disturb([signal.SIGKILL, signal.SIGINT, signal.SIGKILL], 0, command, fresh(), start, whole)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 16))
def test_killed_at_any_moment_it_goes_on(
    seed: int, command: Command, start: Start, fresh: Callable[[], Path], whole: Undisturbed
) -> None:
    disturb([signal.SIGKILL, signal.SIGKILL], seed, command, fresh(), start, whole)


def words(text: str) -> set[str]:
    """Return the words and numbers of a text, without rules."""
    return {word for word in text.split() if not set(word) <= {"─", "━"}}


def test_on_a_terminal_no_line_is_too_long_and_no_number_is_split(
    command: Command, start: Start, fresh: Callable[[], Path]
) -> None:
    place = fresh()
    wide = start(command, place, width=400, written=False).stdout
    for width in WIDTHS:
        done = start(command, place, width=width, written=False)
        assert re.search(command.answer, done.stdout), done.stdout
        assert words(done.stdout) <= words(wide)
        for line in [*done.stdout.splitlines(), *re.split(r"[\r\n]+", done.stderr)]:
            assert len(line.rstrip()) <= width or len(line.split()) == 1, line


def test_python_gives_what_the_command_writes_and_prints(
    command: Command, start: Start, fresh: Callable[[], Path], whole: Undisturbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fresh()
    monkeypatch.chdir(place)
    if command.before:
        monkeypatch.setattr(library, "places", library.places)
        monkeypatch.setattr(today, "QUICK_SEEDS", today.QUICK_SEEDS)
        every_command.own_papers()  # until the end of this test
    found = command.ask(jobs=1)
    wanted = {name: each for name, each in contents(whole.place, command).items() if not name.startswith("x-")}
    assert contents(place, command) == wanted, "but for the packets that `run` copies to files"
    printed = start(command, place, "--json", written=False)
    assert printed.returncode == whole.done.returncode, printed.stderr
    assert command.printed(json.loads(printed.stdout)) == json.loads(json.dumps(command.found(found)))


def options(function: Callable[..., Any]) -> set[str]:
    """Return the names of the options of a function or a command."""
    return set(inspect.signature(function).parameters) - OWN_OPTIONS


def callback(name: str) -> Callable[..., None]:
    """Return the function behind a command."""
    group, _, own = name.rpartition(" ")
    if not group:
        return program.COMMANDS[own]
    found = {each.name: each.callback for each in program.GROUPS[group].registered_commands}
    return found[own]  # type: ignore[return-value]


@pytest.mark.parametrize("name", NAMES)
def test_python_and_the_command_have_the_same_options(name: str) -> None:
    command = COMMANDS[name]
    ours, others = options(callback(name)), options(command.function)
    assert ours ^ others <= command.own, "an option that only one of them has"
    assert "json" in inspect.signature(callback(name)).parameters


def test_a_bad_value_is_one_message_and_writes_nothing(name: str, command: Command, start: Start, home: Path) -> None:
    taken = options(callback(name.partition(" in ")[0])) | OWN_OPTIONS
    shared = [" ".join(value) for option, value in SHARED.items() if option in taken]

    def files() -> set[Path]:
        # Python keeps the bytecode of a class beside its file.
        return {file for file in home.iterdir() if file.name != "__pycache__"}

    before = files()
    for value in (*shared, *command.bad):
        done = start(command, home, *value.split())
        assert (done.returncode, done.stdout) == (2, ""), (value, done.stderr)
        assert done.stderr.startswith("error: ") and done.stderr.count("error: ") == 1, (value, done.stderr)
        assert "Traceback" not in done.stderr
        assert files() == before, value
