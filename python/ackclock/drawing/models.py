"""Plots of models: their outputs over a parameter, and a line of theory through measured points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.drawing.curves import COLOURS, SIZE, STYLES, new_figure
from ackclock.models import evaluate
from ackclock.models.compare import SEED, Measured
from ackclock.statistics.intervals import Interval, interval
from ackclock.texts.names import in_figure, in_legend

if TYPE_CHECKING:
    import polars

MARKERS = "os^Dv*P"
DECADE = 10.0  # from this ratio of the largest to the smallest value on an axis is logarithmic


def draw_table(model: str, table: polars.DataFrame, varied: Sequence[str], outputs: Sequence[str], x: str) -> Figure:
    """Draw a model's outputs over one of its parameters, a panel for each unit.

    Parameters
    ----------
    model
        Its name.
    table
        What `evaluate.table` gave.
    varied
        The parameters that vary in it: `x`, a curve for each combination of the others, and the seed, over which
        curves are means with Student's 95 % interval.
    outputs
        What to draw.
    x
        The parameter on the axis.
    """
    entry = evaluate.describe(model)
    units = {output["name"]: output["unit"] for output in entry["outputs"]}
    groups: dict[str, list[str]] = {}
    for output in outputs:
        groups.setdefault(units[output], []).append(output)
    series = [name for name in varied if name not in (x, SEED)]
    figure = new_figure((SIZE[0], SIZE[1] * len(groups)))
    for place, (unit, names) in enumerate(groups.items()):
        axes = figure.add_subplot(len(groups), 1, place + 1)
        curves = _curves(entry, table, (x, series), names)
        for index, (label, points) in enumerate(curves):
            _draw_curve(axes, label, points, index)
        _finish(axes, entry, x, _ylabel(names, unit))
        axes.set_title(f"{model}: {entry['summary']}" if place == 0 else "", loc="left", fontsize=10)
    return figure


def draw_comparison(
    model: str, output: str, lines: polars.DataFrame, varied: Sequence[str], points: Measured
) -> Figure:
    """Draw theory as lines, and what was measured as points with their intervals.

    Parameters
    ----------
    model, output
        What the lines are.
    lines
        The model's numbers over the parameter on the axis.
    varied
        Other parameters that vary in `lines`.
    points
        What was measured.
    """
    entry = evaluate.describe(model)
    figure = new_figure(SIZE)
    axes = figure.add_subplot()
    shared = [name for name in varied if name != points.parameter]
    for index, (label, curve) in enumerate(_curves(entry, lines, (points.parameter, shared), [output])):
        name = f"{model}: {output}" + (f", {label.partition(', ')[2]}" if shared else "")
        xs, ys = [at for at, _ in curve], [value.mean for _, value in curve]
        axes.plot(xs, ys, color="#444444", linestyle=STYLES[index % len(STYLES)], linewidth=1.3, label=name)
    scale, _ = _scale(entry, points.parameter)
    for index, series in enumerate(dict.fromkeys(point.series for point in points.points)):
        found = [(scale * point.x, point.y) for point in points.points if point.series == series]
        style: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}
        label = in_legend(", ".join(series) or "measured")
        axes.errorbar(
            [at for at, _ in found],
            [value.mean for _, value in found],
            yerr=_errors([value for _, value in found]),
            label=label, linestyle="none", markersize=5, capsize=2.5, **style,
        )  # fmt: skip
    unit = next(found["unit"] for found in entry["outputs"] if found["name"] == output)
    _finish(axes, entry, points.parameter, _ylabel([points.y], unit))
    axes.set_title(in_figure(f"{points.y} measured, and {model}"), loc="left", fontsize=10)
    return figure


Curve = list[tuple[float, Interval]]


def _curves(
    entry: Mapping[str, Any], table: polars.DataFrame, axes: tuple[str, Sequence[str]], outputs: Sequence[str]
) -> Iterator[tuple[str, Curve]]:
    """Give the curves of outputs over x, one for each combination of the other parameters."""
    x, series = axes
    scale, _ = _scale(entry, x)
    groups = table.group_by(*series, maintain_order=True) if series else [((), table)]
    for key, group in groups:
        values = ", ".join(f"{name} {_shown(entry, name, value)}" for name, value in zip(series, key, strict=True))
        for output in outputs:
            points = [
                (scale * float(at), interval(rows[output].to_list(), "seed"))
                for (at,), rows in group.group_by(x, maintain_order=True)
            ]
            yield ", ".join(filter(None, (output, values))), points


def _shown(entry: Mapping[str, Any], name: str, value: Any) -> str:  # noqa: ANN401 - a parameter's value
    if not isinstance(value, float):
        return str(value)
    scale, unit = _scale(entry, name)
    return f"{scale * value:g}{' ' + unit if unit else ''}"


def _scale(entry: Mapping[str, Any], name: str) -> tuple[float, str]:
    """Give the factor and the unit in which a parameter is shown."""
    parameter = next(found for found in entry["params"] if found["name"] == name)
    unit, shown = evaluate.unit_of(parameter)
    return shown(1.0), unit


def _draw_curve(axes: Axes, label: str, points: Curve, index: int) -> None:
    xs, values = [at for at, _ in points], [value for _, value in points]
    style: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "linestyle": STYLES[index % len(STYLES)]}
    errors = _errors(values) if any(value.count > 1 for value in values) else None
    axes.errorbar(xs, [value.mean for value in values], yerr=errors, label=label, linewidth=1.3, capsize=2, **style)


def _errors(values: Sequence[Interval]) -> Any:  # noqa: ANN401 - an array for matplotlib
    """Give the intervals as matplotlib wants them; nothing where one run has none."""
    errors = np.array([[value.mean - value.low for value in values], [value.high - value.mean for value in values]])
    errors[~np.isfinite(errors)] = 0.0
    return errors


def _ylabel(names: Sequence[str], unit: str) -> str:
    name = names[0] if len(names) == 1 else ""
    return f"{name} ({unit})".strip() if unit else name


def _finish(axes: Axes, entry: Mapping[str, Any], x: str, ylabel: str) -> None:
    _, unit = _scale(entry, x)
    axes.set_xlabel(f"{x} ({unit})" if unit else x)
    axes.set_ylabel(ylabel)
    for ends, set_scale in ((axes.dataLim.intervalx, axes.set_xscale), (axes.dataLim.intervaly, axes.set_yscale)):
        low, high = float(ends[0]), float(ends[1])
        if 0 < low < math.inf and high >= DECADE * low:
            set_scale("log")
    if axes.get_xscale() == "log":
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if axes.get_yscale() == "linear":
        axes.set_ylim(bottom=0)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8.5, loc="best")
