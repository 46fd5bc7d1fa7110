"""Random scenarios for the comparison of simulation and kernel, packet by packet."""

from __future__ import annotations

import random
from typing import Any

KINDS = (
    *("bulk", "transfer", "listed losses", "random losses", "lost ACKs", "jitter", "reordering", "marks"),
    *("limits", "bursts", "requests", "start-up", "two flows"),
)
"""Classes of scenarios."""
RATES = (0.5, 1, 2, 5, 10, 20, 50, 100)
DELAYS = (1, 2, 5, 10, 20, 50, 100)
DEEP = (0.5, 1, 2, 4)
SEGMENT = 1448


def make(seed: int, number: int) -> tuple[str, dict[str, Any]]:
    """Return the class of the scenario with this number, and its document."""
    draw = random.Random(seed * 1_000_003 + number)
    kind = KINDS[number % len(KINDS)]
    rate, delay = draw.choice(RATES), draw.choice(DELAYS)
    waiting = max(4, round(rate * 1e6 * 2 * delay / 1e3 / 12_000 * draw.choice(DEEP)))
    forward: dict[str, Any] = {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": f"{waiting} packets"}
    back: dict[str, Any] = {"queue": "unlimited"}
    flows = [_flow(draw, rate)]
    duration = min(10.0, 200 / rate)
    if kind == "transfer" or (kind != "bulk" and draw.random() < 0.4):
        flows[0]["size"], duration = f"{draw.randint(1, 400)} packets", 10.0
    duration = _change(kind, draw, (rate, delay, duration), forward, back, flows)
    forward["reverse"] = back
    link = {"from": "a", "to": "b", **forward}
    topology = {"kind": "explicit", "node": ["a", "b"], "link": link}
    name = f"{kind.replace(' ', '-')}-{seed}-{number}"
    numbers = {"duration": f"{duration:.3f} s", "seed": draw.randint(1, 10**6)}
    return kind, {"name": name, **numbers, "topology": topology, "flow": flows}


def _flow(draw: random.Random, rate: float) -> dict[str, Any]:
    size = draw.choice((536, 1000, SEGMENT, SEGMENT, SEGMENT)) if rate < RATES[-1] else SEGMENT
    flow: dict[str, Any] = {"name": "f", "from": "a", "to": "b", "host": "linux", "packet_size": f"{size} B"}
    if draw.random() < 0.5:
        flow |= {"slow_start": "standard", "avoidance": "reno"}
    return flow


def _change(
    kind: str,
    draw: random.Random,
    path: tuple[float, int, float],
    forward: dict[str, Any],
    back: dict[str, Any],
    flows: list[dict[str, Any]],
) -> float:
    """Make the scenario one of its class; return its duration in seconds."""
    rate, delay, duration = path
    _impair(kind, draw, delay, forward, back)
    if kind == "two flows":
        flows.append(_flow(draw, rate) | {"name": "g", "start": f"{draw.randint(0, 1000)} ms"})
        return min(10.0, duration + 1)
    return _use(kind, draw, duration, flows[0])


def _impair(kind: str, draw: random.Random, delay: int, forward: dict[str, Any], back: dict[str, Any]) -> None:
    match kind:
        case "listed losses":
            lost = sorted(draw.sample(range(1, 300), draw.randint(1, 6)))
            forward["loss"] = {"kind": "listed", "packets": lost, "position": draw.choice(("before", "after"))}
        case "random losses":
            forward["loss"] = {"kind": "bernoulli", "rate": f"{draw.choice((0.1, 0.5, 1, 2, 5))} %"}
        case "lost ACKs":
            back["loss"] = {"kind": "bernoulli", "rate": f"{draw.choice((1, 5, 20))} %"}
        case "jitter" | "reordering":
            spread = f"{round(delay * draw.choice((0.05, 0.2, 0.5)), 3)} ms"
            order = "free" if kind == "reordering" else "kept"
            forward["delay"] = {"kind": "jitter", "delay": f"{delay} ms", "jitter": spread, "order": order}
        case "marks":
            forward["queue"] = {"kind": "codel", "ecn": True}


def _use(kind: str, draw: random.Random, duration: float, flow: dict[str, Any]) -> float:
    match kind:
        case "marks":
            flow["ecn"] = True
        case "limits":
            if draw.random() < 0.5:
                flow["modern"] = {"receive_buffer_max": f"{draw.choice((131072, 200000, 500000))} B"}
            else:
                flow["modern"] = {"send_buffer_max": f"{draw.choice((30000, 100000, 400000))} B"}
        case "bursts":
            pause = {"kind": "fixed", "mean": f"{draw.choice((0.05, 0.2, 0.5, 1, 2))} s"}
            burst = {"kind": "fixed", "mean": f"{draw.choice((1, 5, 50, 200)) * SEGMENT} B"}
            flow["application"] = {"kind": "on-off", "burst": burst, "pause": pause}
        case "requests":
            size = {"kind": "fixed", "mean": f"{draw.choice((100, 2000, 20000, 200000))} B"}
            pause = {"kind": "fixed", "mean": f"{draw.choice((0.01, 0.3, 1.5))} s"}
            flow["application"] = {"kind": "request-response", "response": size, "think": pause}
        case "start-up":
            flow["initial_window"] = f"{draw.choice((1, 2, 4, 10, 20, 30))} segments"
            if flow.get("avoidance") != "reno" and draw.random() < 0.5:
                flow["slow_start"] = "standard"
    if "application" in flow:
        flow.pop("size", None)
        return 10.0
    return duration
