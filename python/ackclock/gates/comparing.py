"""The comparison of two results, point by point: which measures moved by more than noise explains."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ackclock.formatting.labels import last_part
from ackclock.formatting.numbers import counted, finite
from ackclock.gates.measures import Tolerances
from ackclock.gates.sides import Point, Repetition, Run, Side
from ackclock.judging import effects
from ackclock.judging.effects import ENOUGH, Finding, Question
from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import FACTORS
from ackclock.metrics.registry import Measure
from ackclock.statistics.families import Correction

Verdict = Literal["lost", "worse", "changed", "better", "appeared", "noise", "tolerated", "unchanged"]
FAILING: tuple[Verdict, ...] = ("lost", "worse", "changed")
"""Verdicts that fail the gate; with `strict`, also those in `IMPROVED`."""
IMPROVED: tuple[Verdict, ...] = ("better", "appeared")
ORDER: tuple[Verdict, ...] = (*FAILING, *IMPROVED, "noise", "tolerated", "unchanged")
TOO_FEW = f"both results are constant, which can be chance with fewer than {ENOUGH} pairs of runs"
ENDINGS = {0.5: "at_half", 2.0: "at_double"}
"""The keys of verdicts at other tolerances, by the factor."""


@dataclass(frozen=True)
class Change:
    """One measure at one point in both results.

    Attributes
    ----------
    point : Point
        The point.
    measure : Measure
        The measure.
    verdict : str
        ``lost``: a run has no value any more. ``worse``, ``better``: moved in that direction, beyond the tolerance and
        beyond noise. ``changed``: the same without a better direction. ``appeared``: a run has a value now. ``noise``:
        moved beyond the tolerance, but not beyond noise. ``tolerated``: moved within the tolerance. ``unchanged``:
        equal in every run.
    runs : int
        Number of compared pairs of runs.
    before, after : float or None
        Means of the baseline and of the new result; None without a value.
    excess : float
        Size of the change in units of the tolerance.
    p_value : float or None
        Probability of such a change without a cause; None if the measure has no noise.
    adjusted : float or None
        The p-value after the correction for all comparisons.
    effect : float or None
        Hedges' g of the differences; None if they do not scatter.
    note : str
        A remark, such as the number of runs without a value.
    at : dict
        The verdicts at half and at double the tolerance, by the factor; empty without pairs of values.
    """

    point: Point
    measure: Measure
    verdict: Verdict
    runs: int
    before: float | None
    after: float | None
    excess: float = 0.0
    p_value: float | None = None
    adjusted: float | None = None
    effect: float | None = None
    note: str = ""
    at: Mapping[float, Verdict] = field(default_factory=dict)

    @property
    def relative(self) -> float | None:
        """Change relative to the baseline; None without values, infinite if the baseline is 0."""
        if self.before is None or self.after is None:
            return None
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / abs(self.before) if self.before else math.inf * (self.after - self.before)


@dataclass(frozen=True)
class Gap:
    """Runs of a point that the baseline has and the new result lacks.

    Attributes
    ----------
    point : Point
        The point.
    missing, planned : int
        Number of missing runs, and of runs in the baseline.
    error : str
        The reason why a run failed; empty if the runs are absent.
    """

    point: Point
    missing: int
    planned: int
    error: str = ""

    @property
    def text(self) -> str:
        """The gap in words."""
        runs = f"{self.missing} of {self.planned} runs" if self.missing < self.planned else "every run"
        return f"{runs} failed: {self.error}" if self.error else f"{runs} missing"


@dataclass(frozen=True)
class Outcome:
    """The comparison of two results.

    Attributes
    ----------
    changes : list of Change
        Every comparison, the worst first.
    gaps : list of Gap
        Missing and failed runs.
    extra : list of Point
        Points that only the new result has.
    pairs, identical, equal : int
        Number of compared pairs of runs, of those with identical results (the same hash), and of further ones that are
        equal in every measure.
    significance : float
        Largest probability of a false alarm.
    correction : {"holm", "bh"}
        The correction for many comparisons.
    strict : bool
        Whether improvements fail.
    notes : list of str
        Remarks for the reader.
    """

    changes: list[Change]
    gaps: list[Gap]
    extra: list[Point]
    pairs: int
    identical: int
    equal: int
    significance: float
    correction: Correction
    strict: bool
    notes: list[str]

    def fails(self, change: Change) -> bool:
        """Whether a change fails the gate."""
        return change.verdict in FAILING or (self.strict and change.verdict in IMPROVED)

    @property
    def failing(self) -> list[Change]:
        """The changes that fail the gate."""
        return [change for change in self.changes if self.fails(change)]

    @property
    def shown(self) -> list[Change]:
        """The changes beyond tolerance and noise."""
        return [change for change in self.changes if change.verdict in (*FAILING, *IMPROVED)]

    @property
    def passed(self) -> bool:
        """Whether the gate passes."""
        return self.pairs > 0 and not self.failing and not self.gaps

    @property
    def counts(self) -> Counter[Verdict]:
        """Number of changes with each verdict."""
        return Counter(change.verdict for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as lists and dictionaries for JSON."""
        changes = [
            {
                "point": dict(change.point),
                "measure": change.measure.name,
                "better": change.measure.better or None,
                "verdict": change.verdict,
                "fails": self.fails(change),
                "runs": change.runs,
                "before": change.before,
                "after": change.after,
                "relative": change.relative,
                "p_value": change.p_value,
                "adjusted": change.adjusted,
                "effect": change.effect,
                "note": change.note or None,
                **{key: change.at.get(factor) for factor, key in ENDINGS.items()},
            }
            for change in self.changes
        ]
        gaps = [{"point": dict(gap.point), "text": gap.text} for gap in self.gaps]
        found: dict[str, Any] = finite(
            {
                "passed": self.passed,
                "runs": self.pairs,
                "identical": self.identical,
                "equal": self.equal,
                "significance": self.significance,
                "correction": self.correction,
                "strict": self.strict,
                "changes": changes,
                "missing": gaps,
                "extra": [dict(point) for point in self.extra],
                "notes": self.notes,
            }
        )
        return found


