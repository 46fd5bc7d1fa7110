"""Many claims tested at once: the chance that one of them comes out by chance grows with their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

Correction = Literal["holm", "bh"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of even one false rejection in the family stays below α.

    Parameters
    ----------
    p_values
        One for each claim.

    Returns
    -------
    list of float
        Adjusted p-values in the same order: a claim is rejected if its value is at most α.

    Raises
    ------
    ValueError
        If a value is no probability.

    References
    ----------
    S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6 (1979).
    """
    _check(p_values)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that of the rejected claims at most the share α is expected to be true ones.

    Parameters, result and errors are those of `holm`. It holds for independent and for positively dependent tests.

    References
    ----------
    Y. Benjamini and Y. Hochberg, *Controlling the false discovery rate*, Journal of the Royal Statistical Society B 57
    (1995).
    """
    _check(p_values)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, smallest = [0.0] * len(p_values), 1.0
    for rank, place in reversed(list(enumerate(order, 1))):
        smallest = min(smallest, len(order) / rank * p_values[place])
        adjusted[place] = smallest
    return adjusted


def adjusted(p_values: Sequence[float | None], correction: Correction | None) -> list[float | None]:
    """Adjust the p-values of a family.

    Parameters
    ----------
    p_values
        One for each test; tests without one do not count.
    correction
        ``"holm"`` or ``"bh"`` (Benjamini and Hochberg); None returns the values as they are.
    """
    if correction is None:
        return list(p_values)
    known = [value for value in p_values if value is not None]
    found = iter(CORRECTIONS[correction](known))
    return [None if value is None else next(found) for value in p_values]


CORRECTIONS: dict[Correction, Callable[[Sequence[float]], list[float]]] = {"holm": holm, "bh": benjamini_hochberg}


def _check(p_values: Sequence[float]) -> None:
    if wrong := [value for value in p_values if not 0 <= value <= 1]:
        raise ValueError(f"{wrong[0]} is no probability")
