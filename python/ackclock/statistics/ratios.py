"""Comparison of two variants: the ratio of their means, with its interval.

Verdicts, charts and the matrix use this estimator. It is the ratio of the two numbers in the tables, and it needs no
logarithm, which fails for runs without arrivals. A mean of single ratios would be biased upwards if runs vary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ackclock.statistics.intervals import Interval, Sampling, degenerate, interval, is_random, student_t, unseen

MOST_UNSEEN = 0.5
"""Equal pairs count as equal only if at most this share of other pairs can differ, with 95 % confidence."""


def ratio(
    of: Sequence[float],
    to: Sequence[float],
    sampling: Sampling,
    confidence: float = 0.95,
) -> Interval:
    """Ratio of the means of two paired samples; values are at least 0.

    Parameters
    ----------
    of, to
        Measured values of the two variants. Values at the same position are a pair, such as runs with the same seed.
    sampling
        As in `interval`. Over seeds and populations the interval is Fieller's, which assumes normally distributed
        pairs. Over paths and start times it is the range of the ratios of the pairs; two zeros have the ratio 1.
    confidence
        Probability that Fieller's interval covers the ratio.

    Returns
    -------
    Interval
        Infinite, with a note, if the runs decide nothing: both variants are 0, neither varies over seeds, fewer than
        five pairs are all equal, or neither mean differs significantly from 0. If only the second mean does not differ
        significantly from 0, only the upper end is infinite, and there is no note.

    Raises
    ------
    ValueError
        If a sample is empty, or if the samples differ in length.

    References
    ----------
    E. Fieller, *Some problems in interval estimation*, Journal of the Royal Statistical Society B 16 (1954).
    """
    if not of or len(of) != len(to):
        raise ValueError(f"a ratio needs pairs, but there are {len(of)} and {len(to)} values")
    count, above, below = len(of), math.fsum(of) / len(of), math.fsum(to) / len(to)
    if above == below == 0:
        return Interval(1.0, -math.inf, math.inf, count, "both variants are 0 in every run")
    estimate = above / below if below else math.inf
    if sampling == "exact":
        return Interval(estimate, estimate, estimate, count)
    if unsure := _unsure(of, to, sampling):
        return Interval(estimate, -math.inf, math.inf, count, unsure)
    if is_random(sampling):
        return _of_nothing(of, confidence) if below == 0 else _fieller(of, to, confidence)
    single = [_quotient(a, b) for a, b in zip(of, to, strict=True)]
    return Interval(estimate, min(single), max(single), count)


def _unsure(of: Sequence[float], to: Sequence[float], sampling: Sampling) -> str:
    """Return the reason why these runs do not show the spread of other runs; empty if they do."""
    if is_random(sampling) and degenerate(of) and (said := degenerate(to)):
        return (
            said if list(of) == list(to) or len(of) == 1 else f"all {len(of)} runs of each variant have the same value"
        )
    if list(of) == list(to) and unseen(len(of)) > MOST_UNSEEN:
        return f"{len(of)} equal runs are too few: up to {100 * unseen(len(of)):.0f} % of other runs could differ"
    return ""


def _quotient(of: float, to: float) -> float:
    return of / to if to else 1.0 if of == 0 else math.inf


def _fieller(of: Sequence[float], to: Sequence[float], confidence: float) -> Interval:
    """Return the ratios R for which a paired t test of a − R·b does not reject."""
    count = len(of)
    a, b = math.fsum(of) / count, math.fsum(to) / count
    factor = student_t((1 + confidence) / 2, count - 1) ** 2 / (count * (count - 1))
    # Scaling by the means prevents an overflow of squares; equal samples have the ratio 1.
    scale = a or b
    x, y = [value / scale for value in of], [value / b for value in to]
    mean = a / scale
    var_x = factor * math.fsum((value - mean) ** 2 for value in x)
    var_y = factor * math.fsum((value - 1) ** 2 for value in y)
    both = factor * math.fsum((p - mean) * (q - 1) for p, q in zip(x, y, strict=True))
    lead, middle, last = 1 - var_y, mean - both, mean * mean - var_x
    root = math.sqrt(max(middle * middle - lead * last, 0.0))
    if lead <= 0 and last <= 0:
        return Interval(a / b, -math.inf, math.inf, count, "neither mean differs significantly from 0")
    if lead <= 0:
        # The reference can be 0, but the other mean cannot: the ratios begin at the larger root. `lead` can be 0.
        return Interval(a / b, min(last / (middle + root) * scale / b, a / b), math.inf, count)
    low, high = ((middle + sign * root) / lead * scale / b for sign in (-1, 1))
    return Interval(a / b, min(max(low, 0.0), a / b), max(high, a / b), count)


def _of_nothing(of: Sequence[float], confidence: float) -> Interval:
    """Compare with a reference that is 0 in every run: a mean significantly above 0 is infinitely larger."""
    own = interval(of, "seed", confidence)
    if own.low > 0 or (min(of) == max(of) > 0 and len(of) > 1):
        return Interval(math.inf, math.inf, math.inf, len(of))
    return Interval(
        math.inf, -math.inf, math.inf, len(of), "the reference is 0 in every run, and the other mean can be 0, too"
    )


def words(found: Interval) -> str:
    """Format a ratio as a difference in percent, or as a multiple if it is 3 or more."""
    ends = (found.mean, found.low, found.high)
    if math.isfinite(found.mean) and found.mean < 3:
        texts = [f"{100 * (end - 1):+.2f}" if math.isfinite(end) else "∞" if end > 0 else "−∞" for end in ends]
        return f"{texts[0]} % [{texts[1]}, {texts[2]}]".replace("-", "−")
    texts = [f"{end:.3g}" if math.isfinite(end) else "∞" if end > 0 else "−∞" for end in ends]
    return f"{texts[0]} times [{texts[1]}, {texts[2]}]".replace("-", "−")
