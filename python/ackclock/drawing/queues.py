"""Plots of queues over time: their length, the sojourn time of packets, and drops and marks.

Each direction of a link has a queue. By default, plots show the used queues that have a limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.curves import BINS, Floats, Line, Results, bin_edges, labelled, thin_out
from ackclock.drawing.curves import (
    COLOURS,
    SIZE,
    axes_of,
    draw,
    finish,
    lacking,
    new_figure,
    share_legend,
)
from ackclock.result import AnyResult, frame

if TYPE_CHECKING:
    import polars

Unit = Literal["packets", "bytes"]
Pairs = dict[tuple[str, str], str]
"""The label of every run and link shown."""
NEEDED = {
    "queue": ("queue",),
    "sojourn": ("sojourn",),
    "probability": ("drops", "marks", "sojourn", "discipline"),
    "queues": ("queue", "drops", "marks", "sojourn", "discipline"),
}
"""The traces that each plot needs."""
MOST_BANDS = 3  # more bands would hide each other
LETTERS = 13  # letters in an inch of a legend
GREY = "#777777"


def queue(
    results: Results,
    *,
    link: str | None = None,
    unit: Unit = "packets",
    axes: Axes | None = None,
    title: str = "",
) -> Figure:
    """Draw the length of every queue, with drops as ticks and marks as dots; needs the trace ``queue``.

    Parameters
    ----------
    results
        The results to overlay.
    link
        The link to show, as in ``"r1>r2"``; by default those of `used_queues`.
    unit
        The unit of the length.
    axes
        The axes to draw on; by default those of a new figure.
    title
        The title above the plot.

    Raises
    ------
    KeyError
        If a result lacks the trace. The traces ``drops`` and ``marks`` are optional.
    ValueError
        If the link or the unit does not exist.
    """
    _need(results, "queue")
    figure, axes = axes_of(axes)
    draw(axes, queue_lines(results, link=link, unit=unit))
    for trace, marker, size in (("marks", ".", 4.0), ("drops", "|", 8.0)):
        _tick(axes, results, link, trace, marker, size)
    finish(axes, f"queue ({unit})", title, legend="outside")
    return figure


def sojourn(
    results: Results,
    *,
    link: str | None = None,
    bin: float | None = None,  # noqa: A002
    axes: Axes | None = None,
    title: str = "",
) -> Figure:
    """Draw the sojourn time of departing packets, median and 95th percentile; needs the trace ``sojourn``.

    Parameters
    ----------
    results, link, axes, title
        As in `queue`.
    bin
        Width of the bins in seconds; by default a hundredth of the run.

    Raises
    ------
    KeyError
        If a result lacks the trace.
    ValueError
        If the link does not exist, or `bin` is not positive.
    """
    _need(results, "sojourn")
    figure, axes = axes_of(axes)
    lines = sojourn_lines(results, bin, link=link)
    draw(axes, lines)
    for index, line in enumerate(lines if len(lines) <= MOST_BANDS else ()):
        colour = COLOURS[index % len(COLOURS)]
        shown = thin_out(line)
        if shown.thin is not None:
            axes.fill_between(shown.x, shown.y, shown.thin, step="post", color=colour, alpha=0.15, linewidth=0)
    if lines:
        axes.plot([], [], color=GREY, linewidth=0.6, label="95th percentile (thin)")
    finish(axes, "sojourn time (ms)", title, legend="outside")
    return figure


def probability(
    results: Results,
    *,
    link: str | None = None,
    bin: float | None = None,  # noqa: A002
    axes: Axes | None = None,
    title: str = "",
) -> Figure:
    """Draw the discipline's own probability, and, as a thin line, the share of arrivals dropped or marked.

    Needs the traces ``drops``, ``marks``, ``sojourn`` and ``discipline``. Disciplines without a probability, such as
    ``droptail``, have only the measured share.

    Parameters
    ----------
    results, link, bin, axes, title
        As in `sojourn`.

    Raises
    ------
    KeyError
        If a result lacks one of these traces.
    ValueError
        If the link does not exist, or `bin` is not positive.
    """
    _need(results, "probability")
    figure, axes = axes_of(axes)
    shares = share_lines(results, bin, link=link)
    draw(axes, probability_lines(results, link=link))
    for index, line in enumerate(shares):
        shown = thin_out(line)
        colour = COLOURS[index % len(COLOURS)]
        axes.step(shown.x, shown.y, where="post", color=colour, linewidth=0.7, alpha=0.7, label="_measured")
    if shares:
        axes.plot([], [], color=GREY, linewidth=0.7, label="measured share (thin)")
    finish(axes, "dropped or marked (%)", title, legend="outside")
    return figure


def queues(
    results: Results,
    *,
    link: str | None = None,
    bin: float | None = None,  # noqa: A002
    title: str = "",
) -> Figure:
    """Draw the length, sojourn time and probability of one queue in three panels.

    Needs the traces ``queue``, ``drops``, ``marks``, ``sojourn`` and ``discipline``.

    Parameters
    ----------
    results, bin
        As in `sojourn`.
    link
        The link to show; by default the link with the longest mean queue.
    title
        The title above the plot; by default the name of the link.

    Raises
    ------
    KeyError
        If a result lacks one of these traces.
    ValueError
        If the link does not exist, or `bin` is not positive.
    """
    _need(results, "queues")
    link = link or _busiest(results)
    figure = new_figure((SIZE[0], 2.1 * SIZE[1]))
    length = figure.add_subplot(3, 1, 1)
    waited = figure.add_subplot(3, 1, 2, sharex=length)
    signalled = figure.add_subplot(3, 1, 3, sharex=length)
    queue(results, link=link, axes=length, title=title or link)
    sojourn(results, link=link, bin=bin, axes=waited)
    probability(results, link=link, bin=bin, axes=signalled)
    for axes in figure.axes:
        axes.label_outer()
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    longest = max(len(label) for axes in figure.axes for label in axes.get_legend_handles_labels()[1])
    share_legend(figure, columns=max(1, round(SIZE[0] * LETTERS) // (longest + 6)))
    return figure


def used_queues(result: AnyResult) -> list[str]:
    """Return the links whose limited queues held, dropped or marked packets; without any, the unlimited ones."""
    links = frame(result.links)
    used = links.filter((links["queue_max"] > 0) | (links["drops"] > 0) | (links["marks"] > 0))
    limited = used.filter(used["queue"] != "unlimited")
    return [str(name) for name in (used if limited.is_empty() else limited)["name"]]


def queue_lines(results: Results, *, link: str | None = None, unit: Unit = "packets") -> list[Line]:
    """Return the curves that `queue` draws."""
    if unit not in ("packets", "bytes"):
        raise ValueError(f"unknown unit {unit!r}; known: packets, bytes")
    lines = []
    for label, tables, _ in _per_link(results, link, "queue"):
        lines.append(Line(label, _floats(tables["queue"], "time"), _floats(tables["queue"], unit)))
    return lines


def sojourn_lines(
    results: Results,
    bin: float | None = None,  # noqa: A002
    *,
    link: str | None = None,
) -> list[Line]:
    """Return the curves that `sojourn` draws, in ms: the median, and the 95th percentile as `thin`."""
    lines = []
    for label, tables, duration in _per_link(results, link, "sojourn"):
        edges = bin_edges(duration, bin)
        time, waited = _floats(tables["sojourn"], "time"), _floats(tables["sojourn"], "sojourn") * 1e3
        median, high = _quantiles(time, waited, edges, (0.5, 0.95))
        lines.append(Line(label, edges, median, high))
    return lines


def probability_lines(results: Results, *, link: str | None = None) -> list[Line]:
    """Return the disciplines' own probabilities in percent; a discipline without one has a line without points."""
    lines = []
    for label, tables, _ in _per_link(results, link, "discipline"):
        own = tables["discipline"]
        own = own.filter(own["name"].cast(str) == "probability")
        lines.append(Line(label, _floats(own, "time"), _floats(own, "value") * 100))
    return lines


