"""What is derived from a run: columns that its tables do not have, added to the rows of its flows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import polars

from ackclock import toml
from ackclock.result import Result, frame

Rows = list[dict[str, Any]]
C = 1.5 * math.sqrt(2 / 3)  # constant of the square-root law in Kalpana & Purusothaman's equation 7

TRACES: dict[str, tuple[str, ...]] = {
    "share": (),
    "eq7": ("rtt",),
    "jain": (),
    "resent": (),
    "estimate": ("internals",),
    "first_loss": ("cwnd", "drops", "sequence"),
}
"""The traces that each measure needs."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "share": ("share", "rank", "total_bps"),
    "eq7": ("rtt_mean", "loss_rate", "eq7_bps", "eq7_ratio"),
    "jain": ("jain",),
    "resent": ("resent_ratio",),
    "estimate": ("bwe_mean", "bwe_ratio"),
    "first_loss": ("first_arrived", "first_rounds", "first_window"),
}
"""The columns that each measure adds."""


def share(measured: Rows, _: Result) -> None:
    """Add a flow's share of all bytes that arrived, and its rank: one more than the flows that got more.

    Adds ``share``, between 0 and 1 and None if nothing arrived; ``rank``, from 1; and ``total_bps``, the goodput of all
    flows together in bits per second.
    """
    total = sum(row["delivered_bytes"] for row in measured)
    total_bps = sum(row["goodput_bps"] for row in measured)
    for row in measured:
        row["share"] = row["delivered_bytes"] / total if total else None
        row["total_bps"] = total_bps
        row["rank"] = 1 + sum(other["delivered_bytes"] > row["delivered_bytes"] for other in measured)


def eq7(measured: Rows, result: Result) -> None:
    """Add the throughput that the square-root law gives for a flow: λ = c·s/(R·√p) with c = 1.5·√(2/3).

    s is the payload of a packet, R the mean of the round-trip times over all ACKs that the sender received, p the
    flow's lost packets over those that it sent. Adds R as ``rtt_mean`` in seconds, p as ``loss_rate``, λ as
    ``eq7_bps`` in bits per second, and ``eq7_ratio``, λ over what the flow really got. Without a loss, an ACK or a
    delivered byte the law gives no number: None.
    """
    means, payloads = _mean_rtt(result), _payloads(result)
    for row in measured:
        row["rtt_mean"] = means.get(row["flow"])
        row["loss_rate"] = row["dropped_packets"] / row["sent_packets"] if row["sent_packets"] else None
        row["eq7_bps"] = row["eq7_ratio"] = None
        if row["rtt_mean"] and row["loss_rate"] and row["delivered_packets"]:
            row["eq7_bps"] = square_root_law(8 * payloads[row["flow"]], row["rtt_mean"], row["loss_rate"])
            row["eq7_ratio"] = row["eq7_bps"] / row["goodput_bps"]


def square_root_law(size: float, rtt: float, loss: float) -> float:
    """Give c·s/(R·√p), in the unit of `size` per second.

    Parameters
    ----------
    size
        Size of a packet.
    rtt
        Round-trip time in seconds.
    loss
        Lost packets over sent ones, above 0.
    """
    return C * size / (rtt * math.sqrt(loss))


def jain(measured: Rows, _: Result) -> None:
    """Add Jain's index of what all flows of the run got as ``jain``, None if nothing arrived; see `jain_index`."""
    index = jain_index([row["delivered_bytes"] for row in measured])
    for row in measured:
        row["jain"] = index


def jain_index(values: Sequence[float]) -> float | None:
    """Give (Σx)²/(n·Σx²): 1 if all n values are equal, 1/n if all but one are 0; None if all are 0.

    Jain, Chiu & Hawe, *A quantitative measure of fairness and discrimination for resource allocation in shared computer
    systems*, 1984.
    """
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares else None


def resent(measured: Rows, _: Result) -> None:
    """Add a flow's retransmitted packets over those that it lost as ``resent_ratio``, None if it lost none."""
    for row in measured:
        row["resent_ratio"] = row["retransmitted_packets"] / row["dropped_packets"] if row["dropped_packets"] else None


