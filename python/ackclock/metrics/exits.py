"""The end of slow start against the ideal: an oracle that knows the path.

The oracle starts with the flow's own window I. Its handshake takes one path_rtt R. Its window grows by one packet for
each acknowledged packet, as in standard slow start, until it equals the bandwidth-delay product of B packets. There the
oracle leaves slow start, and keeps the window: the link is busy, its queue is empty, and no packet is lost.

So flight k has I·2^k packets, and starts k·R after flight 0. Inside a flight, packets arrive one transmission time
R/B after the other. From the first flight of at least B packets on, the link never idles. A run on one link whose
threshold is the bandwidth-delay product has exactly this course; the tests compare them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars

from ackclock.arrow import frame
from ackclock.freeze import Frozen
from ackclock.metrics.derivation import Derivation, Rows, Run

IDEAL_EXIT = (
    *("exit_bdp", "exit_ideal", "exit_late", "exit_bytes", "exit_ideal_bytes", "exit_utilisation"),
    *("exit_queue_max", "exit_queue_mean", "exit_time_lost"),
)
FIRST = 10
"""The time lost is measured at the delivery of this many bandwidth-delay products."""

Steps = list[tuple[float, float]]


@dataclass(frozen=True)
class Oracle:
    """The course of a flow that leaves slow start at the bandwidth-delay product.

    Attributes
    ----------
    trip : float
        Round-trip time without queues, R, in seconds.
    capacity : float
        Bandwidth-delay product, B, in packets.
    initial : float
        Initial window, I, in packets.
    """

    trip: float
    capacity: float
    initial: float

    @property
    def exit_time(self) -> float:
        """Time from the start of the flow to the exit: the ACK of packet B − I, in seconds.

        An oracle that starts above the bandwidth-delay product leaves slow start after the handshake.
        """
        return 2 * self.trip + self.arrival(self._last) if self._last else self.trip

    @property
    def exit_packets(self) -> int:
        """Number of packets delivered by the exit; ACKs take half of the round-trip time to return."""
        return self.delivered(self.arrival(self._last) + self.trip / 2) if self._last else 0

    @property
    def _last(self) -> int:
        """The packet whose ACK ends slow start."""
        return max(0, math.ceil(self.capacity - self.initial))

    def arrival(self, packet: int) -> float:
        """Return the time from the delivery of the first packet to that of a packet, numbered from 1, in seconds."""
        flight = min(math.floor(math.log2((packet - 1) / self.initial + 1)), self._last_flight)
        return flight * self.trip + (packet - 1 - self._before(flight)) * self._transmission

    def delivered(self, after: float) -> int:
        """Return the number of packets delivered up to a time after the delivery of the first, in seconds."""
        flight = min(math.floor(after / self.trip + 1e-9), self._last_flight)
        # Times are sums of doubles, so a packet that arrives now may seem to arrive a moment later.
        arrived = math.floor((after - flight * self.trip) / self._transmission + 1e-6) + 1
        if flight < self._last_flight:
            arrived = min(arrived, math.floor(self.initial * 2**flight))
        return math.floor(self._before(flight)) + arrived

    @property
    def _transmission(self) -> float:
        return self.trip / self.capacity

    @property
    def _last_flight(self) -> int:
        """The first flight that fills the path; later packets follow it without a gap."""
        return max(0, math.ceil(math.log2(self.capacity / self.initial)))

    def _before(self, flight: int) -> float:
        """Return the number of packets in all flights before this one."""
        return self.initial * (2.0**flight - 1)


def ideal_exit(measured: Rows, result: Run) -> None:
    """Add the distance of a flow's slow start from that of the oracle.

    Adds

    - ``exit_bdp``: ``slow_start_exit_cwnd`` over ``bdp_packets``, the oracle's window at its exit;
    - ``exit_ideal``: the oracle's time from the flow's start to its exit, in seconds;
    - ``exit_late``: the flow's time from its start to its exit, minus ``exit_ideal``;
    - ``exit_bytes`` and ``exit_ideal_bytes``: ``delivered_bytes`` at the flow's exit, and those of the oracle at its;
    - ``exit_utilisation``: the bits of ``exit_bytes`` over ``path_bps`` times the flow's time from start to exit;
    - ``exit_queue_max`` and ``exit_queue_mean``: largest and mean queueing delay of the ACKs that the sender received
      until one ``path_rtt`` after the exit, in seconds: the round-trip time minus ``path_rtt``, at least 0;
    - ``exit_time_lost``: the time at which the flow has delivered 10 ``bdp_packets``, or all its data if that is less,
      minus the time at which the oracle has delivered as much. Both times count from the delivery of the flow's first
      data packet, in seconds.

    The segments lost are ``first_overshoot_losses``, and the ratio to path and queue is ``slow_start_exit_ratio``. All
    are None without an exit. ``exit_utilisation`` is None if nothing was delivered before, the queueing delays without
    a round-trip time, and ``exit_time_lost`` if the flow delivered less by the end of the run.
    """
    arrived, trips = _by_flow(result, "delivered", "bytes"), _by_flow(result, "rtt", "rtt")
    tables = Frozen(result.scenario).tables_of([row["flow"] for row in measured])
    for row in measured:
        row.update(dict.fromkeys(IDEAL_EXIT))
        at, initial = row["slow_start_exit_time"], row["cwnd_initial"]
        if at is None or not initial or not row["path_bps"]:
            continue
        trip, took = row["path_rtt"], at - row["start_s"]
        oracle = Oracle(trip, row["bdp_packets"], initial)
        row["exit_bdp"] = row["slow_start_exit_cwnd"] / oracle.capacity
        row["exit_ideal"] = oracle.exit_time
        row["exit_late"] = took - oracle.exit_time
        row |= _queue([delay for time, delay in trips.get(row["flow"], ()) if time <= at + trip], trip)
        row |= _delivery(row, oracle, _Deliveries(arrived.get(row["flow"], []), *_sizes(tables[row["flow"]])))


def _queue(measurements: list[float], trip: float) -> dict[str, float]:
    added = [max(0.0, measurement - trip) for measurement in measurements]
    return {"exit_queue_max": max(added), "exit_queue_mean": math.fsum(added) / len(added)} if added else {}


@dataclass(frozen=True)
class _Deliveries:
    """The deliveries of a flow.

    Attributes
    ----------
    steps : list
        Times and cumulative bytes.
    packet, handshake : int
        Bytes that a data packet adds, and those of the handshake.
    """

    steps: Steps
    packet: int
    handshake: int

    def first(self, packets: float) -> float | None:
        """Return the time at which so many data packets are delivered; None if they are not."""
        wanted = self.handshake + packets * self.packet
        return next((time for time, count in self.steps if count >= wanted), None)


def _delivery(row: dict[str, Any], oracle: Oracle, flow: _Deliveries) -> dict[str, float]:
    """Return the columns that depend on deliveries."""
    at, start = row["slow_start_exit_time"], row["start_s"]
    # A last packet may be smaller than the others.
    begin = next((time for time, count in flow.steps if count > flow.handshake), None)
    if begin is None or begin > at:
        return {}
    found: dict[str, float] = {"exit_bytes": [count for time, count in flow.steps if time <= at][-1]}
    found["exit_utilisation"] = 8 * found["exit_bytes"] / (row["path_bps"] * (at - start))
    found["exit_ideal_bytes"] = flow.handshake + oracle.exit_packets * flow.packet
    packets = math.ceil(FIRST * oracle.capacity)
    if row["size_packets"] is not None and row["size_packets"] <= packets:
        packets = row["size_packets"]
        reached = None if row["completion_time"] is None else start + row["completion_time"]
    else:
        reached = flow.first(packets)
    if reached is not None:
        found["exit_time_lost"] = reached - begin - oracle.arrival(packets)
    return found


def _sizes(flow: dict[str, Any]) -> tuple[int, int]:
    """Return the bytes that a data packet adds to `delivered_bytes`, and those of the handshake."""
    data, header = (int(flow.get(key, "0 B").removesuffix(" B")) for key in ("packet_size", "header"))
    # Only the sink of ns-2 counts headers and the SYN, which is as large as a data packet if it has no headers.
    return (data + header, header or data) if flow["profile"] == "ns2" else (data, 0)


def _by_flow(result: Run, trace: str, column: str) -> dict[str, Steps]:
    """Return the times and values of a trace for each flow, in the order of time."""
    table = frame(result.trace(trace)).select(polars.col("flow").cast(polars.String), "time", column)
    found: dict[str, Steps] = {}
    for flow, time, value in table.iter_rows():
        found.setdefault(flow, []).append((time, value))
    return found


DERIVATION = Derivation("ideal_exit", IDEAL_EXIT, ideal_exit, ("delivered", "rtt"))
