"""Figures of results over the labels of a sweep: lines, distributions, boxes, heat maps and paired differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars

from ackclock import columns
from ackclock.drawing.figure import Axis, Figure, Heatmap, Panel, Series, binned, is_wide, with_intervals
from ackclock.experiments.labelled import SEED, Sample, Scale, grouped, pooled, rows_of, scale_of
from ackclock.formatting.labels import find, last_part
from ackclock.formatting.numbers import counted
from ackclock.metrics.registry import MEASURES, of
from ackclock.reports.dependence import groups
from ackclock.reports.points import MOST_NAMES, MOST_SERIES, geometric
from ackclock.statistics import ratios
from ackclock.statistics.intervals import Interval, interval

WIDE = 30  # an axis is logarithmic if the largest value is more than this many times the smallest
WHISKERS = (5, 25, 50, 75, 95)  # percentiles of a box
SHOWN = {"bit/s": ("Mbit/s", 1e-6)}
MOST_PAIRS = 400  # single pairs that are drawn


@dataclass(frozen=True)
class Question:
    """What to draw of the runs of a sweep.

    Attributes
    ----------
    found : sequence of Sample
        The values of each run.
    y : str
        Their column.
    x : str
        The label on the axis; empty for none.
    by : sequence of str
        Labels; each combination of their values has a series.
    log : collection of str
        Labels that were sampled on a logarithmic scale.
    """

    found: Sequence[Sample]
    y: str
    x: str = ""
    by: Sequence[str] = ()
    log: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name of the column."""
        return last_part(self.y)

    @property
    def scaled(self) -> tuple[str, float]:
        """Unit in which the values are shown, and the factor to it."""
        if self.name in MEASURES:
            unit, factor = of(self.name).shown
            return (unit, factor) if unit else SHOWN.get(of(self.name).dimension, (of(self.name).dimension, 1.0))
        known = {it.name: it.unit for table in ("flows", "links") for it in columns.of(table)}
        unit = known.get(self.name, "s" if self.name.endswith("_time") else "")
        return SHOWN.get(unit, (unit, 1.0))

    @property
    def heading(self) -> str:
        """Title of the axis of values."""
        unit, title = self.scaled[0], of(self.name).title
        return f"{title} ({unit})" if unit and unit not in title else title

    def name_of(self, values: Sequence[str]) -> str:
        """Return the name of a series; without one, that of the column."""
        several = len(self.by) > 1
        parts = [f"{last_part(it)} {value}" if several else value for it, value in zip(self.by, values, strict=True)]
        return ", ".join(parts) or of(self.name).title

    def axis(self, scale: Scale) -> Axis:
        """Return the axis of the label x, logarithmic if the label was sampled so."""
        places = list(scale.places.values())
        sampled = self.x in self.log or geometric(scale.ordered)
        log = not scale.words and min(places) > 0 and (sampled or is_wide(places, WIDE))
        title = f"{self.x} ({scale.unit})" if scale.unit and not scale.words else self.x
        return Axis(title, log, scale.ordered if scale.words else ())


@dataclass(frozen=True)
class Drawn:
    """A figure over labels, with notes for its reader: the meaning of a point, and omitted rows."""

    figure: Figure
    notes: list[str] = field(default_factory=list)


def lines(question: Question) -> Drawn:
    """Return the mean of a column over a label, with Student's 95 % interval over the seeds.

    Each run counts once, with the mean of its rows. A label with many numbers, as of a sample, has the median in bins
    and the band between the 10th and the 90th percentile.
    """
    it, factor = question, question.scaled[1]
    scale = scale_of([sample.labels[it.x] for sample in it.found])
    axis, series, notes, single = it.axis(scale), [], [], False
    many = not scale.words and len(scale.places) > MOST_NAMES
    for values, part in grouped(it.found, it.by).items():
        if many:
            known = [(scale.places[run.labels[it.x]], factor * run.mean) for run in part if run.mean is not None]
            xs, ys = zip(*known, strict=True)
            series.append(Series(it.name_of(values), *binned(xs, ys, log=axis.log)))
            continue
        means = {place[0]: found for place, runs in grouped(part, [it.x]).items() if (found := _interval(runs))}
        single |= any(not found.finite for found in means.values())
        x = list(means) if scale.words else [scale.places[place] for place in means]
        series.append(with_intervals(it.name_of(values), x, list(means.values()), "joined", factor))
    if many:
        notes.append("curves are medians of the runs in bins, bands hold 80 % of them")
    elif any(len(sample.values) > 1 for sample in it.found):
        notes.append(f"a point is the mean over the rows of each run, then over runs: {_counts(it)}")
    if single:
        notes.append("points without bars are single runs; sweep seed = { from = 1, to = 10 } for intervals")
    log = is_wide((value for each in series for value in np.asarray(each.y).tolist()), WIDE)
    heading = it.heading if many else f"mean {it.heading}"
    return Drawn(Figure(f"{_title(it)} over {it.x}", [Panel(series, x=axis, y=Axis(heading, log))]), notes)


