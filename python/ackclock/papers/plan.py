"""The plan of a paper: its runs, evaluations of models, claims and printed tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ackclock import _core
from ackclock.drawing import bands
from ackclock.experiments import budget
from ackclock.experiments.here import run_here
from ackclock.experiments.plan import Point
from ackclock.experiments.repetitions import Repetition, repetitions
from ackclock.files import checks
from ackclock.metrics import spans
from ackclock.metrics.derivation import Derivation
from ackclock.metrics.flows import DERIVATIONS
from ackclock.papers import answers, modelruns, today
from ackclock.papers.claims import Claim, parse_claims
from ackclock.papers.contents import Chart, Figures, Quick, Repeat, leaves, matches
from ackclock.papers.library import Paper
from ackclock.papers.measurement import Curves, FlowTable, Measured
from ackclock.papers.printed import Table, parse_tables
from ackclock.result import frame
from ackclock.scenario import Scenario, load

MOST_RUNS = 1_000_000
Variants = list[tuple[dict[str, str], Scenario]]
Values = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class PlannedRun(Point[Measured]):
    """One run of a paper.

    Attributes
    ----------
    measurement : FlowTable
        The measurement of the run.
    labels : dict
        Labels of its cell.
    repetition : Repetition
        The repetition of the cell.
    repeat : Repeat
        The ``[[repeat]]`` of the cell.
    given : Scenario
        The scenario of the cell, before its repetition.
    first : int
        The first seed of the cell.
    """

    measurement: FlowTable
    labels: Mapping[str, str]
    repetition: Repetition
    repeat: Repeat
    given: Scenario
    first: int

    @property
    def cell(self) -> tuple[str, ...]:
        """The values of its labels."""
        return tuple(self.labels.values())

    @property
    def curves(self) -> Curves:
        """The measured curves."""
        return self.measurement.curves

    @property
    def said(self) -> list[Any]:
        """Scenario and measures, for the manifest's hash; curves and program do not count."""
        return [self.scenario.hash, dict(self.repeat.spans), dict(self.repeat.cwnd), *self.repeat.derived]


@dataclass(frozen=True)
class Plan:
    """All runs and evaluations of models of a paper, and its claims and printed tables."""

    paper: Paper
    quick: bool
    runs: Sequence[PlannedRun]
    claims: Sequence[Claim] = ()
    tables: Sequence[Table] = ()
    models: Sequence[modelruns.PlannedModel] = ()

    @property
    def evaluations(self) -> int:
        """Number of evaluations of models."""
        return sum(model.count for model in self.models)

    @property
    def cells(self) -> list[list[PlannedRun]]:
        """The runs by cell, in order."""
        cells: dict[tuple[str, ...], list[PlannedRun]] = {}
        for run in self.runs:
            cells.setdefault(run.cell, []).append(run)
        return list(cells.values())


def plan_paper(paper: Paper, *, quick: bool = False) -> Plan:
    """Plan the runs of a paper, and read its claims and printed tables.

    Parameters
    ----------
    paper
        The paper.
    quick
        Whether to plan only the runs of its ``[quick]``.

    Raises
    ------
    ScenarioError
        If a scenario file is wrong.
    ValueError
        If ``paper.toml``, ``claims.toml`` or ``tables.toml`` uses an unknown name, or if a cell has no rule of
        repetition.
    """
    shorter = paper.contents.quick if quick else Quick()
    variants, points = _variants(paper), modelruns.points(paper)
    cells = [labels for labels, _ in variants] + [dict(point.labels) for point in points]
    if twice := sorted({tuple(labels.values()) for labels, _ in variants} & {point.cell for point in points}):
        raise ValueError(f"{paper.file}: a scenario and a model have the cell {', '.join(twice[0])}")
    values = {label: list(dict.fromkeys(labels[label] for labels in cells)) for label in paper.labels}
    known = _with_flows(paper, values, variants, points)
    _check_labels(paper, known)
    metrics = _metrics(paper)
    claims = parse_claims(paper.claims, known, metrics, str(paper.folder / "claims.toml"))
    answers.check(paper, claims)
    tables = parse_tables(paper.tables, known, metrics, str(paper.folder / "tables.toml"))
    kept = [(labels, scenario) for labels, scenario in variants if leaves(shorter.only, labels)]
    _check_count(paper, [labels for labels, _ in kept])
    _check_today(paper)
    runs: list[PlannedRun] = []
    for labels, scenario in kept:
        runs += _repetitions(paper, labels, scenario, values, shorter.counts)
    models = [_repeated(paper, point, values, shorter.counts) for point in points if leaves(shorter.only, point.labels)]
    if not runs and not models:
        raise ValueError(f"{paper.file}: quick.only selects no runs")
    return Plan(paper, quick, runs, claims, tables, models)


def _check_count(paper: Paper, cells: Sequence[Mapping[str, str]]) -> None:
    """Refuse more runs than anybody waits for, before one is planned."""
    rules = [_repeat(paper, labels).rule for labels in cells]
    count = sum(rule.count + rule.exact + rule.common for rule in rules)
    try:
        budget.check_runs(count, MOST_RUNS, "repeat fewer times")
    except ValueError as error:
        raise ValueError(f"{paper.file}: repeat: {error}") from None


