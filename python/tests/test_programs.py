"""Stacks as programs by their names: the table of commands, messages, a transfer over aioquic if it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ackclock
from ackclock import linux
from ackclock.linux.programs import named, programs

from .conftest import Cli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs run behind a path on Linux only")

PATH = """\
duration = "60 s"

[topology]
kind = "dumbbell"
access = { rate = "1 Gbit/s", delay = "0 ms" }
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets" }

[[flow]]
name = "transfer"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a scenario file: 40 ms there and back, 10 Mbit/s."""
    file = tmp_path / "path.toml"
    file.write_text(PATH)
    return file


def test_every_program_of_the_table_says_how_it_is_installed_and_run() -> None:
    found = programs()
    assert {"aioquic", "ngtcp2", "picoquic", "quicly", "s2n-quic", "quic-go"} <= set(found)
    for name, program in found.items():
        assert program.name == name and program.about and program.install and program.check, name
        serve, get = program.lines(3_000_000, Path("/scratch"))
        # Braces of the shell would be mistaken for values.
        assert not re.search(r"[{}]", serve + get), name
        assert serve.startswith("mkdir -p /scratch && openssl ") and "/scratch/key.pem" in serve, name
        assert "3000000" in serve + get and "$ACKCLOCK_PEER" in get, name
        # What ends with the command must be the program and no shell above it.
        assert "exec " in serve and "exec " in get, name


def test_the_page_has_every_program_and_says_which_were_measured() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "quic.md").read_text(encoding="utf-8")
    for name, program in programs().items():
        [row] = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        assert (program.measured or "untried") in row, row


def test_an_unknown_name_is_answered_with_the_nearest(path: Path, cli: Cli) -> None:
    with pytest.raises(ValueError, match="--program: unknown program 'aioquick'; did you mean 'aioquic'"):
        named("aioquick")
    done = cli("emulate", path, "--program", "ngtcp3")
    assert done.returncode == 2 and "did you mean 'ngtcp2'" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "there is no command: write one after --, or name a stack, as in --program aioquic"),
        (("--program", "aioquic", "--", "true"), "--program aioquic: has a command, a peer and its ends of its own"),
        (("--program", "aioquic", "--peer", "true"), "--program aioquic: has a command"),
        (("--program", "aioquic", "--at", "sender"), "--program aioquic: has a command"),
        (("--program", "aioquic", "--size", "ten"), "--size 'ten': expected a size such as '1 MB'"),
        (("--program", "aioquic", "--output", "kept"), "--output kept: programs on machine write where they may"),
        (("--program", "aioquic", "--on", "lniux"), "did you mean linux?"),
        (("--size", "1 MB", "--", "true"), "--size 1 MB: only for --program"),
    ],
)
def test_what_does_not_go_together_is_named(path: Path, cli: Cli, words: tuple[str, ...], message: str) -> None:
    done = cli("emulate", path, *words)
    assert done.returncode == 2 and message in done.stderr


def test_what_is_not_installed_is_named_with_the_way_to_get_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    (tmp_path / "sh").symlink_to(shell)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"^--program quic-go is not installed: in a Go module: go get "):
        linux.emulate(ackclock.load(path), program="quic-go")


def test_aioquic_transfers_the_same_packets_in_every_run(path: Path) -> None:
    if lacking := named("aioquic").lacking:
        pytest.skip(lacking)
    try:
        runs = [linux.emulate(ackclock.load(path), program="aioquic", on="linux", capture=["r1>r2"]) for _ in range(2)]
    except ValueError as error:
        if "ackclock kernel build" not in str(error):
            raise
        pytest.skip(str(error))
    first, second = runs
    # 847 datagrams of 1228 bytes or more, after a round trip for the handshake and one for the request.
    assert first.code == 0 and 0.08 + 847 * 1228 * 8 / 1e7 <= first.elapsed_s < 1.3
    assert first.elapsed_s == second.elapsed_s
    assert first.core.pcapng(snaplen=None) == second.core.pcapng(snaplen=None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("program:ngtcp3", "--on", "linux"), "program:ngtcp3: unknown program 'ngtcp3'; did you mean 'ngtcp2'"),
        (("program:ngtcp2",), "ngtcp2 is a program, which runs only on a Linux kernel in virtual time: --on linux"),
        (("program:ngtcp2", "--on", "quic"), "ngtcp2 is a program, which runs only on a Linux kernel"),
    ],
)
def test_a_program_is_no_contender_everywhere(path: Path, cli: Cli, words: tuple[str, ...], message: str) -> None:
    done = cli("compare", "reno", *words, "--paths", path, "--size", "1 MB", "--no-harm")
    assert done.returncode == 2 and message in done.stderr


@pytest.fixture
def transfer() -> str:
    """Return a program that is installed, where a kernel in virtual time is built."""
    if not (found := next((name for name, program in programs().items() if not program.lacking), None)):
        pytest.skip("no program of the table is installed")
    try:
        linux.find("linux")
    except ValueError as error:
        pytest.skip(str(error))
    return found


@pytest.mark.parametrize(
    ("words", "more", "message"),
    [
        (("--no-harm",), "", "transfer is a program, which transfers a size: add size, as in --size '1 MB'"),
        (("--size", "1 MB"), "", "transfers a size, so that no run of endless flows can have it: add --no-harm"),
        (("--size", "1 MB", "--no-harm"), "[[flow]]\nname = 'another'", "2 flows are programs, and only one can be"),
    ],
)
def test_what_a_program_cannot_do_as_a_contender(
    transfer: str, path: Path, cli: Cli, words: tuple[str, ...], more: str, message: str
) -> None:
    path.write_text(PATH + more)
    done = cli("compare", "reno", f"program:{transfer}", "--paths", path, "--on", "linux", *words)
    assert done.returncode == 2 and message in done.stderr


def test_a_program_competes_with_controls_of_the_same_kernel(transfer: str, path: Path) -> None:
    path.write_text(PATH + "[[flow]]\nname = 'rival'\nhost = 'linux'\nstart = '200 ms'\n")
    path.write_text(path.read_text().replace('"transfer"', '"tested"\nstart = "100 ms"'))
    name = f"program:{transfer}"
    found = ackclock.compare("cubic", name, paths=[path], size="1 MB", harm=False, on="linux", seeds=2)
    rows = {row["contender"]: row for row in found.table.to_dicts()}
    least = 8e6 / 10e6 + 0.04
    assert all(least < row["completion"] < 10 * least and row["finished"] == 1 for row in rows.values()), rows
    assert rows[name]["resent"] is None and rows["cubic"]["resent"] is not None
    assert not [each for each in found.warnings if "delivered no data" in each]
    # The program's packets wait in the queue like others.
    assert 0 < rows[name]["sojourn_p95"] < 0.1


def test_worlds_load_no_tables_before_a_run() -> None:
    code = "import sys, ackclock.linux.worlds; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