def cdf(question: Question) -> Drawn:
    """Return the distribution of a column over the rows of all runs of a series: the share of rows up to each value.

    Rows without a value, as unfinished flows, count in the share: their curve ends below 1.
    """
    it, factor = question, question.scaled[1]
    notes, series = [], []
    for values, part in grouped(it.found, it.by).items():
        known, missing = rows_of(pooled(part))
        if missing:
            every = missing + len(known)
            name = it.name_of(values) if it.by else "all"
            notes.append(f"{name}: {missing:,} of {every:,} rows have no {it.name}")
        share = np.arange(1, len(known) + 1) / max(1, len(known) + missing)
        series.append(Series(it.name_of(values), factor * np.sort(np.array(known, float)), share, "step"))
    wide = is_wide((value for each in series for value in np.asarray(each.x).tolist()), WIDE)
    panel = Panel(series, x=Axis(it.heading, wide), y=Axis("share", limits=(0.0, 1.02)))
    return Drawn(Figure(f"{_title(it)}: share of rows up to each value", [panel]), notes)


def box(question: Question) -> Drawn:
    """Return boxes of a column over a label: quartiles and median, whiskers from the 5th to the 95th percentile.

    Rows of all runs with the same labels are pooled; rows without a value are omitted.
    """
    it, factor = question, question.scaled[1]
    scale = scale_of([sample.labels[it.x] for sample in it.found]) if it.x else Scale("", {"all": 0.0}, words=True)
    series, omitted, every = [], 0, []
    for values, part in grouped(it.found, it.by).items():
        places, ends = [], []
        for place, runs in grouped(part, [it.x] if it.x else []).items():
            known, missing = rows_of(pooled(runs))
            omitted += missing
            if known:
                places.append(place[0] if place else "all")
                ends.append(factor * np.percentile(known, WHISKERS))
        if places:
            low, first, middle, third, high = np.array(ends).T
            every += [*low, *high]
            quartiles = (first, third)
            series.append(Series(it.name_of(values), places, middle, "box", low, high, quartiles=quartiles))
    panel = Panel(series, x=Axis(it.x, names=scale.ordered), y=Axis(it.heading, is_wide(every, WIDE)))
    notes = [f"{omitted:,} rows without {it.name} are omitted"] if omitted else []
    return Drawn(Figure(f"{_title(it)}: quartiles, 5th to 95th percentile", [panel]), notes)


def heatmap(question: Question) -> Drawn:
    """Return the mean of a column over two labels, `x` and the first of `by`, with a panel for each value of others."""
    it, factor = question, question.scaled[1]
    xs, ys = (scale_of([run.labels[label] for run in it.found]).ordered for label in (it.x, it.by[0]))
    parts = grouped(it.found, it.by[1:])
    grids = []
    for part in parts.values():
        cells = grouped(part, [it.x, it.by[0]])
        means = {place: factor * found.mean for place, runs in cells.items() if (found := _interval(runs))}
        grids.append([[means.get((x, y), math.nan) for x in xs] for y in reversed(ys)])
    finite = [cell for grid in grids for row in grid for cell in row if math.isfinite(cell)]
    ends = (min(finite, default=0.0), max(finite, default=1.0))
    shown = replace(it, by=it.by[1:])
    panels = [
        Panel(heatmap=Heatmap(xs, ys[::-1], grid, unit=it.heading, ends=ends), x=Axis(it.x), y=Axis(it.by[0]),
              title=shown.name_of(values) if values else "")
        for values, grid in zip(parts, grids, strict=True)
    ]  # fmt: skip
    return Drawn(Figure(f"{_title(it)}, mean of the runs of each cell", panels), [])


def paired(question: Question) -> Drawn:
    """Return what each value of a label, the first of `by`, changes against its first value.

    Runs pair if they agree in all other labels and the seed. A point is the ratio of the means with Fieller's 95 %
    interval, in percent; small points are single pairs. With `x`, each of its values has points of its own, or
    bins if it has many.

    Raises
    ------
    ValueError
        If the label has one value, no runs pair, or the means of the first value are 0.
    """
    it, label = question, question.by[0]
    values = scale_of([run.labels[label] for run in it.found]).ordered
    if len(values) < 2:
        raise ValueError(f"--by {label}: paired differences need two values, and all runs have {values[0]!r}")
    runs: dict[str, dict[tuple[str, ...], Sample]] = {value: {} for value in values}
    for run in it.found:
        key = tuple(text for name, text in run.labels.items() if name != label)
        runs[run.labels[label]][key] = run
    base, *others = values
    scale = scale_of([run.labels[it.x] for run in it.found]) if it.x else None
    places = scale.ordered if scale else [""]
    many = scale is not None and not scale.words and len(places) > MOST_NAMES
    axis = Axis(label, names=others) if scale is None else it.axis(scale)
    series, pairs = [], 0
    for value in others:
        name = value if it.x else f"against {base}"
        at, found, small = [], [], []
        for place in places:
            both = [
                (run.mean, other.mean)
                for key, run in runs[value].items()
                if (other := runs[base].get(key)) and (not it.x or run.labels[it.x] == place)
            ]
            known = [(own, to) for own, to in both if own is not None and to is not None]
            if known and any(to for _, to in known):
                ratio = ratios.ratio([own for own, _ in known], [to for _, to in known], "seed")
                at.append(place if it.x else value)
                found.append(replace(ratio, mean=ratio.mean - 1, low=ratio.low - 1, high=ratio.high - 1))
                small += [(at[-1], 100 * (own / to - 1)) for own, to in known if to]
            pairs += len(known)
        if found and many:
            xs, ys = _placed([place for place, _ in small], scale), [change for _, change in small]
            series.append(Series(name, *binned(xs, ys, log=axis.log)))
        elif found:
            if len(small) <= MOST_PAIRS:
                x, y = zip(*small, strict=True)
                made = Series(f"{name}, pairs", _placed(x, scale), y, "points", faint=True, like=name)
                series.append(replace(made, aside="single pairs"))
            series.append(with_intervals(name, _placed(at, scale), found, "points", 100.0))
    if not series:
        raise ValueError(f"--by {label}: no runs pair: they differ in more than {last_part(label)}, or {it.name} is 0")
    change = Axis(f"{of(it.name).title}: change against {base} (%)")
    panel = Panel(series, x=axis, y=change, references=[0.0])
    figure = Figure(f"{_title(it)}: paired differences of {label}", [panel])
    notes = [f"{counted(pairs, 'pair')} of runs that differ in {last_part(label)} only"]
    return Drawn(
        figure, [*notes, *(["curves are medians of the pairs in bins, bands hold 80 % of them"] if many else [])]
    )


