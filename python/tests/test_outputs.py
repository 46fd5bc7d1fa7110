"""Every option that names an output, against every place that it must not destroy."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
import threading
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from typer.models import OptionInfo

from ackclock.cli import app as program

from .conftest import FIRST, SWEEP
from .every_command import SUITE

SCRIPT = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n0 close(3) = 0\n"
TUNING = """\
scenario = "first.toml"
[parameters]
"flow.rwnd" = { from = "10 packets", to = "20 packets" }
[objective]
maximise = "goodput_bps"
[training]
seeds = { from = 1, to = 2 }
"""


@dataclass(frozen=True)
class Output:
    """An option that names an output.

    Attributes
    ----------
    command : str
        The command with everything but the option.
    inputs : tuple of str
        Files that the command reads, below the working directory.
    suffix : str
        Ending of the file; a directory has none.
    force : bool
        Whether the command has the option ``--force``.
    any_folder : bool
        Whether a directory with files of the user is a place to write into.
    tail : str
        What follows the options.
    """

    command: str
    inputs: tuple[str, ...] = ("first.toml",)
    suffix: str = ""
    force: bool = False
    any_folder: bool = False
    tail: str = ""


FILES = {
    ("run", "--pcap"): Output("run first.toml", suffix=".pcapng", force=True),
    ("kernel run", "--pcap"): Output("kernel run first.toml", suffix=".pcapng", force=True),
    ("run", "--qlog"): Output("run first.toml", suffix=".qlog", force=True),
    ("kernel run", "--qlog"): Output("kernel run first.toml", suffix=".qlog", force=True),
    ("gate", "--junit"): Output(
        "gate ran --against ran", ("ran/manifest.json", "ran/flows.parquet"), ".xml", force=True
    ),
    ("gate", "--markdown"): Output("gate ran --against ran", ("ran/manifest.json",), ".md", force=True),
    ("conform", "--junit"): Output("conform suite.toml", ("suite.toml",), ".xml", force=True),
    ("conform", "--markdown"): Output("conform suite.toml", ("suite.toml",), ".md", force=True),
    ("script", "--junit"): Output("script one.pkt", ("one.pkt",), ".xml", force=True),
    ("query", "--out"): Output("query swept --format csv", ("swept/runs/000001.parquet",), ".csv", force=True),
    ("trace", "--out"): Output("trace path.csv", ("path.csv",), ".csv", force=True),
    ("report", "--out"): Output("report ran", ("ran/manifest.json", "ran/scenario.toml"), ".html", force=True),
    ("emulate", "--pcap"): Output("emulate first.toml", suffix=".pcapng", force=True, tail=" -- true"),
    ("model", "--plot"): Output("model mathis --over ran --x rtt=min_rtt", ("ran/flows.parquet",), ".png", force=True),
}
FOLDERS = {
    ("run", "--out"): Output("run first.toml"),
    ("kernel run", "--out"): Output("kernel run first.toml"),
    ("sweep", "--out"): Output("sweep sweep.toml", ("sweep.toml",)),
    ("paper", "--out"): Output("paper icw --quick"),
    ("papers", "--out"): Output("papers --quick"),
    ("matrix", "--out"): Output(
        "matrix --slow-start standard --avoidance reno --loss-response halve --recovery sack --paths clean --seeds 1"
    ),
    ("conform", "--out"): Output("conform suite.toml", ("suite.toml",)),
    ("compare", "--out"): Output("compare reno cubic --paths first.toml --seeds 2"),
    ("kernel compare", "--out"): Output("kernel compare first.toml"),
    ("tune", "--out"): Output("tune tune.toml --trials 1", ("tune.toml", "first.toml")),
    ("serve", "--export"): Output("serve first.toml"),
    ("plot", "--out"): Output("plot ran", ("ran/manifest.json",), any_folder=True),
    ("script", "--trace"): Output("script one.pkt", ("one.pkt",), any_folder=True),
    ("emulate", "--output"): Output("emulate first.toml --on linux", any_folder=True, tail=" -- true"),
}
INPUTS = {("gate", "--against"), ("model", "--over"), ("kernel build", "--with")}
ALL = [*FILES, *FOLDERS]
TABLES = ("query", "trace")
"""Commands that write tables, which do not name the program."""


def commands() -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield every command with its function."""
    yield from program.COMMANDS.items()
    for group, commands in program.GROUPS.items():
        for command in commands.registered_commands:
            assert command.callback is not None
            yield f"{group} {command.name}", command.callback