def _check_today(paper: Paper) -> None:
    """Refuse keys of `today` that no flow of a host of today has."""
    try:
        for file in today.files():
            today.variants(load(file), [paper])
    except (_core.ScenarioError, ValueError, TypeError) as error:
        raise ValueError(f"{paper.file}: summary.today: {str(error).splitlines()[0]}") from None


def _with_flows(
    paper: Paper, values: Mapping[str, list[str]], variants: Variants, points: Sequence[modelruns.Point]
) -> dict[str, list[str]]:
    """Add the label of flows, with the names of all flows."""
    label = paper.contents.flows
    if label is None:
        return dict(values)
    if label in values:
        raise ValueError(f"{paper.file}: flows: {label} is already a label of runs")
    names = [name for _, scenario in variants for name in scenario.flows] + [point.flow for point in points]
    return {**values, label: list(dict.fromkeys(names))}


def _variants(paper: Paper) -> Variants:
    found: dict[tuple[str, ...], tuple[dict[str, str], Scenario]] = {}
    for number, experiment in enumerate(paper.contents.experiments, start=1):
        place = f"{paper.file}: experiment {number} ({experiment.file})"
        if not (paper.folder / experiment.file).is_file():
            raise ValueError(f"{place}: the paper's folder has no such file")
        swept = load(paper.folder / experiment.file).variants()
        only = experiment.only
        for label, kept in only.items():
            there = dict.fromkeys(labels[label] for labels, _ in swept if label in labels)
            checks.words(f"{place}: only", "label" if not there else label, [label] if not there else kept, there)
        for own, scenario in swept:
            labels = {**paper.contents.defaults, **experiment.labels, **own}
            checks.words(place, "label", labels, paper.labels)
            checks.words(place, "label", paper.labels, labels)
            if any(labels[label] not in kept for label, kept in only.items()):
                continue
            # A cell can be compared under other labels, such as the share of one protocol if all use its recovery.
            checks.words(f"{place}: relabel", "label", experiment.relabel, paper.labels)
            cell = {label: {**labels, **experiment.relabel}[label] for label in paper.labels}
            key = tuple(cell.values())
            # Experiments may overlap; equal cells are run once.
            if key in found and found[key][1].hash != scenario.hash:
                raise ValueError(f"{paper.file}: two experiments have the cell {', '.join(key)}")
            found.setdefault(key, (cell, scenario))
    return list(found.values())


def _check_labels(paper: Paper, values: Values) -> None:
    contents = paper.contents
    for number, repeat in enumerate(contents.repeats, start=1):
        checks.choice(f"{paper.file}: repeat {number}: where", repeat.where, values)
        checks.words(f"{paper.file}: repeat {number}: seeds_by", "label", repeat.seeds_by, values)
    _check_only(f"{paper.file}: quick.only", contents.quick.only, values)
    if contents.figures is not None:
        _check_figures(f"{paper.file}: figures", contents.figures, values)
    for number, chart in enumerate(contents.charts, start=1):
        _check_chart(f"{paper.file}: chart {number}", chart, values, paper)


def _check_only(place: str, only: Values, values: Values) -> None:
    for label, kept in only.items():
        checks.words(place, "label", [label], values)
        checks.words(place, label, kept, values[label])


def _check_figures(place: str, figures: Figures, values: Values) -> None:
    _check_only(f"{place}.only", figures.only, values)
    checks.words(place, "label", [*figures.sheet, figures.panel, figures.overlay], values)
    drawn = {**values, "kind": figures.kinds}
    for number, block in enumerate(figures.blocks, start=1):
        checks.choice(f"{place}.block {number}: where", block.where, drawn)
    for chosen in figures.order:
        if len(chosen) != len(figures.keys):
            raise ValueError(f"{place}.order: {list(chosen)} does not fit the keys {list(figures.keys)}")
        checks.choice(f"{place}.order", dict(zip(figures.keys, chosen, strict=True)), drawn)


def _check_chart(place: str, chart: Chart, values: Values, paper: Paper) -> None:
    flows = paper.contents.flows
    checks.choice(f"{place}: where", chart.where, values)
    checks.words(place, "label", _given(chart.x, chart.y, chart.panel), paper.labels)
    checks.words(place, "label", _given(chart.series), values)
    _check_only(f"{place}: only", chart.only, values)
    checks.choice(f"{place}: mark", chart.mark, values)
    _check_only(f"{place}: ratio", chart.ratio, values)
    checks.words(place, "trace", chart.traces, modelruns.trace_names())
    series = chart.series or flows
    if series is not None:
        checks.words(f"{place}: over", series, _given(chart.over), values[series])
    for mark in chart.printed:
        checks.words(f"{place}: printed", chart.x, [mark.x], values[chart.x])
        if series is not None:
            checks.words(f"{place}: printed", series, _given(mark.series), values[series])
    if flows is None and not chart.series and not chart.traces:
        raise ValueError(f"{place}: the chart compares flows of a run, so flows must name their label")
    named = _given(chart.flow, chart.to)
    if named and flows is not None:
        checks.words(place, flows, named, values[flows])
    checks.words(place, "metric", _given(chart.metric), sorted(_metrics(paper)))


