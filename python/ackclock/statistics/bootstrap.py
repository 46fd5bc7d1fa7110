"""Intervals of any statistic by resampling, where no formula is known: a median, a quantile, an index."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ackclock import extras
from ackclock.statistics.intervals import Interval, degenerate

Statistic = Callable[..., np.ndarray]
RESAMPLES = 9999


def bootstrap(
    sample: Sequence[float],
    statistic: Statistic = np.mean,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Value of a statistic and its bias-corrected and accelerated bootstrap interval (BCa).

    Parameters
    ----------
    sample
        Values of independent random runs.
    statistic
        Function of an array and ``axis``, as `numpy.median`.
    confidence
        Probability that the interval covers the statistic of the population. With few runs the interval is too narrow:
        of exponential values, the intervals of 20 runs cover the mean in 91 % of cases instead of 95 %.
    resamples
        Number of resamples.
    seed
        Seed of the resampling. The same sample and seed give the same interval.

    Returns
    -------
    Interval
        Infinite, with a note, if the sample has one run or runs that are all the same, or if all resamples give the
        same value.

    Raises
    ------
    ValueError
        If the sample is empty.
    MissingError
        If SciPy is not installed.

    References
    ----------
    B. Efron, *Better bootstrap confidence intervals*, JASA 82 (1987).
    """
    if not sample:
        raise ValueError("an empty sample has no statistic")
    values = np.asarray(sample, dtype=float)
    value, count = float(statistic(values, axis=0)), len(sample)
    if unsure := degenerate(sample):
        return Interval(value, -math.inf, math.inf, count, unsure)
    import warnings

    with extras.needed("statistics", "the bootstrap"):
        from scipy import stats

    with warnings.catch_warnings():
        # SciPy answers resamples without scatter with NaN and a warning; the note says the same.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (values,),
            statistic,
            confidence_level=confidence,
            n_resamples=resamples,
            method="BCa",
            random_state=np.random.default_rng(seed),
        ).confidence_interval
    low, high = float(found.low), float(found.high)
    if math.isnan(low) or math.isnan(high):
        return Interval(value, -math.inf, math.inf, count, "all resamples give the same value")
    return Interval(value, low, high, count)
