"""The plan of a paper: its runs, evaluations of models, claims and printed tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ackclock import _core, columns, freeze
from ackclock.drawing import bands
from ackclock.experiments import budget, pathtables
from ackclock.experiments.pathtables import PathTable
from ackclock.experiments.plan import Point
from ackclock.experiments.repetitions import Repetition, Rule, repetitions
from ackclock.files.places import Key
from ackclock.files.problems import Problems
from ackclock.literature import answers, modelruns, today
from ackclock.literature.claims import Claim, parse_claims
from ackclock.literature.contents import Chart, Figures, Quick, Repeat, leaves, matches
from ackclock.literature.library import Paper
from ackclock.literature.measurement import Curves, FlowTable, Measured
from ackclock.literature.printed import Table, parse_tables
from ackclock.metrics import spans
from ackclock.metrics.derivation import Derivation
from ackclock.metrics.flows import DERIVATIONS
from ackclock.scenario import Scenario, SweepPoints, load

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
    rule : Rule
        The rule of repetition of the cell.
    first : int
        The first seed of the cell.
    """

    measurement: FlowTable
    labels: Mapping[str, str]
    repetition: Repetition
    repeat: Repeat
    given: Scenario
    rule: Rule
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
    def fingerprint(self) -> list[Any]:
        """Scenario and measures, for the manifest's hash; curves and program do not count."""
        return [self.scenario.hash, dict(self.repeat.spans), dict(self.repeat.cwnd), *self.repeat.derived]


@dataclass(frozen=True)
class Plan:
    """All runs and evaluations of models of a paper, and its claims and printed tables.

    `whole` is the number of runs of the plan that is not quick.
    """

    paper: Paper
    quick: bool
    runs: Sequence[PlannedRun]
    claims: Sequence[Claim] = ()
    tables: Sequence[Table] = ()
    models: Sequence[modelruns.PlannedModel] = ()
    whole: int = 0

    @property
    def evaluations(self) -> int:
        """Number of evaluations of models."""
        return sum(model.count for model in self.models)

    @cached_property
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
    metrics = _metrics(paper)
    _check_labels(paper, known, metrics)
    claims = parse_claims(paper.claims, known, metrics, str(paper.folder / "claims.toml"))
    answers.check(paper, claims)
    tables = parse_tables(paper.tables, known, metrics, str(paper.folder / "tables.toml"))
    kept = [(labels, scenario) for labels, scenario in variants if leaves(shorter.only, labels)]
    whole = _count(paper, [labels for labels, _ in variants])
    _check_count(paper, [labels for labels, _ in kept])
    _check_today(paper)
    populations = _tables(paper)
    # The compiled core makes scenarios outside Python's lock; `map` raises the error of the first wrong cell.
    pool = ThreadPoolExecutor(budget.threads(None))
    try:
        planned = pool.map(lambda cell: _repetitions(paper, cell[0], cell[1], values, shorter.most, populations), kept)
        runs = [run for cell in planned for run in cell]
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C
    models = [_repeated(paper, point, values, shorter.most) for point in points if leaves(shorter.only, point.labels)]
    if not runs and not models:
        raise ValueError(f"{paper.file}: quick.only selects no runs")
    return Plan(paper, quick, runs, claims, tables, models, whole)


def _check_count(paper: Paper, cells: Sequence[Mapping[str, str]]) -> None:
    """Refuse more runs than anybody waits for, before one is planned."""
    try:
        budget.check_runs(_count(paper, cells), MOST_RUNS, "repeat fewer times")
    except ValueError as error:
        raise ValueError(f"{paper.file}: repeat: {error}") from None


def _count(paper: Paper, cells: Sequence[Mapping[str, str]]) -> int:
    """Return the number of runs of cells that are not shortened."""
    return sum(_repeat(paper, labels).runs for labels in cells)


def _check_today(paper: Paper) -> None:
    """Refuse keys of `today` and `control` that no flow of a host of today has, and a control without a name."""
    summary = paper.contents.summary
    if summary is None:
        return
    if bool(summary.control) != bool(summary.control_name):
        raise ValueError(f"{paper.file}: summary: control and control_name are a pair: the keys, and words for them")
    _check_keys(paper, "today", summary.today)
    _check_keys(paper, "control", summary.control)


def _check_keys(paper: Paper, name: str, keys: Mapping[str, Any]) -> None:
    try:
        for file in today.files():
            today.variant(load(file), keys)
    except (_core.ScenarioError, ValueError, TypeError) as error:
        raise ValueError(f"{paper.file}: summary.{name}: {str(error).splitlines()[0]}") from None


