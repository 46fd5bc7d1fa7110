"""Runs in real time: one after another, each stored as soon as it is finished."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars

from ackclock.experiments import execute as engine
from ackclock.experiments.execute import Interrupted, Progress
from ackclock.experiments.store import Store
from ackclock.experiments.world import World
from ackclock.metrics.derivation import Rows
from ackclock.papers.measurement import Measured
from ackclock.papers.onkernel.choosing import Choice
from ackclock.papers.onkernel.machine import Machine
from ackclock.papers.plan import PlannedRun
from ackclock.papers.reproduction import DRAWING, KIND, manifest, rows_of

TABLE = "kernel.parquet"
FACTS = ("seconds", "lateness_p99", "attempts", "warnings")
"""Columns that the rows of runs in real time have in addition."""


@dataclass
class OnMachine:
    """The results of runs in real time.

    Attributes
    ----------
    choice : Choice
        The chosen readings and runs.
    rows : list of dict
        One row per run and flow, as in `Outcome`, with the columns of `FACTS`.
    simulated : list of dict
        The same of simulations of the same scenarios.
    missing : list of PlannedRun
        Runs without a result: every attempt was tainted, or the run failed.
    problems : list of str
        Why they have none, each reason once; empty if nothing ran in this call.
    reused : int
        Number of runs that an earlier attempt had stored.
    """

    choice: Choice
    rows: Rows = field(default_factory=list)
    simulated: Rows = field(default_factory=list)
    missing: list[PlannedRun] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    reused: int = 0

    @property
    def count(self) -> int:
        """Number of runs with a result."""
        return len(self.choice.runs) - len(self.missing)


def execute(choice: Choice, directory: Path, machine: Machine, *, progress: Progress | None = None) -> OnMachine:
    """Execute the chosen runs that are not stored yet, one at a time, and simulate the same scenarios.

    A run that fails, or of which every attempt is tainted, is not stored, so that the next call repeats it.

    Parameters
    ----------
    choice
        The chosen runs.
    directory
        Directory of the paper's results.
    machine
        The machine that runs them.
    progress
        Called with the number of finished runs and of all runs.

    Raises
    ------
    Interrupted
        After Ctrl-C; finished runs are stored.
    """
    store = Store(directory)
    with store.opened(KIND, manifest(choice.plan)):
        points = _there(choice)
        left = [point for point in points if not store.has(point)]
        engine.execute(choice.simulated, store)
        reused = len(points) - len(left)
        if progress is not None and reused:
            progress(reused, len(points))
        problems: dict[str, None] = {}
        for place, point in enumerate(left):
            try:
                if problem := _run(point, store, machine):
                    problems[problem] = None
            except KeyboardInterrupt:
                done = reused + place
                raise Interrupted([True] * done + [None] * (len(points) - done)) from None
            if progress is not None:
                progress(reused + place + 1, len(points))
        store.finish(DRAWING)
    found = stored(choice, directory)
    found.reused, found.problems = reused, list(problems)
    return found


def stored(choice: Choice, directory: Path) -> OnMachine:
    """Return the stored results of chosen runs, without running anything."""
    store = Store(directory)
    found = OnMachine(choice)
    flows = choice.plan.paper.contents.flows
    for point, twin in zip(_there(choice), choice.simulated, strict=True):
        if not store.has(point):
            found.missing.append(point)
            continue
        found.rows += rows_of(point, store.measured(point), flows)
        if store.has(twin):
            found.simulated += rows_of(twin, store.measured(twin), flows)
    return found


def table(found: OnMachine) -> polars.DataFrame:
    """Return the rows of the runs and of the simulations, which the column ``on`` names."""
    rows = [{"on": on, **row} for on, rows in (("kernel", found.rows), ("simulation", found.simulated)) for row in rows]
    return polars.DataFrame(rows, infer_schema_length=None)


def _there(choice: Choice) -> list[PlannedRun]:
    """Return the chosen runs as points of the machine."""
    return [
        replace(run, world=World("machine", release=choice.release, identity=f"machine, Linux {choice.release}"))
        for run in choice.runs
    ]


def _run(run: PlannedRun, store: Store, machine: Machine) -> str:
    """Run and store; return why there is no result, if there is none."""
    try:
        ran = machine.run(run.scenario, run.measurement.record)
    except ValueError as error:  # a right that is missing, or a connection that failed
        return str(error)
    if ran.tainted:
        return ran.tainted
    measured = run.measurement.take(ran.result)
    values = (run.scenario.duration, ran.lateness, ran.attempts, "; ".join(ran.warnings))
    facts: dict[str, Any] = dict(zip(FACTS, values, strict=True))
    store.put(run, Measured([{**row, **facts} for row in measured.rows], {}))
    return ""
