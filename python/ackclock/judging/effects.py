"""Differences between two variants that ran in pairs: estimate, interval, p-value, and a verdict.

With the tolerance of the question, a verdict is

- *same* if the whole interval lies within the tolerance, after the correction for the family;
- *better*, *worse*, or *differs* without a better direction, if the interval excludes "no difference", also after the
  correction, and the estimate is beyond the tolerance;
- *unclear* otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ackclock.judging.limits import Limits, chances
from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import FACTORS, SAME, Tolerance
from ackclock.statistics import families
from ackclock.statistics.families import Correction
from ackclock.statistics.intervals import Interval, unseen
from ackclock.statistics.ratios import MOST_UNSEEN

Key = TypeVar("Key")
Better = Literal["higher", "lower", ""]
Verdict = Literal["better", "worse", "differs", "same", "unclear"]
SIGNIFICANCE = 0.05
ENOUGH = 5
"""Fewest pairs of which two constant values are a certain difference."""
FEW = 2
"""Largest number of repetitions that are few: Student's interval is then at least 9 standard deviations wide."""


@dataclass(frozen=True)
class Question:
    """Whether two variants differ in a measure.

    Attributes
    ----------
    sample : Sample
        The pairs. Those with ``sampling="exact"`` have no noise, so that all are the same: what differs, differs.
    better : {"higher", "lower", ""}
        The better direction of the estimate; empty if there is none.
    tolerance : Tolerance
        The largest difference that does not matter.
    """

    sample: Sample
    better: Better = ""
    tolerance: Tolerance = SAME

    def limits(self, factor: float = 1.0) -> Limits:
        """Return the estimates between which a difference does not matter, with the tolerance times a factor."""
        sample, tolerance = self.sample, self.tolerance.scaled(factor)
        half = tolerance.allowed(sample.base)
        if sample.scale == "ratio" and sample.base:
            half /= sample.base
        elif sample.scale != "difference":
            half = tolerance.value
        return sample.neutral - half, sample.neutral + half


@dataclass(frozen=True)
class Finding:
    """The answer to a question.

    Attributes
    ----------
    question : Question
        The question.
    estimate : Interval
        The difference or ratio, with its interval of confidence 1 − `significance`.
    p_value, adjusted : float or None
        Probability of such a difference if there is none, and the same corrected for the family; None without a test.
    same : dict
        The corrected p-value of the equivalence by the factor of the tolerance; None without a test.
    certain : bool
        Whether the pairs differ without any noise, so that no test is needed.
    significance : float
        The largest corrected p-value that shows something.
    """

    question: Question
    estimate: Interval
    p_value: float | None
    adjusted: float | None
    same: Mapping[float, float | None] = field(default_factory=dict)
    certain: bool = False
    significance: float = SIGNIFICANCE

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return self.at(1.0)

    @property
    def differs(self) -> bool:
        """Whether a difference is shown, of any size."""
        if self.question.sample.equal:
            return False
        if self.certain:
            return True
        neutral = self.question.sample.neutral
        shown = self.adjusted is not None and self.adjusted <= self.significance
        # Without an interval, equal differences in every run show as much as their sign test.
        return shown and (not self.estimate.known or self.estimate.apart(neutral, neutral))

    def at(self, factor: float) -> Verdict:
        """Return the verdict with the tolerance times one of `FACTORS`."""
        sample = self.question.sample
        low, high = self.question.limits(factor)
        p_same = self.same[factor]
        if sample.sampling == "exact":
            same = low <= self.estimate.mean <= high
        elif not sample.scatters:
            # All pairs show the same; enough of them show that others do, too.
            inside = self.estimate.within(low, high) if self.estimate.known else low <= self.estimate.mean <= high
            same = inside and unseen(sample.count) <= MOST_UNSEEN
        else:
            same = p_same is not None and p_same <= self.significance and self.estimate.within(low, high)
        if same:
            return "same"
        if not self.differs or low <= self.estimate.mean <= high:
            return "unclear"
        if not self.question.better:
            return "differs"
        return "better" if (self.estimate.mean > high) == (self.question.better == "higher") else "worse"

    @property
    def excess(self) -> float:
        """Size of the estimated difference in units of the tolerance."""
        low, high = self.question.limits()
        apart, half = abs(self.estimate.mean - self.question.sample.neutral), (high - low) / 2
        if half > 0:
            return apart / half
        return math.inf if apart else 0.0

    @property
    def won(self) -> float:
        """Share of pairs in which the first variant is better; a tie counts half."""
        superiority = self.question.sample.superiority
        return 1 - superiority if self.question.better == "lower" else superiority

    @property
    def few(self) -> bool:
        """Whether there are too few pairs to say much."""
        return self.question.sample.sampling == "seed" and self.question.sample.count <= FEW


