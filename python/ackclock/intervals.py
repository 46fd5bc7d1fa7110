"""Means with their uncertainty: Student's t for random samples, the range for deterministic runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ackclock.numbers import number

Sampling = Literal["seed", "offset", "exact"]


@dataclass(frozen=True)
class Interval:
    """A mean and the interval in which it is taken to lie.

    Attributes
    ----------
    mean : float
        Mean of the sample.
    low, high : float
        Ends of the interval; infinite where one random sample tells nothing.
    count : int
        Size of the sample.
    """

    mean: float
    low: float
    high: float
    count: int

    def within(self, low: float, high: float) -> bool:
        """Whether the whole interval lies in [low, high]."""
        return low <= self.low and self.high <= high

    def apart(self, low: float, high: float) -> bool:
        """Whether no point of the interval lies in [low, high]."""
        return self.high < low or self.low > high


def interval(sample: Sequence[float], sampling: Sampling, confidence: float = 0.95) -> Interval:
    """Mean and interval of a sample.

    Parameters
    ----------
    sample
        Measured values.
    sampling
        ``"seed"``: independent random runs; the interval is Student's t. ``"offset"``: deterministic runs that differ
        in their start time; the interval goes from the smallest to the largest value and is no confidence interval.
        ``"exact"``: a formula, which has one value.
    confidence
        Probability that the t interval covers the mean.

    Raises
    ------
    ValueError
        If the sample is empty.
    """
    return _around_mean(sample, sampling, confidence, 1 / len(sample) if sample else 0.0)


def one_run(sample: Sequence[float], sampling: Sampling, confidence: float = 0.95) -> Interval:
    """Mean of a sample, and the interval in which one further run lies; parameters and errors are those of `interval`.

    For ``"seed"`` Student's prediction interval, which takes runs to be normally distributed. For ``"offset"`` it is
    the range again.
    """
    return _around_mean(sample, sampling, confidence, 1 + 1 / len(sample) if sample else 0.0)


def _around_mean(sample: Sequence[float], sampling: Sampling, confidence: float, variances: float) -> Interval:
    """Give mean and interval, where what is uncertain has so many times the variance of a run."""
    if not sample:
        raise ValueError("an empty sample has no mean")
    mean = math.fsum(sample) / len(sample)
    if sampling != "seed":
        # Rounding may put the mean of equal values beside them: three times 0.1 over 3 is above 0.1.
        low, high = min(sample), max(sample)
        return Interval(min(max(mean, low), high), low, high, len(sample))
    if len(sample) == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    variance = math.fsum((value - mean) ** 2 for value in sample) / (len(sample) - 1)
    half = student_t((1 + confidence) / 2, len(sample) - 1) * math.sqrt(variance * variances)
    return Interval(mean, mean - half, mean + half, len(sample))


@cache
def student_t(probability: float, freedom: int) -> float:
    """Quantile of Student's t distribution.

    Parameters
    ----------
    probability
        Between 0.5 and 1, both excluded.
    freedom
        Degrees of freedom, at least 1.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    if not 0.5 < probability < 1 or freedom < 1:
        raise ValueError(f"no quantile of t for probability {probability} and {freedom} degrees of freedom")
    low, high = 0.0, 1.0
    while _t_tail(high, freedom) > 1 - probability:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_tail(middle, freedom) > 1 - probability else (low, middle)
    return (low + high) / 2


def _t_tail(t: float, freedom: int) -> float:
    """Probability that a t variable exceeds `t` ≥ 0."""
    return 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    # Modified Lentz: numerator and denominator of the fraction, kept away from zero.
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


def rounded(value: Interval) -> tuple[str, str, str]:
    """Write mean and ends of an interval, thousands parted by commas, to the second digit of the interval's width."""
    width = value.high - value.low
    if not math.isfinite(width) or width <= 0:
        text = number(value.mean, 6)
        return (text, text, text) if width <= 0 else (text, "−∞", "∞")
    digits = 1 - math.floor(math.log10(width))
    texts = [f"{round(end, digits):,.{max(digits, 0)}f}" for end in (value.mean, value.low, value.high)]
    mean, low, high = (text.replace("-", "−") for text in texts)
    return mean, low, high
