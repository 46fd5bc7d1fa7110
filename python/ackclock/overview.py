"""A result at a glance: the columns of its tables of flows and links, and its card in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ackclock.arrow import frame, rows
from ackclock.cards import Block, Card, Chart, Charts, Curve, Table, Text
from ackclock.cards.card import MOST_ROWS
from ackclock.summaries import AnyResult
from ackclock.texts.numbers import counted, number

if TYPE_CHECKING:
    from ackclock.curves import Line

FLOW_COLUMNS = {
    "flow": "name", "goodput (bit/s)": "goodput_bps", "sent": "sent_packets", "retransmitted": "retransmitted_packets",
    "timeouts": "timeouts", "cwnd max": "cwnd_max", "slow start exit": "slow_start_exit_reason",
    "at (s)": "slow_start_exit_time", "cwnd": "slow_start_exit_cwnd",
}  # fmt: skip
LINK_COLUMNS = {
    "link": "name", "discipline": "queue", "rate (bit/s)": "rate_bps", "utilisation": "utilisation", "drops": "drops",
    "marks": "marks", "losses": "losses", "queue mean": "queue_mean", "queue max": "queue_max",
    "sojourn (s)": "sojourn_mean", "max (s)": "sojourn_max",
}  # fmt: skip
LESS = (
    "max (s)", "at (s)", "cwnd", "queue max", "discipline", "rate (bit/s)", "cwnd max", "sent", "sojourn (s)", "losses",
    "slow start exit",
)  # fmt: skip
"""Columns of flows and links that a narrow terminal leaves out, the least important first."""
MOST_CURVES = 8
"""Curves of a chart."""
BINS = 100
"""Bins of a curve, in each of which only its extremes are drawn."""


class WarnedResult(AnyResult, Protocol):
    """A result, fresh or read from disk, with its warnings."""

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Signs that the run says little about congestion control."""
        ...


def link_columns(links: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the columns of a table of links; marks and losses only if there are any."""
    absent = {column for column in ("marks", "losses") if not any(row[column] for row in links)}
    return {title: column for title, column in LINK_COLUMNS.items() if column not in absent}


def limited(links: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the links whose queue is limited or which lose packets; all links if there is none."""
    return [row for row in links if row["queue"] != "unlimited" or row["losses"]] or list(links)


def link_rows(links: Sequence[dict[str, Any]], columns: dict[str, str]) -> list[list[object]]:
    """Return the cells of a table of links."""
    shown = [{**row, "queue": None if row["queue"] == "unlimited" else row["queue"]} for row in links]
    return [[row[column] for column in columns.values()] for row in shown]


def card(result: WarnedResult, facts: Sequence[str]) -> Card:
    """Return the card of a result: warnings, recorded curves, flows, and links with arrivals, the busiest first.

    Parameters
    ----------
    result
        The result.
    facts
        Facts beside its name, after its duration.
    """
    flows = rows(result.flows, MOST_ROWS)
    count = frame(result.flows).height
    links = [row for row in rows(result.links) if row["arrivals"]]
    columns = link_columns(links)
    links.sort(key=lambda row: row["utilisation"] or 0.0, reverse=True)
    charts = [(title, lines) for title, lines in _charts(result) if lines]
    drawn = [Chart(title, [_curve(line) for line in lines[:MOST_CURVES]], result.duration) for title, lines in charts]
    cut = any(len(lines) > MOST_CURVES for _, lines in charts)
    note = f"Each chart shows the first {MOST_CURVES} curves." if cut else ""
    blocks: list[Block] = [
        *(Text(warning["text"], "warning") for warning in result.warnings),
        *([Charts(drawn, note)] if drawn else []),
        Table(list(FLOW_COLUMNS), [[row[name] for name in FLOW_COLUMNS.values()] for row in flows], total=count),
        Table(list(columns), link_rows(links, columns), left=2),
    ]
    return Card("Result", result.name, [f"{number(result.duration)} s", counted(count, "flow"), *facts], blocks)


def _charts(result: AnyResult) -> Iterator[tuple[str, list[Line]]]:
    """Yield title and curves of each chart that the recorded traces allow."""
    import numpy as np
    import polars

    from ackclock import curves

    if "delivered" in result.traces:
        yield "throughput (Mbit/s)", curves.throughput_lines(result)
    if "cwnd" in result.traces:
        yield "cwnd (segments)", curves.cwnd_lines(result)
    if "rtt" in result.traces:
        flows = [(it.label, it.columns) for it in curves.per_flow(result, "rtt")]
        lines = [curves.Line(name, own["time"], own["rtt"].astype(float) * 1e3, step=False) for name, own in flows]
        yield "round-trip time (ms)", lines
    if "queue" in result.traces:
        table = frame(result.trace("queue")).with_columns(polars.col("link").cast(polars.String))
        found = [
            curves.Line(part["link"][0], part["time"].to_numpy(), part["packets"].to_numpy().astype(np.float64))
            for part in table.partition_by("link", maintain_order=True)
        ]
        yield "queue (packets)", [line for line in found if line.y.max(initial=0.0) > 1]


def _curve(line: Line) -> Curve:
    from ackclock.curves import thin_out

    thin = thin_out(line, BINS)
    return Curve(thin.label, thin.x.tolist(), thin.y.tolist(), thin.step)
