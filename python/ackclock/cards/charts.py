"""Small charts of curves over time, as data of SVG elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ackclock.texts.numbers import number

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C46A9B", "#B77F00", "#3D8FC0", "#7A5CE0", "#B8405A")
"""The palette of reports, changed where a colour would be faint on a white or on a black page."""
WIDTH, HEIGHT = 300, 96
"""Size of the plot without its labels."""


@dataclass(frozen=True)
class Curve:
    """One curve.

    Attributes
    ----------
    name : str
        Its name in the legend, from which its colour follows.
    x, y : sequence of float
        Times in seconds, and values; NaN leaves a gap.
    step : bool
        Whether a value holds until the next one.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    step: bool = True


@dataclass(frozen=True)
class Chart:
    """One pair of axes.

    Attributes
    ----------
    title : str
        The quantity with its unit.
    curves : sequence of Curve
        Its curves.
    end : float
        End of the axis of time, in seconds.
    """

    title: str
    curves: Sequence[Curve]
    end: float

    @property
    def top(self) -> float:
        """End of the vertical axis, which begins at 0."""
        return max((value for curve in self.curves for value in curve.y if math.isfinite(value)), default=0.0) or 1.0

    @property
    def labels(self) -> tuple[str, str]:
        """The texts at the ends of both axes: the largest value, and the end."""
        return number(self.top, 3), f"{number(self.end, 3)} s"

    def path(self, curve: Curve) -> str:
        """Return a curve as the data of an SVG path."""
        made: list[str] = []
        pen, last = False, 0.0
        for time, value in zip(curve.x, curve.y, strict=True):
            if not math.isfinite(value):
                pen = False
                continue
            x, y = WIDTH * min(time / self.end, 1.0) if self.end else 0.0, HEIGHT * (1 - value / self.top)
            if not pen:
                made.append(f"M{x:.1f} {y:.1f}")
            elif curve.step:
                made.append(f"H{x:.1f}V{y:.1f}" if f"{y:.1f}" != f"{last:.1f}" else f"H{x:.1f}")
            else:
                made.append(f"L{x:.1f} {y:.1f}")
            pen, last = True, y
        if pen and curve.step and curve.x[-1] < self.end:
            made.append(f"H{WIDTH}")
        return "".join(made)


@dataclass(frozen=True)
class Charts:
    """Charts side by side with one legend.

    Attributes
    ----------
    charts : sequence of Chart
        The charts.
    note : str
        A line below them.
    """

    charts: Sequence[Chart]
    note: str = ""
    width: int = field(default=WIDTH, init=False)
    height: int = field(default=HEIGHT, init=False)

    @property
    def colours(self) -> dict[str, str]:
        """The colour of each name."""
        names = dict.fromkeys(curve.name for chart in self.charts for curve in chart.curves)
        return {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}
