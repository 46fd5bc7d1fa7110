"""Probabilities of Student's t, of χ² and of F, to 10 digits or more.

They are here because the library that has them is larger than all of Ackclock, and the tests compare them with it. All
follow from the incomplete beta and gamma functions, by Lentz's method for continued fractions.

References
----------
W. Press, S. Teukolsky, W. Vetterling, B. Flannery, *Numerical recipes*, 3rd ed. (2007), §5.2, §6.2 and §6.4.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator

SMALLEST = 1e-300
"""Stands for zero in a denominator."""
EXACT = 1e-16
"""A factor or a term that is nearer to 1 or 0 than this changes nothing."""


def student_tail(freedom: float, statistic: float) -> float:
    """Return the probability that Student's t with these degrees of freedom is larger than a value.

    >>> round(student_tail(9, 2.262157), 6)
    0.025
    """
    if math.isinf(statistic):
        return float(statistic < 0)
    # Small shares of x or of 1 − x keep their digits if neither is computed from the other.
    square = statistic * statistic
    half = _beta(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square)) / 2
    return half if statistic >= 0 else 1 - half


def student_quantile(freedom: float, probability: float) -> float:
    """Return the value that Student's t exceeds with probability 1 − `probability`, which is above 0.5.

    >>> round(student_quantile(9, 0.975), 6)
    2.262157
    """
    # The tail is convex and the normal quantile is below that of t, so that Newton's steps only go up.
    value, wanted = statistics.NormalDist().inv_cdf(probability), 1 - probability
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    while True:
        density = math.exp(scale - (freedom + 1) / 2 * math.log1p(value * value / freedom))
        further = value + (student_tail(freedom, value) - wanted) / density
        if further <= value * (1 + 4 * EXACT):
            return value
        value = further


def chi_square_tail(freedom: float, statistic: float) -> float:
    """Return the probability that χ² with these degrees of freedom is larger than a value.

    >>> round(chi_square_tail(2, 5.991465), 6)
    0.05
    """
    shape, x = freedom / 2, statistic / 2
    if x <= 0:
        return 1.0
    if math.isinf(x):
        return 0.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        for index in itertools.count(1):
            term *= x / (shape + index)
            total += term
            if term < total * EXACT:
                return 1 - front * total
    terms = ((-index * (index - shape), x + 2 * index + 1 - shape) for index in itertools.count(1))
    return front * _fraction(x + 1 - shape, terms)


def chi_square_quantile(freedom: float, tail: float) -> float:
    """Return the value that χ² with these degrees of freedom exceeds with probability `tail`.

    >>> round(chi_square_quantile(2, 0.05), 6)
    5.991465
    """
    low, high = 0.0, 1.0
    while chi_square_tail(freedom, high) > tail:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if chi_square_tail(freedom, middle) > tail else (low, middle)
    return high


def f_tail(above: float, below: float, statistic: float) -> float:
    """Return the probability that F with these degrees of freedom, of numerator and denominator, exceeds a value.

    >>> round(f_tail(2, 10, 4.102821), 6)
    0.05
    """
    if statistic <= 0:
        return 1.0
    whole = below + above * statistic
    return _beta(below / 2, above / 2, below / whole, above * statistic / whole)


def _beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function of x; `rest` is 1 − x."""
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front / a * _fraction(1.0, _beta_terms(a, b, x))
    return 1 - front / b * _fraction(1.0, _beta_terms(b, a, rest))


def _beta_terms(a: float, b: float, x: float) -> Iterator[tuple[float, float]]:
    yield -(a + b) * x / (a + 1), 1.0
    for m in itertools.count(1):
        yield m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1.0
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0


def _fraction(first: float, terms: Iterable[tuple[float, float]]) -> float:
    """Return 1 / (first + a₁ / (b₁ + a₂ / (b₂ + …))) for the terms (a, b)."""
    above, below = 1 / SMALLEST, 1 / (first or SMALLEST)
    found = below
    for a, b in terms:
        below = 1 / ((b + a * below) or SMALLEST)
        above = (b + a / above) or SMALLEST
        found *= (change := above * below)
        if abs(change - 1) < EXACT * 4:
            break
    return found
