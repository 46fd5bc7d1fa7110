"""Endless input and oversized scenarios: one message and exit code 2, before memory runs out."""

from __future__ import annotations

import os
import subprocess
import sys
import typing
from inspect import signature
from pathlib import Path

import pytest
from typer.models import OptionInfo

from ackclock import Scenario, ScenarioError, load, sweep
from ackclock.files import limits, toml

from .conftest import SWEEP, Cli, needs_unix
from .test_outputs import commands

LIMITED = "ulimit -v 3000000"


def limited(line: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command under a memory limit; ACKCLOCK in it stands for the program."""
    needs_unix()
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
    assert "not a text file" in done.stderr or "larger than the limit of 32 MB" in done.stderr


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


PAPER = {
    f"papers/one/{file.name}": file.read_text()
    for file in (Path(__file__).parents[2] / "papers" / "ass").glob("*.toml")
    if file.name != "claims.toml"
}
SCENARIO = 'duration = "1 s"\n[[flow]]\nprofile = "modern"\n'


@pytest.mark.parametrize(
    ("name", "limit", "command", "others"),
    [
        ("large.toml", "scenario", "run large.toml", {}),
        ("large.pkt", "script", "script large.pkt", {}),
        ("large.toml", "tuning", "tune large.toml", {}),
        ("papers/one/paper.toml", "paper", "paper one", {}),
        ("papers/one/claims.toml", "claims", "paper one", PAPER),
        (
            "large.har",
            "har",
            "check s.toml",
            {"s.toml": SCENARIO + 'application = { kind = "web", har = "large.har" }\n'},
        ),
        ("large.csv", "table", "sweep s.toml --out o", {"s.toml": SCENARIO + '[sweep.paths]\nfile = "large.csv"\n'}),
    ],
)
def test_a_file_over_its_limit_is_refused_at_once(
    name: str, limit: str, command: str, others: dict[str, str], cli: Cli, tmp_path: Path
) -> None:
    for other, text in others.items():
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).write_text(text)
    large = tmp_path / name
    large.parent.mkdir(parents=True, exist_ok=True)
    with large.open("wb") as file:
        file.truncate(limits.most(limit) + 100_000)
    done = cli(*command.split())
    most = limits.most(limit) / 1e6
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert name in line
    assert f"{most + 0.1:.1f} MB" in line
    assert f"limit {'of' if limit != 'har' else 'is'} {most:.0f} MB" in line


def test_a_long_wrong_file_takes_little_memory() -> None:
    program = """if True:
        import resource
        from ackclock import ScenarioError, _core

        def peak() -> int:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

        text = 'duration = "1 s"\\n' + "[[flow]]\\nfoo = 1\\n" * 90_000
        before = peak()
        try:
            _core.Scenario.from_toml(text, "wrong.toml")
        except ScenarioError as error:
            print((peak() - before) / len(text), str(error).splitlines()[20:])
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    times, _, rest = done.stdout.partition(" ")
    assert rest == "['… and 89980 more']\n"
    # The limit is 64 MB for this text of 1.6 MB; when wrong tables were kept, they took 1,300 times the text.
    assert float(times) < 39


@pytest.mark.parametrize(("command", "seed"), [("run", 2**70), ("emulate", 2**64), ("kernel run", -1)])
def test_a_seed_out_of_range(command: str, seed: int, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    done = cli(*command.split(), "s.toml", "--seed", str(seed))
    assert done.returncode == 2
    assert "'--seed'" in done.stderr
    assert ("18446744073709551615" if seed > 0 else "0") in done.stderr


def test_every_whole_number_of_the_command_line_has_bounds() -> None:
    found = 0
    for name, callback in commands():
        hints = typing.get_type_hints(callback, include_extras=True)
        for parameter in signature(callback).parameters:
            kind, info = typing.get_args(hints[parameter])
            if isinstance(info, OptionInfo) and kind in (int, int | None):
                assert info.min is not None, (name, parameter)
                assert info.max is not None, (name, parameter)
                assert info.max < 2**64, (name, parameter)
                found += 1
    assert found > 15


@pytest.mark.parametrize("option", ["--seeds", "--max-events", "--at-most", "--jobs"])
def test_a_huge_number_names_its_option(option: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    done = cli("sweep", "sweep.toml", "--out", "o", option, str(2**70))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"'{option}'" in line
    assert not (tmp_path / "o").exists()


def test_a_number_of_seeds_beyond_any_index_is_refused(tmp_path: Path) -> None:
    scenario = Scenario(duration="1 ms", flow=[{}], sweep={"flow.rwnd": ["5 packets", "6 packets"]})
    with pytest.raises(ValueError, match="runs are too many"):
        sweep(scenario, tmp_path / "o", seeds=2**70)


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
