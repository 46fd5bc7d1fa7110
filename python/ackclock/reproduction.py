"""Running a paper: its runs are planned, executed with what an earlier attempt left, and reported."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ackclock import _core, checks, storage
from ackclock.claims import Claim, parse_claims
from ackclock.library import Paper
from ackclock.measuring import Drawing, Kept, Lines, PlannedRun, Rows, build, measure
from ackclock.result import frame
from ackclock.running import map_threads, run_here
from ackclock.scenario import Scenario, load

Progress = Callable[[int, int], None]
Change = tuple[int, dict[str, str], Literal["own", "common"] | None]
Variants = list[tuple[dict[str, str], Scenario]]
WRITTEN = ("report.html", "report.md", "verdicts.json", "runs.parquet", "figures")


@dataclass(frozen=True)
class Plan:
    """All runs of a paper, and the claims that they are to judge."""

    paper: Paper
    quick: bool
    runs: Sequence[PlannedRun]
    claims: Sequence[Claim] = ()

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
        One per run and flow: labels, sampling, unit, hash, and the columns of the flow table.
    lines : dict
        For each cell, the curves of its traced run by kind of plot.
    reused : int
        Runs that an earlier attempt had finished.
    """

    plan: Plan
    rows: Rows = field(default_factory=list)
    lines: dict[tuple[str, ...], Lines] = field(default_factory=dict)
    reused: int = 0


def plan(paper: Paper, *, quick: bool = False) -> Plan:
    """Plan a paper's runs, and read its claims.

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
        If ``paper.toml`` or ``claims.toml`` names what is not there, or has no rule of repetition for a cell.
    """
    document = paper.document
    shorter = document.get("quick", {}) if quick else {}
    variants = _variants(paper)
    values = {label: list(dict.fromkeys(labels[label] for labels, _ in variants)) for label in paper.labels}
    _check_labels(paper, values)
    claims = parse_claims(paper.claims, values, _metrics(paper), str(paper.folder / "claims.toml"))
    runs: list[PlannedRun] = []
    for labels, scenario in variants:
        if all(labels[label] in kept for label, kept in shorter.get("only", {}).items()):
            runs += _repetitions(paper, labels, scenario, values, shorter.get("counts", {}))
    if not runs:
        raise ValueError(f"{paper.file}: quick.only leaves no runs")
    return Plan(paper, quick, runs, claims)


def _variants(paper: Paper) -> Variants:
    found: Variants = []
    for number, experiment in enumerate(paper.document["experiment"], start=1):
        place = f"{paper.file}: experiment {number} ({experiment['file']})"
        if not (paper.folder / experiment["file"]).is_file():
            raise ValueError(f"{place}: there is no such file beside it")
        for swept, scenario in load(paper.folder / experiment["file"]).variants():
            labels = {**experiment.get("labels", {}), **swept}
            checks.words(place, "label", labels, paper.labels)
            checks.words(place, "label", paper.labels, labels)
            found.append(({label: labels[label] for label in paper.labels}, scenario))
    seen: set[tuple[str, ...]] = set()
    for labels, _ in found:
        if tuple(labels.values()) in seen:
            raise ValueError(f"{paper.file}: two experiments have the cell {', '.join(labels.values())}")
        seen.add(tuple(labels.values()))
    return found


def _check_labels(paper: Paper, values: Mapping[str, Sequence[str]]) -> None:
    document, figures = paper.document, paper.document["figures"]
    for number, rule in enumerate(document["repeat"], start=1):
        checks.choice(f"{paper.file}: repeat {number}: where", rule.get("where", {}), values)
        checks.words(f"{paper.file}: repeat {number}: seeds_by", "label", rule.get("seeds_by", []), values)
    for label, kept in document.get("quick", {}).get("only", {}).items():
        checks.words(f"{paper.file}: quick.only", "label", [label], values)
        checks.words(f"{paper.file}: quick.only", label, kept, values[label])
    checks.words(f"{paper.file}: figures", "label", [*figures["sheet"], figures["panel"], figures["overlay"]], values)
    drawn = {**values, "kind": list(kinds(figures))}
    for number, block in enumerate(figures.get("block", []), start=1):
        checks.choice(f"{paper.file}: figures.block {number}: where", block["where"], drawn)
    order = figures.get("order", {"keys": [], "values": []})
    for chosen in order["values"]:
        if len(chosen) != len(order["keys"]):
            raise ValueError(f"{paper.file}: figures.order: {chosen} does not fit the keys {order['keys']}")
        checks.choice(f"{paper.file}: figures.order", dict(zip(order["keys"], chosen, strict=True)), drawn)


def _metrics(paper: Paper) -> list[str]:
    """Name the columns on which a claim may be judged."""
    shortest = run_here(Scenario(duration="1 ms", flow=[{}]), [], _core.Cancel())
    columns = [name for name, kind in frame(shortest.flows).schema.items() if kind.is_numeric()]
    counted = [name for rule in paper.document["repeat"] for name in (*rule.get("spans", {}), *rule.get("cwnd", {}))]
    return list(dict.fromkeys([*columns, "queue_drops", *counted]))


