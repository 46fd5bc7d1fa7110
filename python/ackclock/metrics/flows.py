"""Measures of flows that the tables of a run lack, and of applications; papers name them in `derived`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars

from ackclock import freeze
from ackclock.arrow import frame, rows
from ackclock.freeze import Frozen
from ackclock.metrics import exits, groups
from ackclock.metrics.derivation import Derivation, Rows, Run
from ackclock.statistics.fairness import jain_index

C = 1.5 * math.sqrt(2 / 3)  # constant of the square-root law in Kalpana & Purusothaman's equation 7

QUEUED = 3.0  # segments: β of Westwood RB, from which on its slow start is halved

# Columns whose sums over connections are those of the application that opened them.
SUMS = (
    *("delivered_bytes", "delivered_packets", "goodput_bps", "sent_packets", "retransmitted_packets", "timeouts"),
    *("window_reductions", "dropped_packets", "delivered_1s", "delivered_2s", "delivered_5s", "delivered_10s"),
    "rtt_samples",
)

PAGES = (
    *("pages", "pages_unfinished", "connections"),
    *("load_mean", "load_median", "load_p95", "page_bytes", "page_bps"),
)


def share(measured: Rows, _: Run) -> None:
    """Add the share of a flow in all bytes that arrived, and its rank: one more than the number of flows with more.

    Adds ``share``, between 0 and 1, or None if nothing arrived; ``rank``, from 1; and ``total_bps``, the goodput of all
    flows together in bits per second.
    """
    total = sum(row["delivered_bytes"] for row in measured)
    total_bps = math.fsum(row["goodput_bps"] for row in measured)
    for row in measured:
        row["share"] = row["delivered_bytes"] / total if total else None
        row["total_bps"] = total_bps
        row["rank"] = 1 + sum(other["delivered_bytes"] > row["delivered_bytes"] for other in measured)


def eq7(measured: Rows, result: Run) -> None:
    """Add the throughput of a flow by the square-root law: λ = c·s/(R·√p) with c = 1.5·√(2/3).

    s is the payload of a packet, R the mean of the round-trip times over all ACKs that the sender received, and p the
    lost packets of the flow over its sent packets. Adds R as ``rtt_mean`` in seconds, p as ``loss_rate``, λ as
    ``eq7_bps`` in bits per second, and ``eq7_ratio``, λ over the goodput. Without a loss, an ACK or a delivered byte
    the law has no value: None.
    """
    means, payloads = _round_trips(result), _payloads(result)
    for row in measured:
        row["rtt_mean"], _ = means.get(row["flow"], (None, 0))
        row["loss_rate"] = row["dropped_packets"] / row["sent_packets"] if row["sent_packets"] else None
        row["eq7_bps"] = row["eq7_ratio"] = None
        if row["rtt_mean"] and row["loss_rate"] and row["delivered_packets"]:
            row["eq7_bps"] = square_root_law(8 * payloads[row["flow"]], row["rtt_mean"], row["loss_rate"])
            row["eq7_ratio"] = row["eq7_bps"] / row["goodput_bps"]


def square_root_law(size: float, rtt: float, loss: float) -> float:
    """Return c·s/(R·√p), in the unit of `size` per second.

    Parameters
    ----------
    size
        Size of a packet.
    rtt
        Round-trip time in seconds.
    loss
        Lost packets over sent packets, above 0.
    """
    return C * size / (rtt * math.sqrt(loss))


def jain(measured: Rows, _: Run) -> None:
    """Add Jain's index of the goodput of all flows as ``jain``, None if nothing arrived; see `jain_index`."""
    index = jain_index([row["goodput_bps"] for row in measured])
    for row in measured:
        row["jain"] = index


def resent(measured: Rows, _: Run) -> None:
    """Add the retransmitted packets of a flow over its sent packets as ``resent``, None if it sent none."""
    for row in measured:
        row["resent"] = row["retransmitted_packets"] / row["sent_packets"] if row["sent_packets"] else None


def retransmitted_per_lost(measured: Rows, _: Run) -> None:
    """Add the retransmitted packets of a flow over its lost packets, None if it lost none."""
    for row in measured:
        lost = row["dropped_packets"]
        row["retransmitted_per_lost"] = row["retransmitted_packets"] / lost if lost else None


