"""Running a paper: its runs are planned, executed with what an earlier attempt left, and reported."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.deriving import COLUMNS
from ackclock.drawing import bands
from ackclock.experiments.measures import Drawing, Kept, Lines, PlannedRun, Rows, build, measure
from ackclock.experiments.repetitions import Repetition, repetitions
from ackclock.files import checks, leftovers, storage
from ackclock.papers import answers, modelruns
from ackclock.papers.claims import Claim, parse_claims
from ackclock.papers.library import Paper
from ackclock.papers.printed import Table, parse_tables
from ackclock.result import frame
from ackclock.running import map_threads, run_here
from ackclock.scenario import Scenario, load

Progress = Callable[[int, int], None]
Variants = list[tuple[dict[str, str], Scenario]]
WRITTEN = ("report.html", "report.md", "verdicts.json", "runs.parquet", "figures")
TABLES = ("tables.parquet", "tables.csv", "checks.parquet", "checks.csv")


@dataclass(frozen=True)
class Plan:
    """All runs of a paper, its evaluations of models, and the claims and tables that they are compared with."""

    paper: Paper
    quick: bool
    runs: Sequence[PlannedRun]
    claims: Sequence[Claim] = ()
    tables: Sequence[Table] = ()
    models: Sequence[modelruns.PlannedModel] = ()

    @property
    def evaluations(self) -> int:
        """How often models are evaluated."""
        return sum(model.count for model in self.models)

    @property
    def cells(self) -> list[list[PlannedRun]]:
        """The runs by cell, in order."""
        cells: dict[tuple[str, ...], list[PlannedRun]] = {}
        for run in self.runs:
            cells.setdefault(run.cell, []).append(run)
        return list(cells.values())


@dataclass
class Outcome:
    """What the runs gave.

    Attributes
    ----------
    plan : Plan
        What was run.
    rows : list of dict
        One per run and flow, or per evaluation of a model: labels, sampling, unit, hash, and the columns of the flow
        table, or the model's outputs.
    lines : dict
        For each cell, the curves of its first runs together (see `bands`) by kind of plot, or by ``KIND/FLOW`` where
        all flows are drawn; of a model by ``rounds/NAME``.
    reused : int
        Runs that an earlier attempt had finished.
    """

    plan: Plan
    rows: Rows = field(default_factory=list)
    lines: dict[tuple[str, ...], Lines] = field(default_factory=dict)
    reused: int = 0


def plan(paper: Paper, *, quick: bool = False) -> Plan:
    """Plan a paper's runs, and read its claims and printed tables.

    Parameters
    ----------
    paper
        The paper.
    quick
        Whether to leave out what its ``[quick]`` says.

    Raises
    ------
    ScenarioError
        If a scenario file is wrong.
    ValueError
        If ``paper.toml``, ``claims.toml`` or ``tables.toml`` names what is not there, or a cell has no rule of
        repetition.
    """
    document = paper.document
    shorter = document.get("quick", {}) if quick else {}
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
    chosen = shorter.get("only", {})
    counts = shorter.get("counts", {})
    runs: list[PlannedRun] = []
    for labels, scenario in variants:
        if all(labels[label] in kept for label, kept in chosen.items()):
            runs += _repetitions(paper, labels, scenario, values, counts)
    models = [
        _repeated(paper, point, values, counts)
        for point in points
        if all(point.labels[label] in kept for label, kept in chosen.items())
    ]
    if not runs and not models:
        raise ValueError(f"{paper.file}: quick.only leaves no runs")
    return Plan(paper, quick, runs, claims, tables, models)


def _with_flows(
    paper: Paper, values: Mapping[str, list[str]], variants: Variants, points: Sequence[modelruns.Point]
) -> dict[str, list[str]]:
    """Add the label that names flows, with the names that they have in any run."""
    if "flows" not in paper.document:
        return dict(values)
    label = paper.document["flows"]
    if label in values:
        raise ValueError(f"{paper.file}: flows: {label} is a label of runs already")
    names = [name for _, scenario in variants for name in scenario.flows] + [point.flow for point in points]
    return {**values, label: list(dict.fromkeys(names))}


def _variants(paper: Paper) -> Variants:
    found: dict[tuple[str, ...], tuple[dict[str, str], Scenario]] = {}
    for number, experiment in enumerate(paper.document.get("experiment", []), start=1):
        place = f"{paper.file}: experiment {number} ({experiment['file']})"
        if not (paper.folder / experiment["file"]).is_file():
            raise ValueError(f"{place}: there is no such file beside it")
        swept = load(paper.folder / experiment["file"]).variants()
        only = experiment.get("only", {})
        for label, kept in only.items():
            there = dict.fromkeys(labels[label] for labels, _ in swept if label in labels)
            checks.words(f"{place}: only", "label" if not there else label, [label] if not there else kept, there)
        for own, scenario in swept:
            labels = {**paper.document.get("defaults", {}), **experiment.get("labels", {}), **own}
            checks.words(place, "label", labels, paper.labels)
            checks.words(place, "label", paper.labels, labels)
            if any(labels[label] not in kept for label, kept in only.items()):
                continue
            # A cell may stand among others under another name, as what one protocol got when all used its recovery.
            checks.words(f"{place}: relabel", "label", experiment.get("relabel", {}), paper.labels)
            cell = {label: {**labels, **experiment.get("relabel", {})}[label] for label in paper.labels}
            key = tuple(cell.values())
            # Choices of several experiments may overlap; what is the same is run once.
            if key in found and found[key][1].hash != scenario.hash:
                raise ValueError(f"{paper.file}: two experiments have the cell {', '.join(key)}")
            found.setdefault(key, (cell, scenario))
    return list(found.values())


def _check_labels(paper: Paper, values: Mapping[str, Sequence[str]]) -> None:
    document = paper.document
    for number, rule in enumerate(paper.repeats, start=1):
        checks.choice(f"{paper.file}: repeat {number}: where", rule.get("where", {}), values)
        checks.words(f"{paper.file}: repeat {number}: seeds_by", "label", rule.get("seeds_by", []), values)
    for label, kept in document.get("quick", {}).get("only", {}).items():
        checks.words(f"{paper.file}: quick.only", "label", [label], values)
        checks.words(f"{paper.file}: quick.only", label, kept, values[label])
    if "figures" in document:
        _check_figures(paper, values)
    for number, chart in enumerate(paper.charts, start=1):
        _check_chart(f"{paper.file}: chart {number}", chart, values, paper)


def _check_figures(paper: Paper, values: Mapping[str, Sequence[str]]) -> None:
    figures = paper.document["figures"]
    for label, kept in figures.get("only", {}).items():
        checks.words(f"{paper.file}: figures.only", "label", [label], values)
        checks.words(f"{paper.file}: figures.only", label, kept, values[label])
    checks.words(f"{paper.file}: figures", "label", [*figures["sheet"], figures["panel"], figures["overlay"]], values)
    drawn = {**values, "kind": list(kinds(figures))}
    for number, block in enumerate(figures.get("block", []), start=1):
        checks.choice(f"{paper.file}: figures.block {number}: where", block["where"], drawn)
    order = figures.get("order", {"keys": [], "values": []})
    for chosen in order["values"]:
        if len(chosen) != len(order["keys"]):
            raise ValueError(f"{paper.file}: figures.order: {chosen} does not fit the keys {order['keys']}")
        checks.choice(f"{paper.file}: figures.order", dict(zip(order["keys"], chosen, strict=True)), drawn)


def _check_chart(place: str, chart: Mapping[str, Any], values: Mapping[str, Sequence[str]], paper: Paper) -> None:
    checks.choice(f"{place}: where", chart["where"], values)
    checks.words(place, "label", [chart[key] for key in ("x", "y", "panel") if key in chart], paper.labels)
    checks.words(place, "label", [chart[key] for key in ("series",) if key in chart], values)
    for label, kept in chart.get("only", {}).items():
        checks.words(f"{place}: only", "label", [label], values)
        checks.words(f"{place}: only", label, kept, values[label])
    checks.choice(f"{place}: mark", chart.get("mark", {}), values)
    for label, pair in chart.get("ratio", {}).items():
        checks.words(f"{place}: ratio", "label", [label], values)
        checks.words(f"{place}: ratio", label, pair, values[label])
    checks.words(place, "trace", chart.get("traces", []), modelruns.trace_names())
    series = chart.get("series", paper.document.get("flows"))
    if "over" in chart:
        checks.words(f"{place}: over", series, [chart["over"]], values[series])
    for mark in chart.get("printed", []):
        checks.words(f"{place}: printed", chart["x"], [mark["x"]], values[chart["x"]])
        checks.words(f"{place}: printed", series, filter(None, [mark.get("series")]), values[series])
    if "flows" not in paper.document and not {"series", "traces"} & chart.keys():
        raise ValueError(f"{place}: a chart compares the flows of a run; flows must name their label")
    flows = [chart[key] for key in ("flow", "to") if key in chart]
    if flows:
        checks.words(place, paper.document["flows"], flows, values[paper.document["flows"]])
    if "metric" in chart:
        checks.words(place, "metric", [chart["metric"]], sorted(_metrics(paper)))


def _metrics(paper: Paper) -> list[str]:
    """Name the columns on which a claim may be judged."""
    shortest = run_here(Scenario(duration="1 ms", flow=[{}]), [], _core.Cancel())
    columns = [name for name, kind in frame(shortest.flows).schema.items() if kind.is_numeric()]
    counted = [name for rule in paper.repeats for name in (*rule.get("spans", {}), *rule.get("cwnd", {}))]
    derived = [name for rule in paper.repeats for measure in rule.get("derived", []) for name in COLUMNS[measure]]
    models = paper.document.get("model", [])
    given = [name for entry in models for name in (*modelruns.outputs(entry["name"]), *entry.get("columns", {}))]
    return list(dict.fromkeys([*columns, "queue_drops", *counted, *derived, *given]))


def _repetitions(
    paper: Paper,
    labels: Mapping[str, str],
    scenario: Scenario,
    values: Mapping[str, Sequence[str]],
    counts: Mapping[str, int],
) -> list[PlannedRun]:
    rule = _rule(paper, labels)
    drawing = _drawing(paper, labels)
    repeated = repetitions(rule, scenario, _first_seed(rule, labels, values), counts)
    drawn = _drawn(repeated)
    return [
        PlannedRun(
            labels,
            it.sampling,
            it.unit,
            it.scenario,
            rule.get("spans", {}),
            rule.get("cwnd", {}),
            _curves(drawing, drawn, index),
            it.seeds,
            tuple(rule.get("derived", ())),
            it.paths,
        )
        for index, it in enumerate(repeated)
    ]


def _drawn(repeated: Sequence[Repetition]) -> list[int]:
    """Choose the runs of a cell whose curves are drawn, by their places.

    Curves of two cells can be compared only if their seeds are the same; so runs with seeds that all cells share come
    first, then those on the exact path.
    """
    common = [place for place, run in enumerate(repeated) if run.seeds == "common"]
    exact = [place for place, run in enumerate(repeated) if run.paths != "like"]
    return (common or exact or [0])[: bands.RUNS]


def _curves(drawing: Drawing, drawn: Sequence[int], place: int) -> Drawing:
    """Say which curves are kept of a cell's run: a control's internals are those of the first drawn run alone."""
    if place not in drawn:
        return Drawing()
    return replace(drawing, kinds=[kind for kind in drawing.kinds if place == drawn[0] or kind != "internals"])


def _rule(paper: Paper, labels: Mapping[str, str]) -> Mapping[str, Any]:
    """Find the rule of repetition for a cell."""
    rule = next((rule for rule in paper.repeats if matches(labels, rule.get("where", {}))), None)
    if rule is None:
        raise ValueError(f"{paper.file}: no [[repeat]] for {', '.join(labels.values())}")
    return rule


def _first_seed(rule: Mapping[str, Any], labels: Mapping[str, str], values: Mapping[str, Sequence[str]]) -> int:
    """Give the first seed of a cell: cells that differ in the labels of `seeds_by` have seeds of their own."""
    place = 0
    for label in rule.get("seeds_by", []):
        place = place * len(values[label]) + values[label].index(labels[label])
    return int(place * rule["count"] + 1)


def _repeated(
    paper: Paper, point: modelruns.Point, values: Mapping[str, Sequence[str]], counts: Mapping[str, int]
) -> modelruns.PlannedModel:
    """Plan the evaluations of a cell: one of a closed form, one for each seed of a simulated model."""
    if not modelruns.is_random(point):
        return modelruns.PlannedModel(point, None)
    rule = _rule(paper, point.labels)
    if rule["sampling"] != "seed":
        raise ValueError(
            f"{paper.file}: {', '.join(point.cell)}: a model is repeated over seeds, not paths or start times"
        )
    first = _first_seed(rule, point.labels, values)
    seeds = range(first, first + min(rule["count"], counts.get("seed", rule["count"])))
    wanted = [chart for chart in paper.charts if chart["kind"] == "rounds" and takes(chart, point.labels)]
    traces = list(dict.fromkeys(name for chart in wanted for name in chart["traces"]))
    return modelruns.PlannedModel(point, list(seeds), traces if point.model == modelruns.TRACED else ())


def _drawing(paper: Paper, labels: Mapping[str, str]) -> Drawing:
    """Say which curves the figures need of a cell."""
    if "figures" in paper.document:
        figures = paper.document["figures"]
        shown = leaves(figures.get("only", {}), labels)
        return Drawing(kinds(figures), figures.get("bin"), figures.get("start")) if shown else Drawing()
    wanted = [chart for chart in paper.charts if chart["kind"] in ("time", "internals") and takes(chart, labels)]
    bins = [chart["bin"] for chart in wanted if "bin" in chart]
    drawn = list(dict.fromkeys(chart.get("trace", "internals") for chart in wanted))
    return Drawing(drawn, min(bins, default=None), None, bool(wanted))


def kinds(figures: Mapping[str, Any]) -> list[str]:
    """Give the kinds of plot that a paper wants: its own, and ``start`` if it looks at the first seconds."""
    return [*figures["kinds"], *(["start"] if "start" in figures else [])]


def matches(labels: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """Whether labels have the values that `where` asks for."""
    return all(labels[label] == value for label, value in where.items())


def leaves(only: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> bool:
    """Whether `only` leaves a cell or row of these labels."""
    return all(labels[label] in kept for label, kept in only.items() if label in labels)


def takes(chart: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a chart takes a cell or row of these labels."""
    return matches(labels, chart["where"]) and leaves(chart.get("only", {}), labels)