def _placed(x: Sequence[str], scale: Scale | None) -> Sequence[Any]:
    return list(x) if scale is None or scale.words else [scale.places[place] for place in x]


KINDS: dict[str, Callable[[Question], Drawn]] = {
    "lines": lines, "cdf": cdf, "box": box, "heatmap": heatmap, "paired": paired,
}  # fmt: skip
"""Every kind of figure over labels."""


def question(
    kind: str, found: Sequence[Sample], y: str, x: str | None, by: Sequence[str], log: frozenset[str]
) -> Question:
    """Find the named labels, choose those that a kind needs, and refuse runs that differ in another one.

    Raises
    ------
    ValueError
        If a label does not exist or is missing, or the runs differ in another label, which would be averaged.
    """
    labels = list(found[0].labels)
    named = find(f"--x {x}", "label", x, labels) if x is not None else ""
    series = [find(f"--by {word}", "label", word, labels) for word in by]
    if kind == "paired" and len(series) > 1:
        raise ValueError(f"--by {by[1]}: paired differences are those of one label; name another with --x")
    if kind == "cdf" and named:
        raise ValueError(f"--x {x}: the axis of a cdf is its column; name labels with --by")
    rest = [label for label in _varied(found) if label not in (named, *series)]
    if kind in ("heatmap", "paired") and not series:
        what = "whose values are compared" if kind == "paired" else "of the rows"
        few = [label for label in rest if len({run.labels[label] for run in found}) <= MOST_SERIES]
        series = _only("--by", what, few)
        rest = [label for label in rest if label not in series]
    if kind in ("lines", "heatmap") and not named:
        (named,) = _only("--x", "on the axis", rest)
        rest = [label for label in rest if label != named]
    if kind != "paired" and (others := _others(found, named, rest)):
        word = last_part(others[0])
        raise ValueError(
            f"the runs also differ in {', '.join(others)}; add --by {word}, or choose runs with --only {word}=VALUE"
        )
    return Question(found, y, named, series, log)


def _only(option: str, what: str, labels: Sequence[str]) -> list[str]:
    """Return the one label that can have a role; refuse to choose among several."""
    if len(labels) == 1:
        return list(labels)
    known = f" (known: {', '.join(map(last_part, labels))})" if labels else ""
    example = last_part(labels[0]) if labels else "limit"
    raise ValueError(f"{option} is needed: name the label {what}, as in {option} {example}{known}")


def _varied(found: Sequence[Sample]) -> list[str]:
    """Return the labels, except the seed, that differ between runs."""
    return [label for label in found[0].labels if label != SEED and len({run.labels[label] for run in found}) > 1]


def _others(found: Sequence[Sample], x: str, rest: Sequence[str]) -> list[str]:
    """Return the labels that differ between runs beside x; those that change along x, as in a sample, do not."""
    if not (x and rest):
        return list(rest)
    table = polars.DataFrame([{label: run.labels[label] for label in (x, *rest)} for run in found])
    own = next(group.labels for group in groups(table, [x, *rest]) if x in group.labels)
    return [label for label in rest if label not in own]


def _interval(runs: Sequence[Sample]) -> Interval | None:
    means = [mean for run in runs if (mean := run.mean) is not None]
    return interval(means, "seed") if means else None


def _counts(it: Question) -> str:
    counts = {len(runs) for runs in grouped(it.found, [it.x, *it.by]).values()}
    return f"{min(counts)} of each" if len(counts) == 1 else f"{min(counts)} to {max(counts)} of each"


def _title(it: Question) -> str:
    title = of(it.name).title
    return title[:1].upper() + title[1:]