def estimate(measured: Rows, result: Run) -> None:
    """Add the time average of a flow's bandwidth estimate, and its ratio to the goodput.

    Adds ``bwe_mean`` in segments per second, the quantity ``bwe`` of the trace from the first ACK to the last; and
    ``bwe_ratio``, that rate in bits of data over the goodput. A flow without an estimate has None.
    """
    table = frame(result.trace("internals")).filter(polars.col("name").cast(polars.String) == "bwe")
    table = table.with_columns(polars.col("flow").cast(polars.String))
    spans = (polars.col("time").shift(-1) - polars.col("time")).over("flow").fill_null(0.0)
    lasts = table.select(spans).to_series().to_numpy()
    # bincount sums from the first row to the last, on every machine.
    names, flows = np.unique(table["flow"].to_numpy().astype(str), return_inverse=True)
    sums, totals = np.bincount(flows, table["value"].to_numpy() * lasts), np.bincount(flows, lasts)
    means = {str(name): float(sums[i] / totals[i]) if totals[i] else None for i, name in enumerate(names)}
    payloads = _payloads(result)
    for row in measured:
        row["bwe_mean"] = means.get(row["flow"])
        row["bwe_ratio"] = None
        if row["bwe_mean"] is not None and row["delivered_packets"]:
            row["bwe_ratio"] = row["bwe_mean"] * 8 * payloads[row["flow"]] / row["goodput_bps"]


def bandwidth_ratio(measured: Rows, result: Run) -> None:
    """Add what the two rules of Westwood RB say about the path: its ratio δ before the clamp, and its queue diff.

    Adds ``delta_least``, the smallest (bwe − bwe_avg)/(bwe_max − bwe_avg) of a flow, without the limits of −1 and 1;
    and ``diff_window``, the congestion window in segments at which its estimate of the queue, diff, first is at least
    `QUEUED`. A flow without these quantities, or one that never gets there, has None.
    """
    texts = polars.col("flow", "name").cast(polars.String)
    table = frame(result.trace("internals")).with_columns(texts)
    windows = frame(result.trace("cwnd")).with_columns(polars.col("flow").cast(polars.String))
    for row in measured:
        own = table.filter(polars.col("flow") == row["flow"])
        bwe, mean, most, diff = (
            own.filter(polars.col("name") == name) for name in ("bwe", "bwe_avg", "bwe_max", "diff")
        )
        row["delta_least"] = row["diff_window"] = None
        if not mean.height:
            continue
        # The three are recorded together, at each ACK.
        over, room = (each["value"].to_numpy() - mean["value"].to_numpy() for each in (bwe, most))
        if (room > 0).any():
            row["delta_least"] = float((over[room > 0] / room[room > 0]).min())
        queued = diff.filter(polars.col("value") >= QUEUED)
        if queued.height:
            until = windows.filter((polars.col("flow") == row["flow"]) & (polars.col("time") <= queued["time"][0]))
            row["diff_window"] = float(until["cwnd"][-1])


FIRST = ("first_arrived", "first_rounds", "first_window", "first_rate", "first_growth")
"""The columns of `first_loss`."""


def first_loss(measured: Rows, result: Run) -> None:
    """Add the progress of a flow with a size until the loss of its first data segment, or until its end.

    Adds ``first_arrived``, the segments that arrived before; ``first_rounds``, the round trips with transmissions,
    including that of the lost or last segment; ``first_window``, the congestion window of that round trip;
    ``first_rate``, the segments that arrived for each of these round trips; and ``first_growth``, the factor by which
    the window grew in each of them, the geometric mean. A round trip has the length of the flow's shortest one, so the
    path must take longer to cross than a window to send. A flow that sent no data has None, and so has a flow whose SYN
    was lost, since it starts with another threshold. A single round trip shows no growth. A flow of QUIC has None,
    because its packets have other numbers when they are sent again, as those of its receiver have, so that the drops do
    not tell which carried data.
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
        # A dropped number that was not retransmitted is that of an ACK.
        if seq == 0 or (flow, seq) in again:
            lost.setdefault(flow, seq)
    windows: dict[str, list[tuple[float, float]]] = {}
    for flow, time, cwnd in frame(result.trace("cwnd")).select("flow", "time", "cwnd").iter_rows():
        windows.setdefault(flow, []).append((time, cwnd))
    numbered = {name for name, flow in _tables(result).items() if isinstance(flow["profile"], dict)}
    for row in measured:
        flow, trip = row["flow"], row["min_rtt"] or math.inf
        row.update(dict.fromkeys(FIRST))
        if flow not in sent or lost.get(flow) == 0 or flow in numbered:
            continue
        last = lost.get(flow, max(sent[flow]))
        after = sent[flow][last] - min(sent[flow].values())
        row["first_arrived"] = last - 1 if flow in lost else last
        row["first_rounds"] = 1 + round(after / trip)
        # All ACKs of the previous round trip arrive at about the time when this segment is sent.
        until = sent[flow][last] + min(trip, 1.0) / 2
        row["first_window"] = [cwnd for time, cwnd in windows[flow] if time < until][-1]
        row["first_rate"] = row["first_arrived"] / row["first_rounds"]
        if row["first_rounds"] > 1:
            grown = row["first_window"] / row["cwnd_initial"]
            row["first_growth"] = grown ** (1 / (row["first_rounds"] - 1))


def rtt(measured: Rows, result: Run) -> None:
    """Add the mean of a flow's round-trip times over all ACKs that its sender received.

    They include queues and delays of ACKs. Adds ``rtt_mean`` in seconds, None without any, and ``rtt_samples``, their
    number.
    """
    means = _round_trips(result)
    for row in measured:
        row["rtt_mean"], row["rtt_samples"] = means.get(row["flow"], (None, 0))


def _round_trips(result: Run) -> dict[str, tuple[float, int]]:
    """Return the mean of each flow's samples of the round-trip time, and their number."""
    table = frame(result.trace("rtt"))
    # With numpy: grouping with polars takes longer than a short run itself.
    _, first, flows = np.unique(table["flow"].to_physical().to_numpy(), return_index=True, return_inverse=True)
    sums, counts = np.bincount(flows, table["rtt"].to_numpy()), np.bincount(flows)
    names = [table["flow"][int(index)] for index in first]
    return {name: (float(sums[i] / counts[i]), int(counts[i])) for i, name in enumerate(names)}


