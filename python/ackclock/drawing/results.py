"""Plots of results over the labels of a sweep: means with intervals, distributions, and boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

from ackclock.drawing.curves import COLOURS, SIZE, STYLES, new_figure
from ackclock.drawing.panels import style_axes
from ackclock.experiments.labelled import Sample, Scale, grouped, pooled, rows_of, samples, scale_of, varied
from ackclock.result import StoredResult
from ackclock.statistics.intervals import Interval, interval
from ackclock.texts.labels import find, last_part
from ackclock.texts.names import in_figure, in_legend

KINDS = ("points", "cdf", "box")
MARKERS = "osD^vPX"
SECONDS = ("min_rtt", "sojourn_mean", "sojourn_max")  # columns in seconds whose names do not end in _time
WIDE = 30  # an axis is logarithmic if the largest value is more than this many times the smallest


@dataclass(frozen=True)
class Drawn:
    """A plot over labels.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        The plot.
    notes : list of str
        Notes for the reader: the meaning of a point, and omitted rows.
    """

    figure: Figure
    notes: list[str]


def points(
    results: Sequence[StoredResult], x: str, y: str, by: Sequence[str] = (), *, link: str | None = None
) -> Drawn:
    """Draw the mean of a column over a label, with Student's 95 % interval over the seeds.

    Each run counts once, with the mean of its rows.

    Parameters
    ----------
    results
        The runs of a sweep.
    x
        A label, by its name or the last part of it; numbers are placed by their values.
    y
        A column of flows, links, pages or transfers.
    by
        Labels; each combination of their values has a line.
    link
        The link, if the column belongs to links.

    Raises
    ------
    ValueError
        If a label or column does not exist, or the runs differ in another label, which would be averaged.
    """
    x, by = _labels(results, x, by)
    found = samples(results, y, link)
    scale = scale_of([sample.labels[x] for sample in found])
    figure, axes = _new(f"{_axis(y)}, mean")
    _units(axes, y)
    single, several = False, any(len(sample.values) > 1 for sample in found)
    for index, (series, part) in enumerate(grouped(found, by).items()):
        means = {place[0]: _interval(runs) for place, runs in grouped(part, [x]).items()}
        known = {place: mean for place, mean in means.items() if mean is not None}
        single |= any(math.isinf(mean.low) for mean in known.values())
        _errorbars(axes, index, _name(by, series), scale, known)
    _finish(axes, scale, x, legend=bool(by))
    notes = (
        [f"a point is the mean over the rows of each run, then over runs: {_counts(found, x, by)}"] if several else []
    )
    if single:
        notes.append("points without bars are single runs; sweep seed = { from = 1, to = 10 } for intervals")
    return Drawn(figure, notes)


def cdf(results: Sequence[StoredResult], y: str, by: Sequence[str] = (), *, link: str | None = None) -> Drawn:
    """Draw the distribution of a column over the rows of all runs of a series: the share of rows up to each value.

    Rows without a value, as unfinished flows, count in the share: their curve ends below 1. Parameters and errors are
    those of `points`.
    """
    _, by = _labels(results, None, by)
    found = samples(results, y, link)
    figure, axes = _new("share")
    notes, every = [], [value for sample in found for value in rows_of(sample)[0]]
    for index, (series, part) in enumerate(grouped(found, by).items()):
        values, missing = rows_of(pooled(part))
        if missing:
            notes.append(
                f"{_name(by, series) or 'all'}: {missing:,} of {missing + len(values):,} rows have no {last_part(y)}"
            )
        share = np.arange(1, len(values) + 1) / max(1, len(values) + missing)
        style = {"color": COLOURS[index % len(COLOURS)], "linestyle": STYLES[index % len(STYLES)]}
        axes.step(sorted(values), share, where="post", label=in_legend(_name(by, series)), linewidth=1.3, **style)  # type: ignore[arg-type]
    _wide(axes, every)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(in_figure(_axis(y)))
    _legend(axes, shown=bool(by))
    return Drawn(figure, notes)


def box(
    results: Sequence[StoredResult], y: str, x: str | None = None, by: Sequence[str] = (), *, link: str | None = None
) -> Drawn:
    """Draw boxes of a column over a label: the quartiles with the median, whiskers from the 5th to the 95th percentile.

    Rows of all runs with the same labels are pooled; rows without a value are omitted. Parameters and errors are those
    of `points`.
    """
    named, by = _labels(results, x, by)
    found = samples(results, y, link)
    keys = [named] if named else []
    scale = scale_of([sample.labels[named] for sample in found]) if named else Scale("", {"": 0.0}, words=True)
    figure, axes = _new(_axis(y))
    _units(axes, y)
    groups = grouped(found, by)
    width, left_out, every = 0.8 / len(groups), 0, []
    for index, (series, part) in enumerate(groups.items()):
        colour = COLOURS[index % len(COLOURS)]
        for place, runs in grouped(part, keys).items():
            values, missing = rows_of(pooled(runs))
            left_out += missing
            every += values
            if not values:
                continue
            at = scale.ordered.index(place[0] if place else "") + (index - (len(groups) - 1) / 2) * width
            made = axes.boxplot(
                [values], positions=[at], widths=0.85 * width, whis=(5, 95), showfliers=False, patch_artist=True,
                manage_ticks=False,
            )  # fmt: skip
            made["boxes"][0].set(facecolor=colour, alpha=0.45, edgecolor=colour)
            made["medians"][0].set(color="black", linewidth=1.2)
        axes.plot([], [], color=colour, linewidth=6, alpha=0.45, label=in_legend(_name(by, series)))
    axes.set_xticks(range(len(scale.places)), [in_figure(place) for place in scale.ordered])
    axes.set_xlabel(in_figure(named or ""))
    if _is_wide(every):
        axes.set_yscale("log")
        _plain_decades(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    _legend(axes, shown=bool(by))
    return Drawn(figure, [f"{left_out:,} rows without {last_part(y)} are omitted"] if left_out else [])


def _labels(results: Sequence[StoredResult], x: str | None, by: Sequence[str]) -> tuple[str, list[str]]:
    """Find the named labels, and refuse runs that differ in another one."""
    labels = list(results[0].labels)
    named = find(f"--x {x}", "label", x, labels) if x is not None else ""
    series = [find(f"--by {word}", "label", word, labels) for word in by]
    others = [label for label in varied(results) if label not in (named, *series)]
    if others:
        word = last_part(others[0])
        raise ValueError(
            f"the runs also differ in {', '.join(others)}; add --by {word}, or choose runs with --only {word}=VALUE"
        )
    return named, series


def _interval(runs: Sequence[Sample]) -> Interval | None:
    means = [mean for run in runs if (mean := run.mean) is not None]
    return interval(means, "seed") if means else None


def _errorbars(axes: Axes, index: int, name: str, scale: Scale, means: dict[str, Interval]) -> None:
    if not means:
        return
    places = [scale.places[value] for value in means]
    bars = [mean for mean in means.values() if not math.isinf(mean.low)]
    halves = [(mean.mean - mean.low, mean.high - mean.mean) for mean in means.values()]
    below, above = ([0.0 if math.isinf(half) else half for half in side] for side in zip(*halves, strict=True))
    axes.errorbar(
        places, [mean.mean for mean in means.values()], yerr=(below, above) if bars else None,
        label=in_legend(name), capsize=3, color=COLOURS[index % len(COLOURS)], linestyle=STYLES[index % len(STYLES)],
        linewidth=1.1, markersize=5, marker=MARKERS[index % len(MARKERS)],
    )  # fmt: skip


def _counts(found: Sequence[Sample], x: str, by: Sequence[str]) -> str:
    counts = {len(runs) for runs in grouped(found, [x, *by]).values()}
    return f"{min(counts)} of each" if len(counts) == 1 else f"{min(counts)} to {max(counts)} of each"


def _new(ylabel: str) -> tuple[Figure, Axes]:
    figure = new_figure(SIZE)
    axes = figure.add_subplot()
    axes.set_ylabel(in_figure(ylabel))
    style_axes(axes)
    return figure, axes


def _finish(axes: Axes, scale: Scale, x: str, *, legend: bool) -> None:
    if scale.words:
        axes.set_xticks(list(scale.places.values()), [in_figure(place) for place in scale.places])
        axes.margins(x=0.08)
    else:
        _wide(axes, list(scale.places.values()))
    axes.set_xlabel(in_figure(f"{x} ({scale.unit})" if scale.unit else x))
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    _legend(axes, shown=legend)


def _is_wide(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) > WIDE * min(values)


def _wide(axes: Axes, values: Sequence[float]) -> None:
    if _is_wide(values):
        axes.set_xscale("log")
        _plain_decades(axes.xaxis)
    elif values and min(values) >= 0:
        axes.set_xlim(left=0)


def _plain_decades(axis: Axis) -> None:
    """Label 1, 2 and 5 of each decade as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _legend(axes: Axes, *, shown: bool) -> None:
    if shown:
        axes.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _name(by: Sequence[str], series: Sequence[str]) -> str:
    return ", ".join(
        f"{last_part(label)} {value}" if len(by) > 1 else value for label, value in zip(by, series, strict=True)
    )


def _axis(column: str) -> str:
    name = last_part(column)
    if name.endswith("_bps"):
        return name.removesuffix("_bps")
    return f"{name} (s)" if name.endswith("_time") or name in SECONDS else name


def _units(axes: Axes, column: str) -> None:
    if last_part(column).endswith("_bps"):
        axes.yaxis.set_major_formatter(EngFormatter(unit="bit/s"))
