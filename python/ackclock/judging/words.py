"""Findings in words. A number is written so that it does not contradict its verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ackclock.formatting.numbers import counted, number
from ackclock.judging.effects import FEW, Finding
from ackclock.judging.tolerances import FACTORS
from ackclock.statistics.intervals import student_t

NAMES = {0.5: "half", 1.0: "as set", 2.0: "double"}
"""The factors of a tolerance in words."""


def probability(value: float) -> str:
    """Format a p-value.

    >>> probability(0.0123), probability(1e-6)
    ('= 0.012', '< 0.0001')
    """
    return "< 0.0001" if value < 0.0001 else f"= {value:.2g}"


def few(count: int, noun: str) -> str:
    """Return a warning of few repetitions and their wide intervals; empty if there are enough.

    >>> few(2, "repetition")
    '2 repetitions are few: an interval extends 9.0 standard deviations to each side'
    """
    if count > FEW:
        return ""
    if count == 1:
        return f"1 {noun} shows no spread, so there are no intervals, and no difference is shown"
    width = student_t(0.975, count - 1) / math.sqrt(count)
    return f"{counted(count, noun)} are few: an interval extends {width:.1f} standard deviations to each side"


def sensitivity(finding: Finding) -> str:
    """Say which verdict another tolerance gives; empty if half and double the tolerance give the same.

    The words are such as "unclear at half the tolerance".
    """
    return changes({factor: finding.at(factor) for factor in FACTORS})


def changes(verdicts: Mapping[float, str]) -> str:
    """Name the verdicts at half and at double the tolerance that are others than at the tolerance itself."""
    said = [
        f"{verdict} at {NAMES[factor]} the tolerance"
        for factor, verdict in verdicts.items()
        if factor != 1 and verdict != verdicts[1.0]
    ]
    return ", ".join(said)


def percent(value: float, digits: int = 2) -> str:
    """Return a share in percent with its sign.

    >>> percent(-0.0123), percent(float("inf"))
    ('−1.23', '∞')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{round(100 * value, digits) or 0.0:+.{digits}f}".replace("-", "−")


def share(part: float, digits: int = 2) -> str:
    """Return the size of a relative difference in percent, without a sign.

    >>> share(-0.0456)
    '4.6 %'
    """
    return f"{number(abs(part) * 100, digits)} %"
