"""Captures of packets: read back by an independent reader and by tshark, and compared with the counters of runs."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import Scenario
from ackclock.results import Result, rows

from . import captures
from .captures import ACK, CWR, ECE, SYN, Segment
from .conftest import Cli

FLOWS: dict[str, dict[str, Any]] = {
    "ns2 newreno": {"recovery": "newreno"},
    "ns2 sack": {"recovery": "sack", "rwnd": "200 packets"},
    "ns2 ecn": {"recovery": "sack", "ecn": True},
    "modern": {"profile": "modern"},
    "modern newreno": {"profile": "modern", "modern": {"recovery": "newreno"}},
}
LINK = "n1>n2"


def scenario(flow: dict[str, Any], **bottleneck: Any) -> Scenario:
    """Return a scenario with a sender n0, a bottleneck n1>n2 with a short queue, and a receiver n3."""
    queue: dict[str, Any] = {"kind": "droptail", "limit": "15 packets"}
    if flow.get("ecn"):
        queue = {"kind": "red", "limit": "30 packets"}
    link = {"rate": "4 Mbit/s", "delay": "15 ms", "queue": queue, **bottleneck}
    topology = {"kind": "chain", "access": {"delay": "1 ms"}, "bottleneck": link}
    return Scenario("captures", duration="10 s", topology=topology, flow=[flow])


def ends(result: Result) -> tuple[str, str]:
    flow = rows(result.flows)[0]
    return flow["from"], flow["to"]


def captured(flow: dict[str, Any], path: Path, **bottleneck: Any) -> tuple[Result, dict[str, list[Segment]]]:
    """Run, and read the captures of sender, bottleneck and receiver."""
    made = scenario(flow, **bottleneck)
    result = ackclock.run(made)
    sender, receiver = ends(result)
    again = ackclock.run(made, capture=[sender, made.bottleneck, receiver])
    assert again.trace_hash == result.trace_hash, "a capture changes nothing"
    again.write_pcap(path, snaplen=65535)
    places: dict[str, list[Segment]] = {name: [] for name in again.captured}
    for segment in captures.read(path):
        places[segment.interface].append(segment)
    return again, places


def from_sender(segments: list[Segment]) -> list[Segment]:
    return [segment for segment in segments if segment.target[1] == 5001]


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_counts_are_those_of_the_result(flow: dict[str, Any], tmp_path: Path) -> None:
    result, places = captured(flow, tmp_path / "x.pcapng")
    row = rows(result.flows)[0]
    sender, receiver = ends(result)
    link = next(row for row in rows(result.links) if row["name"] == LINK)
    sent = from_sender(places[sender])
    filled = [segment for segment in sent if segment.payload or segment.has(SYN)]
    assert len(filled) == row["sent_packets"] > 1000
    assert captures.resent(sent) == row["retransmitted_packets"]
    assert len(places[LINK]) == link["arrivals"]
    lost = [segment for segment in places[LINK] if segment.comment]
    assert len(lost) == link["drops"] + link["losses"]
    assert all(segment.comment and segment.comment.startswith("dropped by the queue (") for segment in lost)
    if not flow.get("ecn"):
        assert lost
        assert row["retransmitted_packets"] > 0
    arrived = from_sender(places[receiver])
    assert len(sent) - len(arrived) >= len(lost)
    assert {segment.direction for segment in sent} == {2}
    assert {segment.direction for segment in arrived} == {1}
    assert {segment.direction for segment in places[LINK]} == {0}


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_a_connection_is_consistent(flow: dict[str, Any], tmp_path: Path) -> None:
    result, places = captured(flow, tmp_path / "x.pcapng")
    _, receiver = ends(result)
    arrived = from_sender(places[receiver])
    acks = [segment for segment in places[receiver] if segment.direction == 2]
    syn, syn_ack = arrived[0], acks[0]
    assert syn.has(SYN)
    assert not syn.has(ACK)
    assert syn_ack.has(SYN)
    assert syn_ack.has(ACK)
    assert [segment.has(SYN) for segment in arrived[1:]].count(True) == 0
    assert syn_ack.ack == (syn.seq + 1) % 2**32
    assert syn.mss is not None
    assert syn.source == syn_ack.target
    assert {segment.source for segment in arrived} == {syn.source}
    # A replay of the receiver: ACKs cover only data that arrived in order, and SACK blocks only data that arrived.
    have: dict[int, int] = {}
    following = syn.seq + 1
    for segment in places[receiver]:
        if segment.direction == 1:
            have[segment.seq] = segment.seq + segment.payload
            while have.get(following, 0) > following:
                following = have[following]
        elif not segment.has(SYN):
            assert following - 2 * max(have[left] - left for left in have) <= segment.ack <= following
            for left, right in segment.sack:
                while left < right:
                    left = have[left]
                assert left == right
    assert syn.sack_permitted == syn_ack.sack_permitted == ("newreno" not in str(flow))
    assert any(segment.sack for segment in acks) == syn.sack_permitted


def test_windows_are_scaled_as_the_handshake_says(tmp_path: Path) -> None:
    for rwnd, scale in ((20, None), (200, 2)):
        _, places = captured({"rwnd": f"{rwnd} packets"}, tmp_path / "x.pcapng")
        syn = places["n0"][0]
        syn_ack, ack = [segment for segment in places["n0"] if segment.direction == 1][:2]
        assert (syn.scale, syn_ack.scale) == (None if scale is None else 0, scale)
        assert 0 <= (ack.window << (scale or 0)) - rwnd * 1000 < 1 << (scale or 0)
        assert syn_ack.window == min(rwnd * 1000, 65535)


def test_marks_and_their_echoes(tmp_path: Path) -> None:
    # 10 s at 4 Mbit/s hold 4800 packets of 1040 B. With 2000 packets, every mark arrives before the end.
    result, places = captured({**FLOWS["ns2 ecn"], "size": "2000 packets"}, tmp_path / "x.pcapng")
    assert rows(result.flows)[0]["completion_time"] < 9
    link = next(row for row in rows(result.links) if row["name"] == LINK)
    arrived = from_sender(places["n3"])
    assert sum(segment.ecn == 3 for segment in arrived) == link["marks"] > 0
    assert {segment.ecn for segment in places[LINK][1:]} == {2}, "before the queue nothing is marked"
    assert any(segment.has(ECE) for segment in places["n0"] if segment.direction == 1)
    assert any(segment.has(CWR) and not segment.has(SYN) for segment in arrived)
    assert places["n0"][0].has(ECE | CWR)


@pytest.mark.parametrize("position", ["before", "after"])
def test_losses_of_the_loss_model_are_noted_in_the_capture(position: str, tmp_path: Path) -> None:
    loss = {"kind": "bernoulli", "rate": "1 %", "position": position}
    result, places = captured({"recovery": "sack"}, tmp_path / "x.pcapng", loss=loss)
    link = next(row for row in rows(result.links) if row["name"] == LINK)
    taken = [segment for segment in places[LINK] if "loss model" in (segment.comment or "")]
    assert len(taken) == link["losses"] > 0
    assert all(("later" in str(segment.comment)) == (position == "after") for segment in taken)


def test_a_queue_that_schedules(tmp_path: Path) -> None:
    queue = {"kind": "fq_codel", "limit": "15 packets"}
    result, places = captured({"recovery": "sack"}, tmp_path / "x.pcapng", queue=queue)
    link = next(row for row in rows(result.links) if row["name"] == LINK)
    assert len(places[LINK]) == link["arrivals"]
    assert sum(segment.comment is not None for segment in places[LINK]) == link["drops"] > 0


def test_headers_alone_are_stored_unless_more_is_asked_for(tmp_path: Path) -> None:
    result = ackclock.run(scenario({}), capture=["n0", LINK])
    short = captures.read(result.write_pcap(tmp_path / "short.pcapng", at=LINK))
    whole = captures.read(result.write_pcap(tmp_path / "whole.pcapng", at=[LINK], snaplen=65535))
    assert {segment.interface for segment in short} == {LINK}
    assert [segment.length for segment in short] == [segment.length for segment in whole]
    assert all(segment.captured == segment.length - segment.payload for segment in short)
    assert all(segment.captured == segment.length for segment in whole)
    with pytest.raises(KeyError, match="captured: n0, n1>n2"):
        result.write_pcap(tmp_path / "x", at="n3")
    with pytest.raises(ValueError, match="snaplen"):
        result.write_pcap(tmp_path / "x", snaplen=0)


def test_flows_differ_in_addresses_and_ports(tmp_path: Path) -> None:
    topology = {"kind": "chain", "access": {"delay": "1 ms"}, "bottleneck": {"rate": "4 Mbit/s", "delay": "5 ms"}}
    made = Scenario("two", duration="2 s", topology=topology, flow=[{}, {"profile": "modern"}])
    path = ackclock.run(made, capture=[made.bottleneck]).write_pcap(tmp_path / "x.pcapng")
    assert {segment.source for segment in captures.read(path)} == {("10.0.0.1", 1024), ("10.0.0.1", 1025)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pcap-at", "n0"], "nothing is captured without --pcap FILE"),
        (["--pcap", "nowhere/x.pcapng"], "there is no directory nowhere"),
        (["--pcap", "."], "is a directory"),
        (["--pcap", "x.pcapng", "--pcap-at", "n1>n3"], 'there is no link or host "n1>n3"; did you mean "n1>n0"?'),
        (["--pcap", "x.pcapng", "--pcap-at", "n1"], 'no flow begins or ends at node "n1"'),
    ],
)
def test_an_impossible_capture_is_an_error(arguments: list[str], message: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "s.toml").write_text(scenario({}).to_toml(), encoding="utf-8")
    done = cli("run", "s.toml", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("*x.pcapng*"))


def test_each_run_of_a_sweep_has_a_file(tmp_path: Path, cli: Cli) -> None:
    text = scenario({}).to_toml() + "\n[sweep]\nseed = [1, 2]\n"
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    done = cli("run", "s.toml", "--pcap", "x.pcapng")
    assert done.returncode == 0, done.stderr
    files = sorted(path.name for path in tmp_path.glob("*.pcapng"))
    assert files == ["x-1-1.pcapng", "x-2-2.pcapng"]
    assert all(len(captures.read(tmp_path / name)) > 1000 for name in files)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_tshark_sees_the_same(flow: dict[str, Any], tmp_path: Path) -> None:
    result = ackclock.run(scenario(flow), capture=["n0"])
    path = result.write_pcap(tmp_path / "x.pcapng", snaplen=65535)
    fields = ["retransmission", "out_of_order", "lost_segment", "ack_lost_segment", "window_full"]
    names = [f"tcp.analysis.{name}" for name in fields]
    names += ["_ws.malformed", "tcp.checksum.status", "ip.checksum.status"]
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    shown = [word for name in names for word in ("-e", name)]
    command = ["tshark", "-n", "-r", str(path), *checks, "-T", "fields", *shown]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    counts: Counter[str] = Counter()
    for line in done.stdout.splitlines():
        cells = dict(zip(names, line.split("\t"), strict=True))
        assert (cells["tcp.checksum.status"], cells["ip.checksum.status"]) == ("1", "1"), line
        counts.update(name for name in names[:6] if cells[name])
    # tshark calls a fast retransmission out of order; in the capture of a sender, nothing else is.
    again = counts["tcp.analysis.retransmission"] + counts["tcp.analysis.out_of_order"]
    assert again == rows(result.flows)[0]["retransmitted_packets"]
    assert counts["_ws.malformed"] == 0
    assert counts["tcp.analysis.lost_segment"] == counts["tcp.analysis.ack_lost_segment"] == 0


def test_packets_go_into_files_of_their_format(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "one.toml").write_text(scenario({}).to_toml())
    done = cli("run", "one.toml", "--pcap", "homes.csv")
    assert done.returncode == 2
    assert done.stderr == ("error: --pcap homes.csv: packets are written as pcapng; name a file that ends in .pcapng\n")
    assert not (tmp_path / "homes.csv").exists()
