"""Writes a network as a description for `net.tcl` and as a scenario."""

from __future__ import annotations

import json
from collections.abc import Sequence

from networks import Flow, Link, Network
from queues import Queue, Settings


def tcl(network: Network) -> str:
    """Describe a network for `net.tcl`."""
    lines = [f"network {network.seed} {network.nodes}"]
    lines += [_tcl_link(link) for link in network.links]
    lines.append("watch {} {}".format(*network.links[network.bottleneck].ends))
    for link in network.links:
        if link.loss:
            lines.append(
                f"random_loss {link.ends[0]} {link.ends[1]} {link.loss.rate} {link.loss.position} {link.loss.seed}"
            )
    lines += [_tcl_flow(flow) for flow in network.flows]
    return "\n".join([*lines, f"finish {_seconds(network.end)}", ""])


def toml(network: Network, order: Sequence[int]) -> str:
    """Write a network as a scenario; `order` is the order in which ns-2 resets the nodes' agents."""
    drawn = _Mrg32k3a(network.seed)
    for flow in network.flows:
        for _ in range(flow.draws):
            drawn.uniform()
    phases = {}
    for node in order:
        for index, flow in enumerate(network.flows):
            if flow.ends[0] == node:
                phases[index] = flow.tick * drawn.uniform()
    lines = [f'duration = "{network.end} ns"', "", "[topology]", 'kind = "explicit"']
    lines.append("node = " + json.dumps([f"n{node}" for node in range(network.nodes)]))
    for link in network.links:
        lines += ["", "[[topology.link]]", *_pairs(_our_link(link, network.seed, drawn.count))]
    for index, flow in enumerate(network.flows):
        lines += ["", "[[flow]]", *_pairs(_our_flow(flow, phases[index]))]
    return "\n".join([*lines, ""])


class _Mrg32k3a:
    """ns-2's generator (L'Ecuyer's MRG32k3a), with the same seed in all six words."""

    def __init__(self, seed: int) -> None:
        self.first, self.second = [seed] * 3, [seed] * 3
        self.count = 0

    def uniform(self) -> float:
        self.count += 1
        p1 = (1403580 * self.first[1] - 810728 * self.first[0]) % 4294967087
        p2 = (527612 * self.second[2] - 1370589 * self.second[0]) % 4294944443
        self.first = [*self.first[1:], p1]
        self.second = [*self.second[1:], p2]
        return (p1 - p2 if p1 > p2 else p1 - p2 + 4294967087) * 2.328306549295728e-10


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09d}"


def _list(settings: Settings) -> str:
    return "{" + " ".join(f"{name} {value}" for name, value in settings.items()) + "}"


def _tcl_link(link: Link) -> str:
    queue = link.queue or Queue("DropTail", {}, 1_000_000)
    words = [*link.ends, link.rate, _seconds(link.delay), queue.kind, queue.limit]
    words += [_list(queue.of_class), _list(queue.of_queue), "{" + queue.command + "}"]
    return " ".join(["link", *map(str, words)])


def _tcl_flow(flow: Flow) -> str:
    of_tcp: Settings = {"window_": flow.rwnd, "packetSize_": flow.packet_size, "max_ssthresh_": flow.max_ssthresh}
    of_tcp |= {"ecn_": int(flow.ecn), "windowInitOption_": 2 if flow.initial_window is None else 1}
    of_tcp |= {"windowInit_": flow.initial_window or 2, "singledup_": int(flow.limited_transmit)}
    of_tcp |= {"minrto_": flow.min_rto, "rtxcur_init_": flow.initial_rto, "tcpTick_": flow.tick}
    alpha, beta, gamma = flow.vegas
    of_vegas: Settings = {"v_alpha_": alpha, "v_beta_": beta, "v_gamma_": gamma}
    # Vegas counts the SYN.
    size = 0 if flow.size is None else flow.size + (flow.agent == "Vegas")
    words = [*flow.ends, flow.agent, _seconds(flow.start), size, _seconds(flow.delayed_ack or 0)]
    return " ".join(["flow", *map(str, words), _list(of_tcp), _list(of_vegas if flow.agent == "Vegas" else {})])


def _pairs(table: Settings) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(_pairs(value)) + " }"
    return json.dumps(value)


def _our_link(link: Link, seed: int, drawn: int) -> Settings:
    generator: Settings = {"generator": "mrg32k3a"}
    keys: Settings = {"from": f"n{link.ends[0]}", "to": f"n{link.ends[1]}"}
    keys |= {"rate": f"{link.rate} bit/s", "delay": f"{link.delay} ns", "queue": "unlimited"}
    if link.queue:
        keys["queue"] = link.queue.ours
        if link.queue.kind in ("RED", "PI", "REM"):
            keys["queue"] = link.queue.ours | generator | {"seed": seed, "stream": 0, "skip": drawn}
    if link.loss:
        loss = link.loss
        stream = {"seed": loss.seed, "stream": 0} if loss.seed else {"seed": seed, "stream": 1}
        keys["loss"] = {
            "kind": "bernoulli",
            "rate": f"{100 * loss.rate:g} %",
            "position": loss.position,
            **generator,
            **stream,
        }
    return keys | {"reverse": "none"}


def _our_flow(flow: Flow, phase: float) -> Settings:
    recovery = "sack" if flow.agent == "Sack1" else flow.agent.lower()
    keys: Settings = {"from": f"n{flow.ends[0]}", "to": f"n{flow.ends[1]}", "start": f"{flow.start} ns"}
    keys |= {"recovery": recovery, "packet_size": f"{flow.packet_size} B", "rwnd": f"{flow.rwnd} packets"}
    keys |= {"clock_phase": f"{phase:.9f} s", "clock_granularity": f"{flow.tick} s"}
    keys |= {"min_rto": f"{flow.min_rto} s", "initial_rto": f"{flow.initial_rto} s"}
    keys["initial_window"] = "ns2_table" if flow.initial_window is None else f"{flow.initial_window} segments"
    if flow.size is not None:
        keys["size"] = f"{flow.size} packets"
    if flow.delayed_ack is not None:
        keys |= {"delayed_ack": True, "delayed_ack_timeout": f"{flow.delayed_ack} ns"}
    if flow.ecn:
        keys["ecn"] = True
    if not flow.limited_transmit:
        keys["limited_transmit"] = False
    if flow.max_ssthresh:
        keys["slow_start"] = {"kind": "limited_ns2", "max_ssthresh": f"{flow.max_ssthresh} segments"}
    if flow.agent == "Vegas":
        alpha, beta, gamma = (f"{packets} segments" for packets in flow.vegas)
        keys["header"] = "0 B"
        keys["avoidance"] = {"kind": "vegas", "alpha": alpha, "beta": beta}
        keys["slow_start"] = {"kind": "vegas", "gamma": gamma, "alpha": alpha}
        if flow.max_ssthresh:
            # For Vegas, ns-2 only uses it as the initial threshold.
            keys["initial_ssthresh"] = f"{min(flow.max_ssthresh, flow.rwnd)} segments"
    return keys
