"""Units of the values in scenario files."""

from __future__ import annotations

import math
from collections.abc import Sequence

UNITS: dict[str, tuple[str, float]] = {
    "ns": ("time", 1e-9), "us": ("time", 1e-6), "µs": ("time", 1e-6), "ms": ("time", 1e-3), "s": ("time", 1.0),
    "min": ("time", 60.0), "h": ("time", 3600.0),
    "bit/s": ("rate", 1.0), "kbit/s": ("rate", 1e3), "Mbit/s": ("rate", 1e6), "Gbit/s": ("rate", 1e9),
    "Tbit/s": ("rate", 1e12),
    "B": ("size", 1.0), "kB": ("size", 1e3), "MB": ("size", 1e6), "GB": ("size", 1e9), "TB": ("size", 1e12),
    "KiB": ("size", 2.0**10), "MiB": ("size", 2.0**20), "GiB": ("size", 2.0**30),
    "packet": ("packets", 1.0), "packets": ("packets", 1.0), "segment": ("packets", 1.0), "segments": ("packets", 1.0),
}  # fmt: skip
"""Kind and factor to the base unit of its kind: seconds, bit/s, bytes or packets."""


def positions(values: Sequence[str]) -> tuple[dict[str, float], str] | None:
    """Return texts such as "5 ms" as numbers in the unit of the first, if all have units of one kind.

    >>> positions(["5 ms", "1 s"]), positions(["1 BDP", "9 packets"])
    (({'5 ms': 5.0, '1 s': 1000.0}, 'ms'), None)
    """
    units = {value: value.partition(" ")[2] for value in values}
    unit = units[values[0]] if values else ""
    kind, _ = UNITS.get(unit, (None, 1.0))
    if any(own != unit and (kind is None or UNITS.get(own, ("", 1.0))[0] != kind) for own in units.values()):
        return None
    try:
        found = {
            value: float(value.partition(" ")[0]) * (factor(own, unit) if own != unit else 1.0)
            for value, own in units.items()
        }
    except ValueError:
        return None
    return (found, unit) if all(map(math.isfinite, found.values())) else None


def factor(unit: str, to: str) -> float:
    """Return how much of one unit another is, without the last digits, which quotients of floats get wrong.

    >>> factor("ms", "us"), factor("kB", "KiB")
    (1000.0, 0.9765625)
    """
    return float(f"{UNITS[unit][1] / UNITS[to][1]:.12g}")


def twin(label: str, values: Sequence[str]) -> tuple[str, dict[str, float]] | None:
    """Return the column of a label's numbers, named after their unit, and the numbers; None if they have no unit.

    >>> twin("limit", ["1.24514 BDP", "2 BDP"]), twin("control", ["reno"]), twin("flows", ["1", "2"])
    (('limit (BDP)', {'1.24514 BDP': 1.24514, '2 BDP': 2.0}), None, None)
    """
    found = positions(values) if values else None
    return (f"{label} ({found[1]})", found[0]) if found and found[1] else None
