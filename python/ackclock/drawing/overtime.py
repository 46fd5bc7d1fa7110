"""Figures of results over time: windows, throughput, round-trip times, queues, sequence numbers and internals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ackclock import _core, curves
from ackclock.arrow import frame
from ackclock.curves import BINS, Floats, Line, Results, labelled, per_flow
from ackclock.drawing import queues as lines
from ackclock.drawing.figure import Axis, Figure, Panel, Series, from_lines
from ackclock.drawing.queues import Unit, pairs, per_link
from ackclock.summaries import AnyResult

TIME = Axis("time (s)")
PACKETS = (("send", "sent", "."), ("retransmit", "sent again", "x"), ("ack", "acknowledged", ""))
"""Rows of the trace ``sequence``: their kind, its name, and its marker; empty: a line."""


def cwnd(results: Results) -> Figure:
    """Return the congestion windows, and ssthresh as thin lines."""
    series = from_lines(curves.cwnd_lines(results), "ssthresh")
    return _one("Congestion window of each flow", "cwnd (segments)", series, "cwnd")


def throughput(results: Results, *, bin: float | None = None) -> Figure:  # noqa: A002
    """Return the rates at which data arrive in order, in bins of `bin` seconds, by default a hundredth of the run."""
    series = from_lines(curves.throughput_lines(results, bin))
    return _one("Throughput of each flow", "throughput (Mbit/s)", series, "throughput")


def rtt(results: Results) -> Figure:
    """Return the round-trip time that each ACK measures, and the smoothed one as a thin line."""
    series = from_lines(curves.rtt_lines(results), "smoothed")
    return _one("Round-trip time of each flow", "round-trip time (ms)", series, "rtt")


def sequence(results: Results) -> Figure:
    """Return the sequence numbers sent, retransmitted and acknowledged."""
    flows, made = per_flow(results, "sequence"), []
    for flow in flows:
        prefix = f"{flow.label}: " if len(flows) > 1 else ""
        owner = f"{prefix}sent"
        for kind, word, marker in PACKETS:
            chosen = flow.columns["kind"] == kind
            x, y = flow.columns["time"][chosen], flow.columns["seq"][chosen]
            if len(x) and marker:
                like = owner if prefix and word != "sent" else ""
                made.append(Series(prefix + word, x, y, "points", like=like, marker=marker))
            elif len(x):
                made.append(Series(prefix + word, x, y, "step", faint=True, like=owner if prefix else ""))
    return _one("Sequence numbers of each flow", "sequence number (packets)", made, "sequence")


def queue(results: Results, *, link: str | None = None, unit: Unit = "packets") -> Figure:
    """Return the length of every queue, with drops as ticks and marks as dots if they were recorded."""
    series = from_lines(lines.queue_lines(results, link=link, unit=unit))
    for trace, marker, word in (("marks", ".", "marked"), ("drops", "|", "dropped")):
        if all(trace in result.traces for result in labelled(results).values()):
            for label, tables, duration in per_link(results, link, trace):
                if len(times := visible(lines.floats(tables[trace], "time"), duration)):
                    zeros = np.zeros(len(times))
                    name = f"{label}, {word}"
                    made = Series(name, times, zeros, "points", like=label, aside=word, marker=marker)
                    series.append(made)
    return _one("Queue of each link", f"queue ({unit})", series, "queue")


def sojourn(results: Results, *, link: str | None = None, bin: float | None = None) -> Figure:  # noqa: A002
    """Return the sojourn time of departing packets in bins of `bin` seconds: the median and the 95th percentile."""
    series = from_lines(lines.sojourn_lines(results, bin, link=link), "95th percentile")
    return _one("Sojourn time of packets", "sojourn time (ms)", series, "sojourn")


def probability(results: Results, *, link: str | None = None, bin: float | None = None) -> Figure:  # noqa: A002
    """Return the discipline's own probability, and, as a thin line, the share of arrivals dropped or marked.

    Disciplines without a probability, such as ``droptail``, have only the measured share.
    """
    shares = {line.label: line for line in lines.share_lines(results, bin, link=link)}
    series = []
    for line in lines.probability_lines(results, link=link):
        series += from_lines([line])
        share, name = shares[line.label], f"{line.label}, measured"
        made = Series(name, share.x, share.y, "step", faint=True, like=line.label, aside="measured share (thin)")
        series.append(made)
    return _one("Share of packets dropped or marked", "dropped or marked (%)", series, "probability")


def queues(results: Results, *, link: str | None = None, bin: float | None = None) -> Figure:  # noqa: A002
    """Return length, sojourn time and probability of one queue, by default of that with the longest mean."""
    link = link or lines.busiest(results)
    parts = (queue(results, link=link), sojourn(results, link=link, bin=bin), probability(results, link=link, bin=bin))
    panels = [panel for part in parts for panel in part.panels]
    return Figure(f"The queue of {link}", panels, "queues", stacked=True)


def internals(results: Results, *, names: Sequence[str] | None = None) -> Figure:
    """Return the internal quantities of congestion controls, one panel for each unit; by default all.

    Raises
    ------
    ValueError
        If no flow has internal quantities, or none has a quantity of this name.
    """
    return internal_figure(curves.internal_lines(results, names))


def internal_figure(found: Mapping[str, Sequence[Line]], title: str = "Internal quantities") -> Figure:
    """Return the curves of each quantity, one panel for each unit."""
    units: dict[str, list[Line]] = {}
    for name, own in found.items():
        units.setdefault(axis(name), []).extend(own)
    panels = [Panel(from_lines(own), x=TIME, y=Axis(unit)) for unit, own in units.items()]
    return Figure(title, panels, "internals", stacked=True)


def axis(name: str) -> str:
    """Return the axis label of a quantity; a quantity of a control in Python is a plain number.

    >>> axis("bwe"), axis("delta"), axis("mine")
    ('bandwidth (segments/s)', 'delta (1)', 'mine (1)')
    """
    title, unit = _declared().get(name, ("", ""))
    return f"{title or name} ({unit or 1})"


@cache
def _declared() -> dict[str, tuple[str, str]]:
    """Return title and unit of the quantities that parts of controls declare, by their names."""
    axes = json.loads(_core.registry())
    parts = [part for name, found in axes.items() if name != "queue" for part in found]
    return {found["name"]: (found["axis"], found["unit"]) for part in parts for found in part["quantities"]}


def _one(title: str, ylabel: str, series: Sequence[Series], anchor: str) -> Figure:
    return Figure(title, [Panel(series, x=TIME, y=Axis(ylabel))], anchor)


def visible(times: Floats, duration: float) -> Floats:
    """Return at most one time for each place that a figure can show."""
    if len(times) <= 4 * BINS:
        return times
    return times[np.unique((times / duration * 4 * BINS).astype(np.int64), return_index=True)[1]]


@dataclass(frozen=True)
class Kind:
    """A kind of figure over time.

    Attributes
    ----------
    traces : tuple of str
        The traces that it needs.
    figure : callable
        The function that describes it.
    shows : {"flows", "links", "link", "names"}
        Whether it has a curve for each flow, for each link, for one link, or for each internal quantity. For links the
        function takes `link`, for quantities `names`.
    bins : bool
        Whether it averages over bins, and the function takes `bin`.
    """

    traces: tuple[str, ...]
    figure: Callable[..., Figure]
    shows: Literal["flows", "links", "link", "names"] = "flows"
    bins: bool = False


KINDS = {
    "cwnd": Kind(("cwnd",), cwnd),
    "throughput": Kind(("delivered",), throughput, bins=True),
    "rtt": Kind(("rtt",), rtt),
    "queue": Kind(("queue",), queue, shows="links"),
    "sojourn": Kind(("sojourn",), sojourn, shows="links", bins=True),
    "probability": Kind(("drops", "marks", "sojourn", "discipline"), probability, shows="links", bins=True),
    "queues": Kind(("queue", "drops", "marks", "sojourn", "discipline"), queues, shows="link", bins=True),
    "sequence": Kind(("sequence",), sequence),
    "internals": Kind(("internals",), internals, shows="names"),
}
"""Every kind of figure over time."""
OF_RUN = ("throughput", "cwnd", "rtt", "queue", "internals")
"""Kinds that the report and the card of a run show."""


def lacking(results: Results, kind: str) -> str | None:
    """Return a message about the traces that a kind of figure lacks; None: it lacks none."""
    recorded = [result.traces for result in labelled(results).values()]
    traces = KINDS[kind].traces
    missing = [trace for trace in traces if not all(trace in names for names in recorded)]
    if not missing:
        return None
    names = " and ".join(f"'{trace}'" for trace in missing)
    wanted = ", ".join(f'"{trace}"' for trace in traces)
    noun, verb = ("trace", "was") if len(missing) == 1 else ("traces", "were")
    return f"{kind} needs the {noun} {names}, which {verb} not recorded; run again with record = [{wanted}]"


def has(results: Sequence[AnyResult], kind: str) -> bool:
    """Whether there is something to draw: most controls have no internals, and datagrams have no window."""
    it = KINDS[kind]
    return it.shows not in ("names", "flows") or any(len(frame(result.trace(it.traces[0]))) for result in results)


def curves_of(result: AnyResult, kind: str, link: str | None = None) -> int:
    """Return the number of curves of one run."""
    shows = KINDS[kind].shows
    if shows in ("flows", "names"):
        return len(frame(result.flows))
    return 1 if shows == "link" or link is not None else len(pairs({"": result}, None))


def of_run(result: AnyResult) -> dict[str, Figure]:
    """Return the figures of a run's report and card, by kind: those of the recorded traces with something to draw."""
    kinds = [kind for kind in OF_RUN if lacking(result, kind) is None and has([result], kind)]
    found = {kind: KINDS[kind].figure(result) for kind in kinds}
    return {kind: figure for kind, figure in found.items() if any(panel.series for panel in figure.panels)}
