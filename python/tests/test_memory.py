"""Memory to read a wrong file: at most 20 times its size, or 64 MB, whatever it holds."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

from ackclock import Scenario, ScenarioError, load
from ackclock.files import limits, reading, toml
from ackclock.packetdrill.running import Script, Settings, run_one

from .conftest import Cli

linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's peak of memory")

PROGRAM = """if True:
    import os, re, sys
    from pathlib import Path
    import polars
    import ackclock
    from ackclock import Scenario
    from ackclock.files import limits, reading, tables, toml
    from ackclock.packetdrill.running import Script, Settings, run_one
    from ackclock.tuning import schema

    def held(word):
        return int(re.search(word + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

    def page(path):
        application = {"kind": "web", "har": str(path)}
        return Scenario(duration="1 s", flow=[{"profile": "modern", "application": application}])

    def population(path):
        return Scenario(duration="1 s", flow=[{}], sweep={"paths": {"file": str(path)}}).sweep_points()

    readers = {
        "scenario": ackclock.load,
        "tuning": schema.read,
        "claims": lambda path: toml.read(path, limits.most("claims")),
        "paper": lambda path: toml.read(path, limits.most("paper")),
        "har": page,
        "csv": population,
        "script": lambda path: run_one(Script(path, path.name), Settings()),
        "manifest": reading.read_json,
    }
    read = readers[sys.argv[1]]

    def measure(path):
        Path("/proc/self/clear_refs").write_text("5")
        before, message = held("VmRSS"), ""
        try:
            read(path)
        except (ValueError, OSError) as error:
            message = str(error).splitlines()[0]
        print(held("VmHWM") - before, message, flush=True)

    for path in map(Path, sys.argv[2:]):
        if sys.argv[1] == "csv":
            # What polars needs whatever the file is loaded before; its threads do not survive a fork.
            small = path.with_name("small.csv")
            small.write_text("seed\\n1\\n")
            population(small)
            measure(path)
        elif child := os.fork():
            os.waitpid(child, 0)
        else:
            measure(path)
            os._exit(0)
"""


def peaks(reader: str, paths: list[Path]) -> list[tuple[float, str]]:
    """Return the memory in bytes that a reader takes for each file, and its message."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, reader, *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found = [line.partition(" ") for line in done.stdout.splitlines()]
    assert len(found) == len(paths), done.stderr
    return [(float(taken), message) for taken, _, message in found]


def numbered(text: str, size: int) -> str:
    """Return repetitions of a text, in which § is a number."""
    parts, length = [], 0
    for number in itertools.count():
        if length >= size:
            return "".join(parts)
        parts.append(text.replace("§", f"{number:x}"))
        length += len(parts[-1])
    raise AssertionError


def repeated(start: str, text: str, end: str = "") -> Callable[[int], str]:
    """Return the function that makes a text of a size."""
    return lambda size: start + (numbered(text, size) if "§" in text else text * (size // len(text))) + end


TOML = {
    "numbers": repeated("a = [", "1,", "]\n"),
    "values of a sweep": repeated('duration = "1 s"\n[[flow]]\n[sweep]\nseed = [', "1,", "]\n"),
    "texts": repeated("a = [", '"",', "]\n"),
    "lists": repeated("a = [", "[" * 20 + "]" * 20 + ",", "]\n"),
    "inline tables": repeated("a = [", "{a=1},", "]\n"),
    "inline tables with dotted keys": repeated("a = [", "{a" + ".a" * 20 + "=1},", "]\n"),
    "short keys": repeated("", "x§=1\n"),
    "dotted keys": repeated("", "x§" + ".a" * 20 + "=1\n"),
    "headers": repeated("", "[x§" + ".a" * 20 + "]\n"),
    "tables in a list": repeated("", "[[a]]\n"),
    "flows": repeated("[[flow]]\nstart = 1\n", '[[flow]]\nstart = "1 s"\nrwnd = "20 packets"\n'),
    "lines": repeated("", "\n"),
    "comments": repeated("", "#\n"),
    "errors": repeated("", "=!"),
    "open brackets": repeated("a = ", "["),
    "a text": repeated('a = "', "x", '"\n'),
}
ENTRY = '{"startedDateTime": "2026-01-01T10:00:00Z", "request": {"url": "http://a§/"}, "response": {"status": 1}},'
JSON = {
    "numbers": repeated('{"x": [', "1,", "1]}"),
    "lists": repeated('{"x": [', "[],", "1]}"),
    "tables": repeated('{"x": [', '{"":1},', "1]}"),
    "keys": repeated('{"x": {', '"§":1,', '"x":1}}'),
    "entries": repeated('{"log": {"entries": [', ENTRY, "{}]}}"),
    "empty entries": repeated('{"log": {"entries": [', "{},", "{}]}}"),
}
CSV = {
    "one column": repeated("seed\n", "1\n"),
    "three columns": repeated("seed,name,duration\n", "1,1,1\n"),
    "empty cells": repeated("seed,name,duration\n", ",,\n"),
    "columns": repeated("", "x§,", "x\n1\n"),
    "columns without a name": repeated("", ",", "\n1\n"),
}
SCRIPT = {
    "sockets": repeated("", "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"),
    "lines": repeated("", "\n"),
    "calls": repeated("", "0 a(1)=1\n"),
    "lists": repeated("0 a([", "[],", "1])=0\n"),
    "packets": repeated("", "0 < S 0:0(0) win 1\n"),
    "options": repeated("", "0 < . 0:0(0) win 1 <" + "nop," * 39 + "nop>\n"),
    "code": repeated("", "0 %{ a = [1,1] }%\n"),
    "definitions": lambda size: "--define A=" + "x" * (size // 2) + "\n0 a(" + "A," * (size // 4) + "1)=0\n",
}
READERS = {
    "scenario": TOML,
    "tuning": TOML,
    "claims": TOML,
    "paper": TOML,
    "har": JSON,
    "manifest": JSON,
    "csv": CSV,
    "script": SCRIPT,
}
CASES = [pytest.param(name, marks=[pytest.mark.long] if name == "claims" else []) for name in READERS]
"""The readers; `paper` reads as `claims` does."""
SIZES = (250_000, 3_900_000)
"""Sizes in bytes: of files that are read, and of files of which some are refused."""
BETWEEN = (120_000, 990_000)
"""More sizes, for `make test-long`."""


@linux
@pytest.mark.parametrize("sizes", [SIZES, pytest.param(BETWEEN, marks=pytest.mark.long)], ids=["ends", "between"])
@pytest.mark.parametrize("reader", CASES)
def test_a_file_takes_no_more_memory_than_the_limit(reader: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    suffix = {"csv": ".csv", "har": ".har"}.get(reader, ".toml")
    sizes = sizes[-1:] if reader == "csv" else sizes
    paths = []
    for kind, size in itertools.product(READERS[reader], sizes):
        paths.append((tmp_path / f"{kind} {size}").with_suffix(suffix))
        paths[-1].write_text(READERS[reader][kind](size))
    found = [peaks(reader, [path])[0] for path in paths] if reader == "csv" else peaks(reader, paths)
    for path, (taken, message) in zip(paths, found, strict=True):
        size = path.stat().st_size
        most = max(limits.most("memory"), limits.most("memory_times") * size)
        assert taken < most, f"{path.stem}: {taken / 1e6:.0f} MB, {taken / size:.1f} times the file: {message}"


def test_messages_of_dense_files_name_the_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "dense.toml").write_text('duration = "1 s"\n[flow]\n[sweep]\nseed = [' + "1," * 200_000 + "]\n")
    done = cli("check", "dense.toml")
    assert done.returncode == 2
    assert "dense.toml:4: the values up to this line take 64 MB of memory to read" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = cli("tune", "dense.toml")
    assert done.returncode == 2
    assert "dense.toml: line 4: the values up to this line take 64 MB" in done.stderr
    with pytest.raises(ValueError, match="nested too deeply"):
        toml.parse("a = " + "[" * 3_000, "deep.toml")
    with pytest.raises(reading.DamagedError, match="line 1: the values up to this line take"):
        reading.parsed("[" + "[]," * 1_000_000 + "[]]", tmp_path / "manifest.json")


def test_large_files_are_read(tmp_path: Path) -> None:
    seeds = ", ".join(map(str, range(1, 100_001)))
    file = tmp_path / "sweep.toml"
    file.write_text(f'duration = "1 s"\n[flow]\n[sweep]\nseed = [{seeds}]\n')
    assert len(load(file).sweep_points()) == 100_000
    starts = ",\n".join(f'  "{number} ms"' for number in range(100_000))
    file.write_text(f'duration = "1 s"\n[flow]\n[sweep]\n"flow.start" = [\n{starts}\n]\n')
    assert len(load(file).sweep_points()) == 100_000
    arrivals = {"rate": "5000 per s", "size": {"mean": "1 kB"}}
    scenario = Scenario(duration="1 s", flow=[{"arrivals": arrivals}])
    file.write_text(scenario.expanded())
    assert file.stat().st_size > 2e6
    assert len(load(file).flows) == len(scenario.flows)
    assert len(toml.read(file)["flow"]) == len(scenario.flows)


def test_the_time_of_a_script_grows_with_its_length(tmp_path: Path) -> None:
    turns = "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 close(3) = 0\n"

    def seconds(count: int) -> float:
        file = tmp_path / "sockets.pkt"
        file.write_text(turns * count)
        start = time.perf_counter()
        assert run_one(Script(file, file.name), Settings()).outcome.verdict == "passed"
        return time.perf_counter() - start

    few = min(seconds(900) for _ in range(3))
    # Sixteen times the lines; in quadratic time up to 256 times the time.
    assert seconds(14_400) < 80 * max(few, 0.001)


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [(1, 1_001, "has 1,001 columns; the limit is 1,000"), (40_000, 501, "has 40,000 rows of 501 columns")],
)
def test_a_small_file_of_many_cells_is_refused(rows: int, columns: int, message: str, tmp_path: Path) -> None:
    name = tmp_path / "paths.parquet"
    polars.select(polars.repeat(1, rows).alias(f"c{number}") for number in range(columns)).write_parquet(name)
    assert name.stat().st_size < 1e6
    scenario = Scenario(duration="1 s", flow=[{}], sweep={"paths": {"file": str(name)}})
    with pytest.raises(ScenarioError, match=message):
        scenario.sweep_points()