def judge(
    questions: Sequence[Question], correction: Correction | None = "holm", significance: float = SIGNIFICANCE
) -> list[Finding]:
    """Answer a family of questions.

    Parameters
    ----------
    questions
        The questions. Those with the same pairs count as one: parts without effect give equal results.
    correction
        The correction of the p-values for the whole family, see `statistics.families`; None for none.
    significance
        With ``holm``, the largest probability of even one wrong verdict of a kind (difference, equivalence) in the
        family; with ``bh``, the largest expected share of wrong ones among those that are shown.
    """
    keys = [_identity(question.sample) for question in questions]
    p_values = {key: _p_value(question.sample) for key, question in zip(keys, questions, strict=True)}
    adjusted = _adjusted(p_values, correction)
    same = {
        factor: _adjusted(
            {
                (key, question.limits(factor)): _p_same(question, factor)
                for key, question in zip(keys, questions, strict=True)
            },
            correction,
        )
        for factor in FACTORS
    }
    return [
        Finding(
            question,
            question.sample.interval(1 - significance),
            p_values[key],
            adjusted[key],
            {factor: found[key, question.limits(factor)] for factor, found in same.items()},
            _certain(question.sample),
            significance,
        )
        for key, question in zip(keys, questions, strict=True)
    ]


def _identity(sample: Sample) -> tuple[object, ...]:
    return sample.scale, sample.sampling, tuple(sample.of), tuple(sample.to or ())


def _adjusted(p_values: Mapping[Key, float | None], correction: Correction | None) -> dict[Key, float | None]:
    found = families.adjusted(list(p_values.values()), correction)
    return dict(zip(p_values, found, strict=True))


def _certain(sample: Sample) -> bool:
    """Whether a difference needs no test: nothing varies, and `ENOUGH` pairs show it (see `_p_value`: 0.2 %)."""
    return sample.sampling == "exact" or (sample.constant and sample.count >= ENOUGH)


def _p_value(sample: Sample) -> float | None:
    """Return the p-value of a difference; None if the pairs are equal, a single one, or certain.

    Without scatter, all differences of n pairs have one sign with probability 2^(1 − n) (sign test: W. J. Dixon and
    A. M. Mood, *The statistical sign test*, JASA 41, 1946). Two variants that are constant, each with another value,
    have at most 2^(1 − 2n): a measure that varies by chance does so, at best, as a fair coin.
    """
    if sample.count < 2 or sample.equal or _certain(sample):
        return None
    if not sample.scatters:
        return float(2.0 ** (1 - (2 if sample.constant else 1) * sample.count))
    return min(1.0, 2 * chances(sample, sample.neutral, sample.neutral).fails)


def _p_same(question: Question, factor: float) -> float | None:
    """Return the p-value of an equivalence: both ends of an interval with two ends are excluded."""
    sample = question.sample
    if sample.count < 2 or sample.sampling == "exact" or not sample.scatters:
        return None
    return min(1.0, 2 * chances(sample, *question.limits(factor)).holds)
