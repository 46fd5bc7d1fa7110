"""The best of several noisy means: the smallest of them is too small, because it was chosen for being small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ackclock.statistics.intervals import Interval, Sampling, interval

Sample = Sequence[float]


def chosen(samples: Mapping[str, Sample], measure: Callable[[str, slice], float], sign: int) -> float:
    """Measure the variant with the smallest mean (`sign` 1) or the largest (−1), corrected for its selection.

    Every second run chooses the variant and the other half of the runs measures it; then the halves change places, and
    the two results are averaged. What is measured is independent of what was chosen by, so that it has no bias
    upwards; that the choice rests on half the runs makes it a little too pessimistic.

    Parameters
    ----------
    samples
        Values by variant, in the same order of runs, at least two of each.
    measure
        Gives what is wanted of a variant from the runs of a slice.
    sign
        1 for the smallest mean, −1 for the largest.

    References
    ----------
    H. van Hasselt, *Estimating the maximum expected value: an analysis of (nested) cross validation and the maximum
    sample average*, arXiv:1302.7175 (2013).
    """
    halves = (slice(0, None, 2), slice(1, None, 2))
    found = 0.0
    for choosing, measuring in (halves, halves[::-1]):
        means = {name: sum(sample[choosing]) / len(sample[choosing]) for name, sample in samples.items()}
        best = min(means, key=lambda name: sign * means[name])
        found += measure(best, measuring) / 2
    return found


def extreme(samples: Mapping[str, Sample], sign: int, sampling: Sampling, confidence: float = 0.95) -> Interval:
    """Smallest (`sign` 1) or largest (−1) of the true means of several variants, with its interval.

    The estimate is that of `chosen`. The interval takes each variant's own at the confidence 1 − α/k: all of them cover
    their means together (Bonferroni), so that the least of the lower ends and the least of the upper ends cover the
    least mean.

    Parameters
    ----------
    samples
        Values by variant, at least two of each.
    sign
        1 for the smallest mean, −1 for the largest.
    sampling, confidence
        As in `interval`.

    References
    ----------
    J. Hsu, *Multiple comparisons: theory and methods* (1996), §1.3 and §4.
    """
    share = 1 - (1 - confidence) / len(samples)
    own = [interval(sample, sampling, share) for sample in samples.values()]
    pick = min if sign > 0 else max
    low, high = pick(each.low for each in own), pick(each.high for each in own)
    estimate = chosen(samples, lambda name, part: sum(samples[name][part]) / len(samples[name][part]), sign)
    note = next((each.note for each in own if each.note), "")
    return Interval(min(max(estimate, low), high), low, high, min(each.count for each in own), note)
