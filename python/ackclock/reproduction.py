"""Running a paper: its runs are planned, executed with what an earlier attempt left, and reported."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars

from ackclock import _core, plot, storage
from ackclock.library import Paper
from ackclock.result import Result, frame, rows
from ackclock.running import map_threads, run_here
from ackclock.scenario import Scenario, load

Progress = Callable[[int, int], None]
Lines = dict[str, plot.Line]
TRACES = {"cwnd": "cwnd", "throughput": "delivered", "start": "cwnd"}


@dataclass(frozen=True)
class PlannedRun:
    """One run of a paper.

    Attributes
    ----------
    labels : dict
        Which cell of the experiment it belongs to.
    sampling : {"seed", "offset"}
        How it differs from the other runs of its cell.
    unit : int
        The seed, or the number of the start time.
    scenario : Scenario
        What is run.
    spans : dict
        Spans of time in seconds, by the column that tells how many bytes arrived in them.
    traced : bool
        Whether its traces are kept for the figures.
    """

    labels: Mapping[str, str]
    sampling: Literal["seed", "offset"]
    unit: int
    scenario: Scenario
    spans: Mapping[str, Sequence[float]]
    traced: bool

    @property
    def key(self) -> tuple[str, ...]:
        """The values of its labels: its cell."""
        return tuple(self.labels.values())


@dataclass(frozen=True)
class Plan:
    """All runs of a paper."""

    paper: Paper
    quick: bool
    runs: Sequence[PlannedRun]

    @property
    def cells(self) -> list[list[PlannedRun]]:
        """The runs by cell, in order."""
        cells: dict[tuple[str, ...], list[PlannedRun]] = {}
        for run in self.runs:
            cells.setdefault(run.key, []).append(run)
        return list(cells.values())


@dataclass
class Outcome:
    """What the runs gave.

    Attributes
    ----------
    plan : Plan
        What was run.
    rows : list of dict
        One per run and flow: labels, sampling, unit, hash, and the columns of the flow table.
    lines : dict
        For each cell, the curves of its traced run by kind of plot.
    reused : int
        Runs that an earlier attempt had finished.
    """

    plan: Plan
    rows: list[dict[str, Any]] = field(default_factory=list)
    lines: dict[tuple[str, ...], Lines] = field(default_factory=dict)
    reused: int = 0


def plan(paper: Paper, *, quick: bool = False) -> Plan:
    """Plan a paper's runs.

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
        If ``paper.toml`` has no rule of repetition for a cell.
    """
    document = paper.document
    only = document.get("quick", {}).get("only", {}) if quick else {}
    counts = document.get("quick", {}).get("counts", {}) if quick else {}
    runs: list[PlannedRun] = []
    for experiment in document["experiment"]:
        for swept, scenario in load(paper.folder / experiment["file"]).variants():
            labels = {**experiment.get("labels", {}), **swept}
            labels = {label: labels[label] for label in paper.labels}
            if all(labels[label] in values for label, values in only.items()):
                runs += _repetitions(paper, labels, scenario, counts)
    return Plan(paper, quick, runs)


def _repetitions(
    paper: Paper, labels: Mapping[str, str], scenario: Scenario, counts: Mapping[str, int]
) -> list[PlannedRun]:
    rule = next((rule for rule in paper.document["repeat"] if matches(labels, rule.get("where", {}))), None)
    if rule is None:
        raise ValueError(f"{paper.folder}: no [[repeat]] for {', '.join(labels.values())}")
    sampling, spans = rule["sampling"], rule.get("spans", {})
    count = counts.get(sampling, rule["count"])
    runs = []
    for index in range(count):
        if sampling == "seed":
            unit, changed = index + 1, scenario.set({"seed": index + 1})
        else:
            amount, word = str(rule["spread"]).split()
            unit, changed = index, scenario.set({"flow.start": f"{float(amount) * index / count:.12g} {word}"})
        runs.append(PlannedRun(labels, sampling, unit, changed, spans, traced=index == 0))
    return runs


def kinds(figures: Mapping[str, Any]) -> list[str]:
    """Give the kinds of plot that a paper wants: its own, and ``start`` if it looks at the first seconds."""
    return [*figures["kinds"], *(["start"] if "start" in figures else [])]


def matches(labels: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """Whether labels have the values that `where` asks for."""
    return all(labels[label] == value for label, value in where.items())


def execute(plan: Plan, directory: Path, *, jobs: int | None = None, progress: Progress | None = None) -> Outcome:
    """Run what is not there yet.

    Finished runs are kept in ``parts``, one file per cell, and used again by the next attempt if the scenario and the
    compiled core are the same.

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
    storage.check_free(directory, "paper")
    parts = directory / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    storage.write_manifest(directory, "paper", {**manifest(plan), "state": "running"})
    worker = _Worker(plan, parts, progress)
    cells = map_threads(worker.run_cell, plan.cells, worker.cancel, jobs=jobs)
    outcome = Outcome(plan, reused=worker.reused)
    for cell, (found, lines) in zip(plan.cells, cells, strict=True):
        outcome.rows += found
        outcome.lines[cell[0].key] = lines
    return outcome


