"""A paper's figures of measured values: over a label, as a map over two labels, or over time or a model's rounds.

What they show is in `paper.toml`: ``[[chart]]`` with its `kind`, the labels of the cells that it takes (`where`), and
the label on its axis. Values are means over seeds or start times with their intervals, as in verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ackclock import curves, heatmaps, modelruns, plot
from ackclock.intervals import Interval, interval, rounded
from ackclock.library import Paper
from ackclock.measuring import Lines
from ackclock.names import in_figure, in_legend
from ackclock.numbers import number
from ackclock.reproduction import Outcome, takes

Row = Mapping[str, Any]
TRACE_LABELS = {"cwnd": "cwnd (segments)", "throughput": "throughput (Mbit/s)"}
ROUND_AXES = {
    "window_rate": ("cwnd per RTT so far (kB/s)", 1 / 8000),
    "acked_window_rate": ("arrived cwnd per RTT so far (kB/s)", 1 / 8000),
    "packet_rate": ("packets so far (kB/s)", 1 / 8000),
    "cwnd": ("cwnd (kB)", 1 / 1000),
    "ssthresh": ("ssthresh (kB)", 1 / 1000),
    "acked": ("ACK", 1.0),
}
MARKERS = "os^Dv*P"


@dataclass(frozen=True)
class Chart:
    """A drawn chart.

    Attributes
    ----------
    title : str
        What it shows.
    number : int or None
        The paper's figure.
    path : Path
        Where it was written.
    columns, rows : list
        The numbers that it shows, as a table; empty for curves over time.
    """

    title: str
    number: int | None
    path: Path
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of its file without ending."""
        return self.path.stem

    @property
    def heading(self) -> str:
        """Its title with the paper's number."""
        return self.title if self.number is None else f"Figure {self.number}: {self.title}"


def draw_all(outcome: Outcome, folder: Path) -> list[Chart]:
    """Draw the charts of a paper of which anything was run.

    Parameters
    ----------
    outcome
        What the runs gave.
    folder
        Where to.
    """
    drawn = []
    for index, chart in enumerate(outcome.plan.paper.charts, start=1):
        name = f"figure-{chart['figure']:03}" if "figure" in chart else f"chart-{index:02}"
        path = folder / f"{name}.png"
        made = DRAW[chart["kind"]](chart, outcome)
        if made is not None:
            figure, columns, rows = made
            plot.save(figure, path)
            drawn.append(Chart(chart["title"], chart.get("figure"), path, columns, rows))
    return drawn


Drawn = tuple[Figure, list[str], list[list[str]]]


