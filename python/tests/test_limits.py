"""Endless input and oversized scenarios: one message and exit code 2, before memory runs out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock import Scenario, ScenarioError, load
from ackclock.files import toml

from .conftest import Cli

LIMITED = "ulimit -v 3000000"


def limited(line: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command under a memory limit; ACKCLOCK in it stands for the program."""
    # Each thread of a library reserves address space.
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    line = f"{LIMITED}; " + line.replace("ACKCLOCK", f'"{sys.executable}" -m ackclock')
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, cwd=place, timeout=120, check=False, env=environment
    )


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize("line", ["ACKCLOCK run /dev/zero", "yes '# no end' | ACKCLOCK check /dev/stdin"])
def test_a_scenario_without_end(line: str, tmp_path: Path) -> None:
    done = limited(line, tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "not a text file" in done.stderr or "larger than 256 MB" in done.stderr


def test_texts_are_read_up_to_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(b"a = 1\r\nb = 2\r")
    assert toml.read_text(file) == "a = 1\nb = 2\n"
    assert toml.read_text(file, 13) == "a = 1\nb = 2\n"
    with pytest.raises(ValueError, match="larger than"):
        toml.read_text(file, 12)
    file.write_bytes("µ".encode() * (toml.CHUNK // 2) + b"x" + "µ".encode() * toml.CHUNK)
    assert toml.read_text(file).count("µ") == toml.CHUNK // 2 + toml.CHUNK, "pieces end inside of characters"
    for content, message in ((b"a\0", "NUL"), (b"a\xff", "UTF-8"), ("µ".encode()[:1], "UTF-8")):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            toml.read_text(file)
        with pytest.raises(ScenarioError, match=message):
            load(file)


def test_files_of_a_scenario_are_regular(cli: Cli, tmp_path: Path) -> None:
    flow = '[[flow]]\nprofile = "modern"\napplication = { kind = "web", har = "HAR" }\n'
    os.mkfifo(tmp_path / "pipe")
    for har in ("/dev/zero", "pipe"):
        (tmp_path / "s.toml").write_text(f'duration = "1 s"\n{flow}'.replace("HAR", har))
        done = cli("check", "s.toml")
        assert done.returncode == 2
        assert f"{har} is not a regular file" in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="free memory is known on Linux only")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[topology]\nkind = "dumbbell"\npairs = 2000000\n[flow]\n',
            "topology: with 8000002 links and 1 flow needs about",
        ),
        ("[flow]\ncount = 2000000\n", "topology: with 2000000 flows needs about"),
        (
            '[flow]\narrivals = { rate = "1e9 per s", size = { mean = "1 kB" } }\n',
            "flow.0.arrivals: with about 1000000 flows needs",
        ),
    ],
)
def test_a_scenario_that_does_not_fit_into_memory(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text(f'duration = "1 ms"\n{text}')
    done = limited("ACKCLOCK run large.toml", tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_scenario_that_fits_is_built() -> None:
    assert len(Scenario(duration="1 ms", topology={"kind": "dumbbell", "pairs": 1000}, flow=[{}]).links) == 4002
