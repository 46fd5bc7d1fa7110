"""Correction for selection: noise affects the choice, so the smallest of several means is biased downwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Sample = Sequence[float]


def chosen(samples: Mapping[str, Sample], measure: Callable[[str, slice], float], sign: int) -> float:
    """Measure the variant with the smallest mean (`sign` 1) or the largest (−1), corrected for its selection.

    Half of the runs choose the variant and the other half measure it; then the halves swap, and the two results are
    averaged. The measurement is independent of the choice, so it has no optimistic bias. It is slightly pessimistic,
    because only half of the runs choose.

    Parameters
    ----------
    samples
        Values by variant, in the same order of runs, at least two for each variant.
    measure
        Returns the measured quantity of a variant from a slice of the runs.
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
