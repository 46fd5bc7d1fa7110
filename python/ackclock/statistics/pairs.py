"""Paired comparison of two variants: their difference and its size.

Runs of two variants with the same seed see the same start times, losses and competing flows (common random numbers).
The difference of such a pair scatters less than the runs do, so that fewer runs tell the variants apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.statistics.distributions import student_tail
from ackclock.statistics.intervals import Interval, degenerate, interval, student_t


@dataclass(frozen=True)
class Comparison:
    """A paired comparison over random runs.

    Attributes
    ----------
    difference : Interval
        Mean of the differences, first minus second, with Student's interval.
    p_value : float or None
        Probability of a mean at least as far from 0 if the variants do not differ (paired t test, two-sided); None if
        the differences do not scatter.
    effect : float or None
        Hedges' g of the differences: their mean in units of their standard deviation, corrected for small samples.
        None if they do not scatter.
    superiority : float
        Share of pairs in which the first value is larger; a tie counts half.
    reduction : float or None
        Variance of the differences relative to that of independent runs, 1 − ρ for equal variances: what common
        random numbers save. None if neither variant scatters.
    """

    difference: Interval
    p_value: float | None
    effect: float | None
    superiority: float
    reduction: float | None


def compare(of: Sequence[float], to: Sequence[float], confidence: float = 0.95) -> Comparison:
    """Compare two variants, run in pairs with the same seeds.

    Parameters
    ----------
    of, to
        Measured values of the two variants; those at the same place are a pair.
    confidence
        Probability that the interval covers the difference.

    Raises
    ------
    ValueError
        If a sample is empty, or they differ in length.

    References
    ----------
    A. Law, *Simulation modeling and analysis*, 5th ed. (2015), §10.2 and §11.2 (paired t, common random numbers);
    L. Hedges, *Distribution theory for Glass's estimator of effect size*, Journal of Educational Statistics 6 (1981);
    A. Vargha and H. Delaney, *A critique and improvement of the CL common language effect size statistics*, Journal of
    Educational and Behavioral Statistics 25 (2000).
    """
    differences = _differences(of, to)
    count = len(differences)
    found = interval(differences, "seed", confidence)
    larger = sum(a > b for a, b in zip(of, to, strict=True)) + 0.5 * sum(a == b for a, b in zip(of, to, strict=True))
    if degenerate(differences):
        return Comparison(found, None, None, larger / count, _reduction(of, to, differences))
    spread = math.sqrt(_variance(differences))
    statistic = found.mean / (spread / math.sqrt(count))
    return Comparison(
        difference=found,
        p_value=2 * student_tail(count - 1, abs(statistic)),
        effect=found.mean / spread * _small_sample(count - 1),
        superiority=larger / count,
        reduction=_reduction(of, to, differences),
    )


def _differences(of: Sequence[float], to: Sequence[float]) -> list[float]:
    if not of or len(of) != len(to):
        raise ValueError(f"a comparison needs pairs; there are {len(of)} and {len(to)} values")
    return [a - b for a, b in zip(of, to, strict=True)]


def _variance(sample: Sequence[float]) -> float:
    mean = math.fsum(sample) / len(sample)
    return math.fsum((value - mean) ** 2 for value in sample) / (len(sample) - 1)


def _reduction(of: Sequence[float], to: Sequence[float], differences: Sequence[float]) -> float | None:
    if len(of) < 2 or not (apart := _variance(of) + _variance(to)):
        return None
    return _variance(differences) / apart


def _small_sample(freedom: int) -> float:
    """Hedges' correction, exact: Γ(m/2) / (√(m/2) Γ((m−1)/2)); with one degree of freedom there is none."""
    if freedom < 2:
        return 0.0
    return math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(freedom / 2)


def runs_for(sample: Sequence[float], half_width: float, confidence: float = 0.95) -> int:
    """Estimate the number of runs after which Student's interval is so narrow, from the scatter of a first sample.

    Parameters
    ----------
    sample
        Values of at least two runs.
    half_width
        Wanted distance from the mean to an end of the interval.
    confidence
        Confidence of the interval.

    Raises
    ------
    ValueError
        If the sample has fewer than two values, or the width is not positive.

    References
    ----------
    A. Law, *Simulation modeling and analysis*, 5th ed. (2015), §9.4.1.
    """
    if len(sample) < 2 or half_width <= 0:
        raise ValueError("the number of runs follows from two values or more and a width above 0")
    variance, count = _variance(sample), len(sample)
    while student_t((1 + confidence) / 2, count - 1) * math.sqrt(variance / count) > half_width:
        # The square root's law overshoots least near the end.
        count += max(1, int(count * 0.01))
    return count
