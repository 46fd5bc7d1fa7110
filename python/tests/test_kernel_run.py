"""Runs of scenarios on this machine's kernel, beside their simulations."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import Scenario, ScenarioError, _core, linux

from .conftest import Cli

RENO = {"host": "linux", "packet_size": "1448 B", "slow_start": "standard", "avoidance": "reno"}
QUEUE = {"kind": "droptail", "limit": "34 packets"}
LATE = 0.02
"""How much later than in the simulation something may happen on a busy machine, in seconds."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the kernel under test")


def chain(*flows: dict[str, Any], duration: str = "2 s", queue: object = QUEUE, **keys: Any) -> Scenario:
    """Return a scenario with a round trip of 40 ms over 10 Mbit/s."""
    bottleneck = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": queue}
    topology = {"kind": "chain", "access": {"rate": "1 Gbit/s", "delay": "10 us"}, "bottleneck": bottleneck}
    return Scenario("test", duration=duration, topology=topology, flow=list(flows), **keys)


def on_kernel(scenario: Scenario, **options: Any) -> linux.KernelResult:
    """Run on the kernel; a machine that is busy all the time is no fault of the program."""
    result = linux.run(scenario, **options)
    if result.kernel["tainted"]:
        pytest.skip(result.kernel["reason"])
    return result


def flow(result: ackclock.Result, index: int = 0) -> dict[str, Any]:
    row: dict[str, Any] = result.summary["flows"][index]
    return row


def test_a_reno_flow_delivers_what_its_simulation_delivers(kernel: linux.Check) -> None:
    scenario = chain({"name": "a", **RENO}, record=["cwnd", "rtt", "delivered"])
    result = on_kernel(scenario)
    found, simulated = flow(result), flow(ackclock.run(scenario))
    assert found["delivered_bytes"] == pytest.approx(simulated["delivered_bytes"], rel=0.02)
    assert found["cwnd_initial"] == 10
    assert found["slow_start_exit"]["reason"] == "loss"
    assert found["slow_start_exit"]["cwnd"] == pytest.approx(simulated["slow_start_exit"]["cwnd"], rel=0.1)
    assert found["min_rtt"] == pytest.approx(simulated["min_rtt"], abs=0.002)
    assert found["retransmitted_packets"] > 0 and found["window_reductions"] >= 1
    windows = ackclock.results.frame(result.trace("cwnd"))
    assert windows["cwnd"].max() == found["cwnd_max"]
    assert windows.row(0)[0] == pytest.approx(0, abs=1e-6), "the trace begins with the flow"
    times = ackclock.results.frame(result.trace("rtt"))["rtt"]
    assert times.min() == pytest.approx(found["min_rtt"], abs=0.002)
    facts = result.kernel
    assert (facts["release"], facts["controls"]) == (kernel.release, ["reno"])
    assert 0 <= facts["lateness_p50"] <= facts["lateness_p99"] <= facts["lateness_max"]
    assert facts["releases"] > 1000 and 1 <= facts["attempts"] <= 3
    again = pickle.loads(pickle.dumps(result))
    assert (again.kernel, again.summary) == (facts, result.summary)


def test_hystart_is_off_during_the_run_only(kernel: linux.Check) -> None:
    if not os.environ.get("ACKCLOCK_CHANGE_HYSTART"):
        pytest.skip("it switches HyStart off for the whole machine; ACKCLOCK_CHANGE_HYSTART=1 permits it")
    switch = Path("/sys/module/tcp_cubic/parameters/hystart")
    if not os.access(switch, os.W_OK) or switch.read_text() != "1\n":
        pytest.skip(f"{switch} is not 1, or cannot be written")
    scenario = chain({"name": "a", "host": "linux", "slow_start": "standard"}, duration="1 s")
    refusal = linux.refusal(scenario)
    assert refusal is not None and "--change-hystart" in refusal
    seen: set[str] = set()
    with concurrent.futures.ThreadPoolExecutor() as threads:
        running = threads.submit(linux.run, scenario, change_hystart=True, attempts=1, cancel=_core.Cancel())
        while not running.done():
            seen.add(switch.read_text())
            time.sleep(0.01)
    assert seen >= {"0\n"}
    assert switch.read_text() == "1\n"
    found = running.result()
    assert found.kernel["controls"] == ["cubic without HyStart"]
    assert flow(found)["slow_start_exit"]["reason"] == "loss"


def test_transfers_applications_and_datagrams(kernel: linux.Check) -> None:
    web = {"kind": "web", "pages": 1, "objects": 3, "root": "20 kB", "object": "10 kB"}
    scenario = chain(
        {"name": "sized", **RENO, "size": "100 packets"},
        {"name": "web", **RENO, "application": web},
        {"name": "bursts", **RENO, "application": {"kind": "on-off", "burst": "20 kB", "pause": "0.5 s"}},
        {"name": "cbr", "application": {"kind": "cbr", "rate": "500 kbit/s"}},
        queue="200 packets",
    )
    result, simulated = on_kernel(scenario), ackclock.run(scenario)
    sized, other = flow(result), flow(simulated)
    assert sized["delivered_bytes"] == 144_800
    assert sized["completion_time"] == pytest.approx(other["completion_time"], abs=LATE)
    pages = ackclock.results.frame(result.pages)
    assert pages["completed_s"].null_count() == 0 and len(pages) == 1
    loads = [ackclock.results.rows(each.page_loads())[0]["mean"] for each in (result, simulated)]
    assert loads[0] == pytest.approx(loads[1], abs=3 * LATE)
    bursts = [len(each.transfers) for each in (result, simulated)]
    assert bursts[0] == pytest.approx(bursts[1], abs=1)
    last = len(result.summary["flows"]) - 1
    assert flow(result, last)["delivered_bytes"] == pytest.approx(flow(simulated, last)["delivered_bytes"], rel=0.02)
    assert result.kernel["controls"][last] is None


