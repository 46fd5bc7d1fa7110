"""The runs behind the figures of a paper's report, which the page runs again.

The page also simulates *further* repetitions of a cell: seeds, drawn paths or start times that no plan uses, drawn by
the same rule (`repetitions.further`). They are planned here, so that only one program draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ackclock.columns import of
from ackclock.drawing import bands
from ackclock.experiments.repetitions import Repetition, further
from ackclock.formatting.names import shown
from ackclock.formatting.numbers import finite
from ackclock.literature.charts import Picture
from ackclock.literature.contents import Chart, Figures, leaves, matches
from ackclock.literature.plan import PlannedRun
from ackclock.literature.reproduction import Outcome
from ackclock.reports.live import ALWAYS, Again, Scenarios

FURTHER = 10
"""Further repetitions of a cell."""
ENGINE = frozenset(column.name for column in of("flows") if column.kind != "texts")
"""The columns that the engine reports for each flow; other measures are derived here, not in the page."""
Row = Mapping[str, Any]


class Runs:
    """The runs of a paper, as its report repeats them: the first stored run of each cell, and further ones.

    Parameters
    ----------
    outcome
        The results of the runs.
    """

    def __init__(self, outcome: Outcome) -> None:
        self._paper = outcome.plan.paper
        self._flows = self._paper.contents.flows
        self._bases = [_base(runs) for runs in outcome.plan.cells]
        self._places = {run.cell: place for place, run in enumerate(self._bases)}
        # One row of each flow of each cell, from the run that the page repeats.
        self._rows: list[dict[str, Row]] = [{} for _ in self._bases]
        for row in outcome.rows:
            place = self._places.get(tuple(row[label] for label in self._paper.labels))
            if place is not None and _is_of(row, self._bases[place].repetition):
                self._rows[place][str(row[self._flows] if self._flows else row["flow"])] = row

    def sheet(self, figures: Figures, kind: str, panels: Sequence[Mapping[str, str]]) -> Again:
        """Return the curves of a sheet of panels, of which each has labels."""
        runs = [
            _shown(
                self._line(figures, place),
                None,
                shown(figures.overlay_title.format(run.labels[figures.overlay])),
                panel,
            )
            for panel, where in enumerate(panels)
            for place, run in enumerate(self._bases)
            if matches(run.labels, where) and leaves(figures.only, run.labels)
        ]
        trace = "throughput" if kind == "throughput" else "cwnd"
        end = figures.start if kind == "start" else None
        per = bands.PER_BIN if end is None else bands.PER_BIN_OF_START
        return {"kind": trace, "bin": figures.bin, "end": end, "sampled": per, "runs": runs}

    def _line(self, figures: Figures, place: int) -> int:
        """Return the place of the cell whose run is the line for a cell."""
        return self._places.get(tuple(figures.line_of(self._bases[place].labels).values()), place)

    def chart(self, picture: Picture) -> Again | None:
        """Return what a chart shows of each cell; None if no cell of it was run."""
        chart = picture.chart
        if chart.kind == "front":
            return None
        made = self._curves(chart) if chart.kind in ("time", "internals") else self._values(picture)
        return made if made["runs"] else None

    def _curves(self, chart: Chart) -> Again:
        runs: list[dict[str, Any]] = []
        for place, run in enumerate(self._bases):
            if not chart.takes(run.labels):
                continue
            flows = [flow for flow in self._rows[place] if chart.flow in (None, flow)]
            if chart.kind == "internals":
                runs += [_shown(place, flow, name, panel) for flow in flows for panel, name in enumerate(chart.names)]
            elif chart.series is not None:
                runs += [_shown(place, flow, shown(run.labels[chart.series])) for flow in flows[:1]]
            else:
                runs += [_shown(place, flow, shown(flow)) for flow in flows]
        kind = chart.trace or "internals"
        return {"kind": kind, "bin": chart.bin, "end": None, "sampled": bands.PER_BIN, "runs": runs}

    def _values(self, picture: Picture) -> Again:
        """Return the position of each cell and flow in a chart of values, and those by which its values are divided."""
        chart, runs = picture.chart, []
        titles = [panel.title for panel in picture.shown.panels]
        own = chart.metric in ENGINE and chart.equals is None
        grid = chart.kind in ("map", "best")
        for place, flow, row in self._of(chart):
            over = self._divisor(chart, place, row)
            if over is None:
                continue
            title = f"{chart.panel} {row[chart.panel]}" if chart.panel else ""
            series = str(row[chart.y] if grid else row[chart.series or self._flows or ""])
            panel = titles.index(title) if title in titles else 0
            made = _shown(place, flow, shown(series), panel)
            runs.append({**made, "x": shown(str(row[chart.x])), **(over if own else {})})
        return {"kind": "values", "metric": chart.metric if own else None, "factor": chart.factor, "runs": runs}

    def _of(self, chart: Chart) -> Iterator[tuple[int, str, Row]]:
        wanted = next(iter(chart.ratio.items()), None)
        for place, rows in enumerate(self._rows):
            for flow, row in rows.items():
                if not chart.takes(row) or (chart.kind == "map" and flow != chart.flow):
                    continue
                if wanted is None or row[wanted[0]] == wanted[1][0]:
                    yield place, flow, row

    def _divisor(self, chart: Chart, place: int, row: Row) -> dict[str, Any] | None:
        """Return cell and flow by which a value is divided: none, or None if the value is not drawn."""
        if chart.kind == "map" and chart.to is not None:
            return {"over": place, "of": chart.to}
        if chart.kind == "best" or not (chart.ratio or chart.over):
            return {}
        label, other = next(((label, to) for label, (_, to) in chart.ratio.items()), (chart.series, chart.over))
        if chart.over is not None and row[label or self._flows or ""] == chart.over:
            return None
        if label in (None, self._flows):
            return {"over": place, "of": other}
        labels = {**row, str(label): other}
        partner = self._places.get(tuple(labels[name] for name in self._paper.labels))
        return None if partner is None else {"over": partner}

    def data(self, figures: Sequence[Again]) -> dict[str, Any]:
        """Return the scenarios of all cells, and what the engine reported of the stored runs."""
        metrics = {metric for it in figures if (metric := it.get("metric")) is not None}
        columns = sorted({*metrics, *ALWAYS})
        scenarios = Scenarios()
        for run, rows in zip(self._bases, self._rows, strict=True):
            more = further(run.rule, run.given, run.first, FURTHER)
            texts = {_name(run.repetition): run.scenario.to_toml()}
            texts |= {_name(it, beyond=True): it.scenario.to_toml() for it in more}
            stored = {flow: finite({name: row[name] for name in columns if name in row}) for flow, row in rows.items()}
            scenarios.add(texts, stored, run.labels)
        return scenarios.data


def _shown(cell: int, flow: str | None, series: str, panel: int = 0) -> dict[str, Any]:
    return {"cell": cell, "flow": flow, "panel": panel, "series": series}


def _base(runs: Sequence[PlannedRun]) -> PlannedRun:
    """Return the run of a cell that the page repeats first; only verdicts show the exact path."""
    return next((run for run in runs if run.repetition.paths != "exact"), runs[0])


def _is_of(row: Row, repetition: Repetition) -> bool:
    return all(row.get(key) == getattr(repetition, key) for key in ("sampling", "unit", "seeds", "paths"))


def _name(repetition: Repetition, *, beyond: bool = False) -> str:
    """Return the name of a repetition: its seed, its path or its start time, which is between two others if further."""
    if repetition.sampling == "seed":
        return f"seed {repetition.scenario.seed}"
    if repetition.sampling in ("path", "population"):
        return f"path {repetition.unit}"
    return f"start time {repetition.unit + (1.5 if beyond else 1):g}"
