"""The command `script` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import NO_KERNEL, Cli, present

PASSES = """\
// RFC 9293, section 3.5: the three-way handshake, then data.
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
+0 write(4, ..., LENGTH) = LENGTH
+0 > P. 1:1001(1000) ack 1
+0 %{ print("cwnd", tcpi_snd_cwnd) }%
"""
FAILS = PASSES.replace("> P. 1:1001(1000) ack 1", "> P. 1:1001(1000) ack 2")
UNSUPPORTED = "0 splice(3, NULL, 4, NULL, 1, 0) = 1\n"
BROKEN = "0 > S 0:0(0) win x\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "the time 1000000000.1 s is after the end of the longest script, 3600 s; --max-duration allows more"),
        (("--max-duration", "1e9"), "the time 1000000000.1 s is after the end of the longest script, 1000000000 s"),
        (("--max-duration", "1e9", "--max-packets", "7"), "more than 7 packets, the limit of a script, by "),
    ],
)
def test_a_script_without_end_is_refused(options: tuple[str, ...], message: str, cli: Cli, tmp_path: Path) -> None:
    # Nobody acknowledges the data, so that the stack retransmits until the close.
    wait = "+999999999" if "--max-packets" in options else "+1000000000"
    script = PASSES.replace("LENGTH", "1000").partition("+0 > P.")[0] + f"{wait} close(4) = 0\n"
    (tmp_path / "long.pkt").write_text(script)
    done = cli("script", "long.pkt", *options)
    assert done.returncode == 2
    assert f"long.pkt:11: error: {message}" in done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scripts = tmp_path / "scripts"
    (scripts / "deep").mkdir(parents=True)
    (scripts / "b_passes.pkt").write_text(PASSES)
    (scripts / "deep" / "a_fails.pkt").write_text(FAILS)
    (scripts / "c_unsupported.pkt").write_text(UNSUPPORTED)
    (scripts / "notes.txt").write_text("no script")
    return scripts


def test_a_script_that_passes(cli: Cli, folder: Path) -> None:
    done = cli("script", folder / "b_passes.pkt", "--define", "LENGTH=1000")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{folder / 'b_passes.pkt'}: cwnd 10", "1 script: 1 passed"]


def test_a_failure_shows_line_packets_and_windows(cli: Cli, folder: Path) -> None:
    file = folder / "deep" / "a_fails.pkt"
    done = cli("script", file, "--define", "LENGTH=1000")
    assert done.returncode == 1
    assert done.stdout.replace(str(file), "a_fails.pkt") == (
        "a_fails.pkt:11: failed: acknowledgment number: expected 2, came 1\n"
        "  script    +0 > P. 1:1001(1000) ack 2\n"
        "  expected  > P. 1:1001(1000) ack 2\n"
        "  came      > P. 1:1001(1000) ack 1 win 1050\n"
        "  last packets:\n"
        "        time   cwnd      rwnd  packet\n"
        "    0.000000      -     32792  < S 0:0(0) win 32792 <mss 1000,nop,nop,sackOK,nop,wscale 7>\n"
        "    0.000000      -     32792  > S. 0:0(0) ack 1 win 65535 <mss 1460,nop,nop,sackOK,nop,wscale 8>\n"
        "    0.100000      -     32896  < . 1:1(0) ack 1 win 257\n"
        "    0.100000     10     32896  > P. 1:1001(1000) ack 1 win 1050\n"
        "\n"
        "1 script: 1 failed\n"
    )


def test_directories_in_parallel_and_in_order(cli: Cli, folder: Path) -> None:
    runs = [cli("script", folder, "--define", "LENGTH=1000", "--json", "--jobs", jobs) for jobs in ("1", "3")]
    assert [run.returncode for run in runs] == [1, 1]
    assert runs[0].stdout == runs[1].stdout
    rows = json.loads(runs[0].stdout)
    names = [(Path(row["script"]).name, row["verdict"], row["line"]) for row in rows]
    assert names == [
        ("b_passes.pkt", "passed", None),
        ("c_unsupported.pkt", "unsupported", 1),
        ("a_fails.pkt", "failed", 11),
    ]
    assert rows[1]["reason"].startswith("the system call splice is not supported")
    assert rows[0]["packets"] == 4


def test_unsupported_scripts_do_not_pass(cli: Cli, folder: Path) -> None:
    file = folder / "c_unsupported.pkt"
    assert cli("script", file).returncode == 1
    allowed = cli("script", file, "--allow-unsupported")
    assert allowed.returncode == 0
    assert "c_unsupported.pkt:1: unsupported: the system call splice is not supported" in allowed.stdout
    assert allowed.stdout.endswith("1 script: 1 unsupported\n")


def test_junit(cli: Cli, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    assert cli("script", folder, "--define", "LENGTH=1000", "--junit", file).returncode == 1
    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    failure = cases["a_fails.pkt"].find("failure")
    assert failure is not None
    assert failure.get("message") == "line 11: acknowledgment number: expected 2, came 1"
    assert cases["a_fails.pkt"].get("classname") == "deep"
    assert cases["c_unsupported.pkt"].find("skipped") is not None
    assert len(cases["b_passes.pkt"]) == 0
    file.write_text("mine")
    refused = cli("script", folder, "--junit", file)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert file.read_text() == "mine"


def test_traces(cli: Cli, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "traces"
    for _ in range(2):  # its own files are replaced
        assert cli("script", folder, "--define", "LENGTH=1000", "--trace", out).returncode == 1
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    stems = ["b_passes", "c_unsupported", "deep/a_fails"]
    assert names == sorted(f"{stem}{suffix}" for stem in stems for suffix in (".pcapng", ".qlog"))
    assert (out / "b_passes.pcapng").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    log = json.loads((out / "b_passes.qlog").read_text())
    events = log["traces"][0]["events"]
    sent = [event for event in events if event["name"] == "quic:packet_sent"]
    assert [event["data"]["raw"]["payload_length"] for event in sent] == [0, 1000]
    metrics = [event["data"] for event in events if event["name"] == "quic:recovery_metrics_updated"]
    assert metrics[0]["congestion_window"] == 10_000
    same = cli("script", folder / "b_passes.pkt", folder / "deep" / ".." / "b_passes.pkt", "--trace", out)
    assert same.returncode == 2
    assert "would write the same files" in same.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "linus"], 'did you mean "linux"?'),
        (["--tolerance", "4"], "is no tolerance"),
        (["--define", "LENGTH"], "must be NAME=VALUE"),
        (["--ip-version", "ipv5"], '"ipv5" is no version of IP; ipv4, ipv6 and ipv4-mapped-ipv6 are supported'),
        (["no_such.pkt"], "no_such.pkt: there is no such script"),
    ],
)
def test_bad_input(cli: Cli, folder: Path, arguments: list[str], message: str) -> None:
    done = cli("script", folder / "b_passes.pkt", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_broken_scripts(cli: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pkt"
    broken.write_text(BROKEN)
    done = cli("script", broken)
    assert done.returncode == 2
    assert "broken.pkt:1: error:" in done.stdout
    broken.write_bytes(b"\xff\xfe")
    assert "not text in UTF-8" in cli("script", broken).stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no file below this directory has the suffix .pkt" in cli("script", empty).stderr


def test_tolerance_and_strictness(cli: Cli, tmp_path: Path) -> None:
    late = tmp_path / "late.pkt"
    late.write_text(PASSES.replace("+0 > P.", "+.003 > P."))
    define = ["--define", "LENGTH=1000"]
    assert "came at another time" in cli("script", late, *define).stdout
    assert cli("script", late, *define, "--tolerance", "packetdrill").returncode == 0
    unexpected = tmp_path / "unexpected.pkt"
    unexpected.write_text(PASSES.replace("+0 > P. 1:1001(1000) ack 1\n", "+.01 < . 1:1(0) ack 1001 win 257\n"))
    assert cli("script", unexpected, *define).returncode == 0
    strict = cli("script", unexpected, *define, "--strict")
    assert strict.returncode == 1
    assert "sent a packet that no line expects, at 0.1 s" in strict.stdout


def test_the_kernel_runs_the_same_script_or_says_what_is_missing(cli: Cli, folder: Path) -> None:
    file = folder / "b_passes.pkt"
    done = cli("script", file, "--define", "LENGTH=1000", "--on", "machine", "--tolerance", "500 ms")
    if done.returncode == 0:
        assert done.stdout.splitlines() == [f"{file}: cwnd 10", "1 script: 1 passed"]
    else:
        assert done.returncode == 2
        assert "cannot run on the kernel: " in done.stdout


def test_the_kernel_shows_a_failure_as_the_host_does(cli: Cli, folder: Path) -> None:
    done = cli("script", folder / "deep", "--define", "LENGTH=1000", "--on", "machine", "--tolerance", "500 ms")
    if done.returncode != 2:
        assert done.returncode == 1
        assert "failed: acknowledgment number: expected 2, came 1\n" in done.stdout


@pytest.mark.skipif(not present(), reason=NO_KERNEL)
def test_a_kernel_in_virtual_time_runs_scripts_at_exact_times(cli: Cli, folder: Path, tmp_path: Path) -> None:
    file = folder / "b_passes.pkt"
    done = cli("script", file, "--define", "LENGTH=1000", "--on", "linux", "--tolerance", "0 ms")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{file}: cwnd 10", "1 script: 1 passed"]
    failed = cli("script", folder / "deep", "--define", "LENGTH=1000", "--on", "linux")
    assert failed.returncode == 1
    assert "failed: acknowledgment number: expected 2, came 1\n" in failed.stdout
    blocking = tmp_path / "blocking.pkt"
    blocking.write_text(BLOCKING)
    done = cli("script", blocking, "--on", "linux")
    assert (done.returncode, done.stdout) == (0, "1 script: 1 passed\n")


@pytest.mark.skipif(not present(), reason=NO_KERNEL)
@pytest.mark.parametrize("version", ["ipv4", "ipv6", "ipv4-mapped-ipv6"])
def test_a_kernel_in_virtual_time_has_every_version_of_ip(cli: Cli, tmp_path: Path, version: str) -> None:
    """The cookie of Fast Open depends on the addresses, and the level of a control message on the socket."""
    file = tmp_path / "versions.pkt"
    file.write_text(VERSIONS)
    done = cli("script", file, "--on", "linux", "--ip-version", version, "--trace", tmp_path / "traces")
    assert (done.returncode, done.stdout) == (0, "1 script: 1 passed\n")
    packets = (tmp_path / "traces" / "versions.pcapng").read_bytes()
    remote = bytes.fromhex("fd3dfa7bd17d00000000000000000001" if version == "ipv6" else "c0000201")
    assert remote in packets
    wrong = tmp_path / "wrong.pkt"
    wrong.write_text(VERSIONS.replace("assert tcpi_state == TCP_ESTABLISHED", "assert tcpi_state == TCP_CLOSE"))
    assert cli("script", wrong, "--on", "linux", "--ip-version", version).returncode == 1


VERSIONS = """\
`./defaults.sh`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 setsockopt(3, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0
+0 < S 123:133(10) win 32792 <mss 1460,sackOK,nop,nop,FO TFO_COOKIE,nop,nop>
+0 > S. 1000:1000(0) ack 134 <mss 1460,nop,nop,sackOK>
+0 accept(3, ..., ...) = 4
+0 epoll_create(1) = 5
+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN, fd=4}) = 0
+0 epoll_wait(5, {events=EPOLLIN, fd=4}, 1, 0) = 1
+0 read(4, ..., 100) = 10
+.1 < . 11:11(0) ack 1 win 32792
+0 %{ assert tcpi_state == TCP_ESTABLISHED, tcpi_state }%
+0 send(4, ..., 4000, MSG_ZEROCOPY) = 4000
+0 > P. 1:4001(4000) ack 11
+.1 < . 11:11(0) ack 4001 win 32792
+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE,
   msg_control=[{cmsg_level=CMSG_LEVEL_IP, cmsg_type=CMSG_TYPE_RECVERR,
                 cmsg_data={ee_errno=0, ee_origin=SO_EE_ORIGIN_ZEROCOPY, ee_type=0,
                            ee_code=SO_EE_CODE_ZEROCOPY_COPIED, ee_info=0, ee_data=0}}]}, MSG_ERRQUEUE) = 0
"""

BLOCKING = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0...0.2 accept(3, ..., ...) = 4
+.1 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 257
+0...0.1 read(4, ..., 1000) = 500
+.1 < P. 1:501(500) ack 1 win 257
+0 > . 1:1(0) ack 501
"""


def test_only_a_world_can_be_under_test(cli: Cli, folder: Path) -> None:
    done = cli("script", folder, "--on", "machin")
    assert done.returncode == 2
    assert "expected simulation, linux, machine, quic or quinn; did you mean machine?" in done.stderr
