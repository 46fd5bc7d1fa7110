"""Judgement of a comparison: paired differences with their intervals, harm, and one family of tests.

The pairs are runs of two contenders on the same path with the same seed (common random numbers). All tests of a
comparison are one family, whose p-values are adjusted by Holm.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ackclock.comparisons.measuring import START, TESTED, WARNINGS, Row
from ackclock.comparisons.places import Place
from ackclock.comparisons.planning import Outcome, Runs, Unit, primary
from ackclock.metrics.registry import MEASURES
from ackclock.statistics import pairs, ratios, tails
from ackclock.statistics.families import holm
from ackclock.statistics.harm import harm_to_less, harm_to_more
from ackclock.statistics.intervals import Interval, degenerate, interval
from ackclock.texts.notices import Warnings

Verdict = Literal["better", "worse", "same", "unclear"]
SIGNIFICANCE = 0.05
MARGIN = 0.05
"""Largest relative difference of goodput or completion, and largest difference of harm, that makes no difference."""


@dataclass(frozen=True)
class Metric:
    """A measure in which contenders are compared.

    Attributes
    ----------
    key : str
        Its name.
    relation : {"ratio", "difference"}
        How it is compared.
    margin : bool
        Whether the comparison can show that there is no difference.
    """

    key: str
    relation: Literal["ratio", "difference"] = "difference"
    margin: bool = False

    @property
    def title(self) -> str:
        """Its title in tables, with its unit."""
        return MEASURES[self.key].heading

    @property
    def scale(self) -> float:
        """The factor to its unit."""
        return MEASURES[self.key].shown[1]

    @property
    def better(self) -> Literal[-1, 0, 1]:
        """Whether larger values are better (1), or smaller ones (−1)."""
        return MEASURES[self.key].sign


METRICS = {
    metric.key: metric
    for metric in (
        Metric("completion", "ratio", margin=True),
        Metric("goodput_bps", "ratio", margin=True),
        Metric("sojourn_p95"),
        Metric("resent"),
        Metric("exit_time_lost"),
        Metric("harm_goodput", margin=True),
        Metric("harm_rtt", margin=True),
    )
}
"""The metrics in the order of the tables; those of harm are of the reference flow."""
PRIMARY = ("completion", "goodput_bps")


@dataclass(frozen=True)
class Contrast:
    """A contender against another in one metric.

    Attributes
    ----------
    found : Interval
        The ratio of the means with Fieller's interval; over a population of paths, the ratio of the geometric means
        with Student's interval of their logarithms. Or the mean difference with Student's interval.
    p_value : float or None
        Of the paired t test, adjusted for the family; None if the pairs do not scatter.
    p_same : float or None
        Of the two one-sided tests, adjusted for their family; None if they were not made.
    verdict : str
        ``same`` if no difference is shown, ``better`` or ``worse`` if one is shown, otherwise ``unclear``.
    won : float
        Share of pairs in which the contender is better; a tie counts half.
    """

    found: Interval
    p_value: float | None
    p_same: float | None
    verdict: Verdict
    won: float


Key = tuple[str, str, int, int]
"""Place, metric, and the two contenders by their numbers."""


class Judged:
    """The judgement of the finished pairs.

    Parameters
    ----------
    outcome
        The measurements.
    margin
        Largest difference that makes no difference, see `MARGIN`.

    Attributes
    ----------
    names : list of str
        The contenders, the reference first.
    places : list of Place
        The places that have a finished pair.
    """

    def __init__(self, outcome: Outcome, margin: float = MARGIN) -> None:
        self.outcome = outcome
        self.margin = margin
        self.names = [contender.name for contender in outcome.plan.contenders]
        self.places: list[Place] = [place for place in outcome.plan.places if self._pairs(place)]

    def _pairs(self, place: Place) -> list[tuple[Unit, Runs]]:
        """Return the units of a place of which all runs are measured."""
        units = self.outcome.units.get(place.name, [])
        return [(unit, runs) for unit, runs in units if all(map(self.outcome.has, runs))]

    def primary(self, place: Place) -> str:
        """Return the metric that decides who wins."""
        return primary(self.outcome, place)

    @cached_property
    def values(self) -> dict[tuple[str, int], list[Row]]:
        """The measurements of a contender on a place: a row for each pair, for a population for each path."""
        return {
            (place.name, index): self._rows(place, index) for place in self.places for index in range(len(self.names))
        }

    def _rows(self, place: Place, index: int) -> list[Row]:
        rows: dict[int, list[Row]] = {}
        for unit, runs in self._pairs(place):
            # A population is a sample of paths, so the seeds of one path are no further units.
            rows.setdefault(unit.index if place.population else unit.seed, []).append(self._row(runs, index))
        return [_averaged(several) for several in rows.values()]

    def _row(self, runs: Runs, index: int) -> Row:
        measured, beside = self.outcome.measured, runs.beside[index]
        own = measured[runs.solo[index].key]
        if not runs.alone:
            return {name: own[name] for name in TESTED} | dict.fromkeys(START) | NO_HARM
        alone, reference = measured[runs.alone[index].key], measured[runs.alone[0].key]
        row: Row = {name: own[name] for name in TESTED} | {name: alone[name] for name in START}
        return row | (harms(reference, measured[beside.key]) if beside is not None else NO_HARM)

    def counted(self, place: Place) -> str:
        """Return the pairs of a place in words."""
        count = len(self.values[place.name, 0])
        noun = "path" if place.population else "drawn path"
        return f"{count} {noun}{'s' if count != 1 else ''}"

    def empty(self, place: Place) -> bool:
        """Whether no contender delivered anything, or finished a transfer, so that there is nothing to compare."""
        column = "finished" if self.primary(place) == "completion" else "goodput_bps"
        return not any(row[column] for index in range(len(self.names)) for row in self.values[place.name, index])

    @property
    def warnings(self) -> list[str]:
        """One line for each name of the warnings of the runs with the flows under test, and each missed `within`."""
        found = Warnings()
        labels: list[str] = []
        for place in self.places:
            for unit, runs in self._pairs(place):
                for name, point in zip(self.names, runs.solo, strict=True):
                    found.add(len(labels), self.outcome.measured[point.key].get(WARNINGS) or [])
                    where = unit.path.name if unit.path.name == place.name else f"{place.name} ({unit.path.name})"
                    labels.append(f"{name} on {where}")
        return found.lines(labels) + [line for place in self.places for line in self._missed(place)]

    def _missed(self, place: Place) -> list[str]:
        """Name the contenders whose interval is still too wide after the largest number of drawn paths."""
        rule, count = self.outcome.plan.stopping, len(self._pairs(place))
        if rule is None or place.population or count < self.outcome.plan.most(place) or self.empty(place):
            return []
        wide = [
            name
            for index, name in enumerate(self.names)
            if index and not rule.is_narrow(self.outcome.relative(place.name, index, self.primary(place)))
        ]
        target = f"±{100 * rule.half_width:g} %"
        return [f"--within: on {place.name}, {name} reached {count} paths before {target}" for name in wide]

    def mean(self, place: Place, index: int, metric: str) -> Interval | None:
        """Return the mean of a metric with Student's interval; None without a value.

        Goodput and completion time of a population have the geometric mean, with the interval of the logarithms.
        """
        known = self._known(place, index, metric)
        if known and self._is_geometric(place, metric):
            return _exp(interval([math.log(value) for value in known], "seed"))
        return interval(known, "seed") if known else None

    def _known(self, place: Place, index: int, metric: str) -> list[float]:
        return [value for row in self.values[place.name, index] if (value := row[metric]) is not None]

    def _is_geometric(self, place: Place, metric: str) -> bool:
        """Whether ratios count: the paths of a population differ in size, so that the largest would decide the mean."""
        if not place.population or METRICS[metric].relation != "ratio":
            return False
        return (
            min((each for index in range(len(self.names)) for each in self._known(place, index, metric)), default=0) > 0
        )

    def won(self, place: Place, index: int) -> tuple[int, int, int]:
        """Count the pairs in which a contender is faster than the reference, those without a difference, and all."""
        kind = METRICS[self.primary(place)]
        both = zip(self.values[place.name, index], self.values[place.name, 0], strict=True)
        known = [(a, b) for own, base in both if None not in (a := own[kind.key], b := base[kind.key])]
        # Times are sums of doubles, so equal times differ in their last digits.
        equal = sum(math.isclose(a, b) for a, b in known)
        return sum((a - b) * kind.better > 0 and not math.isclose(a, b) for a, b in known), equal, len(known)

    @cached_property
    def contrasts(self) -> dict[Key, Contrast]:
        """Every contender against the reference in every metric, and every pair of them in the primary metric."""
        samples: dict[Key, tuple[list[float], list[float]]] = {}
        for place in self.places:
            if self.empty(place):
                continue
            first = self.primary(place)
            for metric in METRICS:
                for two in itertools.combinations(range(len(self.names)), 2):
                    # Others are compared with each other only to find the winner.
                    if (two[0] and metric != first) or (metric in PRIMARY and metric != first):
                        continue
                    base, own = (self.values[place.name, index] for index in two)
                    both = [(a[metric], b[metric]) for a, b in zip(own, base, strict=True)]
                    known = [(a, b) for a, b in both if a is not None and b is not None]
                    if known:
                        samples[place.name, metric, two[1], two[0]] = ([a for a, _ in known], [b for _, b in known])
        by_name = {place.name: place for place in self.places}
        logs = {key for key in samples if self._is_geometric(by_name[key[0]], key[1])}
        samples = {key: _logs(*sample) if key in logs else sample for key, sample in samples.items()}
        tests = {key: pairs.compare(*sample) for key, sample in samples.items()}
        adjusted = _holm({key: test.p_value for key, test in tests.items()})
        equal = _holm({key: self._equal(key[1], *sample, logs=key in logs) for key, sample in samples.items()})
        found = {key: _found(METRICS[key[1]], *samples[key], tests[key], logs=key in logs) for key in samples}
        return {
            key: _contrast(METRICS[key[1]], *samples[key], found[key], tests[key], adjusted[key], equal[key])
            for key in samples
        }

    def _equal(self, metric: str, of: Sequence[float], to: Sequence[float], *, logs: bool) -> float | None:
        """Return the p-value of the two one-sided tests; None if the metric has no margin."""
        if not METRICS[metric].margin:
            return None
        if METRICS[metric].relation == "difference":
            return pairs.equivalent(of, to, -self.margin, self.margin).p_value
        # The margin is one of speed.
        low, high = sorted(speed(1 + side, METRICS[metric]) for side in (-self.margin, self.margin))
        if logs:
            return pairs.equivalent(of, to, math.log(low), math.log(high)).p_value
        if degenerate(of) and degenerate(to):
            return None
        sides = tails.of_ratio(of, to, high).below, tails.of_ratio(of, to, low).above
        return max(sides)

    def against(self, place: Place, index: int, metric: str) -> Contrast | None:
        """Return a contender against the reference; None for the reference itself and without values."""
        return self.contrasts.get((place.name, metric, index, 0))

    def relative(self, place: Place, index: int) -> list[tuple[str, float]]:
        """Return the ratio to the reference on each path of a population, in the metric that decides who wins."""
        metric = self.primary(place)
        # The rows are those of the paths that have a finished pair, in this order.
        names = {unit.index: unit.path.name for unit, _ in self._pairs(place)}.values()
        both = zip(names, self.values[place.name, index], self.values[place.name, 0], strict=True)
        return [(name, a / b) for name, own, base in both if (a := own[metric]) is not None and (b := base[metric])]

    def best(self, place: Place) -> tuple[int, bool]:
        """Return the contender with the best mean, and whether it is better than every other by the tests."""
        metric = self.primary(place)
        means = {index: self.mean(place, index, metric) for index in range(len(self.names))}
        better = METRICS[metric].better
        best = max(means, key=lambda index: better * found.mean if (found := means[index]) else -math.inf)
        return best, all(self._beats(place, metric, best, other) for other in means if other != best)

    def _beats(self, place: Place, metric: str, one: int, other: int) -> bool:
        if found := self.contrasts.get((place.name, metric, one, other)):
            return found.verdict == "better"
        turned = self.contrasts.get((place.name, metric, other, one))
        return turned is not None and turned.verdict == "worse"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row for each place and contender, for tables and JSON.

        A metric has its mean (`KEY`) with its interval (`KEY_low`, `KEY_high`). Its comparison with the reference has
        ``KEY_vs``, ``KEY_vs_low``, ``KEY_vs_high``, ``KEY_vs_p``, ``KEY_vs_p_same``, ``KEY_vs_won`` and
        ``KEY_verdict``. Everything else is a mean.
        """
        return [self._summary(place, index) for place in self.places for index in range(len(self.names))]

    def _summary(self, place: Place, index: int) -> dict[str, Any]:
        rows = self.values[place.name, index]
        row: dict[str, Any] = {"place": place.name, "contender": self.names[index], "pairs": len(rows)}
        row |= {
            "reference": index == 0,
            "primary": self.primary(place),
            "best": self.best(place)[0] == index and not self.empty(place),
        }
        for metric in METRICS:
            mean, against = self.mean(place, index, metric), self.against(place, index, metric)
            row |= _columns(metric, mean)
            row |= _columns(f"{metric}_vs", against.found if against else None)
            row[f"{metric}_vs_p"] = against.p_value if against else None
            row[f"{metric}_vs_p_same"] = against.p_same if against else None
            row[f"{metric}_vs_won"] = against.won if against else None
            row[f"{metric}_verdict"] = against.verdict if against else None
        others = [name for name in (*TESTED, *START, "harm_loss") if name not in METRICS]
        return row | {name: _mean([value for each in rows if (value := each[name]) is not None]) for name in others}


