"""Estimates from runs: a mean, or a comparison of two variants, with its interval and the tests that belong to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ackclock.statistics import pairs, ratios, tails
from ackclock.statistics.intervals import Bounds, Interval, Sampling, interval, is_random, unseen
from ackclock.statistics.tails import Tails

Scale = Literal["ratio", "geometric", "difference"]
ROUNDING = 1e-9
"""Differences that are smaller, relative to the values, come from rounding."""


@dataclass(frozen=True)
class Sample:
    """Values of one variant, or of two in pairs.

    Attributes
    ----------
    of : sequence of float
        The values.
    to : sequence of float or None
        Those of the reference; values at the same place are a pair. None: the estimate is the mean of `of`.
    scale : {"ratio", "geometric", "difference"}
        What is estimated of two variants: the ratio of their means, that of their geometric means (for places of
        different sizes, such as paths; values above 0), or the difference of their means.
    sampling : str
        What the values are a sample of, see `statistics.intervals.interval`. Only random ones have tests.
    bounds : (float, float) or None
        Smallest and largest possible value of a mean.
    """

    of: Sequence[float]
    to: Sequence[float] | None = None
    scale: Scale = "difference"
    sampling: Sampling = "seed"
    bounds: Bounds | None = None

    @property
    def neutral(self) -> float:
        """The estimate of two variants alike."""
        return 0.0 if self.scale == "difference" else 1.0

    @property
    def count(self) -> int:
        """Number of values, or of pairs."""
        return len(self.of)

    @cached_property
    def base(self) -> float:
        """The value to which a relative tolerance refers: the reference's mean, without a sign."""
        return abs(math.fsum(self.to) / len(self.to)) if self.to else 0.0

    @cached_property
    def _differences(self) -> list[float]:
        assert self.to is not None
        return [a - b for a, b in zip(self.of, self.to, strict=True)]

    @cached_property
    def _rounding(self) -> float:
        return ROUNDING * max((abs(value) for value in (*self.of, *(self.to or ()))), default=0.0)

    @cached_property
    def equal(self) -> bool:
        """Whether the values of every pair are the same."""
        return all(abs(each) <= self._rounding for each in self._differences)

    @cached_property
    def scatters(self) -> bool:
        """Whether the pairs differ by varying amounts, more than rounding explains."""
        if self.scale == "geometric":
            return max(self._logs) - min(self._logs) > ROUNDING
        return max(self._differences) - min(self._differences) > self._rounding

    @cached_property
    def constant(self) -> bool:
        """Whether neither variant varies."""
        return len(set(self.of)) == 1 == len(set(self.to or (0.0,)))

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the estimate with its interval."""
        if self.to is None:
            return interval(self.of, self.sampling, confidence, self.bounds)
        if self.scale == "ratio":
            return ratios.ratio(self.of, self.to, self.sampling, confidence)
        logs = self.scale == "geometric"
        found = interval(self._logs if logs else self._differences, self.sampling, confidence)
        if self.sampling == "population" and self.equal and unseen(self.count) <= ratios.MOST_UNSEEN:
            return Interval(self.neutral, self.neutral, self.neutral, self.count)
        if is_random(self.sampling) and found.known and not self.scatters:
            same = f"all {self.count} pairs have the same difference"
            found = Interval(found.mean, -math.inf, math.inf, self.count, same)
        return _exp(found) if logs else found

    @cached_property
    def _logs(self) -> list[float]:
        """The logarithms of the pairs' ratios."""
        assert self.to is not None
        return [math.log(a) - math.log(b) for a, b in zip(self.of, self.to, strict=True)]

    def tails(self, limit: float) -> Tails:
        """Return the p-values of the two one-sided tests of the estimate against a limit.

        Raises
        ------
        ValueError
            If the values do not scatter.
        """
        if self.to is None:
            return tails.of_mean(self.of, limit, self.bounds)
        if self.scale == "difference":
            return tails.of_mean(self._differences, limit)
        if limit <= 0:
            # A ratio is never below 0.
            return Tails(0.0, 1.0)
        if self.scale == "ratio":
            return tails.of_ratio(self.of, self.to, limit)
        return tails.of_mean(self._logs, math.log(limit))

    @property
    def effect(self) -> float | None:
        """Hedges' g of the differences of the pairs; None for a mean, or without scatter."""
        if self.to is None or self.count < 2 or not self.scatters:
            return None
        return pairs.compare(self.of, self.to).effect

    @property
    def superiority(self) -> float:
        """Share of pairs in which the first value is larger; a tie counts half."""
        larger = sum(each > self._rounding for each in self._differences)
        smaller = sum(each < -self._rounding for each in self._differences)
        return 0.5 + (larger - smaller) / (2 * self.count)


def _exp(found: Interval) -> Interval:
    """Return an interval of logarithms as one of values."""
    low, high = (math.exp(end) if math.isfinite(end) else end for end in (found.low, found.high))
    return Interval(math.exp(found.mean), low, high, found.count, found.note)
