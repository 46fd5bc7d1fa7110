"""The points of a sweep as numbers: means over seeds with intervals, effects of labels, and the axes of its figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars

from ackclock.formatting.labels import last_part
from ackclock.formatting.units import positions
from ackclock.metrics.registry import MEASURES, Measure
from ackclock.reports.dependence import PATHS, Group, groups
from ackclock.statistics.intervals import Interval, student_t
from ackclock.statistics.ranks import spearman

SEED = "seed"
MOST_NAMES = 60  # names on an axis; a label with more values is an axis of numbers, or no axis
MOST_SERIES = 9
MOST_PANELS = 6
LEAST_RANKED = 10  # points of a rank correlation
DISTINCT = 0.8  # a sample has a label with at least this many values per point
COLLINEAR = 0.9  # above this rank correlation of two labels, their effects cannot be separated
WIDE = 50  # positive numbers that span more than this factor have a logarithmic axis
LEAST_GEOMETRIC, ALIKE = 4, 0.02  # values with the same ratio between neighbours, up to rounding
COMPLETING = 0.9  # a sweep is about completion times if at least this share of its runs has one


SHOWN = (
    *("goodput_bps", "completion_median", "completion_p95", "jain", "utilisation", "sojourn_mean", "queue_mean"),
    *("dropped_packets", "retransmitted_packets", "timeouts"),
)
"""The measures of the report, in its order."""


@dataclass(frozen=True)
class Effect:
    """The effect of a label on a measure: its values with the smallest and the largest mean over all other labels.

    A label that leads a group stands for the group.
    """

    label: str
    lowest: tuple[str, float]
    highest: tuple[str, float]

    @property
    def spread(self) -> float:
        """Difference of the means over the larger of them."""
        largest = max(abs(self.lowest[1]), abs(self.highest[1]))
        return (self.highest[1] - self.lowest[1]) / largest if largest else 0.0


@dataclass(frozen=True)
class Axes:
    """The labels on the axis, of the series and of the panels; "" for none. Others are averaged.

    Attributes
    ----------
    numeric : bool
        Whether the axis has numbers, not names.
    group : Group or None
        The group of the axis.
    sampled : bool
        Whether each point of the group is drawn, since the axis alone does not determine it.
    """

    x: str
    series: str = ""
    panel: str = ""
    numeric: bool = False
    group: Group | None = None
    sampled: bool = False

    @property
    def drawn(self) -> list[str]:
        """The labels whose combinations are drawn."""
        own = self.group.labels if self.group and self.sampled else (self.x,)
        return list(dict.fromkeys(label for label in (*own, self.series, self.panel) if label))


class Points:
    """The points of a sweep.

    Parameters
    ----------
    runs
        A row for each run: labels, `seed` and measures; `error` is not null if the run failed.
    labels
        Columns of labels.
    log
        Labels whose values were sampled on a logarithmic scale.
    """

    def __init__(self, runs: polars.DataFrame, labels: Sequence[str], log: Collection[str] = ()) -> None:
        runs = runs.with_columns(polars.col(*labels).cast(polars.String).fill_null("–") if labels else [])
        self.runs = runs
        failed = polars.col("error").is_not_null() if "error" in runs.columns else polars.lit(value=False)
        self.failed = runs.filter(failed)
        if "run" in runs.columns:
            # Copies of equal points with the same labels are no further runs.
            runs = runs.unique([*labels, "run"], keep="first", maintain_order=True)
        self.finished = runs.filter(~failed)
        self.labels = [label for label in labels if label != SEED and self.runs[label].n_unique() > 1]
        self.log = {label for label in self.labels if label in log or geometric(self.values(label))}
        self.groups = groups(self.runs, self.labels)
        self._correlations: dict[tuple[Group, Measure], list[tuple[str, Interval]]] = {}
        self.measures = [MEASURES[name] for name in SHOWN if self._says(name)]

    def _says(self, key: str) -> bool:
        return key in self.finished.columns and not self.finished[key].is_null().all()

    @property
    def lead(self) -> Measure | None:
        """The measure of the answer: completion times if nearly all runs have one, otherwise goodput."""
        known = {each.name: each for each in self.measures}
        if "completion_median" in known:
            share = 1 - self.finished["completion_median"].null_count() / max(1, self.finished.height)
            if share >= COMPLETING:
                return known["completion_median"]
        return known.get("goodput_bps") or next(iter(self.measures), None)

    def name(self, label: str) -> str:
        """Return the short name of a label, if no other label has it."""
        short = [last_part(each) for each in self.labels]
        return last_part(label) if short.count(last_part(label)) == 1 else label

    def place(self, row: Mapping[str, object]) -> str:
        """Return the labels of a point in words; the name of a path stands for all its labels."""
        hidden = {label for group in self.groups if group.population for label in group.labels if label != group.lead}
        return ", ".join(f"{self.name(label)} {row[label]}" for label in self.labels if label not in hidden)

    def means(self, labels: Sequence[str], measure: Measure) -> polars.DataFrame:
        """Return mean, Student's 95 % interval and number of runs by labels, in the unit of the measure.

        Columns: the labels, ``mean``, ``low``, ``high``, ``runs``. With one run, the interval is null.
        """
        value = polars.col(measure.name).cast(polars.Float64) * measure.shown[1]
        aggregates = [value.mean().alias("mean"), value.std().alias("std"), value.count().alias("runs")]
        valued = self.finished.filter(polars.col(measure.name).is_not_null())
        if labels:
            grouped = valued.group_by(list(labels), maintain_order=True).agg(aggregates)
        else:
            grouped = valued.select(aggregates)
        quantiles = {count: student_t(0.975, count - 1) for count in grouped["runs"].unique().to_list() if count > 1}
        half = polars.col("std") * polars.col("runs").replace_strict(
            quantiles, default=None, return_dtype=polars.Float64
        ) / polars.col("runs").sqrt()  # fmt: skip
        ends = [(polars.col("mean") - half).alias("low"), (polars.col("mean") + half).alias("high")]
        return grouped.with_columns(ends).drop("std")

    def effects(self, measure: Measure) -> list[Effect]:
        """Return the effect of every label that varies alone, and of every group without correlations.

        The largest effect comes first. A label of which only one value has a mean has no effect.
        """
        found = []
        for group in self.groups:
            if self.correlations(group, measure):
                continue
            means = self.means([group.lead], measure).sort("mean", maintain_order=True)
            if means.height > 1:
                rows = (means.row(0, named=True), means.row(-1, named=True))
                found.append(Effect(group.lead, *((row[group.lead], row["mean"]) for row in rows)))
        return sorted(found, key=lambda effect: -abs(effect.spread))

    def correlations(self, group: Group, measure: Measure) -> list[tuple[str, Interval]]:
        """Return Spearman's rank correlation of the measure with each numeric label of a sample, the strongest first.

        Empty for a group that is no sample: with few points, without a numeric label of which nearly every value
        occurs once, or with labels that rise and fall together.
        """
        if (group, measure) not in self._correlations:
            self._correlations[group, measure] = self._ranked(group, measure)
        return self._correlations[group, measure]

    def _ranked(self, group: Group, measure: Measure) -> list[tuple[str, Interval]]:
        means = self.means(group.labels, measure) if group.joint else polars.DataFrame()
        if means.height < LEAST_RANKED:
            return []
        numeric: dict[str, list[float]] = {}
        for label in group.labels:
            known = None if last_part(label) == PATHS else positions(self.values(label))
            if known is not None and means[label].n_unique() > 2:
                numeric[label] = [known[0][value] for value in means[label]]
        if not any(len(set(values)) >= DISTINCT * means.height for values in numeric.values()):
            return []
        names = list(numeric)
        pairs = [(one, two) for at, one in enumerate(names) for two in names[at + 1 :]]
        if any(abs(spearman(numeric[one], numeric[two]).mean) > COLLINEAR for one, two in pairs):
            return []
        found = [(label, spearman(values, means["mean"].to_list())) for label, values in numeric.items()]
        return sorted((each for each in found if each[1].known), key=lambda each: -abs(each[1].mean))

    def axes(self, measure: Measure) -> Axes | None:
        """Choose the labels of a figure.

        The axis is the numeric label of a sample with the strongest correlation, the names of a population, or the
        label with most values. The others follow by their effect.
        """
        counts = {label: self.runs[label].n_unique() for label in self.labels}
        numeric = {label: positions(self.values(label)) is not None for label in self.labels}
        populations = [each for each in self.groups if each.population and counts[each.lead] <= MOST_NAMES]
        sampled = [
            (each, ranked)
            for each in self.groups
            if each not in populations and (ranked := self.correlations(each, measure))
        ]
        rest = [effect.label for effect in self.effects(measure)]
        if sampled:
            group, ranked = max(sampled, key=lambda each: len(each[1]))
            x = ranked[0][0]
            rest += [label for label in group.labels if not numeric[label]]
        else:
            fitting = [group for group in self.groups if counts[group.lead] <= MOST_NAMES or numeric[group.lead]]
            if not fitting:
                return None
            # Numbers make a better axis than names, and the names of paths than a panel for each.
            group = max(
                fitting,
                key=lambda each: (
                    each in populations, counts[each.lead] > MOST_SERIES, numeric[each.lead], counts[each.lead]
                ),
            )  # fmt: skip
            x = group.lead
        rest = [label for label in rest if label != x]
        series = next((label for label in rest if counts[label] <= MOST_SERIES), "")
        panel = next((label for label in rest if label != series and counts[label] <= MOST_PANELS), "")
        spaced = numeric[x] and x in self.log
        return Axes(x, series, panel, bool(sampled) or counts[x] > MOST_NAMES or spaced, group, bool(sampled))

    def constant(self, labels: Sequence[str], measure: Measure) -> str:
        """Return the mean of a measure, with its unit, if it is the same at all points; otherwise nothing."""
        found = {measure.in_unit(mean) for mean in self.means(labels, measure)["mean"]}
        return found.pop() if len(found) == 1 else ""

    def values(self, label: str) -> list[str]:
        """Return the values of a label: numbers in their order, other texts in the order of the sweep."""
        found: list[str] = self.runs[label].unique(maintain_order=True).to_list()
        places = positions(found)
        return found if places is None else sorted(found, key=lambda value: places[0][value])


def geometric(values: Sequence[str]) -> bool:
    """Whether the values of a label rise by the same factor.

    >>> geometric(["10 ms", "20 ms", "40 ms", "80 ms"]), geometric(["10 ms", "20 ms", "30 ms", "40 ms"])
    (True, False)
    """
    known = positions(values) if len(values) >= LEAST_GEOMETRIC else None
    numbers = sorted(known[0].values()) if known else [0.0]
    if numbers[0] <= 0:
        return False
    ratios = [high / low for low, high in pairwise(numbers)]
    return max(ratios) <= (1 + ALIKE) * min(ratios)