def check_out(plan: Plan, directory: Path) -> None:
    """Refuse a directory that holds something else.

    Raises
    ------
    FileExistsError
        If `directory` holds results of another kind, of another paper, or quick ones beside full ones.
    """
    storage.check_free(directory, "paper")
    if not (directory / storage.MANIFEST).exists():
        return
    there = storage.read_manifest(directory, "paper")
    if (there.get("paper"), there.get("quick")) != (plan.paper.name, plan.quick):
        quick = "the quick runs" if there.get("quick") else "all runs"
        raise FileExistsError(
            f"{directory} holds {quick} of the paper {there.get('paper')!r}; choose another directory"
        )


def execute(plan: Plan, directory: Path, *, jobs: int | None = None, progress: Progress | None = None) -> Outcome:
    """Run what is not there yet.

    Every finished run is kept at once in ``parts``: a file per cell and one per drawn run. The next attempt uses it
    again if everything that determines a measurement is unchanged. An earlier report is removed.

    Parameters
    ----------
    plan
        What to run.
    directory
        Where the results of the paper go.
    jobs
        Runs at once.
    progress
        Called with the number of finished runs and of all runs, from the threads that run.

    Raises
    ------
    FileExistsError
        If `directory` holds something else.
    Interrupted
        If Ctrl-C was pressed; what is finished is kept.
    """
    parts = directory / "parts"
    for folder in (directory, parts):
        leftovers.remove_within(folder)
    check_out(plan, directory)
    parts.mkdir(parents=True, exist_ok=True)
    storage.write_manifest(directory, "paper", {**manifest(plan), "state": "running"})
    for name in (*WRITTEN, *TABLES):
        path = directory / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    worker = _Worker(len(plan.runs), parts, progress, plan.paper.document.get("flows"))
    cells = map_threads(worker.run_cell, plan.cells, worker.cancel, jobs=jobs)
    outcome = Outcome(plan, reused=worker.reused)
    for cell, (found, lines) in zip(plan.cells, cells, strict=True):
        outcome.rows += found
        outcome.lines[cell[0].cell] = lines
    for model in plan.models:
        found, lines = modelruns.evaluate(model, plan.paper.document.get("flows"))
        outcome.rows += found
        outcome.lines[model.point.cell] = lines
    return outcome


