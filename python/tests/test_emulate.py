"""`ackclock emulate`: programs behind a path, and what remains of them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock
from ackclock import linux

from .conftest import Cli

PATH = """\
duration = "1 s"

[topology]
kind = "chain"
access = { rate = "1 Gbit/s", delay = "0 ms" }
bottleneck = { rate = "1 Mbit/s", delay = "30 ms", queue = { kind = "droptail", limit = "10 packets" } }

[[flow]]
name = "download"
"""
CROSS = """
[[flow]]
name = "noise"
application = { kind = "cbr", rate = "500 kbit/s" }
"""
# Prints the shortest of three times in which a connection opens.
CONNECT = """
import os, socket, time
def once():
    began = time.monotonic()
    socket.create_connection((os.environ["ACKCLOCK_PEER"], 8000)).close()
    return time.monotonic() - began
print(min(once() for _ in range(3)))
"""
SERVE = f"exec {sys.executable} -m http.server 8000"
# Sends 100 datagrams of 1000 bytes at once.
BLAST = """
import os, socket
target = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(100):
    target.sendto(bytes(1000), (os.environ["ACKCLOCK_PEER"], 9))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a scenario file: 60 ms there and back, 1 Mbit/s, room for 10 packets."""
    file = tmp_path / "path.toml"
    file.write_text(PATH)
    return file


@pytest.fixture
def start(path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that starts the command in a process group of its own, and waits for a line of its output."""

    def run(*command: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "ackclock", "emulate", str(path), "--peer", SERVE, "--", *command]
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    return run


def in_session(session: int) -> list[str]:
    """Return the processes of a session, with their command lines."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return found


def gone(session: int) -> bool:
    """Wait until a session has no process, at most 20 s."""
    for _ in range(200):
        if not in_session(session):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.usefixtures("kernel")
def test_a_program_sees_the_path_and_its_peer(cli: Cli, path: Path) -> None:
    done = cli("emulate", path, "--json", "--peer", SERVE + " 2>/dev/null >&2", "--", sys.executable, "-c", CONNECT)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) >= 0.06, "no packet is early"
    shown = json.loads(done.stderr)
    assert shown["code"] == 0 and shown["interrupted"] is False
    bottleneck = next(row for row in shown["links"] if row["name"] == "n1>n2")
    assert bottleneck["rate_bps"] == 1_000_000 and bottleneck["arrivals"] >= 3 and bottleneck["drops"] == 0
    assert shown["releases"] >= 9, "three handshakes"
    assert shown["lateness_max_s"] >= shown["lateness_p99_s"] >= shown["lateness_p50_s"] > 0


@pytest.mark.usefixtures("kernel")
def test_the_queue_drops_packets_of_programs(path: Path) -> None:
    ended = linux.emulate(ackclock.load(path), [sys.executable, "-c", BLAST], at="sender")
    bottleneck = next(row for row in ended.links if row["name"] == "n1>n2")
    assert bottleneck["arrivals"] == 100 and 80 <= bottleneck["drops"] <= 90


@pytest.mark.usefixtures("kernel")
def test_other_flows_are_simulated(path: Path) -> None:
    path.write_text(PATH + CROSS)
    ended = linux.emulate(ackclock.load(path), ["sleep", "0.5"])
    bottleneck = next(row for row in ended.links if row["name"] == "n1>n2")
    assert bottleneck["arrivals"] > 10, "cross traffic of about 60 packets a second"


@pytest.mark.usefixtures("kernel")
def test_the_controls_of_both_ends_are_named(path: Path) -> None:
    setting = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    ended = linux.emulate(ackclock.load(path), ["true"], peer=f"echo reno > {setting}; " + SERVE)
    assert ended.controls == ("reno", setting.read_text(encoding="utf-8").strip())


@pytest.mark.usefixtures("kernel")
def test_the_exit_code_is_the_command_s(cli: Cli, path: Path) -> None:
    done = cli("emulate", path, "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert done.stderr.startswith("err\n") and "no packet crossed the path" in done.stderr
    assert cli("emulate", path, "--", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--", "/no/such/program"], "error: /no/such/program: there is no such program\n"),
        (["--peer", "exit 3", "--", "true"], "error: --peer ended with exit code 3 before it opened a socket\n"),
        (["--flow", "uplink", "--", "true"], "error: --flow uplink: path has no such flow; its flows: download\n"),
    ],
)
def test_bad_input_is_one_message(cli: Cli, path: Path, options: list[str], message: str) -> None:
    done = cli("emulate", path, *options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_a_sweep_and_a_missing_command_are_refused(cli: Cli, sweep: Path) -> None:
    done = cli("emulate", sweep, "--", "true")
    assert done.returncode == 2 and "a [sweep] has several paths" in done.stderr
    assert cli("emulate", sweep).returncode == 2


@pytest.mark.usefixtures("kernel")
def test_nothing_remains_after_sigkill(start: Callable[..., subprocess.Popen[str]]) -> None:
    # One process in a session of its own, and one without parent.
    process = start("sh", "-c", "setsid sleep 1000 & (sleep 1000 &); echo ready; exec sleep 1000")
    running = in_session(process.pid)
    assert sum("sleep 1000" in line for line in running) >= 2, running
    process.kill()
    assert process.stdout is not None
    # The pipe ends with the last process that holds it, in whatever session.
    assert process.stdout.read() == ""
    process.wait()
    assert gone(process.pid), in_session(process.pid)


@pytest.mark.usefixtures("kernel")
def test_ctrl_c_is_the_command_s(start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start("sh", "-c", "trap 'exit 9' INT; echo ready; while true; do sleep 0.1; done")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 9 and "no packet crossed the path" in errors
    assert gone(process.pid), in_session(process.pid)


@pytest.mark.usefixtures("kernel")
def test_a_command_that_ignores_ctrl_c_is_ended(start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start("sh", "-c", "trap '' INT; echo ready; while true; do sleep 0.1; done")
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert gone(process.pid), in_session(process.pid)


@pytest.mark.usefixtures("kernel")
def test_a_user_namespace_is_enough(path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-Ur", "true"], check=False).returncode:
        pytest.skip("this machine has no user namespaces, or no command `unshare`")
    words = ["unshare", "-Ur", sys.executable, "-m", "ackclock", "emulate", str(path), "--peer", SERVE, "--"]
    done = subprocess.run(
        [*words, sys.executable, "-c", CONNECT], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0 and float(done.stdout) >= 0.06, done.stderr


@pytest.mark.usefixtures("kernel")
def test_ctrl_c_before_the_command_starts(path: Path) -> None:
    words = [sys.executable, "-m", "ackclock", "emulate", str(path), "--peer", "echo up; exec sleep 1000", "--", "true"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "up\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "error: interrupted before the peer opened a socket\n")
    assert gone(process.pid), in_session(process.pid)