def speed(ratio: float, metric: Metric) -> float:
    """Return a ratio of goodputs or completion times as one of speeds: a time counts by its reciprocal."""
    return ratio if metric.better > 0 else 1 / ratio if ratio > 0 else math.inf


def speeds(found: Interval, metric: Metric) -> Interval:
    """Return an interval of ratios as one of speeds."""
    if metric.better > 0 or not found.finite:
        return Interval(speed(found.mean, metric), found.low, found.high, found.count, found.note)
    # Below 0, the ratio of two times has no lower bound, so their speeds have no upper one.
    high = math.inf if found.low <= 0 else 1 / found.low
    return Interval(speed(found.mean, metric), speed(found.high, metric), high, found.count, found.note)


def _exp(found: Interval) -> Interval:
    """Return an interval of logarithms as one of values."""
    low, high = (math.exp(end) if math.isfinite(end) else end for end in (found.low, found.high))
    return Interval(math.exp(found.mean), low, high, found.count, found.note)


def _logs(of: Sequence[float], to: Sequence[float]) -> tuple[list[float], list[float]]:
    return [math.log(value) for value in of], [math.log(value) for value in to]


def _found(kind: Metric, of: Sequence[float], to: Sequence[float], test: pairs.Comparison, *, logs: bool) -> Interval:
    """Return the ratio of the means, that of the geometric means, or the mean difference."""
    if logs:
        return _exp(test.difference)
    return ratios.ratio(of, to, "seed") if kind.relation == "ratio" else test.difference


