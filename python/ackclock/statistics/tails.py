"""One-sided tests against a limit. They reject exactly if the interval of the same confidence excludes the limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.statistics.distributions import student_tail
from ackclock.statistics.intervals import Bounds


@dataclass(frozen=True)
class Tails:
    """P-values of two one-sided t tests against a limit.

    Attributes
    ----------
    above : float
        Probability of a mean at least so high if the true one is at the limit or below. Small values show that it lies
        above.
    below : float
        The same for the other direction.
    """

    above: float
    below: float


def of_mean(sample: Sequence[float], limit: float, bounds: Bounds | None = None) -> Tails:
    """Test a mean against a limit; the tests belong to `intervals.interval` of random runs.

    Parameters
    ----------
    sample
        Values of at least two random runs that are not all equal.
    limit
        The limit; may be infinite.
    bounds
        As in `intervals.interval`.

    Raises
    ------
    ValueError
        If the sample does not scatter.
    """
    count = len(sample)
    mean = math.fsum(sample) / count if count else 0.0
    squares = math.fsum((value - mean) ** 2 for value in sample)
    if not squares:
        raise ValueError("a test needs runs that scatter")
    error = math.sqrt(squares / (count - 1) / count)
    if bounds is None or not bounds[0] < mean < bounds[1]:
        return _tails((mean - limit) / error, count - 1)
    low, high = bounds
    if not low < limit < high:
        return Tails(0.0, 1.0) if limit <= low else Tails(1.0, 0.0)
    place, there, width = (mean - low) / (high - low), (limit - low) / (high - low), error / (high - low)
    distance = math.log(place / (1 - place)) - math.log(there / (1 - there))
    return _tails(distance / (width / (place * (1 - place))), count - 1)


def of_ratio(of: Sequence[float], to: Sequence[float], limit: float) -> Tails:
    """Test the ratio of two means against a limit; the tests belong to Fieller's interval in `ratios.ratio`.

    The ratio is above R if the mean of a − R·b is above 0. Values of the same place are a pair.

    Parameters
    ----------
    of, to
        Values of the two variants.
    limit
        The ratio; at least 0, may be infinite.

    Raises
    ------
    ValueError
        If the samples differ in length, or have fewer than two values.

    References
    ----------
    E. Fieller, *Some problems in interval estimation*, Journal of the Royal Statistical Society B 16 (1954).
    """
    if len(of) != len(to) or len(of) < 2:
        raise ValueError(f"a test needs two pairs or more; there are {len(of)} and {len(to)} values")
    if math.isinf(limit):
        return Tails(1.0, 0.0)
    count = len(of)
    differences = [a - limit * b for a, b in zip(of, to, strict=True)]
    mean = math.fsum(differences) / count
    variance = math.fsum((value - mean) ** 2 for value in differences) / (count - 1)
    # Rounding leaves a rest of scatter in equal differences.
    scale = max(abs(value) for value in (*of, *(limit * b for b in to)))
    if variance <= (1e-14 * scale) ** 2:
        return Tails(float(mean <= 0), float(mean >= 0))
    return _tails(mean / math.sqrt(variance / count), count - 1)


def _tails(statistic: float, freedom: int) -> Tails:
    return Tails(student_tail(freedom, statistic), student_tail(freedom, -statistic))
