"""The host `linux` against a kernel in virtual time: stored packets, and the option that shows a difference."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock
from ackclock import Scenario, linux
from ackclock.freeze import Frozen
from ackclock.linux import packets
from ackclock.linux.packets import Side

from .conftest import Cli

STORED = Path(__file__).parent / "data" / "kernel_packets.json.gz"
PATH = {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "20 ms", "queue": "20 packets"}
FLOW = {"name": "f", "from": "a", "to": "b", "host": "linux", "packet_size": "1448 B"}
"""A flow whose packets are those of Linux 7.2."""


def rows() -> list[dict[str, Any]]:
    """Return what Linux 7.2 sent in random scenarios, as `benches/linux/packets/walk.py --store` wrote it.

    These are the first 200 of seed 11, and 36 of other seeds that need rules which no other one needs.
    """
    found: list[dict[str, Any]] = json.loads(gzip.decompress(STORED.read_bytes()))
    return found


def scenario(**changes: Any) -> Scenario:
    topology = {"kind": "explicit", "node": ["a", "b"], "link": {**PATH, "reverse": {"queue": "unlimited"}}}
    return Scenario("pair", duration="2 s", topology=topology, flow=[{**FLOW, **changes}])


def simulated(what: Scenario) -> Side:
    return Side.of(ackclock.run(what, record=packets.STATE, capture=packets.ends(what)))


def test_the_host_linux_sends_the_packets_of_linux() -> None:
    stored = rows()
    assert len(stored) == 236
    wrong = []
    for row in stored:
        found = simulated(Scenario(**row["scenario"])).packets
        whole = row["until"] is None
        same = packets.digest(found, math.inf if whole else row["until"]) == row["hash"]
        if not same or (whole and len(found) != row["packets"]):
            wrong.append(row["scenario"]["name"])
    assert not wrong


def test_most_stored_scenarios_are_the_same_to_the_end() -> None:
    assert sum(row["until"] is None for row in rows()) >= 190


def test_the_kernel_still_sends_what_is_stored(built: linux.Built) -> None:
    if not built.release.startswith("7.2"):
        pytest.skip(f"the stored packets are of Linux 7.2, and this kernel is {built.release}")
    for row in rows()[::20]:
        found = packets.compare(Scenario(**row["scenario"]), built)
        until = math.inf if row["until"] is None else row["until"]
        assert packets.digest(found.kernel.packets, until) == row["hash"], row["scenario"]["name"]


def test_both_worlds_have_the_same_packets_at_any_phase(built: linux.Built) -> None:
    if not built.release.startswith("7.2"):
        pytest.skip(f"the simulation has the rules of Linux 7.2, and this kernel is {built.release}")
    for phase in (0.0, 0.003, 0.0128, 0.0175):
        found = packets.compare(scenario(), built, phase=phase)
        assert found.difference is None, phase
        assert found.latest < 2e-6


def test_the_first_difference_is_found() -> None:
    one, other = simulated(scenario()), simulated(scenario(initial_window="4 segments"))
    found = packets.judge(scenario(), one, other)
    assert found.difference is not None
    assert (found.difference.flow, found.difference.place) == ("f", "a")
    # SYN, SYN-ACK, ACK, and four segments.
    assert found.difference.index == 7
    assert packets.lines(one.around(found.difference, 1))[1].split()[1:4] == [">", ".", "5793:7241(1448)"]
    # The first flight leaves at the ACK of the SYN, before which nothing was measured.
    assert one.before(found.difference) == {
        "cwnd": 1.0,
        "ssthresh": math.inf,
        "phase": "open",
        **dict.fromkeys(("rtt", "srtt", "rto")),
    }
    assert packets.judge(scenario(), one, one).difference is None


def test_the_first_state_that_differs_is_found() -> None:
    one = simulated(scenario(size="60 packets"))
    heard = one.packets.filter(place="a", direction="received")["time_s"]
    assert packets.judge(scenario(), one, one).state is None
    for trace, name, other in (("cwnd", "cwnd", 3.0), ("rtt", "rto", 0.3), ("recovery", "phase", "fast")):
        # From the fifth packet before the last on, the state is another one.
        known = (
            one.states[trace].filter(pl.col("time") < heard[-5]).with_columns(pl.col(pl.Categorical).cast(pl.String))
        )
        last = known.tail(1).with_columns(pl.lit(other).alias(name), pl.lit(heard[-5]).alias("time"))
        changed = Side(one.packets, {**one.states, trace: pl.concat([known, last])})
        found = packets.judge(scenario(), one, changed).state
        assert found is not None
        assert (found.flow, found.time) == ("f", pytest.approx(heard[-5]))
        assert found.values[name][1] == other


def test_timestamps_differ_by_more_than_a_tick() -> None:
    one = simulated(scenario(size="20 packets"))
    for ticks, differs in ((1, False), (2, True)):
        later = pl.when(pl.col("time_s") > 0.05).then(pl.col("ts_value") + ticks).otherwise("ts_value")
        other = Side(one.packets.with_columns(ts_value=later), one.states)
        found = packets.judge(scenario(), one, other).difference
        assert (found is not None) == differs
        assert found is None or found.fields == ("ts_value",)


def test_packets_that_are_missing_or_late_differ() -> None:
    one = simulated(scenario(size="20 packets"))
    short = Side(one.packets.head(len(one.packets) - 1), one.states)
    found = packets.judge(scenario(), one, short).difference
    assert found is not None
    assert found.fields == ("missing",)
    late = Side(one.packets.with_columns(one.packets["time_s"] + 1e-3), one.states)
    found = packets.judge(scenario(), one, late).difference
    assert found is not None
    assert (found.index, found.fields) == (0, ("time",))


def test_a_list_of_delays_is_made_small_one_model_at_a_time() -> None:
    models = [{"kind": "jitter", "delay": "5 ms", "jitter": "2 ms"}, {"kind": "constant", "delay": "10 ms"}]
    link = {**PATH, "delay": models, "reverse": {"delay": models[0]}}
    topology = {"kind": "explicit", "node": ["a", "b"], "link": link}
    there, back = Frozen(Scenario("pair", duration="2 s", topology=topology, flow=[FLOW])).links
    first, second = there["delay"]
    assert (first["kind"], second["kind"]) == ("jitter", "constant")
    assert [change["delay"] for change in packets._simpler_link(there)] == [[second], [first]]
    assert list(packets._simpler_link({**there, "delay": [first]})) == [], "no link without a delay"
    assert [change["delay"] for change in packets._simpler_link(back)] == ["5 ms"]


def test_a_difference_is_made_small(built: linux.Built, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only the simulation has the smaller window, so the first flight differs whatever else a scenario has.
    monkeypatch.setattr(packets, "in_phase", lambda what, _: what.set({"flow.0.initial_window": "4 segments"}))
    loss = {"kind": "listed", "packets": [100, 200]}
    link = {**PATH, "delay": {"kind": "jitter", "delay": "20 ms", "jitter": "1 ms"}, "loss": loss}
    topology = {"kind": "explicit", "node": ["a", "b"], "link": {**link, "reverse": {"queue": "unlimited"}}}
    flows = [FLOW, {**FLOW, "name": "g", "start": "1 s"}]
    found = packets.compare(Scenario("pair", duration="2 s", topology=topology, flow=flows), built)
    assert found.difference is not None
    small = packets.shrink(found, built)
    assert small.difference is not None
    assert (small.difference.flow, small.difference.place, small.difference.index) == ("f", "a", 7)
    assert small.scenario.duration < small.difference.time + 1.1 * packets.AFTER
    document = Frozen(small.scenario).document
    assert [flow["name"] for flow in document["flow"]] == ["f"]
    link = document["topology"]["link"][0]
    assert (link["delay"], link["loss"]) == ("20 ms", "none")


def test_the_command_shows_the_packets_around_a_difference(cli: Cli, tmp_path: Path, built: linux.Built) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(scenario(size="30 packets").to_toml(), encoding="utf-8")
    shown = cli("kernel", "compare", file, "--packets", "--on", f"linux:{built.version}", "--json")
    assert shown.returncode == 0, shown.stderr
    (one,) = json.loads(shown.stdout)["scenarios"]
    assert one["packets"]["simulation"] > 60
    assert one["difference"] is None or set(one["difference"]["around"]) == {"simulation", "kernel"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--packets"], "--packets: needs a kernel in virtual time, as in --on linux, not --on machine"),
        (["--shrink"], "--shrink: only with --packets"),
        (["--phase", "0.001"], "--phase: only with --packets"),
        (["--packets", "--on", "linux", "--phase", "-1"], "--phase -1: must be at least 0 s and below 1 s"),
        (["--packets", "--on", "linux", "--out", "x"], "--out: --packets prints its result; --json gives it as JSON"),
    ],
)
def test_wrong_options_are_refused(cli: Cli, tmp_path: Path, options: list[str], message: str) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(scenario().to_toml(), encoding="utf-8")
    refused = cli("kernel", "compare", file, *options)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"error: {message}\n"
