"""Plots of models: outputs over a parameter, and theory with measured points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.drawing.curves import COLOURS, SIZE, STYLES, new_figure
from ackclock.drawing.panels import MARKERS, errors, style_axes
from ackclock.models import registry
from ackclock.models.compare import SEED, Measured
from ackclock.models.registry import Model
from ackclock.statistics.intervals import Interval, interval
from ackclock.texts.names import in_figure, in_legend

if TYPE_CHECKING:
    import polars

DECADE = 10.0  # an axis is logarithmic if the largest value is at least this many times the smallest


def draw_table(model: str, table: polars.DataFrame, varied: Sequence[str], outputs: Sequence[str], x: str) -> Figure:
    """Draw a model's outputs over one of its parameters, a panel for each unit.

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
    figure = new_figure((SIZE[0], SIZE[1] * len(groups)))
    for place, (unit, names) in enumerate(groups.items()):
        axes = figure.add_subplot(len(groups), 1, place + 1)
        curves = _curves(described, table, (x, series), names)
        for index, (label, points) in enumerate(curves):
            _draw_curve(axes, label, points, index)
        _finish(axes, described, x, _ylabel(names, unit))
        axes.set_title(f"{model}: {described.summary}" if place == 0 else "", loc="left", fontsize=10)
    return figure


def draw_comparison(
    model: str, output: str, lines: polars.DataFrame, varied: Sequence[str], points: Measured
) -> Figure:
    """Draw theory as lines, and measurements as points with their intervals.

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
    figure = new_figure(SIZE)
    axes = figure.add_subplot()
    shared = [name for name in varied if name != points.parameter]
    for index, (label, curve) in enumerate(_curves(described, lines, (points.parameter, shared), [output])):
        name = f"{model}: {output}" + (f", {label.partition(', ')[2]}" if shared else "")
        xs, ys = [at for at, _ in curve], [value.mean for _, value in curve]
        axes.plot(xs, ys, color="#444444", linestyle=STYLES[index % len(STYLES)], linewidth=1.3, label=name)
    scale = _factor(described, points.parameter)
    for index, series in enumerate(dict.fromkeys(point.series for point in points.points)):
        found = [(scale * point.x, point.y) for point in points.points if point.series == series]
        style: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}
        label = in_legend(", ".join(series) or "measured")
        axes.errorbar(
            [at for at, _ in found],
            [value.mean for _, value in found],
            yerr=errors([value for _, value in found]),
            label=label, linestyle="none", markersize=5, capsize=2.5, **style,
        )  # fmt: skip
    _finish(axes, described, points.parameter, _ylabel([points.y], described.output(output).unit))
    axes.set_title(in_figure(f"{points.y} measured, and {model}"), loc="left", fontsize=10)
    return figure


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


def _draw_curve(axes: Axes, label: str, points: Curve, index: int) -> None:
    xs, values = [at for at, _ in points], [value for _, value in points]
    style: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "linestyle": STYLES[index % len(STYLES)]}
    bars = errors(values) if any(value.count > 1 for value in values) else None
    axes.errorbar(xs, [value.mean for value in values], yerr=bars, label=label, linewidth=1.3, capsize=2, **style)


def _ylabel(names: Sequence[str], unit: str) -> str:
    name = names[0] if len(names) == 1 else ""
    return f"{name} ({unit})".strip() if unit else name


def _finish(axes: Axes, model: Model, x: str, ylabel: str) -> None:
    parameter = model.parameter(x)
    axes.set_xlabel(x if parameter is None else parameter.title)
    axes.set_ylabel(ylabel)
    for ends, set_scale in ((axes.dataLim.intervalx, axes.set_xscale), (axes.dataLim.intervaly, axes.set_yscale)):
        low, high = float(ends[0]), float(ends[1])
        if 0 < low < math.inf and high >= DECADE * low:
            set_scale("log")
    if axes.get_xscale() == "log":
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if axes.get_yscale() == "linear":
        axes.set_ylim(bottom=0)
    style_axes(axes)
    axes.legend(frameon=False, fontsize=8.5, loc="best")