def compare(
    new: Side,
    baseline: Side,
    measures: Sequence[Measure],
    tolerances: Tolerances,
    *,
    significance: float = effects.SIGNIFICANCE,
    correction: Correction = "holm",
    strict: bool = False,
) -> Outcome:
    """Compare a result with a baseline.

    Runs of the same point and seed are a pair (common random numbers), and all measures and points are one family, see
    `ackclock.judging.effects`. A point with one run, or whose seeds have no effect, has no noise: there, every change
    beyond the tolerance counts.

    Parameters
    ----------
    new, baseline
        The two results.
    measures
        The measures to compare.
    tolerances
        The tolerance of every measure.
    significance
        With ``holm``, the largest probability of even one false alarm; with ``bh``, the largest expected share of
        false alarms among all alarms.
    correction
        ``holm`` or ``bh`` (Benjamini and Hochberg), see `ackclock.statistics.families`.
    strict
        Whether improvements fail, too.

    Raises
    ------
    ValueError
        If the results have no point in common.
    """
    _check_common(new, baseline)
    both = {point: _joint(before, new.points.get(point, {})) for point, before in baseline.points.items()}
    gaps = [gap for point, before in baseline.points.items() for gap in _gaps(point, before, new.points.get(point, {}))]
    made = [_compared(point, each, runs, tolerances) for point, runs in both.items() for each in measures]
    found = [each for each in made if each is not None]
    asked = [question for _, question in found if question is not None]
    answers = iter(effects.judge(asked, correction, significance))
    changes = [change if question is None else _judged(change, next(answers)) for change, question in found]
    runs = [pair for joint in both.values() for pair in joint]
    same = [old.content == fresh.content for old, fresh in runs]
    equal = sum(old.values == fresh.values for (old, fresh), is_same in zip(runs, same, strict=True) if not is_same)
    notes = [*baseline.notes, *new.notes, *_notes(both, changes, sum(same) + equal)]
    extra = [point for point in new.points if point not in baseline.points]
    changes.sort(key=_rank)
    return Outcome(changes, gaps, extra, len(runs), sum(same), equal, significance, correction, strict, notes)


def _check_common(new: Side, baseline: Side) -> None:
    if baseline.points and new.points and not baseline.points.keys() & new.points.keys():
        sides = (new, baseline)
        firsts = (" ".join(f"{last_part(name)}={value}" for name, value in next(iter(side.points))) for side in sides)
        ours, theirs = (first or "no labels" for first in firsts)
        raise ValueError(
            f"{new.folder} and {baseline.folder} have no point in common ({ours} against {theirs}), so they are "
            "results of different experiments"
        )


def _joint(before: Mapping[Repetition, Run], after: Mapping[Repetition, Run]) -> list[tuple[Run, Run]]:
    """Return the pairs of runs that finished in both results."""
    joint = [(before[key], after[key]) for key in before if key in after]
    return [(old, fresh) for old, fresh in joint if not old.error and not fresh.error]