def estimate(measured: Rows, result: Result) -> None:
    """Add the mean over time of a flow's estimate of its bandwidth, and how it compares with what it got.

    Adds ``bwe_mean`` in segments per second, the quantity ``bwe`` of the trace from the first ACK to the last; and
    ``bwe_ratio``, that rate in bits of data over the goodput. None for a flow that estimates nothing.
    """
    table = frame(result.trace("internals")).filter(polars.col("name").cast(polars.String) == "bwe")
    lasts = (polars.col("time").shift(-1) - polars.col("time")).over("flow").fill_null(0.0)
    mean = (polars.col("value") * polars.col("lasts")).sum() / polars.col("lasts").sum()
    grouped = table.with_columns(lasts.alias("lasts")).group_by(polars.col("flow").cast(polars.String)).agg(mean)
    means, payloads = dict(grouped.iter_rows()), _payloads(result)
    for row in measured:
        row["bwe_mean"] = means.get(row["flow"])
        row["bwe_ratio"] = None
        if row["bwe_mean"] is not None and row["delivered_packets"]:
            row["bwe_ratio"] = row["bwe_mean"] * 8 * payloads[row["flow"]] / row["goodput_bps"]


def first_loss(measured: Rows, result: Result) -> None:
    """Add what a flow with a size did until its first data segment was lost, or until its end.

    Adds ``first_arrived``, the segments that arrived before; ``first_rounds``, the round trips in which it sent, that
    of the lost or last segment included; and ``first_window``, the congestion window of that round trip. A round trip
    is counted as the flow's least one, so that the path must take longer to cross than a window to send. None for a
    flow that sent no data, and for one whose SYN was lost: it starts with another threshold.
    """
    text = polars.col("flow", "kind").cast(polars.String)
    segments = frame(result.trace("sequence")).with_columns(text)
    sent: dict[str, dict[int, float]] = {}
    for flow, seq, time in segments.filter(polars.col("kind") == "send").select("flow", "seq", "time").iter_rows():
        if seq > 0:
            sent.setdefault(flow, {})[seq] = time
    again = set(segments.filter(polars.col("kind") == "retransmit").select("flow", "seq").iter_rows())
    lost: dict[str, int] = {}
    for flow, seq in frame(result.trace("drops")).select("flow", "seq").iter_rows():
        # What is lost and not sent again is an ACK.
        if seq == 0 or (flow, seq) in again:
            lost.setdefault(flow, seq)
    windows: dict[str, list[tuple[float, float]]] = {}
    for flow, time, cwnd in frame(result.trace("cwnd")).select("flow", "time", "cwnd").iter_rows():
        windows.setdefault(flow, []).append((time, cwnd))
    for row in measured:
        flow, trip = row["flow"], row["min_rtt"] or math.inf
        row["first_arrived"] = row["first_rounds"] = row["first_window"] = None
        if flow not in sent or lost.get(flow) == 0:
            continue
        last = lost.get(flow, max(sent[flow]))
        after = sent[flow][last] - min(sent[flow].values())
        row["first_arrived"] = last - 1 if flow in lost else last
        row["first_rounds"] = 1 + round(after / trip)
        # All ACKs of the round trip before arrive about when this segment is sent.
        until = sent[flow][last] + min(trip, 1.0) / 2
        row["first_window"] = [cwnd for time, cwnd in windows[flow] if time < until][-1]


def _payloads(result: Result) -> dict[str, int]:
    """Bytes of data in a full packet of each flow, whatever headers its host adds."""
    frozen = toml.parse(result.scenario.to_toml(), result.name)
    return {flow["name"]: int(flow["packet_size"].removesuffix(" B")) for flow in frozen["flow"]}


def _mean_rtt(result: Result) -> dict[str, float]:
    table = frame(result.trace("rtt")).group_by(polars.col("flow").cast(polars.String)).agg(polars.col("rtt").mean())
    return {flow: mean for flow, mean in table.iter_rows() if mean is not None}


DERIVE: dict[str, Callable[[Rows, Result], None]] = {
    "share": share,
    "eq7": eq7,
    "jain": jain,
    "resent": resent,
    "estimate": estimate,
    "first_loss": first_loss,
}
"""The measures by name."""