def _over_label(chart: Mapping[str, Any], outcome: Outcome) -> Drawn | None:
    """Draw one point or bar with its interval for each flow, or value of the label `series`, and each value of `x`."""
    label, x = chart.get("series", outcome.plan.paper.document.get("flows")), chart["x"]
    rows = _per_run(_chosen(chart, outcome), chart, outcome.plan.paper)
    if "ratio" in chart:
        rows = _ratios(rows, chart["ratio"], (x, label))
    found = _intervals(rows, (x, label), lambda row: row["value"])
    if not found:
        return None
    places, series = _in_order(_values(rows, x)), _values(rows, label)
    exact = {row[label] for row in rows if row["sampling"] == "exact"}
    figure = _new((8.0, 4.4))
    axes = figure.add_subplot()
    for index, name in enumerate(series):
        at = [place for place, value in enumerate(places) if (value, name) in found]
        means = [found[places[place], name] for place in at]
        # Beside a formula's line what was measured stands as points.
        kind = chart["kind"] if chart["kind"] == "bars" or not exact else "formula" if name in exact else "points"
        _draw_series(axes, kind, (index, len(series)), name, (at, means))
    axes.set_xticks(range(len(places)), [in_figure(place) for place in places])
    axes.set_xlabel(in_figure(x))
    axes.set_ylabel(in_figure(chart.get("axis", chart["metric"])))
    axes.set_ylim(bottom=chart.get("bottom", 0))
    axes.set_title(in_figure(_title(chart)), loc="left", fontsize=10)
    axes.grid(visible=True, axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    table = [[place, *(_text(found.get((place, name))) for name in series)] for place in places]
    return figure, [x, *series], table


def _draw_series(
    axes: Axes, kind: str, index_and_count: tuple[int, int], name: str, points: tuple[list[int], list[Interval]]
) -> None:
    (index, count), (at, means) = index_and_count, points
    values = np.array([mean.mean for mean in means])
    errors = np.array([[mean.mean - mean.low for mean in means], [mean.high - mean.mean for mean in means]])
    errors[~np.isfinite(errors)] = 0.0
    colour = curves.COLOURS[index % len(curves.COLOURS)]
    if kind == "bars":
        width = 0.84 / count
        shifted = np.array(at) - 0.42 + (index + 0.5) * width
        axes.bar(shifted, values, width, yerr=errors, color=colour, label=in_legend(name), error_kw={"linewidth": 0.8})
        return
    if kind == "formula":
        axes.plot(at, values, color=colour, linewidth=1.6, label=in_legend(name))
        return
    # Points of several series at one place would hide each other's intervals.
    shifted = np.array(at) + 0.04 * (index - (count - 1) / 2)
    style: dict[str, Any] = {"marker": MARKERS[index % len(MARKERS)], "markersize": 5, "linewidth": 1.2, "capsize": 2.5}
    style["linestyle"] = "none" if kind == "points" else "-"
    axes.errorbar(shifted, values, yerr=errors, color=colour, label=in_legend(name), **style)


def _ratios(rows: Sequence[Row], ratio: Mapping[str, Sequence[str]], keys: Sequence[str]) -> list[Row]:
    """Give the runs of the first value of the label in `ratio`, with values whose mean is the ratio to the second's.

    The ratio R is that of the means, as a mean of single ratios is too large if runs scatter. A pair of runs, a and b,
    counts as R + (a − R·b)/mean(b): these scatter as R does, to first order.
    """
    label, (of, to) = next(iter(ratio.items()))
    below = {_paired(row, keys): row["value"] for row in rows if row[label] == to}
    pairs: dict[tuple[str, ...], list[tuple[Row, float]]] = {}
    for row in rows:
        if row[label] == of and (paired := _paired(row, keys)) in below:
            pairs.setdefault(paired[:-1], []).append((row, below[paired]))
    made: list[Row] = []
    for group in pairs.values():
        mean = sum(b for _, b in group) / len(group)
        if mean:
            whole = sum(row["value"] for row, _ in group) / len(group) / mean
            made += [{**row, "value": whole + (row["value"] - whole * b) / mean} for row, b in group]
    return made


def _paired(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    return (*(row[key] for key in keys), str(row["unit"]))


def _map(chart: Mapping[str, Any], outcome: Outcome) -> Drawn | None:
    """Draw a heat map of one flow's mean value over two labels, one panel for each value of a third."""
    rows = _chosen(chart, outcome)
    x, y, panel = chart["x"], chart["y"], chart.get("panel")
    panels = _values(rows, panel) if panel else [""]
    keys = (x, y, panel) if panel else (x, y)
    found = _intervals(_one_flow(rows, chart, outcome.plan.paper), keys, lambda row: row["value"])
    if not found:
        return None
    xs, ys = _in_order(_values(rows, x)), _in_order(_values(rows, y))
    grids = {
        value: np.array([[_mean(found, (a, b, value) if panel else (a, b)) for a in xs] for b in ys])
        for value in panels
    }
    low, high = min(np.nanmin(grid) for grid in grids.values()), max(np.nanmax(grid) for grid in grids.values())
    figure = _new((4.9 * len(panels) + 0.6, 4.4))
    figure.suptitle(in_figure(_title(chart)), x=0.02, ha="left", fontsize=10)
    for index, (value, grid) in enumerate(grids.items()):
        axes = figure.add_subplot(1, len(panels), index + 1)
        _draw_map(axes, (grid, xs, ys), (low, high), chart)
        axes.set_title(in_figure(f"{panel} {value}") if panel else "", loc="left", fontsize=9)
    columns = [*([panel] if panel else []), f"{y} \\ {x}", *xs]
    table = [
        [*([value] if panel else []), b, *(number(float(cell), 3) for cell in line)]
        for value, grid in grids.items()
        for b, line in zip(ys, grid, strict=True)
    ]
    return figure, columns, table


def _best(chart: Mapping[str, Any], outcome: Outcome) -> Drawn | None:
    """Draw which value of the label `series` does best over two labels, one panel for each value of a third.

    That is the first of those whose mean is `within` this share of the best mean. With `over` the share of that value's
    mean stands below that is saved, or won, by the best instead of it.
    """
    rows = _per_run(_chosen(chart, outcome), chart, outcome.plan.paper)
    x, y, panel, series = chart["x"], chart["y"], chart.get("panel"), chart["series"]
    xs, ys, names = (_in_order(_values(rows, label)) for label in (x, y, series))
    panels = _values(rows, panel) if panel else [""]
    keys = (series, x, y, panel) if panel else (series, x, y)
    found = _intervals(rows, keys, lambda row: row["value"])
    if not found:
        return None
    across = min(len(panels), 3)
    down = math.ceil(len(panels) / across)
    figure = _new((4.9 * across + 0.6, 3.9 * down + 0.5))
    figure.suptitle(in_figure(_title(chart)), x=0.02, ha="left", fontsize=10)
    table = []
    for index, value in enumerate(panels):
        rest = (value,) if panel else ()
        cells = [[heatmaps.best(_variants(found, names, (a, b, *rest)), chart) for a in xs] for b in ys]
        grid = np.array([[names.index(cell.name) if cell else np.nan for cell in line] for line in cells])
        axes = figure.add_subplot(down, across, index + 1)
        texts = [["" if cell is None else cell.text("\n") for cell in line] for line in cells]
        heatmaps.draw(axes, (grid, xs, ys), (0, len(names) - 1), text=texts, size=7)
        axes.set_xlabel(in_figure(x))
        axes.set_ylabel(in_figure(y))
        axes.set_title(in_figure(f"{panel} {value}") if panel else "", loc="left", fontsize=9)
        written = [["–" if cell is None else cell.text(" ") for cell in line] for line in cells]
        table += [[*([value] if panel else []), b, *line] for b, line in zip(ys, written, strict=True)]
    return figure, [*([panel] if panel else []), f"{y} \\ {x}", *xs], table


def _variants(
    found: Mapping[tuple[str, ...], Interval], names: Sequence[str], cell: tuple[str, ...]
) -> dict[str, float]:
    """Give the means of a cell by the values of the label that is chosen from, in their order."""
    keys = {name: (name, *cell) for name in names}
    return {name: found[key].mean for name, key in keys.items() if key in found}


def _draw_map(
    axes: Axes, grid_and_labels: tuple[Any, list[str], list[str]], ends: tuple[float, float], chart: Mapping[str, Any]
) -> None:
    grid, xs, ys = grid_and_labels
    heatmaps.draw(axes, grid_and_labels, ends)
    axes.set_xlabel(in_figure(chart["x"]))
    axes.set_ylabel(in_figure(chart["y"]))
    bounds, mark = chart.get("bounds"), chart.get("mark", {})
    for (row, column), value in np.ndenumerate(grid):
        if bounds and bounds[0] <= value <= bounds[1]:
            axes.add_patch(_frame(column, row, 0.44, "white", 1.6))
        if mark and not np.isnan(value) and (mark.get(chart["x"]), mark.get(chart["y"])) == (xs[column], ys[row]):
            axes.add_patch(_frame(column, row, 0.49, "#D55E00", 2.4))


def _frame(column: int, row: int, half: float, colour: str, width: float) -> Rectangle:
    return Rectangle(
        (column - half, row - half), 2 * half, 2 * half, fill=False, edgecolor=colour, linewidth=width, zorder=3
    )


def _over_time(chart: Mapping[str, Any], outcome: Outcome) -> Drawn | None:
    """Draw curves over time: of each flow of the first run of the chosen cell, or of one for each value of `series`."""
    known = _values(outcome.rows, outcome.plan.paper.document["flows"])
    shown: dict[str, plot.Line] = {}
    for labels, lines in _drawn(chart, outcome):
        own = {name.partition("/")[2]: line for name, line in lines.items() if name.startswith(chart["trace"] + "/")}
        flows = [flow for flow in sorted(own, key=known.index) if flow == chart.get("flow", flow)]
        if "series" in chart:
            for flow in flows[:1]:
                shown.setdefault(labels[chart["series"]], own[flow])
        elif not shown:
            shown = {flow: own[flow] for flow in flows}
    if not shown:
        return None
    lines_shown = [plot.Line(name, line.x, line.y, None, line.step) for name, line in shown.items()]
    panel = plot.Panel(_title(chart), lines_shown, TRACE_LABELS[chart["trace"]])
    return plot.panels([panel], size=(8.0, 4.2)), [], []


def _internals(chart: Mapping[str, Any], outcome: Outcome) -> Drawn | None:
    """Draw what one flow's congestion control shows of itself, in the first run of the chosen cell."""
    for _, lines in _drawn(chart, outcome):
        # A run of one flow does not name it.
        alone = {name: lines.get(f"internals/{name}") for name in chart["names"]}
        own = {name: lines.get(f"internals/{chart['flow']}: {name}", alone[name]) for name in chart["names"]}
        shown = {name: [plot.Line(name, line.x, line.y)] for name, line in own.items() if line is not None}
        if shown:
            return plot.internal_panels(shown, _title(chart)), [], []
    return None


def _over_rounds(chart: Mapping[str, Any], outcome: Outcome) -> Drawn | None:
    """Draw what a model did round by round in the first seed of the chosen cell, one panel for each quantity."""
    for _, lines in _drawn(chart, outcome):
        shown = {
            name: line for name in chart["traces"] if (line := lines.get(f"{modelruns.TRACED}/{name}")) is not None
        }
        if len(shown) < len(chart["traces"]):
            continue
        figure = _new((8.0, 1.9 * len(shown) + 0.5))
        figure.suptitle(in_figure(_title(chart)), x=0.02, ha="left", fontsize=10)
        for index, (name, line) in enumerate(shown.items()):
            axes = figure.add_subplot(len(shown), 1, index + 1)
            axis, scale = ROUND_AXES.get(name, (name, 1.0))
            axes.plot(line.x, line.y * scale, color=curves.COLOURS[0], linewidth=0.9, drawstyle="steps-mid")
            axes.set_ylabel(axis, fontsize=8.5)
            axes.set_ylim(bottom=0)
            axes.grid(visible=True, axis="y", color="#dddddd", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("packet")
        return figure, [], []
    return None


def _drawn(chart: Mapping[str, Any], outcome: Outcome) -> list[tuple[dict[str, str], Lines]]:
    """Give the labels and curves of the chart's cells."""
    cells = [(dict(zip(outcome.plan.paper.labels, key, strict=True)), lines) for key, lines in outcome.lines.items()]
    return [(labels, lines) for labels, lines in cells if lines and takes(chart, labels)]


DRAW: dict[str, Callable[[Mapping[str, Any], Outcome], Drawn | None]] = {
    "lines": _over_label,
    "bars": _over_label,
    "map": _map,
    "best": _best,
    "time": _over_time,
    "rounds": _over_rounds,
    "internals": _internals,
}


def _chosen(chart: Mapping[str, Any], outcome: Outcome) -> list[Row]:
    return [row for row in outcome.rows if takes(chart, row)]


def _values(rows: Sequence[Row], label: str) -> list[str]:
    return list(dict.fromkeys(row[label] for row in rows))


def _in_order(values: list[str]) -> list[str]:
    """Sort values that begin with a number, as "50" or "100 s"; others, or of several units, stay as in the files."""
    parted = [value.partition(" ") for value in values]
    try:
        numbers = {value: float(head) for value, (head, _, _) in zip(values, parted, strict=True)}
    except ValueError:
        return values
    return sorted(values, key=lambda value: numbers[value]) if len({unit for _, _, unit in parted}) == 1 else values


def _scaled(row: Row, chart: Mapping[str, Any]) -> float | None:
    value = row.get(chart["metric"])
    return None if value is None else value * chart.get("scale", 1)


def _per_run(rows: Sequence[Row], chart: Mapping[str, Any], paper: Paper) -> list[Row]:
    """Give what is drawn of each flow as ``value``; with `series`, the mean over the flows of each run."""
    valued: list[Row] = [{**row, "value": value} for row in rows if (value := _scaled(row, chart)) is not None]
    if "series" not in chart or chart["series"] == paper.document.get("flows"):
        return valued
    runs: dict[tuple[str, ...], list[Row]] = {}
    for row in valued:
        runs.setdefault(_run(row, paper.labels), []).append(row)
    return [{**flows[0], "value": sum(row["value"] for row in flows) / len(flows)} for flows in runs.values()]


def _one_flow(rows: Sequence[Row], chart: Mapping[str, Any], paper: Paper) -> list[Row]:
    """Give the rows of the chart's flow with what is drawn of it as ``value``.

    That is its metric; or, with `to`, its ratio to that of another flow of the run; or, with `equals`, whether it has
    this value, whose mean is how often.
    """
    flows = paper.document["flows"]
    runs: dict[tuple[str, ...], dict[str, float | None]] = {}
    for row in rows:
        runs.setdefault(_run(row, paper.labels), {})[row[flows]] = _scaled(row, chart)
    made: list[Row] = []
    for row in rows:
        value = _scaled(row, chart)
        if row[flows] != chart["flow"] or value is None:
            continue
        if "to" in chart:
            other = runs[_run(row, paper.labels)].get(chart["to"])
            if not other:
                continue
            value /= other
        made.append({**row, "value": float(value == chart["equals"]) if "equals" in chart else value})
    return made


def _run(row: Row, labels: Sequence[str]) -> tuple[str, ...]:
    return (*(row[label] for label in labels), str(row["unit"]))


def _intervals(
    rows: Sequence[Row], keys: Sequence[str], value: Callable[[Row], float | None]
) -> dict[tuple[str, ...], Interval]:
    samples: dict[tuple[str, ...], tuple[list[float], Any]] = {}
    for row in rows:
        measured = value(row)
        if measured is not None:
            samples.setdefault(tuple(row[key] for key in keys), ([], row["sampling"]))[0].append(measured)
    return {key: interval(sample, sampling) for key, (sample, sampling) in samples.items()}


def _mean(found: Mapping[tuple[str, ...], Interval], key: tuple[str, ...]) -> float:
    return found[key].mean if key in found else float("nan")


def _text(value: Interval | None) -> str:
    if value is None:
        return "–"
    mean, low, high = rounded(value)
    return f"{mean} [{low}, {high}]"


def _title(chart: Mapping[str, Any]) -> str:
    head = f"Figure {chart['figure']}: " if "figure" in chart else ""
    return head + str(chart["title"])


def _new(size: tuple[float, float]) -> Figure:
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure
