"""The measures that the gate compares, and their tolerances."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ackclock.formatting.labels import suggestion
from ackclock.judging.tolerances import SAME, Tolerance
from ackclock.metrics.registry import MEASURES, Measure, of

TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Tolerances:
    """The tolerance of every measure: its own, or the common one."""

    common: Tolerance
    own: Mapping[str, Tolerance]

    def of(self, measure: str) -> Tolerance:
        """Return the tolerance of a measure."""
        return self.own.get(measure, self.common)


def tolerances(texts: Sequence[str], known: Collection[str]) -> Tolerances:
    """Read tolerances such as ``2%``, ``goodput_bps=2%``, ``drops=5`` or ``sojourn_mean=1 ms``.

    Parameters
    ----------
    texts
        The tolerances. Without a measure, a tolerance is the common one.
    known
        The measures of the results.

    Raises
    ------
    ValueError
        If a measure is unknown or named twice, or if a tolerance is not a share or number of at least 0.
    """
    common, own = SAME, {}
    seen: set[str] = set()
    for text in texts:
        name, equals, value = (part.strip() for part in text.rpartition("="))
        if equals and name not in known:
            place = f"tolerance {text}"
            raise ValueError(f"{place}: there is no measure {name!r}{suggestion(name, known) or unknown(known)}")
        if name in seen:
            raise ValueError(f"tolerance {text}: the tolerance{f' of {name}' if name else ''} is set twice")
        seen.add(name)
        found = _tolerance(text, value, name)
        if name:
            own[name] = found
        else:
            common = found
    return Tolerances(common, own)


def _tolerance(text: str, value: str, name: str) -> Tolerance:
    unit = of(name).unit
    example = f"{name}=1 ms" if unit == "s" else f"{name}=5" if name else "goodput_bps=2%"
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(\S*)", value)
    expected = f"tolerance {text}: expected a share, as in {f'{name}=' if name else ''}2%"
    if parts is None:
        raise ValueError(f"{expected}, or a number in the measure's unit, as in {example}")
    amount, suffix = float(parts[1]), parts[2]
    if not math.isfinite(amount):
        raise ValueError(f"tolerance {text}: {value} is too large")
    if suffix == "%":
        return Tolerance(amount / 100, relative=True)
    if not name:
        raise ValueError(f"{expected}; a number in a unit needs its measure, as in {example}")
    factors = TIMES if unit == "s" else {unit: 1.0}
    if suffix and suffix not in factors:
        raise ValueError(f"tolerance {text}: {name} has the unit {unit or '1'}, not {suffix!r}")
    return Tolerance(amount * factors.get(suffix, 1.0), relative=False)


def selected(texts: Sequence[str], known: Collection[str]) -> list[Measure]:
    """Return the measures to compare, in the order of the registry or as named.

    Parameters
    ----------
    texts
        Names, separated by commas; if empty, all measures with a direction.
    known
        The measures of the results.

    Raises
    ------
    ValueError
        If a measure is unknown, or if the results have none.
    """
    names = [name for text in texts for name in (part.strip() for part in text.split(",")) if name]
    for name in names:
        if name not in known:
            raise ValueError(
                f"measures {name}: there is no measure {name!r}{suggestion(name, known) or unknown(known)}"
            )
    if texts and not names:
        raise ValueError("measures: expected names of measures, such as goodput_bps,completion_mean")
    chosen = names or [name for name, each in MEASURES.items() if each.better and name in known]
    if not chosen:
        raise ValueError(f"the results have no measure with a better direction; name measures{unknown(known)}")
    return [of(name) for name in dict.fromkeys(chosen)]


def unknown(known: Collection[str]) -> str:
    """Return the list of known measures for a message."""
    return f" (known: {', '.join(known) or 'none'})"
