"""How many runs are enough: run seeds until the interval is narrow, and no longer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.statistics.intervals import Interval, interval


@dataclass(frozen=True)
class Stopping:
    """A rule that ends a series of runs.

    The interval at the stop covers the mean a little less often than it says, since the runs ended when they looked
    alike. With 10 first runs, 95 % becomes 93 % if the rule stops after 17 runs on average, and 94.7 % after 97.

    Attributes
    ----------
    half_width : float
        Largest distance from the mean to an end of the interval.
    relative : bool
        Whether `half_width` is a share of the mean.
    at_least, at_most : int
        Fewest and most runs.
    confidence : float
        Confidence of the interval.

    References
    ----------
    Y. S. Chow and H. Robbins, *On the asymptotic theory of fixed-width sequential confidence intervals for the mean*,
    Annals of Mathematical Statistics 36 (1965); A. Law, *Simulation modeling and analysis*, 5th ed. (2015), §9.4.1.
    """

    half_width: float
    relative: bool = False
    at_least: int = 10
    at_most: int = 1000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse rules that never stop, or stop at once."""
        if not self.half_width > 0:
            raise ValueError(f"half_width must be above 0, not {self.half_width}")
        if not 2 <= self.at_least <= self.at_most:
            raise ValueError(
                f"at_least must be 2 or more and at most at_most; they are {self.at_least}, {self.at_most}"
            )

    def found(self, sample: Sequence[float]) -> Interval:
        """Student's interval of the runs so far."""
        return interval(sample, "seed", self.confidence)

    def is_narrow(self, sample: Sequence[float]) -> bool:
        """Whether the interval of at least `at_least` runs is narrow enough."""
        if len(sample) < self.at_least:
            return False
        now = self.found(sample)
        limit = self.half_width * abs(now.mean) if self.relative else self.half_width
        return now.known and (now.high - now.low) / 2 <= limit

    def is_over(self, sample: Sequence[float]) -> bool:
        """Whether no further run is needed or allowed."""
        return len(sample) >= self.at_most or self.is_narrow(sample)

    def more(self, sample: Sequence[float]) -> int:
        """Return the number of runs to make before the next look; 0 if no further run is needed or allowed.

        The width falls with the square root of the number of runs, which predicts how many are needed. A step adds at
        most half as many runs as there are, since the scatter of few runs is uncertain. So few looks are needed, and
        the runs between them can be parallel.
        """
        count = len(sample)
        if count < self.at_least:
            return self.at_least - count
        if self.is_over(sample):
            return 0
        now = self.found(sample)
        limit = self.half_width * abs(now.mean) if self.relative else self.half_width
        most = count + max(1, count // 2)
        if now.known and limit > 0:
            most = min(most, math.ceil(count * ((now.high - now.low) / 2 / limit) ** 2))
        return min(max(most, count + 1), self.at_most) - count