def paths(callback: Callable[..., None]) -> Iterator[str]:
    """Yield the options of a command that name a path."""
    hints = typing.get_type_hints(callback, include_extras=True)
    for name in signature(callback).parameters:
        kind, info = typing.get_args(hints[name])
        if isinstance(info, OptionInfo) and kind in (Path, Path | None, list[Path], list[Path] | None):
            declared = [info.default, *(info.param_decls or ())]
            yield next((text for text in declared if isinstance(text, str) and text.startswith("--")), f"--{name}")


def test_every_option_that_names_a_path_is_an_input_or_an_output() -> None:
    found = {(name, option) for name, callback in commands() for option in paths(callback)}
    assert found == {*FILES, *FOLDERS, *INPUTS}
    forces = {name for name, callback in commands() if "force" in signature(callback).parameters}
    # `kernel build` replaces nothing but a kernel of its own in the cache.
    assert forces == {name for name, _ in FILES} | {"plot", "kernel build"}


Call = Callable[[str], tuple[int, str, str]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with scenario files, a script, a tuning, a run and a dataset."""
    place = tmp_path_factory.mktemp("stores")
    (place / "first.toml").write_text(FIRST.replace('"5 s"', '"200 ms"'))
    (place / "sweep.toml").write_text(SWEEP.replace('"5 s"', '"200 ms"'))
    (place / "one.pkt").write_text(SCRIPT)
    (place / "suite.toml").write_text(SUITE.partition('[[clause]]\nid = "triples"')[0])
    (place / "tune.toml").write_text(TUNING)
    (place / "path.csv").write_text("time (s),loss (%)\n0,1\n1,0\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for line in ("run first.toml --record cwnd --out ran", "sweep sweep.toml --out swept"):
            patch.setattr(sys, "argv", ["ackclock", *line.split()])
            with pytest.raises(SystemExit) as ended:
                program.main()
            assert ended.value.code == 0
    return place


@pytest.fixture
def call(
    stores: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Call:
    """Return a function that runs a command line in this process, beside a copy of the stores."""
    monkeypatch.chdir(shutil.copytree(stores, tmp_path_factory.mktemp("copy") / "stores"))
    monkeypatch.setenv("NO_COLOR", "1")

    def run(line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ackclock", *line.split()])
        with pytest.raises(SystemExit) as ended:
            program.main()
        out, err = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


def state(place: Path) -> dict[str, Any]:
    """Return everything below a directory: kind, permissions, number, and content or target."""
    found: dict[str, Any] = {}
    for path in sorted(place.rglob("*")):
        known = path.lstat()
        content = path.readlink() if path.is_symlink() else path.read_bytes() if stat.S_ISREG(known.st_mode) else None
        found[str(path.relative_to(place))] = (known.st_mode, known.st_ino, content)
    return found


def obstacles(place: Path, output: Output, *, file: bool) -> Iterator[tuple[str, bool]]:
    """Make targets; yield each, and whether it stays refused with ``--force``."""
    place.mkdir()
    ending = output.suffix
    for read in output.inputs:
        yield read, True
    for number, read in enumerate(output.inputs):
        link = place / f"input{number}{ending}"
        link.symlink_to(Path.cwd() / read)
        yield str(link), True
    mine = place / f"mine{ending}"
    mine.write_text("mine")
    yield str(mine), not file
    (place / f"link{ending}").symlink_to(mine.name)
    yield str(place / f"link{ending}"), not file
    (place / f"dangling{ending}").symlink_to("nowhere/file")
    yield str(place / f"dangling{ending}"), True
    (place / f"loop{ending}").symlink_to(f"loop{ending}")
    yield str(place / f"loop{ending}"), True
    yield str(mine / f"below{ending}"), True
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place / f"socket{ending}"))
    yield str(place / f"socket{ending}"), True
    if file:
        (place / f"folder{ending}").mkdir()
        yield str(place / f"folder{ending}"), True
        yield str(place / "nowhere" / f"file{ending}"), True
        yield "swept/manifest.json", True
        yield "swept/runs/000001.parquet", True
        yield "swept/lock", True
        return
    os.mkfifo(place / "pipe")
    yield str(place / "pipe"), True
    if os.geteuid() == 0:
        os.mknod(place / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        yield str(place / "device"), True
    yield "-", True
    if not output.any_folder:
        (place / "theirs").mkdir()
        (place / "theirs" / "file").write_text("mine")
        yield str(place / "theirs"), True
        yield "swept" if "sweep " not in output.command else "ran", True


@pytest.mark.parametrize(("command", "option"), ALL)
def test_a_refused_place_is_unchanged(command: str, option: str, call: Call, tmp_path: Path) -> None:
    output = FILES.get((command, option)) or FOLDERS[command, option]
    for target, always in obstacles(tmp_path / "o", output, file=(command, option) in FILES):
        for force in [""] if not output.force else [""] + [" --force"] * always:
            before = (state(tmp_path), state(Path.cwd()))
            arguments = f"{output.command} {option} {target}{force}{output.tail}"
            code, _, err = call(arguments)
            assert (code, err.count("error: ")) == (2, 1), (arguments, err)
            assert "Traceback" not in err
            assert (state(tmp_path), state(Path.cwd())) == before, arguments


FAST = [each for each in FILES if each[0] not in ("kernel run", "emulate")]


@pytest.mark.parametrize(("command", "option"), FAST)
def test_files_pipes_and_devices_are_written_to(command: str, option: str, call: Call, tmp_path: Path) -> None:
    output = FILES[command, option]
    line = f"{output.command} {option}"
    new, mine, link = (tmp_path / f"{name}{output.suffix}" for name in ("new", "mine", "link"))
    link.symlink_to(new.name)
    for target in (new, new, link, link) if command not in TABLES else (new, link):
        new.unlink() if command in TABLES and target == link else None
        code, _, err = call(f"{line} {target}")
        assert code == 0, err
        assert link.is_symlink()
    wanted = new.read_bytes()
    assert wanted
    mine.write_text("mine")
    assert call(f"{line} {mine} --force")[0] == 0
    assert len(mine.read_bytes()) == len(wanted)
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    code, _, err = call(f"{line} {tmp_path / 'pipe'}")
    reader.join()
    assert code == 0, err
    assert len(read[0]) == len(wanted)
    assert (tmp_path / "pipe").is_fifo()
    if os.geteuid() == 0:
        os.mknod(tmp_path / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        assert call(f"{line} {tmp_path / 'device'} --force")[0] == 0
        assert (tmp_path / "device").is_char_device()


def test_two_outputs_are_two_files(call: Call, tmp_path: Path) -> None:
    (tmp_path / "link.xml").symlink_to("one.xml")
    one, link = tmp_path / "one.xml", tmp_path / "link.xml"
    for line in (
        f"gate ran --against ran --junit {one} --markdown {link}",
        "gate ran --against ran --junit - --markdown /dev/stdout",
        f"script one.pkt --trace {tmp_path} --junit {tmp_path / 'one.qlog'}",
        f"run first.toml --out {one} --pcap {one}",
    ):
        code, _, err = call(line)
        assert (code, err.count("error: ")) == (2, 1), (line, err)
        assert [path.name for path in tmp_path.iterdir()] == ["link.xml"], line
    assert call("gate ran --against ran --junit /dev/null --markdown /dev/null")[0] == 0


def test_standard_output_gets_the_file_alone(call: Call, tmp_path: Path) -> None:
    for (command, option), output in FILES.items():
        # Standard output of `emulate` is the command's.
        if command not in ("kernel run", "emulate"):
            code, out, err = call(f"{output.command} {option} -")
            assert code == 0, err
            assert out, (command, option)
            assert not Path("-").exists()
    assert call("report ran --out -")[1].startswith("<!doctype html>")
    assert "--open" in call("report ran --out - --open")[2]
