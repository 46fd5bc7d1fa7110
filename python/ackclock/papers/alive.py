"""The live part of a paper's report: what its page needs to run cells again, and to judge claims again.

The page simulates *further* repetitions of a cell: seeds, drawn paths or start times that no plan uses, drawn by the
same rule (`repetitions.further`). They are planned here, so that only one program draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ackclock.deriving import MEASURES
from ackclock.drawing import bands
from ackclock.experiments.repetitions import Repetition, further
from ackclock.papers import modelruns
from ackclock.papers.charts import Picture
from ackclock.papers.claims import Claim
from ackclock.papers.contents import Chart, Figures, leaves, matches
from ackclock.papers.plan import PlannedRun
from ackclock.papers.reproduction import Outcome
from ackclock.papers.verdicts import Judgement
from ackclock.reports import units
from ackclock.reports.live import Scenarios
from ackclock.texts.names import shown
from ackclock.texts.numbers import finite

DERIVED = ("share", "eq7", "jain", "resent", "estimate", "rtt", "pages")
"""The measures that the page derives as `deriving` does, and the tests compare."""
MOST, FEWEST, LARGEST = 3000, 5, 20  # further repetitions: of all cells together, and of a cell
Row = Mapping[str, Any]
Again = dict[str, Any]


def count_for(cells: int) -> int:
    """Return the number of further repetitions of a cell."""
    return max(FEWEST, min(LARGEST, MOST // max(1, cells)))


class Alive:
    """The live part of a paper's report.

    Parameters
    ----------
    outcome
        The results of the runs.
    """

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._paper = outcome.plan.paper
        self._flows = self._paper.contents.flows
        self._bases = [_base(runs) for runs in outcome.plan.cells]
        self._places = {run.cell: place for place, run in enumerate(self._bases)}
        # One row of each flow of each cell, from the run that the page repeats.
        self._rows: list[dict[str, Row]] = [{} for _ in self._bases]
        for row in outcome.rows:
            place = self._place(row)
            if place is not None and _is_of(row, self._bases[place].repetition):
                self._rows[place][str(row[self._flows] if self._flows else row["flow"])] = row

    def _place(self, row: Row) -> int | None:
        return self._places.get(tuple(row[label] for label in self._paper.labels))

    # Figures

    def sheet(self, figures: Figures, kind: str, panels: Sequence[Mapping[str, str]]) -> Again:
        """Return the curves of a sheet of panels, of which each has labels."""
        runs = [
            [place, None, panel, shown(figures.overlay_title.format(run.labels[figures.overlay]))]
            for panel, where in enumerate(panels)
            for place, run in enumerate(self._bases)
            if matches(run.labels, where) and leaves(figures.only, run.labels)
        ]
        trace = "throughput" if kind == "throughput" else "cwnd"
        end = figures.start if kind == "start" else None
        per = bands.PER_BIN if end is None else bands.PER_BIN_OF_START
        return {"kind": trace, "bin": figures.bin, "end": end, "sampled": per, "runs": runs}

    def chart(self, picture: Picture) -> Again | None:
        """Return what a chart shows of each cell; None if no cell of it was run."""
        chart = picture.chart
        made = self._curves(chart) if chart.kind in ("time", "internals") else self._values(picture)
        return made if made and made["runs"] else None

    def _curves(self, chart: Chart) -> Again:
        runs: list[list[Any]] = []
        for place, run in enumerate(self._bases):
            if not chart.takes(run.labels):
                continue
            flows = [flow for flow in self._rows[place] if chart.flow in (None, flow)]
            if chart.kind == "internals":
                runs += [[place, flow, panel, name] for flow in flows for panel, name in enumerate(chart.names)]
            elif chart.series is not None:
                runs += [[place, flow, 0, shown(run.labels[chart.series])] for flow in flows[:1]]
            else:
                runs += [[place, flow, 0, shown(flow)] for flow in flows]
        kind = chart.trace or "internals"
        return {"kind": kind, "bin": chart.bin, "end": None, "sampled": bands.PER_BIN, "runs": runs}

    def _values(self, picture: Picture) -> Again:
        """Return the position of each cell and flow in a chart of values, and those by which its values are divided."""
        chart, runs = picture.chart, []
        titles = [panel.title for panel in picture.shown.panels]
        grid = chart.kind in ("map", "best")
        for place, flow, row in self._of(chart):
            over = self._divisor(chart, place, flow, row)
            if over is None:
                continue
            title = f"{chart.panel} {row[chart.panel]}" if chart.panel else ""
            series = str(row[chart.y] if grid else row[chart.series or self._flows or ""])
            panel = titles.index(title) if title in titles else 0
            runs.append([place, flow, panel, shown(str(row[chart.x])), shown(series), *over])
        return {
            "kind": "grid" if grid else "values",
            "metric": chart.metric,
            "title": units.name(chart.metric) if chart.to is None and not chart.ratio and not chart.over else "ratio",
            "factor": chart.factor,
            "equals": chart.equals,
            "runs": runs,
        }

    def _of(self, chart: Chart) -> Iterator[tuple[int, str, Row]]:
        wanted = next(iter(chart.ratio.items()), None)
        for place, rows in enumerate(self._rows):
            for flow, row in rows.items():
                if not chart.takes(row) or (chart.kind == "map" and flow != chart.flow):
                    continue
                if wanted is None or row[wanted[0]] == wanted[1][0]:
                    yield place, flow, row

    def _divisor(self, chart: Chart, place: int, flow: str, row: Row) -> list[Any] | None:
        """Return cell and flow by which a value is divided: none, or None if the value is not drawn."""
        if chart.kind == "map" and chart.to is not None:
            return [place, chart.to]
        if chart.kind == "best" or not (chart.ratio or chart.over):
            return []
        label, other = next(((label, to) for label, (_, to) in chart.ratio.items()), (chart.series, chart.over))
        if chart.over is not None and row[label or self._flows or ""] == chart.over:
            return None
        if label in (None, self._flows):
            return [place, other]
        labels = {**row, str(label): other}
        partner = self._places.get(tuple(labels[name] for name in self._paper.labels))
        return None if partner is None else [partner, flow]

    # Claims

    def claims(self, judgements: Sequence[Judgement]) -> list[Again]:
        """Return the claims with their stored verdicts, and why the page cannot judge some of them."""
        grouped: dict[str, list[Judgement]] = {}
        for judgement in judgements:
            grouped.setdefault(judgement.claim.id, []).append(judgement)
        return [self._claim(group) for group in grouped.values()]

    def _claim(self, judgements: Sequence[Judgement]) -> Again:
        claim = judgements[0].claim
        cells = [place for place, run in enumerate(self._bases) if _may_belong(claim, run.labels)]
        readings = [
            {
                "metric": it.metric,
                "title": units.name(it.metric),
                "unit": units.unit(it.metric),
                "verdict": it.verdict,
                "why": it.why,
                "sampling": it.sampling,
                "reason": self._reason(it, cells),
            }
            for it in judgements
        ]
        return {
            **{key: getattr(claim, key) for key in ("id", "kind", "axis", "expected", "rest", "lead", "of", "to")},
            **{key: getattr(claim, key) for key in ("sense", "quantifier", "tolerance", "pool")},
            **finite(dict(zip(("low", "high"), claim.limits(), strict=True))),
            "where": dict(claim.where),
            "cells": cells,
            "readings": readings,
        }

    def _reason(self, judgement: Judgement, cells: Sequence[int]) -> str:
        """Return why the page cannot judge a claim on a metric; empty if it can."""
        claim, metric = judgement.claim, judgement.metric
        if judgement.verdict == "not run":
            return "it was not run"
        if judgement.sampling == "exact":
            return "it compares formulas, which have no further runs"
        for model in self._outcome.plan.models:
            there = metric in (*modelruns.outputs(model.point.model), *model.point.columns)
            if there and model.seeds is not None and _may_belong(claim, model.point.labels):
                return "its values come from an analytic model with random losses, which the page does not contain"
        for place in cells:
            for name in self._bases[place].repeat.derived:
                if metric in MEASURES[name].columns and name not in DERIVED:
                    return f"the page does not derive {metric}"
        return ""

    def _formulas(self, claims: Sequence[Again]) -> list[Again]:
        """Return the values of formulas, with which claims compare runs."""
        labels = self._paper.all_labels
        metrics = [reading["metric"] for claim in claims for reading in claim["readings"]]
        kept = dict.fromkeys((*labels, "sampling", "unit", *metrics))
        exact = [row for row in self._outcome.rows if row["sampling"] == "exact"]
        wanted = [row for row in exact if any(_may_belong(claim, row) for claim in claims)]
        return [finite({key: row[key] for key in kept if key in row}) for row in wanted]

    # Everything

    def data(self, figures: Sequence[Again], judgements: Sequence[Judgement]) -> dict[str, Any]:
        """Return the data of the page: cells, scenarios, measures and claims."""
        scenarios = Scenarios()
        measures: dict[str, tuple[int, Again]] = {}
        claims = self.claims(judgements)
        metrics = [reading["metric"] for claim in claims for reading in claim["readings"]]
        metrics += [it["metric"] for it in figures if "metric" in it]
        count = count_for(len(self._bases))
        cells = []
        for run, rows in zip(self._bases, self._rows, strict=True):
            spans = {
                "spans": dict(run.repeat.spans),
                "cwnd": dict(run.repeat.cwnd),
                "derived": list(run.repeat.derived),
            }
            measured = measures.setdefault(str(spans), (len(measures), spans))[0]
            base = run.scenario.to_toml()
            repeated = further(run.repeat.rule, run.given, run.first, count)
            kinds = {seeds: [it for it in repeated if it.seeds == seeds] for seeds in (None, "own", "common")}
            first = next(iter(rows.values()), {})
            cells.append(
                {
                    "labels": dict(run.labels),
                    "text": scenarios.add(base),
                    "measures": measured,
                    "sampling": run.repetition.sampling,
                    "name": _name(run.repetition),
                    "seeds": {
                        seeds or "any": scenarios.repeat(
                            base, {_name(it, beyond=True): it.scenario.to_toml() for it in own}
                        )
                        for seeds, own in kinds.items()
                        if own
                    },
                    "rtt": first.get("path_rtt"),
                    "stored": {
                        flow: finite({metric: row[metric] for metric in dict.fromkeys(metrics) if metric in row})
                        for flow, row in rows.items()
                    },
                }
            )
        plan = self._outcome.plan
        return {
            **scenarios.data,
            "measures": [spans for _, spans in measures.values()],
            "cells": cells,
            "labels": self._paper.all_labels,
            "flows": self._flows,
            "formulas": self._formulas(claims),
            "claims": claims,
            "command": f"ackclock paper {self._paper.name}{' --quick' if plan.quick else ''}",
        }


def _base(runs: Sequence[PlannedRun]) -> PlannedRun:
    """Return the run of a cell that the page repeats first; only verdicts show the exact path."""
    return next((run for run in runs if run.repetition.paths != "exact"), runs[0])


def _is_of(row: Row, repetition: Repetition) -> bool:
    return all(row.get(key) == getattr(repetition, key) for key in ("sampling", "unit", "seeds", "paths"))


def _name(repetition: Repetition, *, beyond: bool = False) -> str:
    """Return the name of a repetition: its seed, its path or its start time, which is between two others if further."""
    if repetition.sampling == "seed":
        return f"seed {repetition.scenario.seed}"
    if repetition.sampling == "path":
        return f"path {repetition.unit}"
    return f"start time {repetition.unit + (1.5 if beyond else 1):g}"


def _may_belong(claim: Claim | Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Whether a claim may select rows with these labels; a cell lacks the label of flows."""
    where = claim.where if isinstance(claim, Claim) else claim["where"]
    return all(labels.get(label, value) == value for label, value in where.items())