def _given(*words: str | None) -> list[str]:
    return [word for word in words if word]


def _metrics(paper: Paper) -> list[str]:
    """Return the columns that a claim can use as metrics."""
    shortest = run_here(Scenario(duration="1 ms", flow=[{}]), [], _core.Cancel())
    columns = [name for name, kind in frame(shortest.flows).schema.items() if kind.is_numeric()]
    measured = [name for repeat in paper.contents.repeats for measure in measures(repeat) for name in measure.columns]
    given = [name for model in paper.contents.models for name in (*modelruns.outputs(model.name), *model.columns)]
    return list(dict.fromkeys([*columns, "queue_drops", *measured, *given]))


def measures(repeat: Repeat) -> list[Derivation]:
    """Return the measures of a rule; they add columns to the table of flows."""
    return [
        *([spans.arrivals(repeat.spans)] if repeat.spans else []),
        *([spans.windows(repeat.cwnd)] if repeat.cwnd else []),
        *(DERIVATIONS[name] for name in repeat.derived),
    ]


def _repetitions(
    paper: Paper, labels: Mapping[str, str], scenario: Scenario, values: Values, counts: Mapping[str, int]
) -> list[PlannedRun]:
    repeat = _repeat(paper, labels)
    first = _first_seed(repeat, labels, values)
    repeated = repetitions(repeat.rule, scenario, first, counts)
    measured, curves, drawn = measures(repeat), _curves_of(paper, labels), _drawn(repeated)
    return [
        PlannedRun(it.scenario, FlowTable(measured, _curves(curves, drawn, index)), labels, it, repeat, scenario, first)
        for index, it in enumerate(repeated)
    ]


def _drawn(repeated: Sequence[Repetition]) -> list[int]:
    """Return the positions of the runs of a cell whose curves are drawn.

    Curves of two cells are comparable only if their seeds are equal. So runs with common seeds come first, then runs on
    the exact path.
    """
    common = [place for place, run in enumerate(repeated) if run.seeds == "common"]
    exact = [place for place, run in enumerate(repeated) if run.paths != "like"]
    return (common or exact or [0])[: bands.RUNS]


def _curves(curves: Curves, drawn: Sequence[int], place: int) -> Curves:
    """Return the curves of one run of a cell; only the first drawn run has internals of the control."""
    if place not in drawn:
        return Curves()
    kept = tuple(kind for kind in curves.kinds if place == drawn[0] or kind != "internals")
    return replace(curves, kinds=kept)


def _curves_of(paper: Paper, labels: Mapping[str, str]) -> Curves:
    """Return the curves of a cell that the figures need."""
    figures = paper.contents.figures
    if figures is not None:
        shown = leaves(figures.only, labels)
        return Curves(tuple(figures.kinds), figures.bin, figures.start) if shown else Curves()
    wanted = [chart for chart in paper.contents.charts if chart.kind in ("time", "internals") and chart.takes(labels)]
    bins = [chart.bin for chart in wanted if chart.bin is not None]
    drawn = tuple(dict.fromkeys(chart.trace or "internals" for chart in wanted))
    return Curves(drawn, min(bins, default=None), None, bool(wanted))


def _repeat(paper: Paper, labels: Mapping[str, str]) -> Repeat:
    """Return the rule of repetition for a cell."""
    found = next((repeat for repeat in paper.contents.repeats if matches(labels, repeat.where)), None)
    if found is None:
        raise ValueError(f"{paper.file}: no [[repeat]] for {', '.join(labels.values())}")
    return found


def _first_seed(repeat: Repeat, labels: Mapping[str, str], values: Values) -> int:
    """Return the first seed of a cell; cells that differ in the labels of `seeds_by` have different seeds."""
    place = 0
    for label in repeat.seeds_by:
        place = place * len(values[label]) + values[label].index(labels[label])
    return int(place * repeat.rule.count + 1)


def _repeated(
    paper: Paper, point: modelruns.Point, values: Values, counts: Mapping[str, int]
) -> modelruns.PlannedModel:
    """Plan the evaluations of a cell: one for a closed form, one for each seed for a simulated model."""
    if not modelruns.is_random(point):
        return modelruns.PlannedModel(point, None)
    repeat = _repeat(paper, point.labels)
    if repeat.rule.sampling != "seed":
        raise ValueError(
            f"{paper.file}: {', '.join(point.cell)}: a model is repeated over seeds, not paths or start times"
        )
    first = _first_seed(repeat, point.labels, values)
    count = repeat.rule.count
    seeds = range(first, first + min(count, counts.get("seed", count)))
    wanted = [chart for chart in paper.contents.charts if chart.kind == "rounds" and chart.takes(point.labels)]
    traces = list(dict.fromkeys(name for chart in wanted for name in chart.traces))
    return modelruns.PlannedModel(point, list(seeds), traces if point.model == modelruns.TRACED else ())
