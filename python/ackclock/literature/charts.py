"""Charts of a paper: measured values over one label, two labels, time, or the rounds of a model.

A ``[[chart]]`` of `paper.toml` declares its `kind`, the labels of its cells (`where`), and the label of its axis.
Values are means over seeds or start times, with the same intervals as verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ackclock.curves import Floats, Line
from ackclock.drawing import overtime
from ackclock.drawing.figure import (
    WIDE,
    Axis,
    Figure,
    Heatmap,
    Panel,
    Series,
    Style,
    from_lines,
    is_wide,
    powers,
    with_intervals,
)
from ackclock.formatting.numbers import number
from ackclock.judging.samples import Sample, Scale
from ackclock.literature import modelruns, notes
from ackclock.literature.contents import MEASURED, Chart
from ackclock.literature.library import Paper
from ackclock.literature.measurement import Lines
from ackclock.literature.reproduction import Outcome
from ackclock.metrics.registry import BOUNDS, of
from ackclock.reports import grids, units
from ackclock.statistics import selection
from ackclock.statistics.intervals import Interval, interval, rounded

WIDE_RATIO = 3.0  # an axis of ratios, which does not begin at zero, is logarithmic sooner
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


@dataclass(frozen=True)
class Picture:
    """A chart with its runs, and the place of its file.

    Attributes
    ----------
    chart : Chart
        Its declaration.
    path : Path
        Its file.
    shown : Figure
        What it shows.
    columns, rows : list
        Its numbers as a table; empty for curves over time.
    """

    chart: Chart
    path: Path
    shown: Figure
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of its file without extension."""
        return self.path.stem


def pictures(outcome: Outcome, folder: Path) -> list[Picture]:
    """Return all charts of a paper that have runs, without drawing them.

    Parameters
    ----------
    outcome
        The results of the runs.
    folder
        Folder of the figures.
    """
    drawn = []
    for index, chart in enumerate(outcome.plan.paper.contents.charts, start=1):
        name = f"chart-{index:02}" if chart.figure is None else f"figure-{chart.figure:03}"
        path = folder / f"{name}.png"
        made = DRAW[chart.kind](chart, outcome)
        if made is not None:
            panels, columns, rows = made
            table = grids.numbers(columns, rows, left=2 if chart.panel else 1) if rows else None
            stacked = chart.kind in ("internals", "rounds")
            shown = Figure(
                chart.heading, panels, anchor=name, numbers=table, note=_note(chart, outcome), stacked=stacked
            )
            drawn.append(Picture(chart, path, shown, columns, rows))
    return drawn


def _note(chart: Chart, outcome: Outcome) -> str:
    if chart.kind in MEASURED:
        return notes.of_values(outcome, chart)
    cells = [tuple(labels.values()) for labels, _ in _drawn(chart, outcome)]
    if chart.kind == "time" and chart.series is not None:
        return notes.of_curves(outcome, cells)
    # Without series, the first cell alone is drawn, and the first seed alone of a model or of internals.
    if chart.kind == "rounds":
        return "From a model: the first of its simulated seeds."
    return notes.of_curves(outcome, cells[:1], single=chart.kind == "internals")


Drawn = tuple[list[Panel], list[str], list[list[str]]]


