"""Plan and execution of a matrix: every combination of slow start, avoidance, loss response and recovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.experiments import budget, sources
from ackclock.experiments import execute as executing
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.execute import Interrupted, Progress
from ackclock.experiments.plan import Point
from ackclock.experiments.store import Store
from ackclock.matrices import parts as composing
from ackclock.matrices import paths
from ackclock.matrices.metrics import Row, Score
from ackclock.matrices.parts import Composition, PartSpec
from ackclock.matrices.paths import NetworkPath

Choice = Sequence[PartSpec] | PartSpec | None
SEEDS = 3
MOST_RUNS = 200_000


@dataclass(frozen=True)
class PlannedRun(Point[Row]):
    """One run of a matrix.

    Attributes
    ----------
    path : NetworkPath
        The path.
    composition : Composition
        The composition of the flows under test.
    seed : int
        The seed of the run.
    """

    path: NetworkPath
    composition: Composition
    seed: int

    @cached_property
    def hash(self) -> str:
        """The hash of the scenario."""
        return self.scenario.hash


@dataclass(frozen=True)
class Plan:
    """All runs of a matrix.

    Attributes
    ----------
    paths : sequence of NetworkPath
        The columns.
    compositions : sequence of Composition
        The rows.
    baseline : Composition
        The composition with which all others are compared.
    seeds : int
        Every composition runs with the seeds from 1 to this.
    runs : sequence of PlannedRun
        Runs of the rows, the baseline, and the rivals among themselves, sorted by seed.
    refused : sequence of str
        The errors of impossible combinations, which are skipped.
    asked : dict
        The arguments of `plan`, as JSON holds them.
    """

    paths: Sequence[NetworkPath]
    compositions: Sequence[Composition]
    baseline: Composition
    seeds: int
    runs: Sequence[PlannedRun]
    refused: Sequence[str] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """A hash of all runs."""
        return sources.digest(*(run.hash for run in self.runs))

    @cached_property
    def distinct(self) -> Mapping[str, PlannedRun]:
        """The runs by their keys: of runs with equal keys, one runs."""
        return {run.key: run for run in self.runs}


@dataclass
class Outcome:
    """The measurements of the runs.

    Attributes
    ----------
    plan : Plan
        The planned runs.
    measured : Store
        The measurements of each run, by its key, also of runs of other plans.
    reused : int
        Number of runs that an earlier attempt measured.
    """

    plan: Plan
    measured: Store = field(default_factory=Store)
    reused: int = 0

    @property
    def finished(self) -> int:
        """Number of planned runs that are measured."""
        return sum(key in self.measured for key in self.plan.distinct)


def plan(
    chosen: Mapping[str, Choice],
    *,
    where: Sequence[str | Path] | None = None,
    seeds: int = SEEDS,
    duration: str | None = None,
    baseline: Mapping[str, PartSpec] | None = None,
) -> Plan:
    """Return the plan of a matrix; parameters and errors are those of `ackclock.matrix`."""
    if seeds < 1:
        raise ValueError("seeds must be at least 1")
    found = _paths(where)
    if duration is not None:
        found = [path.until(duration) for path in found]
    wanted = composing.combine(chosen)
    base = composing.composition(baseline or {})
    compositions, refused = _possible(wanted, found[0])
    here = {
        path.name: list(dict.fromkeys([base, *([path.rival] if path.rival else []), *compositions])) for path in found
    }
    count = seeds * sum(map(len, here.values()))
    budget.check_runs(count, MOST_RUNS, "choose fewer parts, paths or seeds")
    runs = []
    for seed in range(1, seeds + 1):
        for path in found:
            for composition in here[path.name]:
                scenario = path.compose(composition, seed)
                runs.append(PlannedRun(scenario, Score(), path, composition, seed))
    asked = {
        "chosen": chosen,
        "where": None if where is None else [_lasting(word) for word in where],
        "seeds": seeds,
        "duration": duration,
        "baseline": baseline or {},
    }
    return Plan(found, compositions, base, seeds, runs, refused, asked)


def _lasting(word: str | Path) -> str:
    """Return a name of a path, or a file by its absolute path, which another working directory also finds."""
    file = Path(word)
    return str(file.resolve()) if file.is_file() else str(word)


def _paths(where: Sequence[str | Path] | None) -> list[NetworkPath]:
    found = paths.shipped() if where is None else [paths.find(word) for word in where]
    names = [path.name for path in found]
    if not names:
        raise ValueError(f"no path is chosen; known: {', '.join(path.name for path in paths.shipped())}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two paths are called {name!r}: their files must have different names")
    return found


def _possible(wanted: Sequence[Composition], path: NetworkPath) -> tuple[list[Composition], list[str]]:
    """Return the combinations that a scenario accepts, and the errors of the others."""
    said = {composition: _refusal(composition, path) for composition in wanted}
    possible = [composition for composition, refusal in said.items() if refusal is None]
    refused = [f"{composition.name}: {refusal}" for composition, refusal in said.items() if refusal is not None]
    if not possible:
        raise ValueError(refused[0])
    return possible, refused


def _refusal(composition: Composition, path: NetworkPath) -> str | None:
    try:
        path.compose(composition, 1)
    except _core.ScenarioError as error:
        return str(error)
    return None


def execute(
    plan: Plan,
    *,
    store: Store | None = None,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Execute the runs that have no measurements yet.

    Parameters
    ----------
    plan
        The plan.
    store
        Earlier measurements; it gets those of every run that finishes.
    jobs, engine, progress
        As in `ackclock.experiments.execute.execute`.

    Raises
    ------
    Stopped
        After Ctrl-C; its ``outcome`` holds the finished runs.
    """
    outcome = Outcome(plan, Store() if store is None else store)
    outcome.reused = outcome.finished
    try:
        executing.execute(list(plan.distinct.values()), outcome.measured, jobs=jobs, engine=engine, progress=progress)
    except Interrupted:
        raise Stopped(outcome, len(plan.distinct)) from None
    return outcome


class Stopped(Interrupted):
    """Ctrl-C stopped a matrix.

    Attributes
    ----------
    outcome : Outcome
        The finished runs.
    """

    def __init__(self, outcome: Outcome, planned: int, *, advice: str = "") -> None:
        done = outcome.finished
        super().__init__([True] * done + [None] * (planned - done), advice=advice)
        self.outcome = outcome
        self.planned = planned
