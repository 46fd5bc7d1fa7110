"""Reproduction of a paper: executes the runs of its plan that no earlier attempt has stored."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock.drawing import bands
from ackclock.experiments import sources
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.timed import RealTime
from ackclock.experiments.execute import Progress
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.store import Store
from ackclock.files import storage
from ackclock.formatting.numbers import counted
from ackclock.literature import modelruns
from ackclock.literature.measurement import Lines, Measured
from ackclock.literature.plan import Plan, PlannedRun
from ackclock.metrics.derivation import Rows

KIND = "paper"
DRAWING = "drawing"
"""State of a folder whose runs are all there, but no report."""
VERDICTS, SENTENCES, ANSWER = "verdicts.json", "sentences.json", "answer.json"
WRITTEN = ("report.html", "report.md", VERDICTS, SENTENCES, ANSWER, "runs.parquet", "worlds.parquet", "figures")
TABLES = ("tables.parquet", "tables.csv", "checks.parquet", "checks.csv")


@dataclass
class Outcome:
    """The results of a paper's runs.

    Attributes
    ----------
    plan : Plan
        The plan.
    rows : list of dict
        One row per run and flow, or per evaluation of a model. A row has labels, sampling, unit and hash. It also has
        the columns of the flow table, or the outputs of the model.
    lines : dict
        Combined curves of the first runs of each cell (see `bands`), by kind of plot. If all flows are drawn, the name
        is ``KIND/FLOW``. Curves of a model are named ``rounds/NAME``.
    reused : int
        Number of runs that an earlier attempt had stored.
    """

    plan: Plan
    rows: Rows = field(default_factory=list)
    lines: dict[tuple[str, ...], Lines] = field(default_factory=dict)
    reused: int = 0


def check_out(plan: Plan, directory: Path) -> None:
    """Refuse a directory that holds other results.

    Raises
    ------
    FileExistsError
        If the results are of another kind, of another paper, or of quick instead of full runs.
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


def execute(
    plan: Plan,
    directory: Path,
    *,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    budget: RealTime | None = None,
) -> Outcome:
    """Execute the runs that are not stored yet.

    Every finished run is stored at once. The next attempt reuses a run if everything that determines its measurement is
    unchanged. An earlier report is removed.

    Parameters
    ----------
    plan
        The plan.
    directory
        Directory of the results.
    jobs, engine, progress, budget
        As in `Experiment`.

    Raises
    ------
    FileExistsError
        If `directory` holds other results.
    Interrupted
        After Ctrl-C; finished runs are stored.
    """
    check_out(plan, directory)
    experiment = Experiment(directory, jobs=jobs, engine=engine, progress=progress, budget=budget)
    with experiment.opened(KIND, manifest(plan), (*WRITTEN, *TABLES)):
        try:
            experiment.run(plan.runs)
        finally:
            experiment.say_what_ran()
        experiment.finish(DRAWING)
    return _outcome(plan, experiment.store, reused=experiment.reused)


def stored(plan: Plan, directory: Path) -> Outcome:
    """Return the results of runs that `execute` stored, without running anything.

    Raises
    ------
    FileExistsError
        If `directory` holds other results.
    FileNotFoundError
        If a run is missing, or another version of the program ran it.
    """
    check_out(plan, directory)
    store = Store(directory)
    missing = sum(not store.has(run) for run in plan.runs)
    if missing:
        quick = " --quick" if plan.quick else ""
        raise FileNotFoundError(
            f"{directory}: {missing:,} of {counted(len(plan.runs), 'run')} missing, or another version ran them; "
            f"run: ackclock paper {plan.paper.name}{quick} --out {directory}"
        )
    return _outcome(plan, store, reused=len(plan.runs))


def _outcome(plan: Plan, store: Store, *, reused: int) -> Outcome:
    """Read the results of all runs, and evaluate the models."""
    outcome = Outcome(plan, reused=reused)
    flows = plan.paper.contents.flows
    for cell in plan.cells:
        measured: list[Measured] = [store.measured(run) for run in cell]
        for run, found in zip(cell, measured, strict=True):
            outcome.rows += rows_of(run, found, flows)
        outcome.lines[cell[0].cell] = bands.together(
            [it.lines for run, it in zip(cell, measured, strict=True) if run.curves.kinds]
        )
    for model in plan.models:
        rows, lines = modelruns.evaluate(model, flows)
        outcome.rows += rows
        outcome.lines[model.point.cell] = lines
    return outcome


def rows_of(run: PlannedRun, measured: Measured, flows: str | None) -> Rows:
    """Return the rows of a run with its labels; `flows` is the label of flows, if there is one."""
    it = run.repetition
    said = {
        "sampling": it.sampling,
        "unit": it.unit,
        "seeds": it.seeds,
        "paths": it.paths,
        "hash": run.scenario.hash,
    }
    # A label hides a column of the same name.
    return [
        {**run.labels, **said, **row, **run.labels, **({flows: row["flow"]} if flows else {})} for row in measured.rows
    ]


def manifest(plan: Plan) -> dict[str, Any]:
    """Return the manifest: the paper, the numbers of runs, their first and last seed, a hash, and the compiled core."""
    # The hash covers the hashes of all runs; it does not depend on the program.
    said = json.dumps([*(run.fingerprint for run in plan.runs), *(model.fingerprint for model in plan.models)])
    hashes = hashlib.sha256(said.encode()).hexdigest()
    counts = {"runs": len(plan.runs), **({"evaluations": plan.evaluations} if plan.models else {})}
    entries = {"paper": plan.paper.name, "citation": plan.paper.citation, "quick": plan.quick, **counts}
    seeds = {run.scenario.seed for run in plan.runs}
    entries |= {"seeds": [min(seeds), max(seeds)]} if seeds else {}
    return {**entries, "hash": hashes, "build": sources.build()}