def test_marks_reach_the_sender(kernel: linux.Check) -> None:
    red = {"kind": "red", "limit": "100 packets", "min_threshold": "5 packets", "max_threshold": "60 packets"}
    marking = {**red, "max_p": "20 %", "weight": 0.1, "mean_packet": "1500 B", "ecn": True}
    both = ({"name": "ecn", **RENO, "ecn": True}, {"name": "plain", **RENO, "start": "10 ms"})
    result = on_kernel(chain(*both, queue=marking))
    marks = sum(link["marks"] for link in result.summary["links"])
    assert marks > 0
    assert flow(result)["slow_start_exit"]["reason"] == "mark"
    assert flow(result, 1)["slow_start_exit"]["reason"] == "loss"


def test_a_flow_stops_and_data_flows_both_ways(kernel: linux.Check) -> None:
    back = {"name": "back", **RENO, "from": "n2", "to": "n1"}
    topology = {"kind": "explicit", "node": ["n1", "n2"], "link": [
        {"from": "n1", "to": "n2", "rate": "10 Mbit/s", "delay": "20 ms", "queue": "40 packets"}
    ]}  # fmt: skip
    there = {"name": "there", **RENO, "from": "n1", "to": "n2", "stop": "0.6 s"}
    scenario = Scenario("test", duration="2 s", topology=topology, flow=[there, back])
    result, simulated = on_kernel(scenario), ackclock.run(scenario)
    for index, least in ((0, 100_000), (1, 1_000_000)):
        assert flow(result, index)["delivered_bytes"] > least
    # What waits in the send buffer is still sent.
    most = flow(simulated)["delivered_bytes"] * 1.1 + 2 * 32_768
    assert flow(result)["delivered_bytes"] < most


def test_the_command_prints_and_writes(kernel: linux.Check, cli: Cli, tmp_path: Path) -> None:
    file, out = tmp_path / "short.toml", tmp_path / "out"
    keys = "".join(f"{name} = {json.dumps(value)}\n" for name, value in RENO.items())
    file.write_text(
        'duration = "0.5 s"\nrecord = ["cwnd"]\n[topology]\nkind = "chain"\n'
        f'bottleneck = {{ rate = "5 Mbit/s", delay = "10 ms" }}\n[[flow]]\nname = "a"\n{keys}'
        "modern.prr = false\n"
    )
    shown = cli("kernel", "run", str(file), "--out", str(out))
    assert shown.returncode == 0, shown.stderr
    assert "goodput" in shown.stdout
    assert f"Linux {kernel.release}, packets late by" in shown.stderr
    assert "a: the kernel follows its own rules instead of flow.modern.prr" in shown.stderr
    stored = ackclock.open(out)
    assert stored.manifest["kernel"]["controls"] == ["reno"]
    assert len(stored.trace("cwnd")) > 0
    printed = json.loads(cli("kernel", "run", str(file), "--json", "--set", "flow.size='5 packets'").stdout)
    assert printed["kernel"]["release"] == kernel.release
    assert 0 < printed["flows"][0]["completion_time"] < 0.5


def test_what_cannot_run_is_refused_before_the_first_run(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        'duration = "60 s"\n[topology]\nkind = "chain"\nbottleneck = { rate = "5 Mbit/s", delay = "10 ms" }\n'
        '[[flow]]\nname = "a"\nhost = "linux"\nslow_start = "standard"\n[sweep]\n"flow.avoidance" = ["reno", "veno"]\n'
    )
    refused = cli("kernel", "run", str(file))
    assert refused.returncode == 2 and refused.stdout == ""
    assert f"{file}: " in refused.stderr and "flow a cannot run on the kernel" in refused.stderr
    assert "veno" in refused.stderr and "Traceback" not in refused.stderr


def test_refusals_need_no_machine() -> None:
    assert linux.refusal(chain({"name": "a", **RENO})) is None
    reason = linux.refusal(chain({"name": "cbr", "application": {"kind": "cbr", "rate": "1 Mbit/s"}}))
    assert reason == "test: has no TCP flow, so that nothing runs on the kernel"
    with pytest.raises(ScenarioError, match="has no TCP flow"):
        linux.run(chain({"name": "cbr", "application": {"kind": "cbr", "rate": "1 Mbit/s"}}))
    with pytest.raises(ValueError, match="attempts: must be at least 1, but is 0"):
        linux.run(chain({"name": "a", **RENO}), attempts=0)


def test_a_late_run_warns() -> None:
    facts = {
        "tainted": True,
        "reason": "a packet was late",
        "attempts": 3,
        "warnings": [("kernel_settings", ["a"], "…")],
    }
    scenario = chain({"name": "a", **RENO})
    result = linux.KernelResult(scenario, ackclock.run(scenario)._core, facts)
    names = [warning["name"] for warning in result.warnings]
    assert names[-2:] == ["kernel_settings", "kernel_tainted"]
    assert result.warnings[-1]["text"] == "the run should not be used: a packet was late (3 attempts)"
    assert result.summary["warnings"] == result.warnings and result.summary["kernel"] == {
        **facts,
        "warnings": [["kernel_settings", ["a"], "…"]],
    }
