"""Fairness of shares."""

from __future__ import annotations

import math
from collections.abc import Sequence


def jain_index(shares: Sequence[float]) -> float | None:
    """Jain's index of fairness, (Σx)² / (n·Σx²).

    The index is 1 if all n shares are equal, 1/n if one flow has everything, and None if all shares are 0.

    References
    ----------
    R. Jain, D. Chiu and W. Hawe, *A quantitative measure of fairness and discrimination for resource allocation in
    shared computer systems*, DEC-TR-301, 1984.
    """
    squares = math.fsum(share * share for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else None