def _with_flows(
    paper: Paper, values: Mapping[str, list[str]], variants: Variants, points: Sequence[modelruns.Point]
) -> dict[str, list[str]]:
    """Add the label of flows, with the names of all flows."""
    label = paper.contents.flows
    if label is None:
        return dict(values)
    if label in values:
        raise ValueError(f"{paper.file}: flows: {label} is already a label of runs")
    tables = dict.fromkeys(name for _, scenario in variants for name in freeze.arriving(scenario))
    names = [*tables, *(name for _, scenario in variants for name in scenario.flows), *(point.flow for point in points)]
    return {**values, label: list(dict.fromkeys(names))}


def _variants(paper: Paper) -> Variants:
    found: dict[tuple[str, ...], tuple[dict[str, str], Scenario]] = {}
    problems = paper.problems()
    read: dict[str, tuple[SweepPoints, list[dict[str, str]]]] = {}
    for number, experiment in enumerate(paper.contents.experiments):
        path: Key = ("experiment", number)
        if not (paper.folder / experiment.file).is_file():
            problems.key((*path, "file"), f"the paper's folder has no file {experiment.file!r}")
            continue
        if experiment.file not in read:
            points = load(paper.folder / experiment.file).sweep_points()
            read[experiment.file] = points, [points.labels(place) for place in range(len(points))]
        points, swept = read[experiment.file]
        there = {label: list(dict.fromkeys(labels[label] for labels in swept)) for label in swept[0]}
        problems.only((*path, "only"), experiment.only, there)
        # A cell can be compared under other labels, such as the share of one protocol if all use its recovery.
        problems.words((*path, "relabel"), "label", experiment.relabel, paper.labels)
        given = {**paper.contents.defaults, **experiment.labels, **swept[0]}
        problems.words(path, "label", given, paper.labels)
        problems.words(path, "label", paper.labels, given)
        if problems:
            continue
        for place, own in enumerate(swept):
            labels = {**paper.contents.defaults, **experiment.labels, **own}
            if any(labels[label] not in kept for label, kept in experiment.only.items()):
                continue
            cell = {label: {**labels, **experiment.relabel}[label] for label in paper.labels}
            key, scenario = tuple(cell.values()), points[place][1]
            # Experiments may overlap; equal cells are run once.
            if key in found and found[key][1].hash != scenario.hash:
                problems.add(path, f"another experiment has the cell {', '.join(key)} with another scenario")
                break
            found.setdefault(key, (cell, scenario))
    problems.check()
    return list(found.values())


def _check_labels(paper: Paper, values: Values, metrics: Sequence[str]) -> None:
    contents, problems = paper.contents, paper.problems()
    for number, repeat in enumerate(contents.repeats):
        problems.choice(("repeat", number, "where"), repeat.where, values)
        problems.words(("repeat", number, "seeds_by"), "label", repeat.seeds_by, values)
    problems.only(("quick", "only"), contents.quick.only, values)
    if contents.figures is not None:
        _check_figures(contents.figures, values, problems)
    for number, chart in enumerate(contents.charts):
        _check_chart(("chart", number), chart, values, paper, problems)
        problems.words(("chart", number, "metric"), "metric", _given(chart.metric), metrics)
    problems.check()


def _tables(paper: Paper) -> dict[str, PathTable]:
    """Read the tables of paths by their names."""
    found: dict[str, PathTable] = {}
    problems = paper.problems()
    for number, repeat in enumerate(paper.contents.repeats):
        path: Key = ("repeat", number, "table")
        if not repeat.table:
            continue
        try:
            if repeat.table not in found:
                found[repeat.table] = pathtables.read(paper.folder / repeat.table, paper.labels)
            if (there := found[repeat.table].count) < repeat.count:
                problems.key(path, f"{repeat.table} has {there} paths, but count is {repeat.count}")
        except FileNotFoundError:
            problems.key(path, f"the paper's folder has no file {repeat.table!r}")
        except (OSError, ValueError) as error:
            problems.key(path, str(error))
    problems.check()
    return found


def _check_figures(figures: Figures, values: Values, problems: Problems) -> None:
    problems.only(("figures", "only"), figures.only, values)
    problems.only(("figures", "single"), figures.single, values)
    for key, labels in (("sheet", figures.sheet), ("panel", [figures.panel]), ("overlay", [figures.overlay])):
        problems.words(("figures", key), "label", labels, values)
    drawn = {**values, "kind": figures.kinds}
    for number, block in enumerate(figures.blocks):
        problems.choice(("figures", "block", number, "where"), block.where, drawn)
    for number, chosen in enumerate(figures.order.values if figures.order else ()):
        path = ("figures", "order", "values", number)
        keys = figures.order.keys if figures.order else ()
        if len(chosen) != len(keys):
            problems.add(path, f"{list(chosen)} does not fit the keys {list(keys)}")
        else:
            problems.choice(path, dict(zip(keys, chosen, strict=True)), drawn)


