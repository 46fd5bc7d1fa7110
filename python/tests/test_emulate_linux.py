"""`ackclock emulate --on linux`: programs in virtual time, the same in every run, kept from this machine's files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import ackclock
from ackclock import linux

from .conftest import Cli

PATH = """\
duration = "60 s"

[topology]
kind = "chain"
access = { rate = "1 Gbit/s", delay = "0 ms" }
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "droptail", limit = "30 packets" } }

[[flow]]
name = "download"
"""
SERVE = f"exec {sys.executable} -m http.server 8000 2>/dev/null >&2"
# Fetches a file, and prints its size and the time that this took.
FETCH = """
import os, sys, time, urllib.request
began = time.monotonic()
data = urllib.request.urlopen(f"http://{os.environ['ACKCLOCK_PEER']}:8000/{sys.argv[1]}").read()
print(len(data), time.monotonic() - began)
"""
SSHD = """
mkdir -p /run/sshd ~/.ssh && chmod 700 ~/.ssh
ssh-keygen -q -t ed25519 -N '' -f /tmp/host-key && ssh-keygen -q -t ed25519 -N '' -f /tmp/key
cp /tmp/key.pub ~/.ssh/authorized_keys
exec /usr/sbin/sshd -D -p 2222 -h /tmp/host-key -o StrictModes=no -o PidFile=none -o UsePAM=no 2>/dev/null
"""
SSH = """
ssh -p 2222 -i /tmp/key -o LogLevel=ERROR -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    $(id -un)@$ACKCLOCK_PEER 'head -c 200000 /dev/zero' | wc -c
"""


ENHANCED_PACKET = 6
"""The block of a packet in pcapng."""


@pytest.fixture(autouse=True)
def _built(path: Path) -> None:
    """Skip if no kernel was built, or only one of an older Ackclock, in which no programs run."""
    try:
        linux.emulate(ackclock.load(path), ["true"], on="linux")
    except ValueError as error:
        if "ackclock kernel build" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a scenario file: 40 ms there and back, 10 Mbit/s."""
    file = tmp_path / "path.toml"
    file.write_text(PATH)
    return file


def needed(*programs: str) -> None:
    """Skip if a program is not installed."""
    for name in programs:
        if shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin") is None:
            pytest.skip(f"{name} is not installed")


def captures_of(cli: Cli, path: Path, *words: str) -> tuple[set[bytes], set[str]]:
    """Run a command three times; return the different captures and outputs."""
    found, printed = set(), set()
    for number in range(3):
        file = path.with_name(f"{number}.pcapng")
        done = cli("emulate", "--on", "linux", path, "--pcap", file, *words)
        assert done.returncode == 0, done.stderr
        found.add(file.read_bytes())
        printed.add(done.stdout)
    return found, printed