def _over_label(chart: Chart, outcome: Outcome) -> Drawn | None:
    """Draw a point or bar with its interval for each value of `x`, and for each flow or value of `series`.

    With `panel`, each value of a third label has a panel. With `over`, each series is divided by that series.
    """
    paper = outcome.plan.paper
    label, x, panel = _series(chart, paper), chart.x, chart.panel
    rows = _per_run(_chosen(chart, outcome), chart, paper)
    keys = (panel, x, label) if panel else (x, label)
    if chart.over is not None:
        found = {
            (*key, name): each
            for name in _values(rows, label)
            if name != chart.over
            for key, each in _ratios(rows, {label: (name, chart.over)}, keys[:-1], geometric=chart.geometric).items()
        }
    else:
        found = (
            _ratios(rows, chart.ratio, keys, geometric=chart.geometric)
            if chart.ratio
            else _intervals(rows, keys, chart)
        )
    rows = [row for row in rows if tuple(row[key] for key in keys) in found]
    if not found:
        return None
    places, series, panels = _in_order(_values(rows, x)), _values(rows, label), _values(rows, panel) if panel else [""]
    exact = {row[label] for row in rows if row["sampling"] == "exact"}
    relative = bool(chart.ratio) or chart.over is not None
    printed = [mark for mark in printed_values(chart, outcome) if mark[0] in places and mark[1] in ("", *series)]
    values = [*(item.mean for item in found.values()), *(value for _, _, value in printed)]
    # All panels share one scale. On a logarithmic axis the length of a bar means nothing, so points replace bars.
    log = is_wide(values, WIDE_RATIO if relative else WIDE)
    drawn = []
    for value in panels:
        shown = []
        for name in series:
            own = {place: found.get((value, place, name) if panel else (place, name)) for place in places}
            known = {place: item for place, item in own.items() if item is not None}
            # If a formula is drawn as a line, measurements are points.
            style: Style = "line" if name in exact else "points" if exact else "joined"
            if chart.kind == "bars":
                style = "points" if log else "bars"
            if known:
                texts, base = [*map(_text, known.values())], 1.0 if relative else 0.0
                shown.append(with_intervals(name, [*known], [*known.values()], style, texts=texts, base=base))
        shown += _printed_series(printed, places, series)
        drawn.append(shown)
    y = Axis(chart.axis or chart.metric, log=log)
    references = [1.0] if relative else []
    whole = Panel([each for shown in drawn for each in shown], y=y, references=references)
    shown_panels = [
        Panel(own, title=f"{panel} {value}" if panel else "", x=Axis(x, names=places),
              y=replace(y, limits=whole.limits), references=references)
        for value, own in zip(panels, drawn, strict=True)
    ]  # fmt: skip
    table = [
        [
            *([value] if panel else []), place,
            *(_text(found.get((value, place, name) if panel else (place, name))) for name in series),
        ]
        for value in panels
        for place in places
    ]  # fmt: skip
    return shown_panels, [*([panel] if panel else []), x, *series], table


def _printed_series(
    printed: Sequence[tuple[str, str, float]], places: Sequence[str], series: Sequence[str]
) -> list[Series]:
    """Return the printed values of each series, and those of none."""
    made = []
    for name in ("", *series):
        own = [(place, value) for place, of, value in printed if of == name and place in places]
        if own:
            title = f"{name}, printed" if name else "printed"
            made.append(Series(title, [place for place, _ in own], [value for _, value in own], "printed", like=name))
    return made


def printed_values(chart: Chart, outcome: Outcome) -> list[tuple[str, str, float]]:
    """Return the printed values of a chart: the value of `x`, the value of the series or "", and the number.

    Sources are the chart itself (``printed``) and printed tables. A table must have the chart's metric, and a reading
    with the chart's labels.
    """
    found = [(mark.x, mark.series, float(mark.value)) for mark in chart.printed]
    if chart.ratio or chart.over is not None or chart.panel is not None:
        return found
    label = _series(chart, outcome.plan.paper)
    for table in outcome.plan.tables:
        for row in table.printed:
            for column, value in zip(table.columns, table.printed[row], strict=True):
                known = {**table.where, table.rows: row, **column.where}
                fits = any(_agree(chart.where, {**known, **reading}) for reading in table.readings.values())
                if column.metric == chart.metric and {chart.x, label} <= known.keys() and fits:
                    found.append((known[chart.x], known[label], value / column.scale * chart.factor))
    return found


