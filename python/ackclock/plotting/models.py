"""Figures of models: outputs over a parameter, and theory with measured points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.drawing.figure import Axis, Figure, Panel, Series, is_wide, with_intervals
from ackclock.models import registry
from ackclock.models.compare import SEED, Measured
from ackclock.models.registry import Model
from ackclock.statistics.intervals import Interval, interval

if TYPE_CHECKING:
    import polars

DECADE = 10.0  # an axis is logarithmic if the largest value is at least this many times the smallest


def of_table(model: str, table: polars.DataFrame, varied: Sequence[str], outputs: Sequence[str], x: str) -> Figure:
    """Return a model's outputs over one of its parameters, a panel for each unit.

    Parameters
    ----------
    model
        Its name.
    table
        The result of `evaluate.table`.
    varied
        The parameters that vary in it. Each combination except `x` and the seed has a curve. Curves are means over
        the seeds, with Student's 95 % interval.
    outputs
        The outputs to draw.
    x
        The parameter on the axis.
    """
    described = registry.find(model)
    groups: dict[str, list[str]] = {}
    for output in outputs:
        groups.setdefault(described.output(output).unit, []).append(output)
    series = [name for name in varied if name not in (x, SEED)]
    panels = []
    for unit, names in groups.items():
        curves = [
            with_intervals(label, [at for at, _ in points], [value for _, value in points],
                           "joined" if any(value.count > 1 for _, value in points) else "line")
            for label, points in _curves(described, table, (x, series), names)
        ]  # fmt: skip
        panels.append(_panel(described, x, _ylabel(names, unit), curves))
    return Figure(f"{model}: {described.summary}", panels, stacked=True)


def of_comparison(model: str, output: str, lines: polars.DataFrame, varied: Sequence[str], points: Measured) -> Figure:
    """Return theory as lines, and measurements as points with their intervals.

    Parameters
    ----------
    model, output
        The model and the output that the lines show.
    lines
        The model's outputs over the parameter on the axis.
    varied
        Other parameters that vary in `lines`.
    points
        The measurements.
    """
    described = registry.find(model)
    shared = [name for name in varied if name != points.parameter]
    drawn = []
    for label, curve in _curves(described, lines, (points.parameter, shared), [output]):
        name = f"{model}: {output}" + (f", {label.partition(', ')[2]}" if shared else "")
        drawn.append(Series(name, [at for at, _ in curve], [value.mean for _, value in curve]))
    scale = _factor(described, points.parameter)
    for series in dict.fromkeys(point.series for point in points.points):
        found = [(scale * point.x, point.y) for point in points.points if point.series == series]
        name, x = ", ".join(series) or "measured", [at for at, _ in found]
        drawn.append(with_intervals(name, x, [value for _, value in found], "points"))
    ylabel = _ylabel([points.y], described.output(output).unit)
    panel = _panel(described, points.parameter, ylabel, drawn)
    return Figure(f"{points.y} measured, and {model}", [panel])


Curve = list[tuple[float, Interval]]


def _curves(
    model: Model, table: polars.DataFrame, axes: tuple[str, Sequence[str]], outputs: Sequence[str]
) -> Iterator[tuple[str, Curve]]:
    """Yield the curves of outputs over x, one for each combination of the other parameters."""
    x, series = axes
    scale = _factor(model, x)
    groups = table.group_by(*series, maintain_order=True) if series else [((), table)]
    for key, group in groups:
        values = ", ".join(f"{name} {_shown(model, name, value)}" for name, value in zip(series, key, strict=True))
        for output in outputs:
            points = [
                (scale * float(at), interval(rows[output].to_list(), "seed"))
                for (at,), rows in group.group_by(x, maintain_order=True)
            ]
            yield ", ".join(filter(None, (output, values))), points


def _shown(model: Model, name: str, value: Any) -> str:  # noqa: ANN401 - a parameter's value
    parameter = model.parameter(name)
    if parameter is None or not isinstance(value, float):
        return str(value)
    return f"{parameter.factor * value:g} {parameter.unit}".rstrip()


def _factor(model: Model, name: str) -> float:
    """Return the factor from SI units to the unit in which a parameter is shown."""
    parameter = model.parameter(name)
    return 1.0 if parameter is None else parameter.factor


def _ylabel(names: Sequence[str], unit: str) -> str:
    name = names[0] if len(names) == 1 else ""
    return f"{name} ({unit})".strip() if unit else name


def _panel(model: Model, x: str, ylabel: str, series: Sequence[Series]) -> Panel:
    parameter = model.parameter(x)
    wide = [
        is_wide((value for each in series for value in np.asarray(getattr(each, axis), float).tolist()), DECADE)
        for axis in ("x", "y")
    ]
    title = x if parameter is None else parameter.title
    return Panel(series, x=Axis(title, wide[0]), y=Axis(ylabel, wide[1]))