class _Worker:
    """Runs cells on threads."""

    def __init__(self, total: int, parts: Path, progress: Progress | None, flows: str | None) -> None:
        self.cancel = _core.Cancel()
        self.reused = 0
        self._parts = parts
        self._flows = flows
        self._progress = progress
        self._total = total
        self._done = 0
        self._lock = threading.Lock()

    def run_cell(self, runs: Sequence[PlannedRun]) -> tuple[Rows, Lines]:
        """Run a cell's missing runs; keeps what is finished, also when it is stopped."""
        kept = Kept(self._parts, runs[0].labels)
        for run in runs:
            there = kept.has(run)
            if not there:
                kept.keep(run, *measure(run, self.cancel))
            self._count(there)
        found = [
            {
                **run.labels,
                "sampling": run.sampling,
                "unit": run.unit,
                "seeds": run.seeds,
                "paths": run.paths,
                "hash": run.scenario.hash,
                **row,
                # A label may have the name of a column, which it then hides.
                **run.labels,
                **({self._flows: row["flow"]} if self._flows else {}),
            }
            for run in runs
            for row in kept.rows[run.key]
        ]
        return found, kept.curves(runs)

    def _count(self, there: bool) -> None:
        with self._lock:
            self._done += 1
            self.reused += there
            if self._progress is not None:
                self._progress(self._done, self._total)


def manifest(plan: Plan) -> dict[str, Any]:
    """Say what was run: the paper, the number of runs, a hash over them, and the compiled core."""
    # The hash over all runs' hashes names what was run; it does not depend on the program.
    runs = [[run.scenario.hash, dict(run.spans), dict(run.cwnd_spans), *run.derived] for run in plan.runs]
    said = json.dumps([*runs, *(model.said for model in plan.models)])
    hashes = hashlib.sha256(said.encode()).hexdigest()
    counts = {"runs": len(plan.runs), **({"evaluations": plan.evaluations} if plan.models else {})}
    return {"paper": plan.paper.name, "quick": plan.quick, **counts, "hash": hashes, "build": build()}


def finite(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Replace what JSON cannot say, infinities and NaN, by None."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
