"""Curves of queues over time: their length, the sojourn time of packets, and drops and marks.

Each direction of a link has a queue. By default, figures show the used queues that have a limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ackclock.arrow import frame
from ackclock.curves import Floats, Line, Results, bin_edges, labelled
from ackclock.summaries import AnyResult

if TYPE_CHECKING:
    import polars

Unit = Literal["packets", "bytes"]
Pairs = dict[tuple[str, str], str]
"""The label of every run and link shown."""


def used_queues(result: AnyResult) -> list[str]:
    """Return the links whose limited queues held, dropped or marked packets; without any, the unlimited ones."""
    links = frame(result.links)
    used = links.filter((links["queue_max"] > 0) | (links["drops"] > 0) | (links["marks"] > 0))
    limited = used.filter(used["queue"] != "unlimited")
    return [str(name) for name in (used if limited.is_empty() else limited)["name"]]


def queue_lines(results: Results, *, link: str | None = None, unit: Unit = "packets") -> list[Line]:
    """Return the lengths of queues."""
    if unit not in ("packets", "bytes"):
        raise ValueError(f"unknown unit {unit!r}; known: packets, bytes")
    lines = []
    for label, tables, _ in per_link(results, link, "queue"):
        lines.append(Line(label, floats(tables["queue"], "time"), floats(tables["queue"], unit)))
    return lines


def sojourn_lines(
    results: Results,
    bin: float | None = None,  # noqa: A002
    *,
    link: str | None = None,
) -> list[Line]:
    """Return the sojourn times of departing packets in ms: the median, and the 95th percentile as `thin`."""
    lines = []
    for label, tables, duration in per_link(results, link, "sojourn"):
        edges = bin_edges(duration, bin)
        time, waited = floats(tables["sojourn"], "time"), floats(tables["sojourn"], "sojourn") * 1e3
        median, high = _quantiles(time, waited, edges, (0.5, 0.95))
        lines.append(Line(label, edges, median, high))
    return lines


def probability_lines(results: Results, *, link: str | None = None) -> list[Line]:
    """Return the disciplines' own probabilities in percent; a discipline without one has a line without points."""
    lines = []
    for label, tables, _ in per_link(results, link, "discipline"):
        own = tables["discipline"]
        own = own.filter(own["name"].cast(str) == "probability")
        lines.append(Line(label, floats(own, "time"), floats(own, "value") * 100))
    return lines


def share_lines(
    results: Results,
    bin: float | None = None,  # noqa: A002
    *,
    link: str | None = None,
) -> list[Line]:
    """Return the measured shares of arrivals that queues dropped or marked, in percent."""
    lines = []
    for label, tables, duration in per_link(results, link, "drops", "marks", "sojourn"):
        edges = bin_edges(duration, bin)
        left = floats(tables["sojourn"], "time") - floats(tables["sojourn"], "sojourn")
        drops = tables["drops"]
        dropped = floats(drops.filter(drops["reason"].cast(str) != "random"), "time")
        signals = np.concatenate([dropped, floats(tables["marks"], "time")])
        # Packets that arrived after the last departing packet still wait at the end: no trace holds them.
        known = left.max() if len(left) else np.inf
        arrived = np.histogram(np.concatenate([left, dropped[dropped <= known]]), edges)[0]
        signalled = np.histogram(signals[signals <= known], edges)[0]
        share = np.full(len(arrived), np.nan)
        np.divide(100.0 * signalled, arrived, out=share, where=arrived > 0)
        lines.append(Line(label, edges, _stay(share)))
    return lines


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


def per_link(results: Results, link: str | None, *traces: str) -> list[tuple[str, dict[str, polars.DataFrame], float]]:
    """Split traces by link: label, tables by trace, and duration of the run."""
    found = []
    runs, chosen = labelled(results), pairs(results, link)
    for name, result in runs.items():
        tables = {trace: _split(result, trace) for trace in traces}
        for (run, place), label in chosen.items():
            if run == name:
                own = {trace: parts.get(place, frame(result.trace(trace)).clear()) for trace, parts in tables.items()}
                found.append((label, own, result.duration))
    return found


def _split(result: AnyResult, trace: str) -> Mapping[str, polars.DataFrame]:
    parts = frame(result.trace(trace)).partition_by("link", as_dict=True)
    return {str(key[0]): part for key, part in parts.items()}


def pairs(results: Results, link: str | None) -> Pairs:
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


def busiest(results: Results) -> str:
    """Return the link with the longest mean queue."""
    totals: dict[str, float] = {}
    for result in labelled(results).values():
        links = frame(result.links)
        for name, mean in zip(links["name"], links["queue_mean"], strict=True):
            totals[name] = totals.get(name, 0.0) + mean
    return max(totals, key=totals.__getitem__)


def floats(table: polars.DataFrame, column: str) -> Floats:
    """Return a column as numbers."""
    values: Any = table[column].to_numpy()
    return np.asarray(values, dtype=float)
