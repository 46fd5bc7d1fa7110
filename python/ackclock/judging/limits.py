"""Whether an estimate lies within limits: what a claim about two variants, or about a value, comes down to.

===============  =======================================
claim            limits of A/B, with the tolerance τ
===============  =======================================
A is above B     above 1 + τ
A and B overlap  from 1/(1 + τ) to 1 + τ
A is the best    up to 1 + τ; A/B is the other's advantage
a bound          those of the claim, of A/B or of A
===============  =======================================

The claim holds if the whole interval lies within the limits, fails if no point of it does, and is undecided otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import Tolerance
from ackclock.statistics.intervals import Interval

Relation = Literal["above", "overlaps", "ratio", "value", "best"]
Place = Literal["within", "below", "above", "partly"]
"""Where an interval lies: within the limits, entirely below or above them, or across one of them."""
Limits = tuple[float, float]


@dataclass(frozen=True)
class Chances:
    """How surely an estimate lies within limits.

    Attributes
    ----------
    holds, fails : float
        P-values of the tests that show it to lie within the limits, and outside of them.
    effect : float or None
        Hedges' g of the differences of pairs; None for a value, or without scatter.
    """

    holds: float
    fails: float
    effect: float | None = None


def limits(relation: Relation, tolerance: Tolerance, bound: Limits) -> Limits:
    """Return the limits of a relation; those of a ratio or value are `bound`."""
    low, high = tolerance.either_way
    if relation == "above":
        # A ratio on the limit is not above it.
        return math.nextafter(high, math.inf), math.inf
    if relation == "best":
        return -math.inf, high
    return (low, high) if relation == "overlaps" else bound


def place(found: Interval, low: float, high: float) -> Place:
    """Say where an interval lies."""
    if found.within(low, high):
        return "within"
    if found.apart(low, high):
        return "below" if found.high < low else "above"
    return "partly"


def chances(sample: Sample, low: float, high: float) -> Chances:
    """Return how surely the estimate of random runs lies within limits, which may be infinite.

    Two one-sided tests show that it lies within (Schuirmann 1987), one of them that it lies outside.
    """
    least, most = sample.tails(low), sample.tails(high)
    return Chances(max(least.above, most.below), min(least.below, most.above), sample.effect)
