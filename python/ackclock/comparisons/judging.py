"""Judgement of a comparison: which differences are shown, who wins, and the harm to the reference.

The pairs are runs of two contenders on the same path with the same seed (common random numbers). All tests of a
comparison are one family, see `ackclock.judging.effects`. Speed decides who wins; between two that are about equally
fast, their costs do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ackclock.comparisons.measuring import START, TESTED, WARNINGS, Row
from ackclock.comparisons.places import Place
from ackclock.comparisons.planning import Outcome, Runs, Unit, primary
from ackclock.formatting.notices import Warnings
from ackclock.judging import tolerances
from ackclock.judging.effects import Finding, Question, Verdict, judge
from ackclock.judging.samples import Sample, Scale
from ackclock.judging.tolerances import ABOUT, FACTORS, Tolerance
from ackclock.metrics.metric import Metric
from ackclock.statistics.harm import harm_to_less, harm_to_more
from ackclock.statistics.intervals import Interval, interval

MARGIN = ABOUT.value
"""Largest relative difference of goodput or completion, and largest difference of harm, that makes no difference."""
ENDINGS = {0.5: "verdict_half", 1.0: "verdict", 2.0: "verdict_double"}
"""The endings of the columns of verdicts by the factor of the tolerance."""

METRICS = {
    metric.key: metric
    for metric in (
        Metric("completion", "ratio"),
        Metric("goodput_bps", "ratio"),
        Metric("sojourn_p95"),
        Metric("resent"),
        Metric("exit_time_lost"),
        Metric("harm_goodput"),
        Metric("harm_rtt"),
        Metric("jain"),
        Metric("taken"),
    )
}
"""The metrics in the order of the tables; those of harm are of the reference flow."""
PRIMARY = ("completion", "goodput_bps")
COSTS = ("resent", "sojourn_p95", "exit_time_lost")
"""The metrics that decide between contenders of about the same speed."""
HARM = ("harm_goodput", "harm_rtt")
TURNED: Mapping[Verdict, Verdict] = {"better": "worse", "worse": "better"}

MANY = 12
"""Combinations of a matrix of which each pair is compared; of more, each only with the reference."""

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
    many : bool
        Whether there are so many that each is compared with the reference alone.
    places : list of Place
        The places that have a finished pair.
    """

    def __init__(self, outcome: Outcome, margin: float = MARGIN) -> None:
        self.outcome = outcome
        self.margin = margin
        self.many = outcome.plan.crossed and len(outcome.plan.contenders) > MANY
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
            return self._tested(runs, own) | dict.fromkeys(START) | NO_HARM
        alone, reference = measured[runs.alone[index].key], measured[runs.alone[0].key]
        row: Row = self._tested(runs, own) | {name: alone[name] for name in START}
        return row | (harms(reference, measured[beside.key]) if beside is not None else NO_HARM)

    def _tested(self, runs: Runs, own: Row) -> Row:
        """Return the measures of the flows under test, with the share that they take from their rivals."""
        row = {name: own[name] for name in TESTED}
        beside = runs.like and self.outcome.measured[runs.like.key]["rival_goodput_bps"]
        return row | {"taken": 1 - own["rival_goodput_bps"] / beside if beside else None}

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
                    warned = self.outcome.measured[point.key].get(WARNINGS) or []
                    found.add(len(labels), [{**each, "text": _advised(each)} for each in warned])
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
            # Against a reference of 1, the ratio of geometric means is the geometric mean.
            return Sample(known, [1.0] * len(known), "geometric").interval()
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

    def scale(self, place: Place, metric: str) -> Scale:
        """Return the scale of ratios of a metric."""
        return "geometric" if self._is_geometric(place, metric) else "ratio"

    def won(self, place: Place, index: int) -> tuple[int, int, int]:
        """Count the pairs in which a contender is faster than the reference, those without a difference, and all."""
        kind = METRICS[self.primary(place)]
        both = zip(self.values[place.name, index], self.values[place.name, 0], strict=True)
        known = [(a, b) for own, base in both if None not in (a := own[kind.key], b := base[kind.key])]
        # Times are sums of doubles, so equal times differ in their last digits.
        equal = sum(math.isclose(a, b) for a, b in known)
        return sum((a - b) * kind.better > 0 and not math.isclose(a, b) for a, b in known), equal, len(known)

    @cached_property
    def contrasts(self) -> dict[Key, Finding]:
        """Every contender against the reference in every metric, and every pair of them in speed and costs.

        Goodput and completion time are judged as speeds: a time counts by its reciprocal. All tests are one family; the
        combinations of a matrix, whose number grows with every part, have one for each metric.
        """
        questions: dict[Key, Question] = {}
        count = len(self.names)
        pairs = [(0, own) for own in range(1, count)] if self.many else list(itertools.combinations(range(count), 2))
        for place in self.places:
            if self.empty(place):
                continue
            first = self.primary(place)
            for metric, two in itertools.product(METRICS, pairs):
                # Harm is that to the reference.
                if (two[0] and metric in HARM) or (metric in PRIMARY and metric != first):
                    continue
                base, own = (self.values[place.name, index] for index in two)
                both = [(a[metric], b[metric]) for a, b in zip(own, base, strict=True)]
                if known := [(a, b) for a, b in both if a is not None and b is not None]:
                    questions[place.name, metric, two[1], two[0]] = self._question(place, metric, known)
        if not self.outcome.plan.crossed:
            return dict(zip(questions, judge(list(questions.values())), strict=True))
        found: dict[Key, Finding] = {}
        for metric in METRICS:
            family = {key: question for key, question in questions.items() if key[1] == metric}
            found |= zip(family, judge(list(family.values())), strict=True)
        return found

    def _question(self, place: Place, metric: str, both: Sequence[tuple[float, float]]) -> Question:
        kind = METRICS[metric]
        of, to = [a for a, _ in both], [b for _, b in both]
        if kind.relation == "ratio":
            # The speeds of a transfer have the reciprocal ratio of its times.
            of, to = (of, to) if kind.better > 0 else (to, of)
            return Question(Sample(of, to, self.scale(place, metric)), "more", Tolerance(self.margin))
        tolerance = Tolerance(self.margin, relative=False) if metric in HARM else tolerances.of(metric, ABOUT)
        return Question(Sample(of, to), "more" if kind.better > 0 else "less", tolerance)

    def against(self, place: Place, index: int, metric: str) -> Finding | None:
        """Return a contender against the reference; None for the reference itself and without values."""
        return self.contrasts.get((place.name, metric, index, 0))

    def verdict(self, place: Place, metric: str, one: int, other: int) -> Verdict | None:
        """Return the verdict on a contender against another in a metric; None without values."""
        if found := self.contrasts.get((place.name, metric, one, other)):
            return found.verdict
        if turned := self.contrasts.get((place.name, metric, other, one)):
            return TURNED.get(turned.verdict, turned.verdict)
        return None

    def relative(self, place: Place, index: int) -> list[tuple[str, float]]:
        """Return the speed relative to that of the reference on each path of a population."""
        metric = METRICS[self.primary(place)]
        # The rows are those of the paths that have a finished pair, in this order.
        names = {unit.index: unit.path.name for unit, _ in self._pairs(place)}.values()
        both = zip(names, self.values[place.name, index], self.values[place.name, 0], strict=True)
        known = [(name, a, b) for name, own, base in both if None not in (a := own[metric.key], b := base[metric.key])]
        return [(name, a / b if metric.better > 0 else b / a if a > 0 else math.inf) for name, a, b in known]

    def costs(self, place: Place, one: int, other: int) -> Verdict:
        """Return the verdict on the costs of a contender against another: better if some are, and none is worse."""
        found = {self.verdict(place, metric, one, other) for metric in COSTS} - {None}
        if {"better", "worse"} <= found or not found:
            return "unclear"
        return next((each for each in ("better", "worse", "unclear") if each in found), "same")

    def overall(self, place: Place, one: int, other: int) -> Verdict:
        """Return the verdict on a contender against another: that on speed; if it is the same, that on their costs."""
        found = self.verdict(place, self.primary(place), one, other) or "unclear"
        return self.costs(place, one, other) if found == "same" else found

    def winner(self, place: Place) -> int | None:
        """Return the contender that is better than every other; None if there is none."""
        if self.many:
            return None
        every = range(len(self.names))
        found = [one for one in every if all(self.overall(place, one, it) == "better" for it in every if it != one)]
        return found[0] if found and not self.empty(place) else None

    def fastest(self, place: Place, one: int) -> bool:
        """Whether a contender is faster than every other."""
        first = self.primary(place)
        others = (other for other in range(len(self.names)) if other != one)
        return all(self.verdict(place, first, one, other) == "better" for other in others)

    def leaders(self, place: Place, metric: str) -> list[int]:
        """Return the contenders that are better than another in a metric, and worse than none; empty without one."""
        every = range(len(self.names))
        found = {(one, it): self.verdict(place, metric, one, it) for one in every for it in every if one != it}
        return [
            one
            for one in every
            if any(found[one, it] == "better" for it in every if it != one)
            and all(found[one, it] in ("better", "same") for it in every if it != one)
        ]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row for each place and contender, for tables and JSON.

        A metric has its mean (`KEY`) with its interval (`KEY_low`, `KEY_high`). Its comparison with the reference has
        ``KEY_vs``, ``KEY_vs_low``, ``KEY_vs_high``, ``KEY_vs_p``, ``KEY_vs_p_same``, ``KEY_vs_won`` and
        ``KEY_verdict``; ``KEY_verdict_half`` and ``KEY_verdict_double`` are the verdicts with half and with double the
        tolerance. A combination of a matrix has its part on each axis. Everything else is a mean.
        """
        return [self._summary(place, index) for place in self.places for index in range(len(self.names))]

    def _summary(self, place: Place, index: int) -> dict[str, Any]:
        rows = self.values[place.name, index]
        row: dict[str, Any] = {"place": place.name, "contender": self.names[index]}
        row |= {**self.outcome.plan.contenders[index].labels, "pairs": len(rows)}
        row |= {
            "reference": index == 0,
            "primary": self.primary(place),
            "best": self.winner(place) == index,
        }
        for metric in METRICS:
            found = self.against(place, index, metric)
            row |= _columns(metric, self.mean(place, index, metric))
            row |= _columns(f"{metric}_vs", _versus(found.estimate, METRICS[metric]) if found else None)
            row[f"{metric}_vs_p"] = found and found.adjusted
            row[f"{metric}_vs_p_same"] = found and found.same[1.0]
            row[f"{metric}_vs_won"] = found and found.won
            row |= {f"{metric}_{ENDINGS[factor]}": found and found.at(factor) for factor in FACTORS}
        others = [name for name in (*TESTED, *START, "harm_loss") if name not in METRICS]
        return row | {name: _mean([value for each in rows if (value := each[name]) is not None]) for name in others}


def _versus(found: Interval, metric: Metric) -> Interval:
    """Return a ratio of speeds as one of the metric: times have the reciprocal ratio."""
    if metric.relation != "ratio" or metric.better > 0:
        return found
    mean, low, high = (1 / end if end > 0 else math.inf for end in (found.mean, found.high, found.low))
    return Interval(mean, low, high if found.finite else math.inf, found.count, found.note)


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


def _advised(warning: Mapping[str, str]) -> str:
    """Return the text of a warning, with the advice that a comparison needs.

    A run warns that its transfer is too small to judge a congestion control. A comparison of slow starts may want that.
    """
    fact = warning["text"].rpartition(": ")[0]
    return f"{fact}: such runs compare slow starts alone" if warning["name"] == "slow_start_only" else warning["text"]


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
