"""Scenarios with hosts of Linux: network and congestion control stay, ns-2's hosts are replaced.

ns-2's packets become segments: the packet's data is the MSS, and segments carry no timestamps, so that both have 40 B
of headers. All else of a host, such as its recovery, its ACKs and its timers, is Linux's own. Hosts of the profile
`modern` and datagrams stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ackclock.freeze import Frozen
from ackclock.scenario import Scenario

RECOVERIES = {"sack": {}, "newreno": {"recovery": "newreno"}}
"""Settings of Linux for a recovery of ns-2."""
LARGE_WINDOW = 1000
"""Packets: a receive window of this size limits no sender, so the kernel sizes it."""
HEADER = "40 B"


@dataclass(frozen=True)
class Replaced:
    """A setting of a scenario's hosts, and its replacement in another world."""

    setting: str
    given: str
    there: str


def hosted(scenario: Scenario) -> Scenario:
    """Return a scenario with hosts of Linux instead of ns-2's; without hosts of ns-2, the scenario itself.

    Raises
    ------
    ValueError
        If a flow has a setting without a counterpart in the kernel.
    """
    document = Frozen(scenario).document
    if not any(flow.get("profile") == "ns2" for flow in document.get("flow", ())):
        return scenario
    return Scenario(**{**document, "flow": [_flow(flow) for flow in document["flow"]]})


def replaced(scenario: Scenario) -> list[Replaced]:
    """Return the settings of a scenario's hosts that `hosted` replaces, each once."""
    found: dict[Replaced, None] = {}
    for flow in Frozen(scenario).flows:
        if flow.get("profile") == "ns2":
            found |= dict.fromkeys(_replaced(flow))
    return list(found)


def _flow(flow: Mapping[str, Any]) -> dict[str, Any]:
    if flow.get("profile") != "ns2":
        return dict(flow)
    recovery = _kind(flow["recovery"])
    if recovery not in RECOVERIES:
        raise ValueError(f'recovery = "{recovery}": the kernel has SACK with RACK, and NewReno')
    if flow["header"] != HEADER:
        raise ValueError(f"header = {flow['header']!r}: the kernel's headers take {HEADER}")
    kept = {key: value for key, value in flow.items() if key not in _keys_of_ns2() and key != "profile"}
    if kept.get("initial_ssthresh") == "rwnd":
        kept["initial_ssthresh"] = f"{_packets(flow):g} segments"
    return {**kept, "host": "linux", "modern": {"timestamps": False, **RECOVERIES[recovery], **_window(flow)}}


@cache
def _keys_of_ns2() -> frozenset[str]:
    """Return the keys of a flow that only hosts of ns-2 have."""
    ns2, modern = (Frozen(Scenario(duration="1 s", flow=[{"profile": name}])).flows[0] for name in ("ns2", "modern"))
    return frozenset(ns2) - frozenset(modern)


def _window(flow: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a receive window that may limit the sender."""
    if _packets(flow) >= LARGE_WINDOW:
        return {}
    size = f"{round(_packets(flow) * float(flow['packet_size'].split()[0]))} B"
    return {"receive_buffer": size, "receive_buffer_max": size, "receive_buffer_unit": "data"}


def _packets(flow: Mapping[str, Any]) -> float:
    return float(flow["rwnd"].split()[0])


def _replaced(flow: Mapping[str, Any]) -> list[Replaced]:
    newreno = _kind(flow["recovery"]) == "newreno"
    acks = f"every second packet, or after {flow['delayed_ack_timeout']}" if flow["delayed_ack"] else "one per packet"
    kernel = "NewReno, because SACK is off" if newreno else "SACK with RACK and tail loss probes"
    timeouts = f"{flow['min_rto']} to {flow['max_rto']}, at first {flow['initial_rto']}"
    return [
        Replaced("recovery", f"{_kind(flow['recovery'])} of ns-2", kernel),
        Replaced(
            "packet", f"{flow['packet_size']} of data, {HEADER} of headers", "MSS of the same size, no timestamps"
        ),
        Replaced("ACKs", acks, "one per segment at first, then one for two or more segments"),
        Replaced("receive window", flow["rwnd"], "sized by the kernel" if not _window(flow) else "the same in bytes"),
        Replaced("retransmission timeout", timeouts, "200 ms to 120 s, at first 1 s"),
        Replaced("clock of round-trip times", f"ticks of {flow['clock_granularity']}", "microseconds"),
    ]


def _kind(part: str | Mapping[str, Any]) -> str:
    return part if isinstance(part, str) else str(part["kind"])
