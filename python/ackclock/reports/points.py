"""The points of a sweep as numbers: means over seeds with intervals, effects of labels, and the axes of its figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars

from ackclock.statistics.intervals import student_t
from ackclock.texts.labels import last_part

SEED = "seed"
MOST_NAMES = 60  # names on an axis; a label with more values is an axis of numbers, or no axis
MOST_SERIES = 9
MOST_PANELS = 6
COMPLETING = 0.9  # a sweep is about completion times if at least this share of its runs has one


@dataclass(frozen=True)
class Measure:
    """A measure of a run.

    Attributes
    ----------
    key : str
        Its column.
    title, unit : str
        Its name and unit.
    scale : float
        Factor to its unit.
    better : {-1, 1}
        Whether larger values are better (1), or smaller ones (−1).
    """

    key: str
    title: str
    unit: str = ""
    scale: float = 1.0
    better: int = -1

    @property
    def axis(self) -> str:
        """Its name with the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


MEASURES = (
    Measure("goodput_bps", "goodput of all flows", "Mbit/s", 1e-6, 1),
    Measure("completion_median", "median completion time", "s"),
    Measure("completion_p95", "95th percentile of completion times", "s"),
    Measure("jain", "Jain's index", better=1),
    Measure("utilisation", "utilisation of the bottleneck", "%", 100.0, 1),
    Measure("sojourn_mean", "mean waiting time at the bottleneck", "ms", 1e3),
    Measure("queue_mean", "mean queue of the bottleneck", "packets"),
    Measure("dropped_packets", "dropped packets"),
    Measure("retransmitted_packets", "retransmitted packets"),
    Measure("timeouts", "timeouts"),
)


@dataclass(frozen=True)
class Effect:
    """The effect of a label on a measure: its values with the smallest and the largest mean over all other labels."""

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
    """The labels on the axis, of the series and of the panels; "" for none. Others are averaged."""

    x: str
    series: str = ""
    panel: str = ""
    numeric: bool = False


class Points:
    """The points of a sweep.

    Parameters
    ----------
    runs
        A row for each run: labels, `seed` and measures; `error` is not null if the run failed.
    labels
        Columns of labels.
    """

    def __init__(self, runs: polars.DataFrame, labels: Sequence[str]) -> None:
        self.runs = runs
        failed = polars.col("error").is_not_null() if "error" in runs.columns else polars.lit(value=False)
        self.failed = runs.filter(failed)
        if "run" in runs.columns:
            # Copies of equal points with the same labels are no further runs.
            runs = runs.unique([*labels, "run"], keep="first", maintain_order=True)
        self.finished = runs.filter(~failed).with_columns(polars.col(*labels).cast(polars.String) if labels else [])
        self.labels = [label for label in labels if label != SEED and self.finished[label].n_unique() > 1]
        self.measures = [each for each in MEASURES if self._says(each.key)]

    def _says(self, key: str) -> bool:
        return key in self.finished.columns and not self.finished[key].is_null().all()

    @property
    def lead(self) -> Measure | None:
        """The measure of the answer: completion times if nearly all runs have one, otherwise goodput."""
        known = {each.key: each for each in self.measures}
        if "completion_median" in known:
            share = 1 - self.finished["completion_median"].null_count() / max(1, self.finished.height)
            if share >= COMPLETING:
                return known["completion_median"]
        return known.get("goodput_bps") or next(iter(self.measures), None)

    def name(self, label: str) -> str:
        """Return the short name of a label, if no other label has it."""
        short = [last_part(each) for each in self.labels]
        return last_part(label) if short.count(last_part(label)) == 1 else label

    def means(self, labels: Sequence[str], measure: Measure) -> polars.DataFrame:
        """Return mean, Student's 95 % interval and number of runs by labels, in the unit of the measure.

        Columns: the labels, ``mean``, ``low``, ``high``, ``runs``. With one run, the interval is null.
        """
        value = polars.col(measure.key).cast(polars.Float64) * measure.scale
        aggregates = [value.mean().alias("mean"), value.std().alias("std"), value.count().alias("runs")]
        valued = self.finished.filter(polars.col(measure.key).is_not_null())
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
        """Return the effect of every label, the largest first."""
        found = []
        for label in self.labels:
            means = self.means([label], measure).sort("mean", maintain_order=True)
            ends = [(row[label], row["mean"]) for row in (means.row(0, named=True), means.row(-1, named=True))]
            found.append(Effect(label, *ends))
        return sorted(found, key=lambda effect: -abs(effect.spread))

    def axes(self, measure: Measure) -> Axes | None:
        """Choose the labels of a figure: the one with most values is the axis, the others follow by their effect."""
        counts = {label: self.finished[label].n_unique() for label in self.labels}
        numeric = {label: positions(self.values(label)) is not None for label in self.labels}
        fitting = [label for label in self.labels if counts[label] <= MOST_NAMES or numeric[label]]
        if not fitting:
            return None
        # Numbers make a better axis than names.
        x = max(fitting, key=lambda label: (counts[label] > MOST_SERIES, numeric[label], counts[label]))
        rest = [effect.label for effect in self.effects(measure) if effect.label != x]
        series = next((label for label in rest if counts[label] <= MOST_SERIES), "")
        panel = next((label for label in rest if label != series and counts[label] <= MOST_PANELS), "")
        return Axes(x, series, panel, numeric=counts[x] > MOST_NAMES)

    def values(self, label: str) -> list[str]:
        """Return the values of a label: numbers in their order, other texts in the order of the sweep."""
        found: list[str] = self.finished[label].unique(maintain_order=True).to_list()
        places = positions(found)
        return found if places is None else sorted(found, key=lambda value: places[value])


def positions(values: Sequence[str]) -> dict[str, float] | None:
    """Return texts such as "5 ms" as numbers, if all have the same unit.

    >>> positions(["5 ms", "20 ms"]), positions(["5 ms", "1 s"])
    ({'5 ms': 5.0, '20 ms': 20.0}, None)
    """
    if len({value.partition(" ")[2] for value in values}) != 1:
        return None
    try:
        found = {value: float(value.partition(" ")[0]) for value in values}
    except ValueError:
        return None
    return found if all(map(math.isfinite, found.values())) else None
