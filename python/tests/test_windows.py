"""Commands under the rules of Windows for files, which `tests.windows` applies on Linux."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ackclock.files import built

from . import every_command
from .commandline import CommandLine
from .conftest import Cli
from .every_command import COMMANDS

if sys.platform != "linux":
    pytest.skip("the rules of Windows are simulated on Linux", allow_module_level=True)

Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ask(tmp_path: Path, command_line: CommandLine) -> Ask:
    """Return a function that runs a command under the rules; options are those of `CommandLine.run`."""
    every_command.prepare(tmp_path)

    def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "NO_COLOR": "1"}
        return command_line.run([*words], tmp_path, environment, before="tests.windows:rules", **options)

    return run


@pytest.fixture
def done(ask: Ask) -> Ask:
    """Return a function that runs a command under the rules, and asserts that it succeeds."""

    def run(line: str, *words: str) -> subprocess.CompletedProcess[str]:
        ended = ask(*line.split(), *words)
        assert ended.returncode == 0, ended.stderr
        return ended

    return run


def temporary(place: Path) -> list[Path]:
    """Return the temporary files that are left."""
    return [path for path in place.rglob("*") if ".ackclock" in path.name]


def under_the_rules(program: str, place: Path) -> None:
    """Run a program of Python under the rules."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    begin = "from pathlib import Path\nfrom tests import windows\nwindows.rules()\n"
    subprocess.run([sys.executable, "-c", begin + program], cwd=place, env=environment, check=True, timeout=60)


def test_the_rules_are_those_of_windows(tmp_path: Path) -> None:
    program = """
file = Path("folder", "file")
file.parent.mkdir()
file.write_bytes(b"")
for refused in (file.unlink, lambda: file.replace("other"), lambda: file.parent.rename("x")):
    with file.open():
        try:
            refused()
        except PermissionError:
            continue
    raise SystemExit(f"{refused} is not refused")
file.replace("other")
"""
    under_the_rules(program, tmp_path)


def test_a_file_is_replaced_when_its_reader_is_done(tmp_path: Path) -> None:
    program = """
import threading
from ackclock.files import storage
file = Path("file")
storage.write_text(file, "first")
reader = file.open()
threading.Timer(0.2, reader.close).start()
storage.write_text(file, "second")
assert file.read_text(encoding="utf-8") == "second"
"""
    under_the_rules(program, tmp_path)


@pytest.mark.parametrize("name", ["run", "sweep", "compare", "paper"])
def test_a_killed_command_goes_on(name: str, ask: Ask, done: Ask, tmp_path: Path) -> None:
    words = COMMANDS[name].words
    killed = ask(*words, ending=(signal.SIGKILL, 0.4))
    assert killed.returncode in (-signal.SIGKILL, 0), killed.stderr
    answer = done(*words).stdout
    assert done(*words).stdout == answer, "all of it is stored"
    assert not temporary(tmp_path)


def test_output_has_the_same_bytes_as_elsewhere(done: Ask, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").rename(tmp_path / "λ.toml")
    for line in ("check λ.toml", "compare --help"):
        assert done(line).stdout == cli(*line.split()).stdout


def test_a_run_is_replaced_and_drawn(done: Ask, tmp_path: Path) -> None:
    for _ in range(2):
        done("run scenario.toml --record cwnd --out o --pcap a.pcap")
        done("plot o --out cwnd.png")
        (tmp_path / "o" / "notes.txt").write_text("mine", encoding="utf-8")
    assert (tmp_path / "o" / "notes.txt.old").exists() is False
    assert (tmp_path / "o" / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert not temporary(tmp_path)


def test_a_sweep_is_changed_queried_and_reported(done: Ask, tmp_path: Path) -> None:
    for seeds in ("3", "2"):
        done("sweep sweep.toml --out o --seeds", seeds)
        assert str(6 * int(seeds)) in done("query o", "SELECT count(*) FROM runs").stdout
        done("report o --out report.html")
    assert not temporary(tmp_path)


def test_the_playground_is_written(done: Ask, tmp_path: Path) -> None:
    if not (built.PAGE / "index.html").is_file():
        pytest.skip("no page was built: make page")
    for _ in range(2):
        done("serve --export page")
    assert (tmp_path / "page" / "index.html").is_file()
    assert not temporary(tmp_path)