def pages(measured: Rows, result: Run) -> None:
    """Replace the rows of the connections of each application that loads pages by one row.

    Counts add up (`SUMS`), and ``rtt_mean`` covers the samples of all connections. Other columns keep a value that all
    connections share, otherwise None. Adds ``pages``, the number whose load began, ``pages_unfinished`` at the end of
    the run, and ``connections``. Adds of complete pages, or None without any: ``load_mean``, ``load_median`` and
    ``load_p95`` in seconds, from the start of a page to its last byte, handshakes included; ``page_bytes``, the mean
    size; and ``page_bps``, the bits of pages over their load time.
    """
    owners = {
        flow: name for flow, name in zip(*_columns(result, "transfers", "flow", "application"), strict=True) if flow
    }
    loads: dict[str, list[tuple[int, float | None]]] = {}
    for name, size, time in zip(*_columns(result, "pages", "application", "bytes", "load_time"), strict=True):
        loads.setdefault(name, []).append((size, time))
    connections: dict[str, Rows] = {}
    for row in measured:
        if row["flow"] in owners:
            connections.setdefault(owners[row["flow"]], []).append(row)
    measured[:] = [row for row in measured if row["flow"] not in owners]
    for name, own in connections.items():
        measured.append({**_merged(own), "flow": name, "connections": len(own), **_loads(loads.get(name, []))})


def _columns(result: Run, table: str, *names: str) -> list[list[Any]]:
    """Return columns of a table of applications."""
    read = frame(getattr(result, table))
    return [read[name].to_list() for name in names]


def _merged(rows: Rows) -> dict[str, Any]:
    """Return one row for several connections."""
    row: dict[str, Any] = {
        key: value if all(other[key] == value for other in rows) else None for key, value in rows[0].items()
    }
    row |= {key: _total([other[key] for other in rows]) for key in SUMS if key in row}
    if row.get("rtt_samples"):
        known = [other for other in rows if other["rtt_samples"]]
        total = math.fsum(other["rtt_mean"] * other["rtt_samples"] for other in known)
        row["rtt_mean"] = total / row["rtt_samples"]
    return row