def _notes(both: Mapping[Point, Sequence[tuple[Run, Run]]], changes: Sequence[Change], alike: int) -> list[str]:
    """Return remarks on the pairs: of other scenarios, too few, or without noise."""
    runs = [pair for joint in both.values() for pair in joint]
    notes = []
    if other := sum(old.scenario != fresh.scenario for old, fresh in runs):
        notes.append(f"the scenarios of {other} of {len(runs)} pairs of runs differ between the results")
    if few := sum(change.verdict == "noise" and change.note == TOO_FEW for change in changes):
        notes.append(f"{counted(few, 'change')} within noise: {TOO_FEW}; use {ENOUGH} seeds or more")
    if two := sum(len(joint) == effects.FEW for joint in both.values()):
        notes.append(f"{two} of {len(both)} points have two pairs of runs, which are few: only a large change is shown")
    single = sum(len(joint) == 1 for joint in both.values())
    if single and alike < len(runs):
        notes.append(
            f"{single} of {len(both)} points have one pair of runs: there, every change beyond the tolerance counts"
        )
    return notes


def _gaps(point: Point, before: Mapping[Repetition, Run], after: Mapping[Repetition, Run]) -> list[Gap]:
    """Return absent runs and failed runs; a run that failed in the baseline, too, is none."""
    finished = [key for key, run in before.items() if not run.error]
    absent = sum(key not in after for key in finished)
    failed = [after[key].error for key in finished if key in after and after[key].error]
    found = [Gap(point, absent, len(finished))] if absent else []
    return [*found, Gap(point, len(failed), len(finished), failed[0])] if failed else found


def _is_noisy(both: Sequence[tuple[Run, Run]]) -> bool:
    """Whether any measure varies over the repetitions of a point."""
    return any(len({tuple(sorted(run.values.items())) for run in runs}) > 1 for runs in zip(*both, strict=True))


def _compared(
    point: Point, measure: Measure, both: Sequence[tuple[Run, Run]], tolerances: Tolerances
) -> tuple[Change, Question | None] | None:
    """Compare one measure, and return the question to the judge if its values can tell; None if no run has a value."""
    found = [(old.values.get(measure.name), fresh.values.get(measure.name)) for old, fresh in both]
    lost = sum(fresh is None for old, fresh in found if old is not None)
    appeared = sum(old is None for old, fresh in found if fresh is not None)
    valued = [(old, fresh) for old, fresh in found if old is not None and fresh is not None]
    before, after = _mean([old for old, _ in found]), _mean([fresh for _, fresh in found])
    if before is None and after is None:
        return None
    if lost:
        note = f"{lost} of {len(found)} runs have no value any more"
        return Change(point, measure, "lost", len(valued), before, after, math.inf, note=note), None
    if appeared and not valued:
        note = f"{appeared} of {len(found)} runs have a value"
        return Change(point, measure, "appeared", 0, before, after, note=note), None
    old, fresh = [pair[0] for pair in valued], [pair[1] for pair in valued]
    change = Change(point, measure, "unchanged", len(valued), _mean(old), _mean(fresh))
    if old == fresh:
        return change, None
    sample = Sample(fresh, old, sampling="seed" if _is_noisy(both) else "exact")
    return change, Question(sample, measure.better, tolerances.of(measure.name))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _judged(change: Change, found: Finding) -> Change:
    """Return a change with the judge's finding."""
    sample = found.question.sample
    few = found.p_value is not None and sample.constant
    return replace(
        change,
        verdict=_verdict(found, 1.0),
        excess=found.excess,
        p_value=found.p_value,
        adjusted=found.adjusted,
        effect=sample.effect,
        note=TOO_FEW if few else "",
        at={factor: _verdict(found, factor) for factor in FACTORS if factor != 1},
    )


def _verdict(found: Finding, factor: float) -> Verdict:
    """Return the verdict of the gate: within the tolerance, and within noise beyond it, nothing counts."""
    if found.excess <= factor:
        return "tolerated"
    verdict = found.at(factor)
    if verdict == "unclear":
        return "noise"
    return "changed" if verdict == "differs" else verdict  # type: ignore[return-value]


def _rank(change: Change) -> tuple[int, float, Point, str]:
    # Lost, worse and changed measures are mixed: the largest excess is the worst.
    kind = 0 if change.verdict in FAILING else ORDER.index(change.verdict)
    return kind, -change.excess, change.point, change.measure.name


def name_of(point: Point) -> str:
    """Return a point in words."""
    return ", ".join(f"{last_part(label)} {value}" for label, value in point) or "the scenario"
