"""Joint tests: many printed numbers at once against the measured runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ackclock.statistics.distributions import chi_square_quantile, chi_square_tail, f_tail


@dataclass(frozen=True)
class Joint:
    """A joint test.

    Attributes
    ----------
    statistic : float
        χ²; large if the printed numbers differ from the measured ones.
    freedom : int
        Degrees of freedom: the number of tested printed numbers.
    """

    statistic: float
    freedom: int

    @property
    def probability(self) -> float:
        """Probability of a χ² at least this large if the printed numbers come from runs like the measured ones."""
        return chi_square_tail(self.freedom, self.statistic)

    def __add__(self, other: Joint) -> Joint:
        """Join tests of independent numbers."""
        return Joint(self.statistic + other.statistic, self.freedom + other.freedom)


def one_further(runs: Sequence[Sequence[float]], printed: Sequence[float]) -> Joint | None:
    """Test whether the printed numbers can come from one further run.

    The test is Hotelling's T² of the distance between the printed numbers and the means, with the covariance of the
    runs. For normally distributed runs, T² (n − p)/(p (n − 1)) n/(n + 1) has the distribution F(p, n − p). The result
    is the χ² with p degrees of freedom of the same probability, so that tests of independent runs can be added.

    Parameters
    ----------
    runs
        The p numbers of each run.
    printed
        The p printed numbers.

    Returns
    -------
    Joint or None
        None if the runs are too few for their covariance, or do not vary.

    References
    ----------
    H. Hotelling, *The generalization of Student's ratio*, Annals of Mathematical Statistics 2 (1931); D. Chew,
    *Confidence, prediction, and tolerance regions for the multivariate normal distribution*, JASA 61 (1966).
    """
    sample = np.asarray(runs, dtype=float)
    count, numbers = sample.shape
    if count <= numbers + 1:
        return None
    spread = sample.std(axis=0, ddof=1)
    if not np.all(spread > 0):
        return None
    # Each number is scaled by its standard deviation, because packets and bits per second differ in size.
    scaled = sample / spread
    distance = np.asarray(printed, dtype=float) / spread - scaled.mean(axis=0)
    covariance = np.atleast_2d(np.cov(scaled, rowvar=False))
    if np.linalg.cond(covariance) > 1e10:
        return None
    square = float(distance @ np.linalg.solve(covariance, distance)) * count / (count + 1)
    tail = f_tail(numbers, count - numbers, square * (count - numbers) / (numbers * (count - 1)))
    # A tail that underflows becomes the smallest positive number.
    return Joint(chi_square_quantile(numbers, max(tail, math.ulp(0.0))), numbers)