def _total(values: Sequence[float | None]) -> float | None:
    """Return the sum of values; None if a value is unknown."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    # How `sum` rounds floats depends on the version of Python.
    return sum(known) if all(isinstance(value, int) for value in known) else math.fsum(known)


def _loads(pages: Sequence[tuple[int, float | None]]) -> dict[str, Any]:
    """Summarise the pages of an application: bytes and load times."""
    sizes = [size for size, time in pages if time is not None]
    times = [time for _, time in pages if time is not None]
    counts = {"pages": len(pages), "pages_unfinished": len(pages) - len(times)}
    if not times:
        return {**counts, **dict.fromkeys(("load_mean", "load_median", "load_p95", "page_bytes", "page_bps"))}
    return {
        **counts,
        "load_mean": math.fsum(times) / len(times),
        "load_median": float(np.median(times)),
        "load_p95": float(np.quantile(times, 0.95)),
        "page_bytes": sum(sizes) / len(sizes),
        "page_bps": 8 * sum(sizes) / math.fsum(times),
    }


def _payloads(result: Run) -> dict[str, int]:
    """Return the bytes of data in a full packet, without headers, of each flow and of each connection."""
    return {name: int(flow["packet_size"].removesuffix(" B")) for name, flow in _tables(result).items()}


def _tables(result: Run) -> dict[str, dict[str, Any]]:
    """Return the table of the scenario of each flow and of each connection."""
    frozen = Frozen(result.scenario)
    return frozen.tables_of([*(flow["name"] for flow in frozen.flows), *result.scenario.flows])


SHORT_FLOWS = ("short_flows", "short_mean", "short_p95")
"""The columns of `short_flows`."""


def short_flows(measured: Rows, result: Run) -> None:
    """Replace the rows of the transfers that arrive at random by one row for each of their tables in the scenario.

    Counts add up (`SUMS`); other columns keep a value that all share, otherwise None. Adds ``short_flows``, the number
    of transfers, and ``short_mean`` and ``short_p95`` of their completion times in seconds; None for other flows. An
    unfinished transfer counts with the time until the end of the run.
    """
    numbered = re.compile(rf"({'|'.join(map(re.escape, freeze.arriving(result.scenario)))})\d+")
    arrived: dict[str, Rows] = {}
    others: Rows = []
    for row in measured:
        if found := numbered.fullmatch(row["flow"]):
            arrived.setdefault(found[1], []).append(row)
        else:
            others.append({**row, **dict.fromkeys(SHORT_FLOWS)})
    measured[:] = others
    for table, own in arrived.items():
        times = [groups.completion(row, result.duration) for row in own]
        values = (len(times), math.fsum(times) / len(times), float(np.quantile(times, 0.95)))
        measured.append({**_merged(own), "flow": table, **dict(zip(SHORT_FLOWS, values, strict=True))})


TRANSFER = ("completion", "completion_trips", "buffer_bdp", "sojourn_mean", "others_per_byte", "others_dropped")
"""The columns of `transfer`."""


def transfer(measured: Rows, result: Run) -> None:
    """Add how long a transfer took, what its path's buffer is, and what its rivals had.

    Flows that never start have no row. Adds

    - ``completion``: ``completion_time``, or of an unfinished flow the time from its start to the end of the run;
    - ``completion_trips``: that time in round trips of the path without queues;
    - ``buffer_bdp``: ``queue_packets`` over ``bdp_packets``; None for an unlimited buffer;
    - ``sojourn_mean``: the mean queueing delay of all packets at the slowest link of the flow's path, in seconds;
    - ``others_per_byte``: the bytes that arrived for all other flows over the bytes of the flow's data. If runs last
      equally long, a difference between two of them is what the others lose for each byte;
    - ``others_dropped``: the packets of all other flows that were dropped.
    """
    links = rows(result.links)
    measured[:] = [row for row in measured if row["start_s"] < result.duration]
    total = {key: sum(row[key] for row in measured) for key in ("delivered_bytes", "dropped_packets")}
    for row in measured:
        row["completion"] = groups.completion(row, result.duration)
        row["completion_trips"] = row["completion"] / row["path_rtt"]
        room, product = row["queue_packets"], row["bdp_packets"]
        row["buffer_bdp"] = None if room is None else room / product
        row["sojourn_mean"] = next(
            (link["sojourn_mean"] for link in links if link["rate_bps"] == row["path_bps"]), None
        )
        row["others_per_byte"] = None
        if row["size_packets"] and row["delivered_packets"]:
            size = row["size_packets"] * row["delivered_bytes"] / row["delivered_packets"]
            row["others_per_byte"] = (total["delivered_bytes"] - row["delivered_bytes"]) / size
        row["others_dropped"] = total["dropped_packets"] - row["dropped_packets"]


DERIVATIONS: dict[str, Derivation] = {
    derivation.name: derivation
    for derivation in (
        Derivation("share", ("share", "rank", "total_bps"), share),
        Derivation("eq7", ("rtt_mean", "loss_rate", "eq7_bps", "eq7_ratio"), eq7, ("rtt",)),
        Derivation("jain", ("jain",), jain),
        Derivation("resent", ("resent",), resent),
        Derivation("retransmitted_per_lost", ("retransmitted_per_lost",), retransmitted_per_lost),
        Derivation("estimate", ("bwe_mean", "bwe_ratio"), estimate, ("internals",)),
        Derivation("first_loss", FIRST, first_loss, ("cwnd", "drops", "sequence")),
        Derivation("bandwidth_ratio", ("delta_least", "diff_window"), bandwidth_ratio, ("cwnd", "internals")),
        Derivation("rtt", ("rtt_mean", "rtt_samples"), rtt, ("rtt",)),
        Derivation("pages", PAGES, pages),
        Derivation("transfer", TRANSFER, transfer),
        Derivation("short_flows", SHORT_FLOWS, short_flows),
        exits.DERIVATION,
    )
}
"""The derivations by name."""
