"""The figure of a comparison: a row for each place and contender; speed, delay and harm side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ackclock.comparisons.judging import METRICS, Judged
from ackclock.comparisons.places import Place
from ackclock.comparisons.words import winners
from ackclock.drawing.figure import WIDE, Axis, Figure, Panel, Series, is_wide, with_intervals
from ackclock.formatting.numbers import counted
from ackclock.statistics.intervals import Interval

LINEAR = 10.0  # an axis with small and large values is linear up to this value
FAR = 200.0  # percent; a larger change would flatten the others
Value = Callable[[Place, int], "Interval | None"]


@dataclass(frozen=True)
class Shown:
    """A panel: its title, the value of a contender on a place, and the factor to its unit."""

    title: str
    value: Value
    scale: float = 1.0
    higher: bool = False

    @property
    def labelled(self) -> str:
        """The title, and the better direction."""
        return f"{self.title}, {'higher' if self.higher else 'lower'} is better"


def _shown(judged: Judged) -> list[Shown]:
    """Return the panels: speed against the reference, delay, time lost in start-up and harm if they are known."""
    base = judged.names[0]
    made = [Shown(f"faster than {base} (%)", lambda place, index: _speed(judged, place, index), higher=True)]
    for key in ("sojourn_p95", "exit_time_lost", "harm_goodput"):
        metric = METRICS[key]
        title = f"harm to {base}: goodput" if key == "harm_goodput" else metric.title
        if any(row[key] is not None for rows in judged.values.values() for row in rows):
            made.append(Shown(title, partial(_mean, judged, key), metric.scale))
    return made


def _mean(judged: Judged, key: str, place: Place, index: int) -> Interval | None:
    return judged.mean(place, index, key)


def panels(judged: Judged) -> list[Panel]:
    """Return the panels of both figures."""
    places = [_label(place) for place in judged.places]
    made = []
    for shown in _shown(judged):
        found = [_series(judged, shown, index) for index in range(len(judged.names))]
        series = [each for each in found if each is not None]
        band = (-100 * judged.margin, 100 * judged.margin) if shown.higher else None
        lows = [low for each in series for low in np.asarray(each.low if each.low is not None else each.y).tolist()]
        wide = min(lows, default=0.0) > 0 and is_wide(value for each in series for value in np.asarray(each.y).tolist())
        panel = Panel(
            [*series, *(_paths(judged) if shown.higher else [])], title=shown.labelled, x=Axis(names=places),
            y=Axis(shown.title, wide), references=[0.0] if shown.higher else [], band=band, bars=_bars(judged, shown),
        )  # fmt: skip
        low, high = panel.limits or (0.0, 1.0)
        if shown.higher and (low < -FAR or high > FAR):
            panel = replace(panel, y=replace(panel.y, limits=(max(low, -FAR), min(high, FAR))))
        elif not shown.higher and not wide and high > WIDE * max(min(map(abs, lows), default=0.0), LINEAR):
            panel = replace(panel, y=replace(panel.y, linear=LINEAR))
        made.append(panel)
    return made


def _series(judged: Judged, shown: Shown, index: int) -> Series | None:
    known = {_label(place): value for place in judged.places if (value := shown.value(place, index)) is not None}
    known = {place: value for place, value in known.items() if math.isfinite(value.mean)}
    if not known:
        return None
    name = judged.names[index]
    texts = []
    for value in known.values():
        mean, low, high = (shown.scale * each for each in (value.mean, *_ends(value)))
        texts.append(f"{name}: {mean:.3g} [{low:.3g}, {high:.3g}]".replace("-", "−"))
    hollow = [not _is_sure(judged, place, index, shown) for place in judged.places if _label(place) in known]
    return with_intervals(name, [*known], [*known.values()], "points", shown.scale, texts=texts, hollow=hollow)


def _paths(judged: Judged) -> list[Series]:
    """Return the single paths of populations as small points."""
    made = []
    for index, name in enumerate(judged.names[1:], start=1):
        found = [
            (_label(place), 100 * (ratio - 1))
            for place in judged.places
            if place.population
            for _, ratio in judged.relative(place, index)
        ]
        if found:
            x, y = zip(*found, strict=True)
            made.append(Series(f"{name}, single paths", x, y, "points", faint=True, like=name, aside="single paths"))
    return made


def _ends(found: Interval) -> tuple[float, float]:
    return (found.low, found.high) if found.finite else (found.mean, found.mean)


def figure(judged: Judged) -> Figure:
    """Return a panel for each of `_shown`; in files, the places are rows.

    A filled point is better or worse than the reference, a hollow one is not shown to be. The dashed bar of harm is the
    harm that the reference does to itself, the bar for deployment.
    """
    names, places = judged.names, judged.places
    title = winners(judged) if len(places) > 1 else f"{' and '.join(names[1:])} against {names[0]} on {places[0].name}"
    return Figure(title, panels(judged), rows=True)


def _label(place: Place) -> str:
    return f"{place.name} ({counted(len(place.paths), 'path')})" if place.population else place.name


def _bars(judged: Judged, panel: Shown) -> dict[str, float]:
    """Return the harm that the reference does to itself on each place, for the panel of harm."""
    found = {_label(place): judged.mean(place, 0, "harm_goodput") for place in judged.places if "harm" in panel.title}
    return {place: own.mean for place, own in found.items() if own is not None}


def _is_sure(judged: Judged, place: Place, index: int, panel: Shown) -> bool:
    """Whether a point is filled: the tests show a difference; those of the reference always are."""
    if index == 0:
        return True
    key = next((metric.key for metric in METRICS.values() if metric.title == panel.title), None)
    if key is None:
        key = "harm_goodput" if "harm" in panel.title else judged.primary(place)
    found = judged.against(place, index, key)
    return found is not None and found.verdict in ("better", "worse")


def _speed(judged: Judged, place: Place, index: int) -> Interval | None:
    """Return how much faster a contender is than the reference, in percent."""
    found = judged.against(place, index, judged.primary(place))
    if index == 0:
        return Interval(0.0, 0.0, 0.0, 1)
    if found is None or not found.estimate.mean:
        return None
    value = found.estimate
    mean, low, high = (100 * (ratio - 1) for ratio in (value.mean, value.low, value.high))
    return Interval(mean, low, high, value.count, value.note)


def caption(judged: Judged) -> str:
    """Return the caption of both figures."""
    over = list(dict.fromkeys(judged.counted(place) for place in judged.places))
    return f"Speed, costs and harm: means with 95 % intervals over {' or '.join(over)}"


def key(judged: Judged) -> str:
    """Explain the signs of both figures."""
    base = judged.names[0]
    return (
        f"A filled point is better or worse than {base}, a hollow one is not shown to be: a difference of speed within "
        f"the grey band does not matter. Dashed bars: harm of {base} to itself."
    )


def small(judged: Judged) -> str:
    """Explain the small points; empty without a population."""
    return "Small points: single paths." if any(place.population for place in judged.places) else ""
