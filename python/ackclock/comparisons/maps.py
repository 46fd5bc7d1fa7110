"""Heat maps of a matrix against its baseline: blue is better, red is worse, white is the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars
from numpy.typing import NDArray

from ackclock.comparisons.crossed import FRONT, SHOWN, Crossed, title, varied, wins
from ackclock.comparisons.judging import METRICS
from ackclock.drawing.figure import WIDE, Axis, Figure, Heatmap, Panel, Series
from ackclock.files import checks
from ackclock.metrics.metric import Metric

Floats = NDArray[np.float64]
DOWN, ACROSS = ("slow_start", "loss_response"), ("avoidance", "recovery")
LEAST = 0.01  # smallest end of the scale: smaller values look white
MOST = {"ratio": 2.0, "difference": 1.0}  # largest end of the scale: a factor of four, or the whole range


def cells(matrix: Crossed, path: str, metric: str | None = None) -> Figure:
    """Return the map of every combination on one path; see `Comparison.plot`. A dot marks what is better after Holm.

    Raises
    ------
    ValueError
        If the path or the metric is unknown, or has no values.
    """
    grid, xs, ys, key = _cells(matrix, path, metric)
    across, down = (" · ".join(title(axis) for axis in _shown(axes, matrix)) for axes in (ACROSS, DOWN))
    own = matrix.compositions.filter(polars.col("place") == path)
    winners = {(row[DOWN[0]], row[DOWN[1]], row[ACROSS[0]], row[ACROSS[1]]) for row in own.to_dicts() if wins(row, key)}
    columns, rows = _names(xs, ACROSS, matrix), _names(ys, DOWN, matrix)
    dotted = [(columns[at], rows[row]) for row, y in enumerate(ys) for at, x in enumerate(xs) if (*y, *x) in winners]
    heatmap = replace(_heatmap(grid, columns, rows, METRICS[key]), dotted=dotted, divided=" · ")
    dots = " (dot: better after Holm's correction)" if dotted else ""
    panel = Panel(heatmap=heatmap, x=Axis(across), y=Axis(down))
    return Figure(f"{path}: {_against(METRICS[key])}{dots}", [panel], f"{path}-{key}")


Places = list[tuple[str, ...]]


def _cells(matrix: Crossed, path: str, metric: str | None) -> tuple[Floats, Places, Places, str]:
    """Return the values of all combinations on a path, their columns and rows, and the metric."""
    checks.words("plot", "path", [path], matrix.paths)
    key = metric or matrix.metric(path)
    checks.words("plot", "metric", [key], SHOWN)
    own = matrix.compositions.filter(polars.col("place") == path)
    if own[f"{key}_vs"].is_null().all():
        raise ValueError(f"on the path {path!r}, {key} cannot be compared with the baseline")
    ys, xs = (_ordered(own, axes, key) for axes in (DOWN, ACROSS))
    found = {(row[:2], row[2:4]): row[4] for row in own.select(*DOWN, *ACROSS, f"{key}_vs").iter_rows()}
    grid = np.array([[_number(found.get((y, x))) for x in xs] for y in ys])
    return grid, xs, ys, key


def front(matrix: Crossed) -> Figure | None:
    """Return speed against queue of all combinations over all paths, see `Crossed.front`; None without queues."""
    found = matrix.front.filter(polars.col("queue").is_not_null())
    if len(matrix.paths) < 2 or found.height < 3:
        return None
    axes = varied(matrix)
    made = []
    for name, best in (("beaten by another one", False), ("beaten by no other one", True)):
        rows = found.filter(best=best).to_dicts()
        texts = [" · ".join(dict.fromkeys(row[axis] for axis in axes)) for row in rows]
        made.append(
            Series(
                name,
                [row["queue"] for row in rows],
                [row["speed"] for row in rows],
                "points",
                texts=texts,
                faint=not best,
            )
        )
    queues = found["queue"].to_list()
    x = Axis("waiting time over the baseline's, geometric mean over the paths", log=max(queues) > WIDE * min(queues))
    speeds = found["speed"].to_list()
    y = Axis("speed over the baseline's", limits=(0.95 * min(speeds), 1.05 * max(speeds)))
    return Figure(FRONT.capitalize(), [Panel(made, x=x, y=y)], "front")


def overview(matrix: Crossed, metric: str | None = None) -> Figure:
    """Return the mean of every part over its combinations on every path, with a panel for each metric."""
    names, found = _effects(matrix, metric)
    panels = [
        Panel(heatmap=replace(_heatmap(grid, xs, names, each), divided=": "), title=_against(each), x=Axis("path"))
        for each, (grid, xs) in found.items()
    ]
    return Figure("Each part against the baseline, mean over its combinations", panels, "overview")


def _effects(matrix: Crossed, metric: str | None) -> tuple[list[str], dict[Metric, tuple[Floats, list[str]]]]:
    """Return the names of the parts with their axes, and by metric the mean effects and the paths."""
    checks.words("plot", "metric", [metric] if metric else [], SHOWN)
    shown = [METRICS[key] for key in ([metric] if metric else SHOWN)]
    parts = {each.key: matrix.parts(each.key).filter(polars.col("vs").is_not_null()) for each in shown}
    shown = [each for each in shown if len(parts[each.key])]
    if not shown:
        raise ValueError("no metric can be compared with the baseline")
    axes = varied(matrix)
    places = [(axis, part) for axis in axes for part in matrix.compositions[axis].unique(maintain_order=True)]
    names = [f"{title(axis)}: {part}" for axis, part in places]
    made = {}
    for each in shown:
        found = {(axis, part, path): vs for axis, part, path, _, vs in parts[each.key].iter_rows()}
        xs = parts[each.key]["path"].unique(maintain_order=True).to_list()
        made[each] = np.array([[_number(found.get((*place, x))) for x in xs] for place in places]), xs
    return names, made


def _heatmap(grid: Floats, xs: Sequence[str], ys: Sequence[str], metric: Metric) -> Heatmap:
    """Return values against the baseline as a map, coloured from worse through equal to better."""
    values, extent = _colours(grid, metric)
    texts = [["" if math.isnan(cell) else _text(float(cell), metric) for cell in row] for row in grid]
    ticks = {end: _text(2.0**end if metric.relation == "ratio" else end, metric) for end in (-extent, 0.0, extent)}
    ends = (-extent, extent)
    return Heatmap(xs, ys, values, texts, "", ends, "gain" if metric.better > 0 else "loss", ticks)


def _colours(grid: Floats, metric: Metric) -> tuple[Floats, float]:
    """Return the values on the scale of colours, and its end."""
    ratio = metric.relation == "ratio"
    with np.errstate(divide="ignore"):
        shown = np.maximum(np.log2(grid), -2 * MOST["ratio"]) if ratio else grid
    # A few extreme cells would leave no colours for the others.
    return shown, min(max(float(np.nanquantile(np.abs(shown), 0.98)), LEAST), MOST[metric.relation])


def _ordered(own: polars.DataFrame, axes: Sequence[str], key: str) -> list[tuple[str, ...]]:
    """Return the pairs of parts of two axes, sorted by the mean of the first part, then of the second; best first."""
    ranks = []
    for axis in axes:
        means = own.group_by(axis, maintain_order=True).agg(polars.col(f"{key}_vs").mean())
        ranks.append({part: (vs is None, -METRICS[key].better * (vs or 0.0)) for part, vs in means.iter_rows()})
    pairs = own.select(axes).unique(maintain_order=True).rows()
    return sorted(pairs, key=lambda pair: [(ranks[place][part], part) for place, part in enumerate(pair)])


def _names(places: Sequence[tuple[str, ...]], axes: Sequence[str], matrix: Crossed) -> list[str]:
    """Return the names of rows or columns, by the axes that vary."""
    indices = [axes.index(axis) for axis in _shown(axes, matrix)]
    return [" · ".join(place[index] for index in indices) for place in places]


def _shown(axes: Sequence[str], matrix: Crossed) -> list[str]:
    """Return the axes that vary, otherwise the first."""
    return [axis for axis in axes if matrix.compositions[axis].n_unique() > 1] or list(axes[:1])


def _against(metric: Metric) -> str:
    """Return the title of a map."""
    name, _, unit = metric.title.partition(" (")
    if metric.relation == "ratio":
        return f"{name} over the baseline's"
    return f"{name} less the baseline's" + (f" ({unit}" if unit else "")


def _text(found: float, metric: Metric) -> str:
    """Return a ratio or a difference with few digits."""
    if metric.relation == "ratio":
        return f"{found:.2f}" if found < 10 else f"{found:.0f}"
    return f"{found * metric.scale:+.2f}".replace("-", "−")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
