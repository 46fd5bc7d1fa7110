"""Worlds of QUIC stacks: which hosts a scenario gets there, and what it keeps."""

from __future__ import annotations

from typing import Any

import polars
import pytest

import ackclock
from ackclock.freeze import Frozen
from ackclock.linux import stacks, worlds

PATH = {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "1 BDP"}}


def scenario(*flows: dict[str, Any], **settings: Any) -> ackclock.Scenario:
    """Return a scenario with these flows."""
    return ackclock.Scenario("test", **{"duration": "5 s", "topology": PATH, "flow": list(flows), **settings})


def hosted(flow: dict[str, Any], profile: str = "quic") -> dict[str, Any]:
    """Return the frozen flow with hosts of a stack."""
    return dict(Frozen(stacks.hosted(scenario(flow), profile)).flows[0])


def test_a_full_datagram_is_as_large_as_a_full_packet_and_the_amount_stays() -> None:
    modern = hosted({"host": "linux", "packet_size": "1448 B", "size": "1 MB"})
    # 1448 bytes of data, 12 of timestamps and 40 of headers are 1500, of which IPv4 and UDP take 28.
    assert modern["packet_size"] == "1472 B"
    # 691 packets of 1448 bytes.
    assert modern["size"] == f"{-(-691 * 1448 // 1472)} packets"
    assert hosted({"profile": "ns2"})["packet_size"] == "1200 B", "the smallest"


@pytest.mark.parametrize(
    ("flow", "control"),
    [
        ({"avoidance": "reno"}, "newreno"),
        ({"avoidance": "cubic"}, "cubic"),
        ({"avoidance": "cubic", "slow_start": "hystart_pp"}, "flow"),
        ({"avoidance": {"kind": "cubic", "beta_cubic": 0.5}}, "flow"),
        ({"avoidance": "reno", "initial_window": "32 segments"}, "flow"),
        ({"avoidance": "reno", "initial_ssthresh": "20 segments"}, "flow"),
        ({"congestion_control": "bbr"}, "flow"),
    ],
)
def test_quinn_has_its_own_reno_and_cubic(flow: dict[str, object], control: str) -> None:
    found = hosted({"profile": "modern", **flow}, "quinn")
    assert found["profile"]["control"] == control
    assert hosted({"profile": "modern", **flow})["profile"]["control"] == "flow"
    assert ("avoidance" in found or "congestion_control" in found) == (control == "flow")


def test_a_receive_window_that_limits_stays_one() -> None:
    assert hosted({"rwnd": "20 packets"})["profile"]["stream_window"] == "20000 B"
    assert hosted({"rwnd": "100000 packets"})["profile"]["stream_window"] == "64000000 B"


def test_datagrams_and_flows_of_a_stack_stay() -> None:
    datagrams = {"application": {"kind": "cbr", "rate": "1 Mbit/s"}}
    own = scenario(datagrams, {"profile": {"kind": "quinn", "control": "newreno"}})
    assert stacks.hosted(own, "quic") is own
    mixed = stacks.hosted(scenario(datagrams, {"profile": "modern"}), "quic")
    assert [flow.get("profile", {}).get("kind") for flow in Frozen(mixed).flows] == [None, "quic"]


def test_what_quic_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r'test: initial_pacing = "rtt": hosts of QUIC pace the initial window'):
        ackclock.run(scenario({"initial_pacing": "rtt"}), on="quic")
    with pytest.raises(ValueError, match="did you mean quic"):
        worlds.find("quick")


def test_a_run_has_the_hosts_of_its_world_and_repeats() -> None:
    own = scenario({"profile": "modern", "avoidance": "cubic", "size": "2 MB"}, record=["cwnd", "rtt", "sequence"])
    for world, control in (("quic", "rfc6928 + standard + cubic + own"), ("quinn", "cubic of quinn")):
        results = [ackclock.run(own, on=world) for _ in range(2)]
        flow = polars.DataFrame(results[0].flows).row(0, named=True)
        assert flow["control"] == control
        assert flow["completion_time"] is not None
        assert results[0].trace_hash == results[1].trace_hash
        assert {"cwnd", "rtt", "sequence"} <= set(results[0].traces)


def test_a_class_in_python_decides_in_a_stack() -> None:
    class Fixed(ackclock.CongestionControl):
        """A window of 20 segments."""

        def on_established(self, event: ackclock.Established) -> None:
            self.cwnd = self.ssthresh = 20.0

        def on_ack(self, ack: ackclock.Ack) -> None:
            pass

        def on_congestion(self, event: ackclock.CongestionEvent) -> None:
            pass

    result = ackclock.run(scenario({"profile": "modern", "congestion_control": Fixed}), on="quic")
    flow = polars.DataFrame(result.flows).row(0, named=True)
    assert (flow["control"], flow["cwnd_max"]) == ("python", 20.0)
    # 20 datagrams in 82 ms.
    assert flow["goodput_bps"] == pytest.approx(20 * 1167 * 8 / 0.0822, rel=0.05)


def test_noq_gives_up_after_one_loss_before_2048_datagrams_and_quinn_does_not() -> None:
    for kind, behind, survives in (("quic", 1_900, True), ("quic", 2_200, False), ("quinn", 2_200, True)):
        loss = {"kind": "listed", "packets": [20]}
        path = {"bottleneck": {"rate": "1 Gbit/s", "delay": "50 ms", "queue": "unlimited", "loss": loss}}
        # The window is all that leaves before the loss is known.
        flow = {"profile": {"kind": kind, "control": "flow", "stream_window": "64 MB", "send_window": "64 MB"}}
        flow |= {"initial_window": f"{behind} segments", "size": "10 MB"}
        result = ackclock.run(scenario(flow, topology={"kind": "dumbbell", **path}))
        lost = any(warning["name"] == "connection_lost" for warning in result.warnings)
        assert lost != survives, (kind, behind)


def test_a_connection_that_is_given_up_is_a_warning() -> None:
    # Two losses in three over more than 2,048 datagrams of a stream are too many gaps for quinn's buffer.
    path = {"bottleneck": {"rate": "1 Gbit/s", "delay": "50 ms", "queue": "unlimited", "loss": "40 %"}}
    flow = {"profile": {"kind": "quinn", "control": "flow", "stream_window": "64 MB", "send_window": "64 MB"}}
    flow |= {"initial_window": "20000 segments"}
    result = ackclock.run(scenario(flow, topology={"kind": "dumbbell", **path}))
    lost = [warning for warning in result.warnings if warning["name"] == "connection_lost"]
    assert len(lost) == 1
    assert "too many gaps in stream buffer" in lost[0]["text"]
