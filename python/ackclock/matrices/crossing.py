"""Plan and execution of a matrix: every combination of slow start, avoidance, loss response and recovery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.experiments import budget, sources
from ackclock.experiments import execute as engine
from ackclock.experiments.execute import Interrupted, Progress
from ackclock.experiments.plan import Point
from ackclock.matrices import parts as composing
from ackclock.matrices import paths
from ackclock.matrices.metrics import Row, Score
from ackclock.matrices.parts import Composition, PartSpec
from ackclock.matrices.paths import NetworkPath

Choice = Sequence[PartSpec] | PartSpec | None
Measured = dict[str, Row]
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
    """The measurements of the runs, and the store of `execute`.

    Attributes
    ----------
    plan : Plan
        The planned runs.
    measured : dict
        The measurements of each run, by its key.
    reused : int
        Number of runs that an earlier attempt measured.
    keep : callable or None
        Called with the key and the measurements of every run that finishes, to store them at once.
    """

    plan: Plan
    measured: Measured = field(default_factory=dict)
    reused: int = 0
    keep: Callable[[str, Row], None] | None = None

    def has(self, run: PlannedRun) -> bool:
        """Whether a run is measured."""
        return run.key in self.measured

    def put(self, run: PlannedRun, row: Row) -> None:
        """Store the measurements of a run."""
        if self.keep is not None and run.key not in self.measured:
            self.keep(run.key, row)
        self.measured[run.key] = row


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
    known: Measured | None = None,
    keep: Callable[[str, Row], None] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Execute the runs that have no measurements yet.

    Parameters
    ----------
    plan
        The plan.
    known
        Earlier measurements by the keys of their runs; those of other runs are ignored.
    keep
        Called with the key and the measurements of every run that finishes.
    jobs
        Number of parallel runs.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Raises
    ------
    Stopped
        After Ctrl-C; its ``outcome`` holds the finished runs.
    """
    wanted = plan.distinct
    outcome = Outcome(plan, {key: row for key, row in (known or {}).items() if key in wanted})
    outcome.reused = len(outcome.measured)
    outcome.keep = keep
    try:
        engine.execute(list(wanted.values()), outcome, jobs=jobs, progress=progress)
    except Interrupted:
        raise Stopped(outcome, len(wanted)) from None
    return outcome


class Stopped(Interrupted):
    """Ctrl-C stopped a matrix.

    Attributes
    ----------
    outcome : Outcome
        The finished runs.
    """

    def __init__(self, outcome: Outcome, planned: int, *, advice: str = "") -> None:
        done = list(outcome.measured.values())
        super().__init__([*done, *([None] * (planned - len(done)))], advice=advice)
        self.outcome = outcome
        self.planned = planned
