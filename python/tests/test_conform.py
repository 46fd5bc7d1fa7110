"""Conformance: the suites that come with the package, and suites of one's own."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ackclock
from ackclock.conformance import suites
from ackclock.conformance.result import DEVIATES, HOLDS, NOT_ASKED

from .conftest import NO_KERNEL, Cli, present
from .every_command import SUITE

STORED = Path(__file__).parents[2] / "docs/validation/conformance.csv"

SUITE_OF_A_STACK = """
document = "our-stack"
title = "Our stack"

[base]
duration = "5 s"
flow = [{ name = "tested", profile = PROFILE, size = "1 MB" }]

[[clause]]
id = "completes"
section = "1"
level = "must"
text = "A transfer survives losses."
scenario.topology.links = [{ rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets", loss = "1 %" }]
seen = "SELECT completion_time IS NOT NULL AS holds, completion_time FROM tested"
"""


def written(place: Path, text: str = SUITE) -> str:
    place.joinpath("own.toml").write_text(text)
    return str(place / "own.toml")


@pytest.mark.parametrize("name", suites.names())
def test_our_implementations_keep_every_clause_or_deviate_for_a_reason_with_a_name(name: str) -> None:
    found = ackclock.conform(name)
    bad = [each.row() for each in found.verdicts if each.verdict not in (HOLDS, DEVIATES, NOT_ASKED)]
    assert not bad
    held = {each.asked.clause.id for each in found.verdicts if each.verdict == HOLDS}
    forgiven = {clause.id for clause in suites.find(name).clauses if "simulation" in clause.known}
    assert not held & forgiven, "a deviation that is gone keeps its excuse"
    now = {each.asked.clause.id: (each.verdict, each.words) for each in found.verdicts}
    with STORED.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["suite"] == name]
    page = {row["clause"]: (row["simulation"], row["simulation_measured"]) for row in rows}
    assert page == now, "run python docs/conformance.py, then docs/generate.py"


def test_another_control_fails_the_clauses_of_a_document_that_it_does_not_follow() -> None:
    found = {each.asked.clause.id: each.verdict for each in ackclock.conform("rfc9438", control="reno").verdicts}
    assert {found["decrease"], found["fast-convergence"], found["cubic-function"]} <= {"fails", "not seen"}
    assert found["slow-start"] == HOLDS


def test_clauses_about_the_host_stay_as_they_are_beside_another_control() -> None:
    alone, beside = (ackclock.conform("rfc5681", control=control).verdicts for control in (None, "cubic"))
    scripts = [each.asked.clause.id for each in alone if each.asked.point is None]
    assert len(scripts) > 5
    for one, other in zip(alone, beside, strict=True):
        if one.asked.clause.id in scripts:
            assert (one.verdict, one.asked.implementation) == (other.verdict, other.asked.implementation)
        else:
            assert other.asked.implementation == "cubic"


def test_a_class_in_python_is_asked() -> None:
    class Gentle(ackclock.CongestionControl):
        def on_congestion(self, event: ackclock.CongestionEvent) -> None:
            self.ssthresh = max(2.0, 0.7 * event.window)
            self.cwnd = 1.0 if event.restart else self.ssthresh

    [halves] = [
        each for each in ackclock.conform("rfc9438", control=Gentle).verdicts if each.asked.clause.id == "decrease"
    ]
    assert (halves.verdict, halves.asked.implementation) == (HOLDS, "Gentle")


def test_a_contender_may_have_tables_and_numbers(tmp_path: Path) -> None:
    for control, factor in (('reno+loss_response={ kind = "first_loss_factor", factor = 0.8 }', 0.8), ("reno", 0.5)):
        [halves, _] = ackclock.conform(written(tmp_path), control=f"slow_start=standard+{control}").verdicts
        assert halves.measured["factor"] == pytest.approx(factor, abs=0.02)


def test_a_clause_may_be_about_hosts_of_another_profile(tmp_path: Path) -> None:
    for profile in ('"quic"', '{ kind = "quinn", control = "newreno" }'):
        text = SUITE_OF_A_STACK.replace("PROFILE", profile)
        (tmp_path / "stack.toml").write_text(text, encoding="utf-8")
        [complete] = ackclock.conform(str(tmp_path / "stack.toml")).verdicts
        assert complete.verdict == HOLDS and 1.0 < complete.measured["completion_time"] < 4.0, profile


def test_states_are_counted_over_the_clauses(tmp_path: Path, cli: Cli) -> None:
    found = ackclock.conform("bbr", coverage=True)
    assert found.coverage is not None and found.coverage.never == []
    states = {row["state"]: row for row in found.coverage.states.to_dicts()}
    clauses = len(found.verdicts)
    assert (states["Startup"]["runs"], states["Startup"]["entered_in"]) == (clauses, clauses)
    assert 0 < states["ProbeRTT"]["entered_in"] < clauses
    plain = ackclock.conform("bbr")
    assert plain.coverage is None and plain.table.equals(found.table)
    # A control without named states has none to count, and the kernel shows none.
    assert ackclock.conform(written(tmp_path), coverage=True).coverage is None
    done = cli("conform", "rfc9406", "--coverage")
    assert re.search(r"hystart_pp\s+slow start\s+CSS", done.stdout)


@pytest.mark.skipif(not present(), reason=NO_KERNEL)
def test_a_kernel_is_asked_its_own_control_and_a_named_one_outside_it(tmp_path: Path) -> None:
    own = ackclock.conform(written(tmp_path), on=["simulation", "linux"])
    factors = [each.measured["factor"] for each in own.verdicts if each.asked.clause.id == "halves"]
    assert factors == pytest.approx([0.5, 0.5], abs=0.01)
    assert re.match(r"reno of Linux \d", own.verdicts[1].asked.implementation)
    outside = ackclock.conform(written(tmp_path), control="cubic", on="linux")
    assert outside.verdicts[0].measured["factor"] == pytest.approx(0.7, abs=0.01)


def test_the_files_for_services_and_readers(tmp_path: Path) -> None:
    found = ackclock.conform(
        written(tmp_path), out=tmp_path / "o", junit=tmp_path / "j.xml", markdown=tmp_path / "m.md"
    )
    assert (found.passed, found.answer) == (False, "2 clauses: 1 holds, 1 fails.")
    suite = ElementTree.parse(tmp_path / "j.xml").getroot().find("testsuite")
    assert suite is not None and (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "| §3.1 | A loss halves the window. | ✓ |" in (tmp_path / "m.md").read_text()
    kept = {file.suffix for file in (tmp_path / "o/failures").iterdir()}
    assert kept == {".toml", ".sql", ".pcapng", ".svg"}
    [scenario] = (tmp_path / "o/failures").glob("*.toml")
    again = ackclock.run(ackclock.load(scenario))
    assert again.summary["flows"][0]["window_reductions"] == 1
    assert found.table["verdict"].to_list() == ["holds", "fails"]
    assert ackclock.conform(written(tmp_path), out=tmp_path / "o").to_dict() == found.to_dict()


def test_a_script_of_packets_is_a_clause(tmp_path: Path) -> None:
    script = """
+0 < S 0:0(0) win 32792 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
"""
    text = f"""
document = "RFC 9293"
title = "TCP"
opening = '''
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0'''
[[clause]]
id = "handshake"
section = "§3.5"
level = "must"
text = "A SYN is answered by a SYN with an acknowledgment."
script = '''{script}'''
[[clause]]
id = "wrong"
section = "none"
level = "may"
text = "A SYN acknowledges more than it has seen."
script = '''{script.replace("ack 1", "ack 2")}'''
"""
    found = ackclock.conform(written(tmp_path, text), out=tmp_path / "o")
    assert [each.verdict for each in found.verdicts] == ["holds", "fails"]
    assert "acknowledgment number" in found.verdicts[1].reason
    assert {file.suffix for file in (tmp_path / "o/failures").iterdir()} == {".pkt", ".pcapng", ".qlog", ".txt"}


@pytest.mark.skipif(not present(), reason=NO_KERNEL)
def test_a_queue_of_a_kernel_takes_the_place_of_ours(tmp_path: Path) -> None:
    text = """
document = "RFC 8289"
title = "CoDel"
discipline = "codel target 20ms"
[base]
duration = "1 s"
flow = [{ name = "tested", packet_size = "1400 B", application = { kind = "cbr", rate = "12 Mbit/s" } }]
topology.links = [{ rate = "10 Mbit/s", delay = "1 ms", queue = { kind = "codel" } }]
[[clause]]
id = "target"
section = "§4.3"
level = "must"
text = "The target is 5 ms."
seen = "SELECT first_drop_time < 0.15 AS holds, queue FROM links WHERE drops > 0"
"""
    found = ackclock.conform(written(tmp_path, text), on=["simulation", "linux"]).verdicts
    assert [(each.verdict, each.measured["queue"]) for each in found] == [("holds", "codel"), ("fails", "qdisc")]
    assert re.match(r"codel of Linux \d", found[1].asked.implementation)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('level = "must"', 'level = "perhaps"'), "clause halves: level must be one of must, should, may, describes"),
        (("seen = ", "sen = "), r"clause halves: there is no key 'sen'; did you mean 'seen'\?"),
        (('id = "triples"', 'id = "halves"'), "clause halves: this name is taken"),
        (('name = "tested"', 'name = "other"'), "needs a flow with name = 'tested'"),
        (("> 2 AS holds, factor FROM reductions", "> 2 FROM reduction"), "clause triples: seen: .*reduction"),
        (("rate =", "rat ="), r"own: clause halves: topology.links.0.rat: there is no key"),
        (('"A loss halves the window."', f'"{"word " * 41}"'), "more than 40 words"),
        (('control = "slow', 'control = "slw'), "slw"),
    ],
)  # fmt: skip
def test_a_wrong_suite_is_one_message(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        ackclock.conform(written(tmp_path, SUITE.replace(*change)))


def test_a_suite_that_is_not_there_has_a_near_one(cli: Cli) -> None:
    done = cli("conform", "rfc94380")
    assert (done.returncode, done.stdout) == (2, "")
    assert "rfc94380: there is no such suite; did you mean rfc9438?" in done.stderr


def test_a_clause_whose_point_is_not_reached_does_not_hold(tmp_path: Path) -> None:
    found = ackclock.conform(written(tmp_path, SUITE.replace("packets = [200]", "packets = []")))
    assert [each.verdict for each in found.verdicts] == ["not seen", "not seen"] and not found.passed
