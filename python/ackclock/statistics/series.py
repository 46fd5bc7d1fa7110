"""One long run instead of many: the warm-up that is cut, and the interval of the mean of correlated values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ackclock.statistics.intervals import Interval, interval

GROUP = 5
"""Values that MSER-5 averages before it looks for the cut."""
BATCHES = 20
"""Batches of a series. More than 30 gain little (Schmeiser 1982)."""


@dataclass(frozen=True)
class WarmUp:
    """Where a series becomes stationary.

    Attributes
    ----------
    cut : int
        Number of values to drop.
    found : bool
        False if the best cut lies in the second half: then the run is too short, or it never becomes stationary.
    """

    cut: int
    found: bool


def warm_up(series: Sequence[float]) -> WarmUp:
    """Find how many first values to drop so that the mean of the rest is most certain: MSER-5.

    Parameters
    ----------
    series
        Values at equal distances in time, at least 10.

    Raises
    ------
    ValueError
        If the series has fewer than 10 values.

    References
    ----------
    K. P. White, M. Cobb and S. Spratt, *A comparison of five steady-state truncation heuristics for simulation*,
    Winter Simulation Conference (2000).
    """
    groups = len(series) // GROUP
    if groups < 2:
        raise ValueError(f"{2 * GROUP} values are needed to find a warm-up; there are {len(series)}")
    means = np.asarray(series[: groups * GROUP], dtype=float).reshape(groups, GROUP).mean(axis=1)
    # Suffix sums about the overall mean, so that nothing cancels.
    centred = means - means.mean()
    left = np.arange(groups, 0, -1)
    sums, squares = np.cumsum(centred[::-1])[::-1], np.cumsum(centred[::-1] ** 2)[::-1]
    error = np.maximum(squares - sums * sums / left, 0.0) / (left * left)
    # The last groups have little or no scatter by chance: a cut there is never taken (White 1997).
    candidates = error[: max(1, groups - GROUP)]
    best = int(np.argmin(candidates))
    return WarmUp(best * GROUP, best <= groups // 2)


def batch_means(series: Sequence[float], confidence: float = 0.95, batches: int = BATCHES) -> Interval:
    """Mean of a stationary series and its interval, by the means of batches in place of independent runs.

    Parameters
    ----------
    series
        Values at equal distances in time, without their warm-up. What does not fill the last batch is dropped from
        the front.
    confidence
        Probability that the interval covers the mean, if batches are long enough to be independent.
    batches
        Number of batches, at least 4.

    Returns
    -------
    Interval
        Infinite, with a note, if neighbouring batches are correlated (von Neumann's test at 5 %), so that the series
        is too short, or if all batches are alike.

    Raises
    ------
    ValueError
        If there are fewer than two values in a batch, or fewer than 4 batches.

    References
    ----------
    B. Schmeiser, *Batch size effects in the analysis of simulation output*, Operations Research 30 (1982); G. Fishman,
    *Discrete-event simulation* (2001), §6.6 (von Neumann ratio).
    """
    size = len(series) // batches if batches else 0
    if batches < 4 or size < 2:
        raise ValueError(
            f"{len(series)} values do not make {batches} batches of two or more; four batches are the least"
        )
    values = np.asarray(series[len(series) - size * batches :], dtype=float).reshape(batches, size)
    means = [float(mean) for mean in values.mean(axis=1)]
    found = interval(means, "seed", confidence)
    if found.known and _correlated(means):
        note = f"batches of {size} values are still correlated: the run is too short for its mean"
        return Interval(found.mean, -math.inf, math.inf, batches, note)
    return found


def _correlated(means: Sequence[float]) -> bool:
    """Von Neumann's test: whether neighbours are more alike than independent values, at 5 %."""
    count, mean = len(means), math.fsum(means) / len(means)
    squares = math.fsum((value - mean) ** 2 for value in means)
    steps = math.fsum((b - a) ** 2 for a, b in pairwise(means))
    correlation = 1 - steps / (2 * squares)
    # Normal for independent values with this variance (Fishman §6.6).
    deviation = math.sqrt((count - 2) / (count * count - 1))
    return correlation > 1.6448536269514722 * deviation