def test_a_server_of_python_and_its_client(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    (path.parent / "file").write_bytes(bytes(1_000_000))
    captured, printed = captures_of(cli, path, "--peer", SERVE, "--", sys.executable, "-c", FETCH, "file")
    assert len(captured) == 1 and len(printed) == 1
    size, seconds = printed.pop().split()
    # 691 packets of 1448 bytes with 52 bytes of headers, after a round trip for the handshake and one for the request.
    assert size == "1000000" and 0.08 + 691 * 1500 * 8 / 1e7 <= float(seconds) < 1.2


def versions(capture: bytes) -> set[int]:
    """Return the versions of IP in a capture."""
    found, at = set(), 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == ENHANCED_PACKET:
            found.add(capture[at + 28] >> 4)
        at += length
    return found


def test_curl_over_ipv6(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("curl")
    monkeypatch.chdir(path.parent)
    (path.parent / "file").write_bytes(bytes(1_000_000))
    serve = f"exec {sys.executable} -m http.server --bind :: 8000 2>/dev/null >&2"
    fetch = "curl -sf -o /dev/null -w '%{size_download} %{time_total}' \"http://[$ACKCLOCK_PEER6]:8000/file\""
    captured, printed = captures_of(cli, path, "--peer", serve, "--", "sh", "-c", fetch)
    assert len(captured) == 1 and len(printed) == 1
    # Neither neighbour discovery nor anything else of IPv4.
    assert versions(captured.pop()) == {6}
    size, seconds = printed.pop().split()
    # 701 packets of 1428 bytes with 72 bytes of headers, after a round trip for the handshake and one for the request.
    assert size == "1000000" and 0.08 + 701 * 1500 * 8 / 1e7 <= float(seconds) < 1.2


def test_ecn_over_ipv6(path: Path) -> None:
    queue = 'queue = { kind = "codel", ecn = true }'
    path.write_text(PATH.replace('queue = { kind = "droptail", limit = "30 packets" }', queue))
    control = "echo 1 > /proc/sys/net/ipv4/tcp_ecn"
    send = """
import os, socket
peer = socket.create_server((os.environ["ACKCLOCK_ADDRESS6"], 7000), family=socket.AF_INET6).accept()[0]
peer.sendall(bytes(3_000_000))
"""
    receive = """
import os, socket
peer, count = socket.create_connection((os.environ["ACKCLOCK_PEER6"], 7000)), 0
while data := peer.recv(1 << 20):
    count += len(data)
print(count)
raise SystemExit(count != 3_000_000)
"""
    sender = f"{control}; exec {sys.executable} -c '{send}'"
    receiver = f"{control}; exec {sys.executable} -c '{receive}'"
    ended = linux.emulate(ackclock.load(path), ["sh", "-c", receiver], peer=sender, on="linux")
    assert ended.code == 0
    bottleneck = next(link for link in ended.links if link["name"] == "n1>n2")
    assert bottleneck["marks"] > 0 and bottleneck["drops"] == 0, bottleneck


def test_the_seed_matters(cli: Cli, path: Path) -> None:
    file = path.with_suffix(".pcapng")
    captured = set()
    for seed in ("1", "2"):
        options = ["--peer", SERVE, "--pcap", file, "--seed", seed]
        done = cli("emulate", "--on", "linux", path, *options, "--", sys.executable, "-c", FETCH, "")
        assert done.returncode == 0, done.stderr
        captured.add(file.read_bytes())
    assert len(captured) == 2


@pytest.mark.parametrize(("peer", "headers"), [("-c $ACKCLOCK_PEER", 52), ("-6 -c $ACKCLOCK_PEER6", 72)])
def test_iperf3(cli: Cli, path: Path, peer: str, headers: int) -> None:
    needed("iperf3")
    client = f"iperf3 {peer} -t 2 -R --json"
    captured, printed = captures_of(cli, path, "--peer", "exec iperf3 -s >/dev/null", "--", "sh", "-c", client)
    assert len(captured) == 1 and len(printed) == 1
    received = json.loads(printed.pop())["end"]["sum_received"]["bits_per_second"]
    share = (1500 - headers) / 1500
    assert 0.95 * share < received / 1e7 <= share


@pytest.mark.parametrize("peer", ["$ACKCLOCK_PEER", "$ACKCLOCK_PEER6"])
def test_ssh(cli: Cli, path: Path, peer: str) -> None:
    needed("ssh", "sshd", "ssh-keygen")
    captured, printed = captures_of(cli, path, "--peer", SSHD, "--", "sh", "-c", SSH.replace("$ACKCLOCK_PEER", peer))
    assert len(captured) == 1 and printed == {"200000\n"}


def test_exit_codes_and_output(cli: Cli, path: Path) -> None:
    script = "for i in 1 2 3; do echo out $i; echo err $i >&2; sleep 0.1; done; exit 7"
    done = cli("emulate", "--on", "linux", path, "--", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (7, "out 1\nout 2\nout 3\n")
    assert done.stderr.startswith("err 1\nerr 2\nerr 3\n") and "no packet crossed the path in 0.3" in done.stderr
    assert cli("emulate", "--on", "linux", path, "--", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM


def test_both_streams_keep_their_order(path: Path) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"
    words = [sys.executable, "-m", "ackclock", "emulate", "--on", "linux", str(path), "--", "sh", "-c", script]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    expected = "".join(f"out {number}\nerr {number}\n" for number in range(1, 10))
    assert done.stdout.startswith(expected)


def test_nothing_is_lost_of_much_output(cli: Cli, path: Path) -> None:
    done = cli("emulate", "--on", "linux", path, "--", "seq", "1", "1500000")
    assert done.returncode == 0 and done.stdout == "".join(f"{number}\n" for number in range(1, 1_500_001))


def test_words_and_variables_hold_any_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = "a b;c%41\n\udcff'\"$"
    monkeypatch.setenv("ODD", odd)
    show = "import os, sys; sys.exit(0 if sys.argv[1:] == ['', os.environ['ODD']] else 3)"
    ended = linux.emulate(ackclock.load(path), [sys.executable, "-c", show, "", odd], on="linux")
    assert ended.code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--", "/no/such/program"], "error: /no/such/program: there is no such program\n"),
        (["--peer", "exit 3", "--", "true"], "error: --peer ended with exit code 3 before it opened a socket\n"),
        (
            ["--peer", "true", "--", "true"],
            "error: --peer ended with exit code 0 before it opened a socket; a server has to stay in the foreground\n",
        ),
        (["--", ""], "error: the command is empty\n"),
        (["--flow", "uplink", "--", "true"], "error: --flow uplink: path has no such flow; its flows: download\n"),
        (["--pcap", "-", "--", "true"], "error: --pcap -: standard output is the command's; name a file\n"),
    ],
)
def test_bad_input_is_one_message(cli: Cli, path: Path, options: list[str], message: str) -> None:
    done = cli("emulate", "--on", "linux", path, *options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_a_world_that_is_none_is_named(cli: Cli, path: Path) -> None:
    done = cli("emulate", "--on", "linus", path, "--", "true")
    assert done.returncode == 2 and "machine" in done.stderr and "did you mean linux" in done.stderr
    done = cli("emulate", "--output", path.parent, path, "--", "true")
    assert done.returncode == 2 and "--on linux" in done.stderr


def test_programs_do_not_speak_for_the_first_process(cli: Cli, path: Path) -> None:
    done = cli("emulate", "--on", "linux", path, "--", "sh", "-c", "echo off > /dev/ackclock; exit 3")
    assert done.returncode == 3 and "not permitted" in done.stderr


def test_a_folder_that_was_made_in_vain_goes(cli: Cli, path: Path, tmp_path: Path) -> None:
    done = cli("emulate", "--on", "linux", path, "--output", tmp_path / "new", "--flow", "nosuch", "--", "true")
    assert done.returncode == 2 and not (tmp_path / "new").exists()


def test_a_file_is_no_folder_for_output(cli: Cli, path: Path) -> None:
    done = cli("emulate", "--on", "linux", path, "--output", path, "--", "true")
    assert (done.returncode, done.stderr) == (2, f"error: --output {path}: this is a file, not a folder\n")


def test_a_program_may_ask_for_the_time_again_and_again(path: Path) -> None:
    # A second takes many questions, of at most 16 µs each.
    ask = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass"
    ended = linux.emulate(ackclock.load(path), [sys.executable, "-c", ask], on="linux")
    assert ended.code == 0 and 1 <= ended.elapsed_s < 1.1


def test_a_command_ends_with_the_duration(cli: Cli, path: Path) -> None:
    began = time.monotonic()
    done = cli("emulate", "--on", "linux", path, "--json", "--", "sleep", "100000")
    assert time.monotonic() - began < 50, "60 s of virtual time"
    shown = json.loads(done.stderr)
    assert (done.returncode, shown["code"], shown["elapsed_s"]) == (124, 124, 60)
    assert "did not end within the scenario's duration of 60 s" in shown["warnings"][0]


def test_files_stay_only_in_the_folder(path: Path) -> None:
    place = path.parent / "with, a space"
    place.mkdir()
    outside = path.parent / "outside"
    # The program also tries to write as only the first user of a system can: it mounts this machine's files anew.
    script = f"""
        echo kept > '{place}/kept' && echo lost > '{outside}' && test "$(cat '{outside}')" = lost || exit 3
        mkdir /tmp/again && mount -t hostfs none /tmp/again -o / && echo lost > '/tmp/again{outside}' && exit 4
        exit 0
    """
    ended = linux.emulate(ackclock.load(path), ["sh", "-c", script], on="linux", output=place)
    assert ended.code == 0 or (ended.code == 4 and ended.warnings), "only Landlock keeps a program from mounting"
    assert (place / "kept").read_text() == "kept\n"
    assert not outside.exists()
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["path.toml", place.name]


def test_files_that_are_open_at_the_end_are_kept(path: Path) -> None:
    write = f"f = open('{path.parent}/log', 'w', 1); print('line', file=f); import time; time.sleep(999)"
    peer = f'exec {sys.executable} -c "{write}"'
    ended = linux.emulate(ackclock.load(path), ["true"], peer=peer, on="linux", output=path.parent)
    assert ended.code == 0 and (path.parent / "log").read_text() == "line\n"


def test_another_user_needs_no_rights(path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user")
    if subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", "import ackclock"],
        capture_output=True,
        check=False,
    ).returncode:
        pytest.skip("another user cannot read this installation")
    built = linux.find()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        shutil.copy(path, place)
        shutil.copytree(built.path, place / "ackclock" / "kernels" / built.path.name)
        words = [sys.executable, "-m", "ackclock", "emulate", "--on", "linux", str(place / path.name), "--", "id", "-u"]
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words],
            env={**os.environ, "XDG_CACHE_HOME": folder},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_ctrl_c_ends_the_command(path: Path) -> None:
    words = [sys.executable, "-m", "ackclock", "emulate", "--on", "linux", "--set", "duration=10000 h", str(path), "--"]
    process = subprocess.Popen(
        [*words, "sh", "-c", "echo ready; while true; do sleep 0.01; done"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "no packet crossed the path" in errors