def _check_chart(path: Key, chart: Chart, values: Values, paper: Paper, problems: Problems) -> None:
    flows = paper.contents.flows
    problems.choice((*path, "where"), chart.where, values)
    problems.only((*path, "only"), chart.only, values)
    problems.choice((*path, "mark"), chart.mark, values)
    problems.only((*path, "ratio"), chart.ratio, values)
    problems.words((*path, "traces"), "trace", chart.traces, modelruns.trace_names())
    for key, label in (("x", chart.x), ("y", chart.y), ("panel", chart.panel)):
        problems.words((*path, key), "label", _given(label), paper.labels)
    if not problems.words((*path, "series"), "label", _given(chart.series), values):
        return
    series = chart.series or flows
    if series is not None:
        problems.words((*path, "over"), series, _given(chart.over), values[series])
    for number, mark in enumerate(chart.printed):
        here = (*path, "printed", number)
        if chart.x in values:
            problems.words((*here, "x"), chart.x, [mark.x], values[chart.x])
        if series is not None:
            problems.words((*here, "series"), series, _given(mark.series), values[series])
    if flows is None and not chart.series and not chart.traces:
        problems.add(path, "the chart compares flows of a run, so flows must name their label")
    if flows is not None:
        for key, name in (("flow", chart.flow), ("to", chart.to)):
            problems.words((*path, key), flows, _given(name), values[flows])


def _given(*words: str | None) -> list[str]:
    return [word for word in words if word]


def _metrics(paper: Paper) -> list[str]:
    """Return the columns that a claim can use as metrics."""
    numbers = [column.name for column in columns.of("flows") if column.kind != "texts"]
    measured = [name for repeat in paper.contents.repeats for measure in measures(repeat) for name in measure.columns]
    given = [name for model in paper.contents.models for name in (*modelruns.outputs(model.name), *model.columns)]
    return list(dict.fromkeys([*numbers, "queue_drops", *measured, *given]))


def measures(repeat: Repeat) -> list[Derivation]:
    """Return the measures of a rule; they add columns to the table of flows."""
    return [
        *([spans.arrivals(repeat.spans)] if repeat.spans else []),
        *([spans.windows(repeat.cwnd)] if repeat.cwnd else []),
        *(DERIVATIONS[name] for name in repeat.derived),
    ]


def _repetitions(
    paper: Paper,
    labels: Mapping[str, str],
    scenario: Scenario,
    values: Values,
    counts: Mapping[str, int],
    populations: Mapping[str, PathTable],
) -> list[PlannedRun]:
    repeat = _repeat(paper, labels)
    first = _first_seed(repeat, labels, values)
    rule = repeat.rule(populations[repeat.table].paths(labels) if repeat.table else ())
    repeated = repetitions(rule, scenario, first, counts)
    figures = paper.contents.figures
    measured, curves, drawn = measures(repeat), _curves_of(paper, labels), _drawn(repeated)
    if figures is not None and figures.is_single(labels):
        drawn = drawn[:1]
    return [
        PlannedRun(
            it.scenario, FlowTable(measured, _curves(curves, drawn, index)), labels, it, repeat, scenario, rule, first
        )
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
        shown = figures.draws(labels)
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
    return int(place * repeat.count + 1)


def _repeated(
    paper: Paper, point: modelruns.Point, values: Values, counts: Mapping[str, int]
) -> modelruns.PlannedModel:
    """Plan the evaluations of a cell: one for each seed if the model is random, otherwise a single one."""
    wanted = [chart for chart in paper.contents.charts if chart.kind == "rounds" and chart.takes(point.labels)]
    drawn = list(dict.fromkeys(name for chart in wanted for name in chart.traces))
    traces = drawn if point.model == modelruns.TRACED else ()
    if not modelruns.is_random(point):
        return modelruns.PlannedModel(point, None, traces)
    repeat = _repeat(paper, point.labels)
    if repeat.sampling != "seed":
        raise ValueError(
            f"{paper.file}: {', '.join(point.cell)}: a model is repeated over seeds, not paths or start times"
        )
    first = _first_seed(repeat, point.labels, values)
    count = repeat.count
    seeds = range(first, first + min(count, counts.get("seed", count)))
    return modelruns.PlannedModel(point, list(seeds), traces)