def _agree(where: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(labels.get(label, value) == value for label, value in where.items())


def _ratios(
    rows: Sequence[Row], ratio: Mapping[str, Sequence[str]], keys: Sequence[str], *, geometric: bool = False
) -> dict[tuple[str, ...], Interval]:
    """Return the ratio of the means of two values of a label, or of their geometric means, paired as in verdicts."""
    scale: Scale = "geometric" if geometric else "ratio"
    found = {key: Sample(a, b, scale, over).interval() for key, (a, b, over) in _pairs(rows, ratio, keys).items()}
    return {key: each for key, each in found.items() if math.isfinite(each.mean)}


def _pairs(
    rows: Sequence[Row], ratio: Mapping[str, Sequence[str]], keys: Sequence[str]
) -> dict[tuple[str, ...], tuple[list[float], list[float], Any]]:
    """Return the values of two values of a label, paired by run, and their sampling."""
    label, (of, to) = next(iter(ratio.items()))
    below = {_paired(row, keys): row["value"] for row in rows if row[label] == to}
    pairs: dict[tuple[str, ...], tuple[list[float], list[float], Any]] = {}
    for row in rows:
        if row[label] == of and (paired := _paired(row, keys)) in below:
            own, other, _ = pairs.setdefault(paired[:-1], ([], [], row["sampling"]))
            own.append(row["value"])
            other.append(below[paired])
    return pairs


def _front(chart: Chart, outcome: Outcome) -> Drawn | None:
    """Draw what each series gains over what it costs, both against a reference, and the line of the best ones."""
    paper = outcome.plan.paper
    label, over = _series(chart, paper), chart.over or ""
    chosen = _chosen(chart, outcome)
    gains, costs = _per_run(chosen, chart, paper), _per_run(chosen, replace(chart, metric=chart.cost), paper)
    found: dict[str, tuple[Interval, Interval]] = {}
    for name in _values(gains, label):
        ratio = {label: (name, over)}
        gained, paid = (next(iter(_pairs(rows, ratio, ()).values()), None) for rows in (gains, costs))
        if name == over or gained is None or paid is None:
            continue
        found[name] = (
            Sample(*gained[:2], "geometric", gained[2]).interval(),
            Sample(*paid[:2], "difference", paid[2]).interval(),
        )
    if not found:
        return None
    signs = [-of(metric).sign or 1 for metric in (chart.metric, chart.cost)]
    best = [
        name
        for name, (x, y) in found.items()
        if not any(
            signs[0] * a.mean <= signs[0] * x.mean and signs[1] * b.mean <= signs[1] * y.mean and (a, b) != (x, y)
            for a, b in found.values()
        )
    ]
    best.sort(key=lambda name: found[name][0].mean)
    shown = [
        with_intervals(name, [x.mean], [y], "points", texts=[f"{name}: {_text(x)}; {_text(y)}"])
        for name, (x, y) in found.items()
    ]
    shown.append(
        Series("front", [found[name][0].mean for name in best], [found[name][1].mean for name in best], "line")
    )
    panel = Panel(shown, x=Axis(f"{of(chart.metric).title}, ratio to {over}"), y=Axis(chart.axis or chart.cost))
    table = [[name, _text(x), _text(y), "yes" if name in best else ""] for name, (x, y) in found.items()]
    return [panel], [label, f"{chart.metric}, ratio", f"{chart.cost}, difference", "front"], table


def _paired(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    return (*(row[key] for key in keys), str(row["unit"]))


def _map(chart: Chart, outcome: Outcome) -> Drawn | None:
    """Draw a heat map of one flow's mean over two labels, with a panel for each value of a third label."""
    rows = _chosen(chart, outcome)
    x, y, panel = chart.x, chart.y, chart.panel
    panels = _values(rows, panel) if panel else [""]
    keys = (x, y, panel) if panel else (x, y)
    found = _of_flow(rows, chart, outcome.plan.paper, keys)
    if not found:
        return None
    ratio = chart.to is not None
    xs, ys = _in_order(_values(rows, x)), _in_order(_values(rows, y))
    by_panel = {
        value: np.array([[_mean(found, (a, b, value) if panel else (a, b)) for a in xs] for b in ys])
        for value in panels
    }
    ends = _ends(by_panel.values(), ratio=ratio, share=chart.equals is not None)
    columns = [*([panel] if panel else []), f"{y} \\ {x}", *xs]
    table = [
        [*([value] if panel else []), b, *(number(float(cell), 3) for cell in line)]
        for value, grid in by_panel.items()
        for b, line in zip(ys, grid, strict=True)
    ]
    shown = [
        Panel(
            heatmap=_as_heatmap(grid, (xs, ys), ends, chart), title=f"{panel} {value}" if panel else "",
            x=Axis(x), y=Axis(y),
        )
        for value, grid in by_panel.items()
    ]  # fmt: skip
    return shown, columns, table


def _ends(grids_of_panels: Iterable[Floats], *, ratio: bool, share: bool) -> tuple[float, float]:
    """Return the values of the first and last colour of a map; for ratios, symmetric powers of two."""
    values = np.concatenate([np.ravel(grid) for grid in grids_of_panels])
    values = values[np.isfinite(values)]
    if ratio:
        extent = float(np.abs(np.log2(values[values > 0])).max(initial=0.0))
        extent = max(1.0, math.ceil(extent))
        return -extent, extent
    return (0.0, 1.0) if share else (float(values.min()), float(values.max()))


def _as_heatmap(
    grid: Floats, labels: tuple[Sequence[str], Sequence[str]], ends: tuple[float, float], chart: Chart
) -> Heatmap:
    """Return a grid of means, or of ratios on a logarithmic scale of colours; the last row is at the top."""
    ratio, (xs, ys) = chart.to is not None, labels
    with np.errstate(divide="ignore"):
        values = np.maximum(np.log2(grid), ends[0]) if ratio else grid
    texts = [["" if math.isnan(cell) else number(float(cell), 2 if ratio else 3) for cell in line] for line in grid]
    framed = []
    for (row, column), value in np.ndenumerate(grid):
        inside = chart.bounds is not None and chart.bounds[0] <= value <= chart.bounds[1]
        marked = chart.mark and (chart.mark.get(chart.x), chart.mark.get(chart.y)) == (xs[column], ys[row])
        if not math.isnan(value) and (inside or marked):
            framed.append((xs[column], ys[row]))
    ticks = powers(ends) if ratio else None
    return Heatmap(
        xs,
        ys[::-1],
        values[::-1],
        texts[::-1],
        _map_label(chart),
        ends,
        "ratio" if ratio else "sequence",
        ticks,
        framed,
    )


def _map_label(chart: Chart) -> str:
    """Return the label of a map's colour bar."""
    if chart.axis is not None:
        return chart.axis
    if chart.equals is not None:
        return "share of runs"
    unit = units.unit(chart.metric) if chart.scale is None else ""
    if chart.to is not None:
        return f"{chart.flow} / {chart.to}, {units.name(chart.metric)}"
    return units.name(chart.metric) + (f" ({unit})" if unit else "")


def _best(chart: Chart, outcome: Outcome) -> Drawn | None:
    """Draw the best value of the label `series` over two labels, with a panel for each value of a third label.

    The best value is the first one whose mean differs from the best mean by at most the share `within`. With `over`,
    each cell also shows the relative gain over that value.
    """
    rows = _per_run(_chosen(chart, outcome), chart, outcome.plan.paper)
    x, y, panel, series = chart.x, chart.y, chart.panel, _series(chart, outcome.plan.paper)
    xs, ys, names = (_in_order(_values(rows, label)) for label in (x, y, series))
    panels = _values(rows, panel) if panel else [""]
    keys = (series, x, y, panel) if panel else (series, x, y)
    found = _samples(rows, keys)
    if not found:
        return None
    table, shown = [], []
    for value in panels:
        rest = (value,) if panel else ()
        samples = [[_variants(found, names, (a, b, *rest)) for a in xs] for b in ys]
        cells = [
            [best(own, chart.sense or "lowest", within=chart.within, over=chart.over) for own in line]
            for line in samples
        ]
        grid = np.array([[names.index(cell.name) if cell else np.nan for cell in line] for line in cells])
        texts = [["" if cell is None else cell.text("\n") for cell in line] for line in cells]
        ticks = {float(place): name for place, name in enumerate(names)}
        heatmap = Heatmap(
            xs, ys[::-1], grid[::-1], texts[::-1], series, (0, max(1, len(names) - 1)), ticks=ticks
        )  # fmt: skip
        shown.append(Panel(heatmap=heatmap, title=f"{panel} {value}" if panel else "", x=Axis(x), y=Axis(y)))
        written = [["–" if cell is None else cell.text(" ") for cell in line] for line in cells]
        table += [[*([value] if panel else []), b, *line] for b, line in zip(ys, written, strict=True)]
    return shown, [*([panel] if panel else []), f"{y} \\ {x}", *xs], table


@dataclass(frozen=True)
class Best:
    """The best of several variants: its name, and its relative gain over another variant."""

    name: str
    gain: float | None

    def text(self, separator: str) -> str:
        """Return the name and, after the separator, the gain in percent."""
        return self.name if self.gain is None else f"{self.name}{separator}{100 * self.gain:+.0f} %".replace("-", "−")


def best(
    samples: Mapping[str, Sequence[float]],
    sense: Literal["lowest", "highest"],
    *,
    within: float = 0.0,
    over: str | None = None,
) -> Best | None:
    """Choose the first variant that is as good as the best one.

    Parameters
    ----------
    samples
        Values by variant, in the order of preference; the runs of all variants are in the same order.
    sense
        Whether the lowest or the highest mean is best.
    within
        Share of the best mean within which another mean is as good.
    over
        The variant with which the best is compared.

    Returns
    -------
    Best or None
        None if there are no variants. The gain is (mean of `over` − mean of the best) / mean of `over`, negated if the
        highest mean is best. `selection.chosen` corrects it for the choice of the best among noisy means. Without
        `over`, or with a single run, it is None.
    """
    if not samples:
        return None
    sign = 1 if sense == "lowest" else -1
    means = {name: sum(sample) / len(sample) for name, sample in samples.items()}
    top = min(means.values(), key=lambda mean: sign * mean)
    name = next(name for name, mean in means.items() if sign * (mean - top) <= within * abs(top))
    other = samples.get(over or "")
    if not other or min(map(len, samples.values())) < 2:
        return Best(name, None)

    def gain(variant: str, part: slice) -> float:
        return sign * (1 - sum(samples[variant][part]) / sum(other[part])) if sum(other[part]) else 0.0

    return Best(name, selection.chosen(samples, gain, sign))


def _variants(
    found: Mapping[tuple[str, ...], tuple[list[float], Any]], names: Sequence[str], cell: tuple[str, ...]
) -> dict[str, list[float]]:
    """Return the samples of a cell by the candidate values, in their order."""
    keys = {name: (name, *cell) for name in names}
    return {name: found[key][0] for name, key in keys.items() if key in found}


def _over_time(chart: Chart, outcome: Outcome) -> Drawn | None:
    """Draw curves over time: for each flow of the chosen cell, or for one flow and each value of `series`."""
    known = _values(outcome.rows, _flows(outcome.plan.paper))
    shown: dict[str, Line] = {}
    for labels, lines in _drawn(chart, outcome):
        own = {name.partition("/")[2]: line for name, line in lines.items() if name.startswith(f"{chart.trace}/")}
        flows = [flow for flow in sorted(own, key=known.index) if chart.flow in (None, flow)]
        if chart.series is not None:
            for flow in flows[:1]:
                shown.setdefault(labels[chart.series], own[flow])
        elif not shown:
            shown = {flow: own[flow] for flow in flows}
    if not shown:
        return None
    series = from_lines(replace(line, label=name, thin=None) for name, line in shown.items())
    return [Panel(series, x=overtime.TIME, y=Axis(TRACE_LABELS[chart.trace or ""]))], [], []


def _internals(chart: Chart, outcome: Outcome) -> Drawn | None:
    """Draw the internals of one flow's congestion control in the first run of the chosen cell."""
    for _, lines in _drawn(chart, outcome):
        # In a run with one flow, curves have no flow name.
        alone = {name: lines.get(f"internals/{name}") for name in chart.names}
        own = {name: lines.get(f"internals/{chart.flow}: {name}", alone[name]) for name in chart.names}
        shown = {name: Line(name, line.x, line.y) for name, line in own.items() if line is not None}
        if shown:
            panels = [
                Panel(from_lines([line]), x=overtime.TIME, y=Axis(f"{name} ({overtime.axis(name).rpartition(' (')[2]}"))
                for name, line in shown.items()
            ]
            return panels, [], []
    return None


def _over_rounds(chart: Chart, outcome: Outcome) -> Drawn | None:
    """Draw the rounds of a model for the first seed of the chosen cell, with a panel for each quantity."""
    for _, lines in _drawn(chart, outcome):
        shown = {name: line for name in chart.traces if (line := lines.get(f"{modelruns.TRACED}/{name}")) is not None}
        if len(shown) < len(chart.traces):
            continue
        panels = []
        for name, line in shown.items():
            axis, scale = ROUND_AXES.get(name, (name, 1.0))
            series = Series(axis.partition(" (")[0], line.x, line.y * scale, "step")
            panels.append(Panel([series], x=Axis("packet"), y=Axis(axis)))
        return panels, [], []
    return None


def _drawn(chart: Chart, outcome: Outcome) -> list[tuple[dict[str, str], Lines]]:
    """Return labels and curves of the chart's cells."""
    cells = [(dict(zip(outcome.plan.paper.labels, key, strict=True)), lines) for key, lines in outcome.lines.items()]
    return [(labels, lines) for labels, lines in cells if lines and chart.takes(labels)]


DRAW: dict[str, Callable[[Chart, Outcome], Drawn | None]] = {
    "lines": _over_label,
    "bars": _over_label,
    "map": _map,
    "best": _best,
    "front": _front,
    "time": _over_time,
    "rounds": _over_rounds,
    "internals": _internals,
}


def _chosen(chart: Chart, outcome: Outcome) -> list[Row]:
    # Only verdicts show the exact path, and seeds that all cells share.
    chosen = [row for row in outcome.rows if row.get("paths") != "exact" and row.get("seeds") != "common"]
    return [row for row in chosen if chart.takes(row)]


def _values(rows: Sequence[Row], label: str) -> list[str]:
    return list(dict.fromkeys(row[label] for row in rows))


def _in_order(values: list[str]) -> list[str]:
    """Sort values that are numbers with a common unit, such as "50 s" and "100 s"; keep the order of other values."""
    parted = [value.partition(" ") for value in values]
    try:
        numbers = {value: float(head) for value, (head, _, _) in zip(values, parted, strict=True)}
    except ValueError:
        return values
    return sorted(values, key=lambda value: numbers[value]) if len({unit for _, _, unit in parted}) == 1 else values


def _scaled(row: Row, chart: Chart) -> float | None:
    value = row.get(chart.metric)
    return None if value is None else value * chart.factor


def _per_run(rows: Sequence[Row], chart: Chart, paper: Paper) -> list[Row]:
    """Add the drawn ``value`` to each row; with `series`, average over the flows of each run."""
    valued: list[Row] = [{**row, "value": value} for row in rows if (value := _scaled(row, chart)) is not None]
    if chart.series in (None, paper.contents.flows):
        return valued
    runs: dict[tuple[str, ...], list[Row]] = {}
    for row in valued:
        runs.setdefault(_run(row, paper.labels), []).append(row)
    return [{**flows[0], "value": sum(row["value"] for row in flows) / len(flows)} for flows in runs.values()]


def _of_flow(rows: Sequence[Row], chart: Chart, paper: Paper, keys: Sequence[str]) -> dict[tuple[str, ...], Interval]:
    """Return the drawn values of the chart's flow.

    They are means of the metric. With `to`, they are ratios to another flow of the run. With `equals`, they are the
    shares of runs with this value.
    """
    valued: list[Row] = [{**row, "value": value} for row in rows if (value := _scaled(row, chart)) is not None]
    flows = _flows(paper)
    if chart.to is not None:
        return _ratios(valued, {flows: (chart.flow or "", chart.to)}, keys)
    own = [row for row in valued if row[flows] == chart.flow]
    if chart.equals is not None:
        own = [{**row, "value": float(row["value"] == chart.equals)} for row in own]
    return _intervals(own, keys, chart)


def _run(row: Row, labels: Sequence[str]) -> tuple[str, ...]:
    return (*(row[label] for label in labels), str(row["unit"]))


def _samples(rows: Sequence[Row], keys: Sequence[str]) -> dict[tuple[str, ...], tuple[list[float], Any]]:
    """Return the values of each cell in the order of the runs, and their sampling."""
    samples: dict[tuple[str, ...], tuple[list[float], Any]] = {}
    for row in rows:
        samples.setdefault(tuple(row[key] for key in keys), ([], row["sampling"]))[0].append(row["value"])
    return samples


def _intervals(rows: Sequence[Row], keys: Sequence[str], chart: Chart) -> dict[tuple[str, ...], Interval]:
    bounds, scale = BOUNDS.get(chart.metric), chart.factor
    scaled = None if bounds is None else (bounds[0] * scale, bounds[1] * scale)
    return {key: interval(*sample, bounds=scaled) for key, sample in _samples(rows, keys).items()}


def _mean(found: Mapping[tuple[str, ...], Interval], key: tuple[str, ...]) -> float:
    return found[key].mean if key in found else float("nan")


def _text(value: Interval | None) -> str:
    if value is None:
        return "–"
    mean, low, high = rounded(value)
    return f"{mean} [{low}, {high}]"


def _series(chart: Chart, paper: Paper) -> str:
    """Return the label of a chart's series; by default the label of flows."""
    return chart.series or _flows(paper)


def _flows(paper: Paper) -> str:
    """Return the label of flows; a chart without `series` needs it."""
    return paper.contents.flows or ""
