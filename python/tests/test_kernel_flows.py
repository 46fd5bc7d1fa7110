"""Flows on a kernel beside simulated flows: `profile = "kernel"` in a scenario."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import CongestionControl, Scenario, ScenarioError, _core, linux, load
from ackclock.arrow import rows
from ackclock.linux import running, store, worlds
from ackclock.linux.running import KernelResult
from ackclock.linux.store import Built

from . import captures
from .captures import SYN
from .conftest import Cli

HERE = sys.platform == "linux" and platform.machine() == "x86_64"
REAL = {"name": "real", "from": "a", "to": "b", "profile": "kernel", "packet_size": "1448 B"}
LINUX = {"name": "simulated", "from": "a", "to": "b", "host": "linux", "packet_size": "1448 B"}


@pytest.fixture
def none_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no kernel."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(store.importlib.util, "find_spec", lambda name: None)


def path(*flows: dict[str, Any], duration: str = "10 s", seed: int = 1, **link: Any) -> Scenario:
    """Return a scenario with a round trip of 40 ms over 10 Mbit/s, on which all flows begin at one node."""
    whole = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "34 packets", "reverse": {"queue": "unlimited"}, **link}
    topology = {"kind": "explicit", "node": ["a", "b"], "link": {"from": "a", "to": "b", **whole}}
    return Scenario("test", duration=duration, seed=seed, topology=topology, flow=list(flows))


def mixed(scenario: Scenario, *capture: str) -> KernelResult:
    return linux.run(scenario, on="simulation", capture=capture)


def refusal(scenario: Scenario) -> str:
    with pytest.raises(ValueError) as caught:
        mixed(scenario)
    return str(caught.value)


# Runs.


def test_a_kernel_and_the_simulation_share_a_link(built: Built) -> None:
    scenario = path(REAL, LINUX)
    result = mixed(scenario)
    assert result.kernel["controls"] == ["cubic", None]
    assert (result.kernel["world"], result.kernel["key"], result.warnings) == ("linux", built.path.name, [])
    real, simulated = (row["goodput_bps"] for row in result.summary["flows"])
    assert min(real, simulated) > 2.5e6
    # 1448 of 1500 bytes are data; the first round trips leave the link idle.
    assert 0.97 < (real + simulated) / (10e6 * 1448 / 1500) <= 1.0
    assert mixed(scenario).trace_hash == result.trace_hash
    assert mixed(scenario.set({"seed": 2})).trace_hash != result.trace_hash


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"ecn": True, "modern": {"timestamps": False}},
        {"slow_start": "standard", "avoidance": "veno"},
        {"application": {"kind": "web", "root": "30 kB", "objects": 3, "object": "20 kB", "pages": 2}},
        {"count": 2, "start_spread": "100 ms", "size": "500 packets"},
    ],
    ids=lambda keys: "-".join(keys) or "plain",
)
def test_a_scenario_of_kernel_flows_alone_runs_as_on_linux(built: Built, keys: dict[str, Any]) -> None:
    named = path({**REAL, **keys}, duration="3 s")
    other = path({**LINUX, "name": "real", **keys}, duration="3 s")
    expected = linux.run(other, on="linux")
    assert mixed(named).trace_hash == expected.trace_hash
    assert linux.run(named, on="linux").trace_hash == expected.trace_hash
    assert mixed(named).kernel["controls"] == expected.kernel["controls"]


def test_a_queue_of_the_kernel_needs_no_flow_on_it(built: Built) -> None:
    queue = {"kind": "qdisc", "command": "fq_codel"}
    alone = mixed(path(LINUX, {**LINUX, "name": "other"}, duration="3 s", queue=queue))
    assert alone.kernel["controls"] == [None, None]
    # The queue of the kernel holds delay near 5 ms, whoever sends.
    for result in (alone, mixed(path(REAL, LINUX, duration="3 s", queue=queue))):
        assert sum(row["delivered_bytes"] for row in result.summary["flows"]) > 0.9 * 3 * 10e6 / 8 * 1448 / 1500
        assert rows(result.links)[0]["sojourn_mean"] < 0.015
    reason = 'link a>b has the queue discipline "fq_codel" of Linux, which needs a kernel in virtual time: '
    with pytest.raises(ScenarioError) as caught:
        ackclock.run_many([path(LINUX, queue=queue)])
    assert str(caught.value).startswith(reason)
    assert ackclock.run(path(LINUX, duration="1 s", queue=queue)).kernel["controls"] == [None]


def test_on_linux_every_flow_is_the_kernels(built: Built) -> None:
    result = linux.run(path(REAL, LINUX, duration="1 s"), on="linux")
    assert result.kernel["controls"] == ["cubic", "cubic"]


def test_a_parameter_of_the_network_changes_the_kernel(built: Built) -> None:
    fast = {"rate": "100 Mbit/s", "queue": "1000 packets"}

    def goodput(value: int) -> float:
        sysctl = {"net.ipv4.tcp_window_scaling": value}
        result = mixed(path({**REAL, "kernel": {"sysctl": sysctl}}, LINUX, duration="3 s", **fast))
        return float(result.summary["flows"][0]["goodput_bps"])

    # Without window scaling, at most 64 KB are under way in a round trip of 40 ms.
    assert goodput(0) < 8 * 65_535 / 0.04 < goodput(1)


def test_a_parameter_of_a_module_changes_the_kernel(built: Built) -> None:
    def ending(flow: dict[str, Any]) -> object:
        return rows(mixed(path(flow, LINUX)).flows)[0]["slow_start_exit_reason"]

    assert ending({**REAL, "kernel": {"module": {"tcp_cubic.hystart": 0}}}) == "loss"
    assert ending(REAL) == "algorithm"


def test_many_parameters_apply_together(built: Built) -> None:
    sysctl = {"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_timestamps": 0, "net.ipv4.tcp_window_scaling": 0}
    module = {"tcp_cubic.hystart": 0, "tcp_cubic.beta": 512}
    one = {**REAL, "kernel": {"sysctl": sysctl, "module": module}}
    two = {**REAL, "name": "other", "kernel": {"sysctl": {"net.ipv4.tcp_no_metrics_save": 0, **sysctl}}}
    result = mixed(path(one, two, duration="2 s"))
    assert all(row["delivered_bytes"] > 100_000 for row in result.summary["flows"])


def test_a_value_with_a_blank_is_no_shorter_one(built: Built) -> None:
    with pytest.raises(ScenarioError, match="beta"):
        mixed(path({**REAL, "kernel": {"module": {"tcp_cubic.beta": "717 1"}}}))


def test_a_flow_names_a_control_of_the_kernel(built: Built) -> None:
    result = mixed(path({**REAL, "kernel": {"control": "westwood"}}, {**REAL, "name": "other"}, LINUX, duration="2 s"))
    assert result.kernel["controls"] == ["westwood", "cubic", None]


def test_flows_at_a_node_share_its_parameters(built: Built) -> None:
    sacks = [{**REAL, "name": f"f{value}", "kernel": {"sysctl": {"net.ipv4.tcp_sack": value}}} for value in (0, 1)]
    result = mixed(path(*sacks, LINUX, duration="1 s"))
    (warning,) = (found for found in result.warnings if found["name"] == "kernel_shared")
    assert warning["flows"] == ["f1"]
    assert warning["text"].startswith("f1: net.ipv4.tcp_sack = 0 of another flow at the node applies too")


def test_packets_of_all_flows_are_captured(built: Built, tmp_path: Path) -> None:
    file = mixed(path(REAL, LINUX, duration="200 ms"), "a").write_pcap(tmp_path / "both.pcapng")
    assert sum(segment.has(SYN) for segment in captures.read(file)) == 4


class Steady(CongestionControl):
    """A window of 20 segments."""

    def on_established(self, event: ackclock.Established) -> None:
        self.cwnd = 20.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        pass

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        pass


def test_a_control_in_python_runs_beside_a_kernel(built: Built) -> None:
    for flow in (LINUX, {**REAL, "name": "other"}):
        result = mixed(path(REAL, {**flow, "congestion_control": Steady}, duration="2 s"))
        # 20 segments in a round trip of 40 ms and a queue.
        assert 1e6 < result.summary["flows"][1]["goodput_bps"] < 20 * 1448 * 8 / 0.04


def test_the_command_runs_a_sweep(built: Built, tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "mixed.toml"
    sweep = '[sweep]\n"flow.0.kernel.sysctl.net.ipv4.tcp_sack" = [0, 1]\n"flow.0.kernel.control" = ["reno", "cubic"]\n'
    file.write_text(path(REAL, LINUX, duration="500 ms").to_toml() + sweep)
    runs = json.loads(cli("run", file, "--json").stdout)["runs"]
    assert [run["kernel"]["controls"] for run in runs] == 2 * [["reno", None], ["cubic", None]]
    assert list(runs[0]["labels"].values()) == ["0", "reno"]


def test_on_names_another_version(built: Built) -> None:
    other = Built(**{**vars(built), "version": "5.4.1"})
    named = path({**REAL, "kernel": {"version": "6.1"}}, duration="10 ms")
    found = running.run_virtual(named, (), _core.Cancel(), kernel=other).kernel["warnings"]
    text = "test: flow.0.kernel.version: the kernel is 5.4.1, because of --on (Python: on), and not 6.1"
    assert found == [["kernel_version", [], text]]


def test_a_kernel_without_the_parameter_says_so(built: Built) -> None:
    sysctl = path({**REAL, "kernel": {"sysctl": {"net.ipv4.tcp_sackk": 0}}})
    what = "the kernel has no parameter ipv4/tcp_sackk: No such file or directory"
    assert refusal(sysctl) == f"test: flow.0.kernel.sysctl.net.ipv4.tcp_sackk: {what}"
    module = path({**REAL, "kernel": {"module": {"tcp_cubic.hystart": "maybe"}}})
    what = "the parameter hystart does not take maybe: Invalid argument"
    assert refusal(module) == f"test: flow.0.kernel.module.tcp_cubic.hystart: {what}"


# Refusals.


def test_the_simulation_refuses_with_the_way_out() -> None:
    scenario = path(LINUX, REAL)
    expected = 'flow real has profile = "kernel", which needs a kernel in virtual time: `ackclock kernel build` makes'
    with pytest.raises(ScenarioError) as caught:
        ackclock.run_many([scenario])
    assert str(caught.value).startswith(expected)
    assert _core.run_batch([scenario.core]).runs  # a failed run is a row
    assert ackclock.run(path(LINUX, duration="1 s")).summary["flows"][0]["delivered_packets"] > 0


def test_no_kernel_was_built(none_built: None, tmp_path: Path, cli: Cli) -> None:
    if HERE:
        assert refusal(path(REAL)) == "test: linux: no kernel was built yet; build one with: ackclock kernel build"
    file = tmp_path / "mixed.toml"
    file.write_text(path(REAL, LINUX).to_toml())
    done = cli("run", file, "--set", 'flow.0.kernel.version="6.12"')
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "ackclock kernel build" in done.stderr or not HERE


def test_a_version_that_was_not_built(built: Built) -> None:
    text = refusal(path({**REAL, "kernel": {"version": "1.0"}}))
    assert text.startswith("test: flow.0.kernel.version: linux:1.0: no such kernel was built; there are ")
    assert built.version in text and text.endswith("ackclock kernel build SOURCE")


def test_a_control_that_the_kernel_lacks(built: Built) -> None:
    text = refusal(path({**REAL, "kernel": {"control": "bbrr"}}))
    what = "this kernel has no congestion control `bbrr`; did you mean `bbr`? It has"
    assert text.startswith(f"test: flow.0.kernel.control: {what}")
    world = worlds.find("simulation")
    assert world.refusal(path({**REAL, "kernel": {"control": "bbrr"}})) == text
    assert world.refusal(path(REAL)) is None and world.refusal(path(LINUX)) is None


def test_a_machine_has_its_own_version() -> None:
    named = path({**REAL, "kernel": {"version": "6.12"}})
    reason = linux.refusal(named)
    assert reason is not None and ("has a version of its own" in reason or not HERE)


def test_without_a_kernel_flow_nothing_runs_on_a_kernel() -> None:
    assert refusal(path(LINUX)).startswith("test: nothing in it is a kernel; ackclock.run simulates all")


def test_files_hold_kernel_flows(tmp_path: Path) -> None:
    own = {"version": "6.12", "sysctl": {"net.ipv4.tcp_sack": 0}, "module": {"tcp_cubic.hystart_detect": 2}}
    scenario = path({**REAL, "kernel": own})
    file = tmp_path / "test.toml"
    file.write_text(scenario.to_toml())
    assert load(file).hash == scenario.hash != path(REAL).hash
    assert scenario.core.kernel_version == ("6.12", "test: flow.0.kernel.version")