def _contrast(
    kind: Metric,
    of: Sequence[float],
    to: Sequence[float],
    found: Interval,
    test: pairs.Comparison,
    p_value: float | None,
    p_same: float | None,
) -> Contrast:
    won = test.superiority if kind.better > 0 else 1 - test.superiority
    verdict: Verdict = "unclear"
    if (p_same is not None and p_same <= SIGNIFICANCE) or (list(of) == list(to) and len(of) > 1):
        verdict = "same"
    elif p_value is not None and p_value <= SIGNIFICANCE:
        verdict = "better" if test.difference.mean * kind.better > 0 else "worse"
    return Contrast(found, p_value, p_same, verdict, won)


NO_HARM: Row = dict.fromkeys(("harm_goodput", "harm_rtt", "harm_loss"))


def harms(alone: Row, beside: Row) -> Row:
    """Return the harm to the reference flow in goodput, round-trip time and loss."""
    return {
        "harm_goodput": _of(harm_to_more, alone, beside, "reference_bps"),
        "harm_rtt": _of(harm_to_less, alone, beside, "reference_rtt_s"),
        "harm_loss": _of(harm_to_less, alone, beside, "reference_loss"),
    }


def _of(harm: Any, alone: Row, beside: Row, column: str) -> float | None:  # noqa: ANN401 - either function of harm
    x, y = alone[column], beside[column]
    found: float | None = None if x is None or y is None else harm(x, y)
    return found


def _holm(p_values: Mapping[Key, float | None]) -> dict[Key, float | None]:
    """Adjust the p-values of a family; tests that were not made do not count."""
    known = {key: value for key, value in p_values.items() if value is not None}
    adjusted = dict(zip(known, holm(list(known.values())), strict=True))
    return {key: adjusted.get(key) for key in p_values}


def _averaged(rows: Sequence[Row]) -> Row:
    return {name: _mean([value for row in rows if (value := row[name]) is not None]) for name in rows[0]}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _columns(name: str, found: Interval | None) -> dict[str, float | None]:
    if found is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    ends = (found.low, found.high) if found.finite else (None, None)
    mean = found.mean if math.isfinite(found.mean) else None
    return {name: mean, f"{name}_low": ends[0], f"{name}_high": ends[1]}
