"""A result at a glance: the columns of its tables of flows and links, and its card in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ackclock.arrow import frame, rows
from ackclock.formatting.numbers import counted, number
from ackclock.summaries import AnyResult

if TYPE_CHECKING:
    from ackclock.drawing.figure import Series
    from ackclock.notebooks import Block, Card, Charts

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
MEDIA_COLUMNS = {
    "application": "application", "segments or frames": "parts", "bitrate (bit/s)": "bitrate_bps",
    "switches": "switches", "start-up (s)": "startup_time", "stalls": "stalls", "stall time (s)": "stall_time",
    "late": "late_share", "delay p95 (s)": "frame_delay_p95",
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
    # What only notebooks need: a command prints the columns alone.
    from ackclock.notebooks import Card, Table, Text
    from ackclock.notebooks.card import MOST_ROWS

    flows = rows(result.flows, MOST_ROWS)
    count = frame(result.flows).height
    links = [row for row in rows(result.links) if row["arrivals"]]
    columns = link_columns(links)
    links.sort(key=lambda row: row["utilisation"] or 0.0, reverse=True)
    blocks: list[Block] = [
        *(Text(warning["text"], "warning") for warning in result.warnings),
        *_charts(result),
        Table(list(FLOW_COLUMNS), [[row[name] for name in FLOW_COLUMNS.values()] for row in flows], total=count),
        Table(list(columns), link_rows(links, columns), left=2),
    ]
    return Card("Result", result.name, [f"{number(result.duration)} s", counted(count, "flow"), *facts], blocks)


def _charts(result: AnyResult) -> list[Charts]:
    """Return the curves of the recorded traces as one drawing; empty without traces."""
    # Matplotlib takes longer to load than all else, and most programs show no card.
    from ackclock.drawing import inline, overtime
    from ackclock.drawing.figure import Figure
    from ackclock.notebooks import Charts

    found = [panel for figure in overtime.of_run(result).values() for panel in figure.panels]
    if not found:
        return []
    panels = [replace(panel, series=_few(panel.series)) for panel in found]
    cut = any(sum(not series.aside for series in panel.series) > MOST_CURVES for panel in found)
    title = "; ".join(panel.y.title for panel in panels)
    note = f"Each chart shows the first {MOST_CURVES} curves." if cut else ""
    return [Charts(inline.svg(Figure("", panels), title), note)]


def _few(series: Sequence[Series]) -> list[Series]:
    """Return the first curves without what stands beside them, with few points."""
    import numpy as np

    from ackclock.curves import Line, thin_out
    from ackclock.drawing.figure import CURVES

    made = []
    for it in [each for each in series if each.style in CURVES and not each.aside][:MOST_CURVES]:
        line = thin_out(Line(it.name, np.asarray(it.x, float), np.asarray(it.y, float), step=it.style == "step"), BINS)
        made.append(replace(it, x=line.x, y=line.y))
    return made
