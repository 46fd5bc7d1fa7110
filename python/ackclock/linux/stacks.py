"""Scenarios with hosts of a QUIC stack: network, applications and congestion control stay, TCP's hosts are replaced.

A full datagram has the size of a full TCP packet on the wire, at least 1228 bytes. The amount of data stays, counted in
bytes. Datagrams without TCP and flows on a kernel stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ackclock.freeze import Frozen
from ackclock.linux.hosts import LARGE_WINDOW, Replaced
from ackclock.scenario import Scenario

QUIC, QUINN = "quic", "quinn"
NAMES = (QUIC, QUINN)
"""The profiles, which are also the names of worlds."""
CONTROL = ("initial_window", "slow_start", "avoidance", "loss_response", "congestion_control")
KEPT = ("name", "count", "from", "to", "start", "stop", "application", "ecn", "initial_ssthresh", *CONTROL)
"""Keys of a flow that mean the same with hosts of QUIC."""
HEADERS = 28
"""Bytes of the headers of IPv4 and UDP."""
SMALLEST = 1200
"""Bytes of the smallest full UDP payload (RFC 9000, section 14)."""
TCP, TIMESTAMPS = 40, 12
"""Bytes of the headers of IPv4 and TCP, and of the option with timestamps."""
OWN = {"reno": "newreno", "cubic": "cubic"}
"""The controls of quinn, by the avoidance that they have."""


def hosted(scenario: Scenario, profile: str) -> Scenario:
    """Return a scenario whose TCP flows have hosts of a QUIC stack; without TCP flows, the scenario itself.

    Parameters
    ----------
    scenario
        The scenario.
    profile
        ``quic``, where the flow's control decides, or ``quinn``, where quinn's own CUBIC or NewReno does for a flow
        that composes just these, and otherwise the flow's control.

    Raises
    ------
    ValueError
        If a flow has a setting without a counterpart in QUIC.
    """
    document = Frozen(scenario).document
    flows = document.get("flow", ())
    if not any(_is_tcp(flow) for flow in flows):
        return scenario
    return Scenario(**{**document, "flow": [_flow(flow, profile) if _is_tcp(flow) else flow for flow in flows]})


def replaced(scenario: Scenario) -> list[Replaced]:
    """Return the settings of a scenario's hosts that `hosted` replaces, each once."""
    found: dict[Replaced, None] = {}
    for flow in Frozen(scenario).flows:
        if _is_tcp(flow):
            found |= dict.fromkeys(_replaced(flow))
    return list(found)


def refusal(scenario: Scenario, profile: str) -> str | None:
    """Return why a scenario cannot have hosts of a QUIC stack; None if it can."""
    try:
        hosted(scenario, profile)
    except ValueError as error:
        return str(error)
    return None


def _is_tcp(flow: Mapping[str, Any]) -> bool:
    return flow.get("profile") in ("ns2", "modern")


def _flow(flow: Mapping[str, Any], profile: str) -> dict[str, Any]:
    if flow["initial_pacing"] != "none":
        raise ValueError('initial_pacing = "rtt": hosts of QUIC pace the initial window like any other')
    # QUIC counts the marked packets in its ACKs, whatever a TCP's feedback is (RFC 9000, section 19.3.2).
    kept = {key: flow[key] for key in KEPT if key in flow} | {"ecn": bool(flow["ecn"])}
    data, _ = _sizes(flow)
    settings: dict[str, Any] = {"kind": profile}
    if flow["profile"] == "ns2":
        packets = _number(flow["rwnd"])
        if packets < LARGE_WINDOW:
            settings["stream_window"] = f"{max(SMALLEST, round(packets * data))} B"
        if kept["initial_ssthresh"] == "rwnd":
            kept["initial_ssthresh"] = f"{packets:g} segments"
    kept["packet_size"] = f"{_payload(flow)} B"
    if "size" in flow:
        kept["size"] = f"{round(_number(flow['size']) * data)} B"
    if profile == QUINN:
        settings["control"] = own = _own(kept)
        if own != "flow":
            kept = {key: value for key, value in kept.items() if key not in (*CONTROL, "initial_ssthresh")}
    return {**kept, "profile": settings}


def _replaced(flow: Mapping[str, Any]) -> list[Replaced]:
    ns2 = flow["profile"] == "ns2"
    data, header = _sizes(flow)
    window = flow["rwnd"] if ns2 else "of Linux"
    limits = ns2 and _number(flow["rwnd"]) < LARGE_WINDOW
    return [
        Replaced("hosts", "TCP of ns-2" if ns2 else "TCP", "QUIC"),
        Replaced("packet", f"{data} B of data, {header} B of headers", f"UDP payload of {_payload(flow)} B"),
        Replaced("receive window", window, "the same in bytes" if limits else "the stack's own"),
    ]


def _sizes(flow: Mapping[str, Any]) -> tuple[int, int]:
    """Return the bytes of a full packet: data, and headers of TCP and IP."""
    if flow["profile"] == "ns2":
        return _bytes(flow["packet_size"]), _bytes(flow["header"])
    return _bytes(flow["packet_size"]), TCP + (TIMESTAMPS if flow["modern"]["timestamps"] else 0)


def _payload(flow: Mapping[str, Any]) -> int:
    return max(SMALLEST, sum(_sizes(flow)) - HEADERS)


def _own(flow: Mapping[str, Any]) -> str:
    """Return quinn's control with the parts of a flow; ``flow`` if it has none."""
    parts = {key: flow[key] for key in CONTROL if key in flow}
    found = (own for avoidance, own in OWN.items() if parts == _composed(avoidance))
    return next(found, "flow") if flow["initial_ssthresh"] == "unlimited" else "flow"


@cache
def _composed(avoidance: str) -> dict[str, Any]:
    """Return the parts of a flow with this avoidance and an initial window of ten."""
    flow = {"profile": "modern", "avoidance": avoidance}
    found = Frozen(Scenario(duration="1 s", flow=[flow])).flows[0]
    return {key: found[key] for key in CONTROL if key in found}


def _number(quantity: str) -> float:
    found = re.match(r"[\d.e+]+", quantity)
    if found is None:
        raise ValueError(f"{quantity!r} is no quantity")
    return float(found[0])


def _bytes(quantity: str) -> int:
    return round(_number(quantity))
