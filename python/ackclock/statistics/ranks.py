"""Rank correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ackclock.statistics.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NORMAL = 1.959963984540054  # 97.5 % quantile of the normal distribution


def spearman(x: Sequence[float], y: Sequence[float]) -> Interval:
    """Return Spearman's rank correlation with its 95 % interval; the mean of the interval is the correlation.

    The interval is that of Fisher's z with the standard error sqrt((1 + ρ²/2) / (n − 3)) of Bonett and Wright,
    Psychometrika 65 (2000), pp. 23–28. Its ends are infinite for fewer than four pairs and for constant values.

    >>> found = spearman([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 5])
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.943, 0.383, 0.996)
    """
    import numpy as np  # not needed by most commands

    if len(x) < 4 or len(set(x)) == 1 or len(set(y)) == 1:
        return Interval(math.nan, -math.inf, math.inf, len(x), "fewer than four pairs, or constant values")
    first, second = (_ranks(np.asarray(values)) - (len(values) + 1) / 2 for values in (x, y))
    rho = float((first * second).sum() / math.sqrt((first**2).sum() * (second**2).sum()))
    if 1 - abs(rho) < 1e-12:
        return Interval(round(rho), round(rho), round(rho), len(x))
    half = NORMAL * math.sqrt((1 + rho**2 / 2) / (len(x) - 3))
    return Interval(rho, math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half), len(x))


def _ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the rank of each value from 1; equal values share the mean of their ranks."""
    import numpy as np

    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2
    return means[places]