def share_lines(
    results: Results,
    bin: float | None = None,  # noqa: A002
    *,
    link: str | None = None,
) -> list[Line]:
    """Return the measured shares of arrivals that queues dropped or marked, in percent."""
    lines = []
    for label, tables, duration in _per_link(results, link, "drops", "marks", "sojourn"):
        edges = bin_edges(duration, bin)
        left = _floats(tables["sojourn"], "time") - _floats(tables["sojourn"], "sojourn")
        drops = tables["drops"]
        dropped = _floats(drops.filter(drops["reason"].cast(str) != "random"), "time")
        signals = np.concatenate([dropped, _floats(tables["marks"], "time")])
        # Packets that arrived after the last departing packet still wait at the end: no trace holds them.
        known = left.max() if len(left) else np.inf
        arrived = np.histogram(np.concatenate([left, dropped[dropped <= known]]), edges)[0]
        signalled = np.histogram(signals[signals <= known], edges)[0]
        share = np.full(len(arrived), np.nan)
        np.divide(100.0 * signalled, arrived, out=share, where=arrived > 0)
        lines.append(Line(label, edges, _stay(share)))
    return lines


def _need(results: Results, kind: str) -> None:
    if (message := lacking(results, kind, NEEDED[kind])) is not None:
        raise KeyError(message)


