"""The comparison of two results, point by point: which measures moved by more than noise explains."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ackclock.gates.measures import Tolerances
from ackclock.gates.sides import Point, Repetition, Run, Side
from ackclock.metrics.registry import Measure
from ackclock.statistics import families, pairs
from ackclock.texts.labels import last_part
from ackclock.texts.numbers import counted, finite

Verdict = Literal["lost", "worse", "changed", "better", "appeared", "noise", "tolerated", "unchanged"]
Correction = Literal["holm", "bh"]
FAILING: tuple[Verdict, ...] = ("lost", "worse", "changed")
"""Verdicts that fail the gate; with `strict`, also those in `IMPROVED`."""
IMPROVED: tuple[Verdict, ...] = ("better", "appeared")
ORDER: tuple[Verdict, ...] = (*FAILING, *IMPROVED, "noise", "tolerated", "unchanged")
ENOUGH = 5
"""Fewest pairs of runs of which two constant values show a change, although other measures of the point vary."""
TOO_FEW = f"both results are constant, which can be chance with fewer than {ENOUGH} pairs of runs"
CORRECTIONS = {"holm": families.holm, "bh": families.benjamini_hochberg}


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
    significance: float = 0.05,
    correction: Correction = "holm",
    strict: bool = False,
) -> Outcome:
    """Compare a result with a baseline.

    Runs of the same point and seed are a pair (common random numbers). A change counts if its mean is beyond the
    tolerance, and if a paired t test is significant after the correction for all measures and points. A point with one
    run, or whose seeds have no effect, has no noise: there, every change beyond the tolerance counts. The same holds
    for a measure with one value in all old runs and another in all new runs, from `ENOUGH` pairs on.

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
    if baseline.points and new.points and not baseline.points.keys() & new.points.keys():
        sides = (new, baseline)
        firsts = (" ".join(f"{last_part(name)}={value}" for name, value in next(iter(side.points))) for side in sides)
        ours, theirs = (first or "no labels" for first in firsts)
        raise ValueError(
            f"{new.folder} and {baseline.folder} have no point in common ({ours} against {theirs}), so they are "
            "results of different experiments"
        )
    found: list[Change] = []
    gaps: list[Gap] = []
    compared = identical = equal = other = single = 0
    for point, before in baseline.points.items():
        after = new.points.get(point, {})
        gaps += _gaps(point, before, after)
        joint = [(before[key], after[key]) for key in before if key in after]
        both = [(old, fresh) for old, fresh in joint if not old.error and not fresh.error]
        compared += len(both)
        same = [old.content == fresh.content for old, fresh in both]
        identical += sum(same)
        equal += sum(
            old.values == fresh.values for (old, fresh), is_same in zip(both, same, strict=True) if not is_same
        )
        other += sum(old.scenario != fresh.scenario for old, fresh in both)
        noisy = _is_noisy(both)
        single += len(both) == 1
        found += [change for each in measures if (change := _change(point, each, both, tolerances, noisy=noisy))]
    tested = [change.p_value for change in found if change.p_value is not None]
    adjusted = iter(CORRECTIONS[correction](tested))
    judged = [replace(change, adjusted=next(adjusted)) if change.p_value is not None else change for change in found]
    changes = [_judge(change, significance) for change in judged]
    notes = [*baseline.notes, *new.notes]
    if other:
        notes.append(f"the scenarios of {other} of {compared} pairs of runs differ between the results")
    if few := sum(change.verdict == "noise" and change.note == TOO_FEW for change in changes):
        notes.append(f"{counted(few, 'change')} within noise: {TOO_FEW}; use {ENOUGH} seeds or more")
    if single and identical + equal < compared:
        text = f"{single} of {len(baseline.points)} points have one pair of runs: there, every change beyond the"
        notes.append(f"{text} tolerance counts")
    extra = [point for point in new.points if point not in baseline.points]
    return Outcome(
        sorted(changes, key=_rank), gaps, extra, compared, identical, equal, significance, correction, strict, notes
    )


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


def _change(
    point: Point, measure: Measure, both: Sequence[tuple[Run, Run]], tolerances: Tolerances, *, noisy: bool
) -> Change | None:
    """Compare one measure; None if no run has a value."""
    found = [(old.values.get(measure.name), fresh.values.get(measure.name)) for old, fresh in both]
    lost = sum(fresh is None for old, fresh in found if old is not None)
    appeared = sum(old is None for old, fresh in found if fresh is not None)
    valued = [(old, fresh) for old, fresh in found if old is not None and fresh is not None]
    before, after = _mean([old for old, _ in found]), _mean([fresh for _, fresh in found])
    if before is None and after is None:
        return None
    if lost:
        note = f"{lost} of {len(found)} runs have no value any more"
        return Change(point, measure, "lost", len(valued), before, after, math.inf, note=note)
    if appeared and not valued:
        return Change(
            point, measure, "appeared", 0, before, after, note=f"{appeared} of {len(found)} runs have a value"
        )
    old, fresh = [pair[0] for pair in valued], [pair[1] for pair in valued]
    base, now = math.fsum(old) / len(old), math.fsum(fresh) / len(fresh)
    if old == fresh:
        return Change(point, measure, "unchanged", len(valued), base, now)
    excess = tolerances.of(measure.name).excess(now - base, base)
    compared = pairs.compare(fresh, old)
    p_value, note = compared.p_value, ""
    if p_value is None and noisy:
        constant = _is_constant(old, fresh)
        if not constant or len(valued) < ENOUGH:
            p_value, note = _sign_test(len(valued)), TOO_FEW if constant else ""
    verdict: Verdict = "better"
    if not measure.better:
        verdict = "changed"
    elif (now > base) == (measure.better == "less"):
        verdict = "worse"
    return Change(point, measure, verdict, len(valued), base, now, excess, p_value, effect=compared.effect, note=note)


def _is_constant(old: Sequence[float], fresh: Sequence[float]) -> bool:
    """Whether neither side scatters.

    If a measure varies by chance, independent runs give two different constants with a probability of at most
    2^(1 − 2n) for n pairs. The largest one is that of a fair coin: 0.2 % for `ENOUGH` pairs, 3 % for three.
    """
    return len(set(old)) == len(set(fresh)) == 1


def _sign_test(count: int) -> float:
    """Probability that all differences have one sign by chance; it replaces the t test if they are all equal.

    References
    ----------
    W. J. Dixon and A. M. Mood, *The statistical sign test*, JASA 41 (1946).
    """
    return float(min(1.0, 2.0 ** (1 - count)))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _judge(change: Change, significance: float) -> Change:
    """Replace the direction of a change that does not count."""
    if change.verdict not in ("worse", "better", "changed"):
        return change
    if change.excess <= 1:
        return replace(change, verdict="tolerated")
    if change.adjusted is not None and change.adjusted > significance:
        return replace(change, verdict="noise")
    return change


def _rank(change: Change) -> tuple[int, float, Point, str]:
    # Lost, worse and changed measures are mixed: the largest excess is the worst.
    kind = 0 if change.verdict in FAILING else ORDER.index(change.verdict)
    return kind, -change.excess, change.point, change.measure.name


def name_of(point: Point) -> str:
    """Return a point in words."""
    return ", ".join(f"{last_part(label)} {value}" for label, value in point) or "the scenario"