def _repetitions(
    paper: Paper,
    labels: Mapping[str, str],
    scenario: Scenario,
    values: Mapping[str, Sequence[str]],
    counts: Mapping[str, int],
) -> list[PlannedRun]:
    rule = next((rule for rule in paper.document["repeat"] if matches(labels, rule.get("where", {}))), None)
    if rule is None:
        raise ValueError(f"{paper.file}: no [[repeat]] for {', '.join(labels.values())}")
    figures = paper.document["figures"]
    drawing = Drawing(kinds(figures), figures.get("bin"), figures.get("start"))
    first = 0
    for label in rule.get("seeds_by", []):
        first = first * len(values[label]) + values[label].index(labels[label])
    spans = rule.get("spans", {}), rule.get("cwnd", {})
    count = counts.get(rule["sampling"], rule["count"])
    if rule["sampling"] == "offset":
        amount, word = str(rule["spread"]).split()
        # The steps are those of all start times, also when only the first of them are run.
        starts = [f"{float(amount) * index / rule['count']:.12g} {word}" for index in range(count)]
        changed: list[Change] = [(index, {"flow.start": start}, None) for index, start in enumerate(starts)]
    else:
        # Cells of other values get other seeds: averaged over such cells, a sample is made of independent runs.
        own: Literal["own"] | None = "own" if "common" in rule else None
        changed = [(index + 1, {"seed": f"{first * rule['count'] + index + 1}"}, own) for index in range(count)]
        after = 1_000_000
        common = min(rule.get("common", 0), count)
        changed += [(after + index, {"seed": str(after + index)}, "common") for index in range(common)]
    return [
        PlannedRun(labels, rule["sampling"], unit, scenario.set(s), *spans, Drawing() if n else drawing, seeds)
        for n, (unit, s, seeds) in enumerate(changed)
    ]


def kinds(figures: Mapping[str, Any]) -> list[str]:
    """Give the kinds of plot that a paper wants: its own, and ``start`` if it looks at the first seconds."""
    return [*figures["kinds"], *(["start"] if "start" in figures else [])]


def matches(labels: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """Whether labels have the values that `where` asks for."""
    return all(labels[label] == value for label, value in where.items())


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

    Finished runs are kept in ``parts``, two files per cell, and used again by the next attempt if all is the same that
    determines what is measured. An earlier report is removed.

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
    check_out(plan, directory)
    parts = directory / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    storage.write_manifest(directory, "paper", {**manifest(plan), "state": "running"})
    for name in WRITTEN:
        path = directory / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    worker = _Worker(len(plan.runs), parts, progress)
    cells = map_threads(worker.run_cell, plan.cells, worker.cancel, jobs=jobs)
    outcome = Outcome(plan, reused=worker.reused)
    for cell, (found, lines) in zip(plan.cells, cells, strict=True):
        outcome.rows += found
        outcome.lines[cell[0].cell] = lines
    return outcome


class _Worker:
    """Runs cells on threads."""

    def __init__(self, total: int, parts: Path, progress: Progress | None) -> None:
        self.cancel = _core.Cancel()
        self.reused = 0
        self._parts = parts
        self._progress = progress
        self._total = total
        self._done = 0
        self._lock = threading.Lock()

    def run_cell(self, runs: Sequence[PlannedRun]) -> tuple[Rows, Lines]:
        """Run a cell's missing runs; keeps what is finished, also when it is stopped."""
        kept, new = Kept(self._parts, runs[0].labels), False
        try:
            for run in runs:
                there = kept.has(run)
                if not there:
                    kept.keep(run, *measure(run, self.cancel))
                    new = True
                self._count(there)
        finally:
            if new:
                kept.write()
        found = [
            {
                **run.labels,
                "sampling": run.sampling,
                "unit": run.unit,
                "seeds": run.seeds,
                "hash": run.scenario.hash,
                **row,
            }
            for run in runs
            for row in kept.rows[run.key]
        ]
        return found, kept.lines.get(runs[0].key, {})

    def _count(self, there: bool) -> None:
        with self._lock:
            self._done += 1
            self.reused += there
            if self._progress is not None:
                self._progress(self._done, self._total)


def manifest(plan: Plan) -> dict[str, Any]:
    """Say what was run: the paper, the number of runs, a hash over them, and the compiled core."""
    # The hash over all runs' hashes names what was run; it does not depend on the program.
    said = json.dumps([[run.scenario.hash, dict(run.spans), dict(run.cwnd_spans)] for run in plan.runs])
    hashes = hashlib.sha256(said.encode()).hexdigest()
    return {"paper": plan.paper.name, "quick": plan.quick, "runs": len(plan.runs), "hash": hashes, "build": build()}


def finite(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Replace what JSON cannot say, infinities and NaN, by None."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
