"""Whether many printed numbers could all be runs of what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Joint:
    """A joint test.

    Attributes
    ----------
    statistic : float
        χ²; large if the printed numbers are unlike the measured ones.
    freedom : int
        Its degrees of freedom: how many printed numbers are tested.
    """

    statistic: float
    freedom: int

    @property
    def probability(self) -> float:
        """Probability of so large a χ² if the printed numbers are runs like the measured ones."""
        from scipy.special import chdtrc

        return float(chdtrc(self.freedom, self.statistic))

    def __add__(self, other: Joint) -> Joint:
        """Join tests of independent numbers."""
        return Joint(self.statistic + other.statistic, self.freedom + other.freedom)


def one_further(runs: Sequence[Sequence[float]], printed: Sequence[float]) -> Joint | None:
    """Test whether numbers that are printed of one run could be those of a further run.

    Hotelling's T² of the printed numbers' distance from the means, by the runs' own covariance: T² (n − p)/(p (n − 1))
    n/(n + 1) has the distribution F(p, n − p) if runs are normally distributed. It is given as the χ² of p degrees of
    freedom with the same probability, so that those of independent runs can be added.

    Parameters
    ----------
    runs
        For each run its p numbers.
    printed
        The p printed numbers.

    Returns
    -------
    Joint or None
        None if the runs are too few for their covariance, or do not scatter.

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
    # In units of each number's own scatter, so that packets and bits per second can stand beside each other.
    scaled = sample / spread
    distance = np.asarray(printed, dtype=float) / spread - scaled.mean(axis=0)
    covariance = np.atleast_2d(np.cov(scaled, rowvar=False))
    if np.linalg.cond(covariance) > 1e10:
        return None
    square = float(distance @ np.linalg.solve(covariance, distance)) * count / (count + 1)
    from scipy.special import chdtri, fdtrc

    tail = float(fdtrc(numbers, count - numbers, square * (count - numbers) / (numbers * (count - 1))))
    # A tail that is no longer a number is taken as the smallest there is.
    return Joint(float(chdtri(numbers, max(tail, math.ulp(0.0)))), numbers)