def _quantiles(time: Floats, value: Floats, edges: Floats, wanted: tuple[float, ...]) -> list[Floats]:
    """Return quantiles of the values in each bin (nearest rank), NaN for an empty bin."""
    place = np.searchsorted(edges, time, side="right") - 1
    inside = place < len(edges) - 1
    place, value = place[inside], value[inside]
    counts = np.bincount(place, minlength=len(edges) - 1)
    ordered = np.append(value[np.lexsort((value, place))], np.nan)
    starts = np.cumsum(counts) - counts
    ranks = [starts + np.ceil(counts * share).astype(np.int64) - 1 for share in wanted]
    return [_stay(np.where(counts > 0, ordered[rank], np.nan)) for rank in ranks]


def _stay(values: Floats) -> Floats:
    """Repeat the last value, so that it holds until the end of its bin."""
    return np.append(values, values[-1:])


def _tick(axes: Axes, results: Results, link: str | None, trace: str, marker: str, size: float) -> None:
    """Draw the times of drops or marks at the bottom, in the colours of the curves."""
    if not all(trace in result.traces for result in labelled(results).values()):
        return
    for index, (_, tables, duration) in enumerate(_per_link(results, link, trace)):
        times = _floats(tables[trace], "time")
        if len(times) > 4 * BINS:  # more are not visible
            times = times[np.unique((times / duration * 4 * BINS).astype(np.int64), return_index=True)[1]]
        if len(times):
            zeros, colour = np.zeros(len(times)), COLOURS[index % len(COLOURS)]
            axes.plot(times, zeros, marker, color=colour, markersize=size, label=f"_{trace}", clip_on=False, zorder=5)
    if any(line.get_label() == f"_{trace}" for line in axes.lines):
        word = {"drops": "dropped", "marks": "marked"}[trace]
        axes.plot([], [], marker, color=GREY, markersize=size, label=word)


def _per_link(results: Results, link: str | None, *traces: str) -> list[tuple[str, dict[str, polars.DataFrame], float]]:
    """Split traces by link: label, tables by trace, and duration of the run."""
    found = []
    runs, pairs = labelled(results), _pairs(results, link)
    for name, result in runs.items():
        tables = {trace: _split(result, trace) for trace in traces}
        for (run, place), label in pairs.items():
            if run == name:
                own = {trace: parts.get(place, frame(result.trace(trace)).clear()) for trace, parts in tables.items()}
                found.append((label, own, result.duration))
    return found


def _split(result: AnyResult, trace: str) -> Mapping[str, polars.DataFrame]:
    parts = frame(result.trace(trace)).partition_by("link", as_dict=True)
    return {str(key[0]): part for key, part in parts.items()}


def _pairs(results: Results, link: str | None) -> Pairs:
    """Choose runs and links in one order for all plots, so that they have the same colours."""
    runs = labelled(results)
    found: list[tuple[str, str]] = []
    for name, result in runs.items():
        known = frame(result.links)["name"].to_list()
        if link is not None and link not in known:
            raise ValueError(f"{name}: there is no link {link!r}; known: {', '.join(known[:20])}")
        found += [(name, place) for place in (used_queues(result) if link is None else [link])]
    one = len({place for _, place in found}) == 1
    return {(run, place): place if len(runs) == 1 else run if one else f"{run}, {place}" for run, place in found}


def _busiest(results: Results) -> str:
    totals: dict[str, float] = {}
    for result in labelled(results).values():
        links = frame(result.links)
        for name, mean in zip(links["name"], links["queue_mean"], strict=True):
            totals[name] = totals.get(name, 0.0) + mean
    return max(totals, key=totals.__getitem__)


def _floats(table: polars.DataFrame, column: str) -> Floats:
    values: Any = table[column].to_numpy()
    return np.asarray(values, dtype=float)