class _Worker:
    """Runs cells on threads."""

    def __init__(self, plan: Plan, parts: Path, progress: Progress | None) -> None:
        self.cancel = _core.Cancel()
        self.reused = 0
        self._parts = parts
        self._build = build()
        self._figures = plan.paper.document["figures"]
        self._progress = progress
        self._total = len(plan.runs)
        self._done = 0
        self._lock = threading.Lock()

    def run_cell(self, runs: Sequence[PlannedRun]) -> tuple[list[dict[str, Any]], Lines]:
        """Run a cell's missing runs; keeps what is finished, also when it is stopped."""
        first = runs[0].scenario.hash[:20]
        part, drawing = self._parts / f"{first}.json", self._parts / f"{first}.npz"
        kept = self._read(part)
        lines = _load_lines(drawing) if drawing.exists() and runs[0].scenario.hash in kept else None
        new = 0
        try:
            for run in runs:
                there = run.scenario.hash in kept and (not run.traced or lines is not None)
                if not there:
                    result = run_here(run.scenario, self._record(run), self.cancel)
                    kept[run.scenario.hash] = _measure(run, result)
                    if run.traced:
                        lines = self._lines(result)
                        _save_lines(drawing, lines)
                    new += 1
                self._count(there)
        finally:
            if new:
                storage.write_text(part, json.dumps({"build": self._build, "runs": kept}))
        found = [
            {**run.labels, "sampling": run.sampling, "unit": run.unit, "hash": run.scenario.hash, **row}
            for run in runs
            for row in kept[run.scenario.hash]
        ]
        return found, lines or {}

    def _read(self, part: Path) -> dict[str, Any]:
        try:
            stored = json.loads(part.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return dict(stored["runs"]) if stored.get("build") == self._build else {}

    def _record(self, run: PlannedRun) -> list[str]:
        wanted = {TRACES[kind] for kind in kinds(self._figures)} if run.traced else set()
        return sorted(wanted | ({"delivered"} if run.spans else set()))

    def _lines(self, result: Result) -> Lines:
        lines: Lines = {}
        cwnd = plot.cwnd_lines(result) if "cwnd" in result.traces else []
        for kind in kinds(self._figures):
            drawn = plot.throughput_lines(result, self._figures.get("bin")) if kind == "throughput" else cwnd
            if drawn:
                shown = plot.until(drawn[0], self._figures["start"]) if kind == "start" else drawn[0]
                lines[kind] = plot.thin_out(shown)
        return lines

    def _count(self, there: bool) -> None:
        with self._lock:
            self._done += 1
            self.reused += there
            if self._progress is not None:
                self._progress(self._done, self._total)


def _measure(run: PlannedRun, result: Result) -> list[dict[str, Any]]:
    drops = sum(link["drops"] for link in rows(result.links))
    measured = [{"flow": row.pop("name"), **row, "queue_drops": drops} for row in rows(result.flows)]
    if run.spans:
        trace = frame(result.trace("delivered"))
        for row in measured:
            own = trace.filter(trace["flow"].cast(polars.String) == row["flow"])
            total = np.concatenate([[0], own["bytes"].to_numpy()])
            for name, (begin, end) in run.spans.items():
                places = np.searchsorted(own["time"].to_numpy(), [begin, end], side="right")
                row[name] = int(total[places[1]]) - int(total[places[0]])
    return measured


def _save_lines(path: Path, lines: Lines) -> None:
    import io

    arrays: dict[str, Any] = {}
    for kind, line in lines.items():
        arrays[f"{kind}.x"], arrays[f"{kind}.y"] = line.x, line.y
        if line.thin is not None:
            arrays[f"{kind}.thin"] = line.thin
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    storage.write_bytes(path, buffer.getvalue())


def _load_lines(path: Path) -> Lines:
    with np.load(path) as arrays:
        kinds = sorted({name.split(".")[0] for name in arrays})
        return {
            kind: plot.Line("", arrays[f"{kind}.x"], arrays[f"{kind}.y"], arrays.get(f"{kind}.thin")) for kind in kinds
        }


def build() -> str:
    """Name the compiled core by its content: results of another one are not used again."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()[:20]


def manifest(plan: Plan) -> dict[str, Any]:
    """Say what was run: the paper, the number of runs, a hash over them, and the compiled core."""
    # The hash over all runs' hashes names what was run.
    hashes = hashlib.sha256("".join(run.scenario.hash for run in plan.runs).encode()).hexdigest()
    return {"paper": plan.paper.name, "quick": plan.quick, "runs": len(plan.runs), "hash": hashes, "build": build()}


def finite(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Replace what JSON cannot say, infinities and NaN, by None."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
