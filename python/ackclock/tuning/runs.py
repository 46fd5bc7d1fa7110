"""Runs of a tuning: a trial's points, executed once each and stored by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ackclock.experiments import execute as engine
from ackclock.experiments import sources
from ackclock.experiments.plan import RUNNER, Point
from ackclock.files.journal import Journal
from ackclock.freeze import Frozen, replaced
from ackclock.metrics.groups import TRACES, is_tested
from ackclock.scenario import Scenario
from ackclock.tuning.measures import HARM, Row, Score, harm
from ackclock.tuning.schema import NetworkPath, Tuning

Cell = tuple[int, int]
"""Place of a path in its setting, and a seed."""
Cells = dict[Cell, dict[str, float | None]]
"""The measures of each cell."""


class Store:
    """Measurements by the keys of their points, appended to a file as soon as they are there.

    The key of a point covers its whole scenario, which takes as long to make as a short run. So the store also knows
    points by short names, which cover the path, the settings and the seed.

    Parameters
    ----------
    file
        The file, which is read at once, and written from `write` on; None: memory alone.
    """

    def __init__(self, file: Path | None) -> None:
        self._journal = None if file is None else Journal(file)
        self._rows: dict[str, Row] = {}
        self._keys: dict[str, str] = {}
        self._held: list[tuple[str, object]] | None = []
        self.new = 0
        for name, stored in self._journal.read().items() if self._journal else ():
            if isinstance(stored, str):
                self._keys[name] = stored
            elif isinstance(stored, dict) and {"values", "rivals"} <= set(stored):
                self._rows[name] = {"values": stored["values"], "rivals": stored["rivals"]}

    def __len__(self) -> int:
        return len(self._rows)

    def has(self, point: Point[Row]) -> bool:
        """Whether a point is measured."""
        return point.key in self._rows

    def put(self, point: Point[Row], row: Row) -> None:
        """Store a measurement."""
        if not self.has(point):
            self._rows[point.key] = row
            self.new += 1
            self._append(point.key, row)

    def knows(self, name: str) -> bool:
        """Whether the point of a short name is measured."""
        return self._keys.get(name) in self._rows

    def row(self, name: str) -> Row:
        """Return the measurement of a short name."""
        return self._rows[self._keys[name]]

    def name(self, name: str, point: Point[Row]) -> None:
        """Give a measured point a short name."""
        if self._keys.get(name) != point.key:
            self._keys[name] = point.key
            self._append(name, point.key)

    def write(self) -> None:
        """Write what was held back, and from now on everything at once; the folder must exist."""
        held, self._held = self._held or [], None
        for key, value in held:
            self._append(key, value)

    def _append(self, key: str, value: object) -> None:
        if self._held is not None:
            self._held.append((key, value))
        elif self._journal is not None:
            self._journal.add(key, value)


class Runs:
    """Executes the points of trials.

    Parameters
    ----------
    tuning
        The tuning.
    store
        The store of measurements.
    jobs
        Number of threads; None: one for each processor.
    """

    def __init__(self, tuning: Tuning, store: Store, jobs: int | None) -> None:
        traced = tuple(name for name in tuning.measures if name in TRACES)
        self._measurement = Score(tuning.tested, traced)
        self._harm = HARM in tuning.measures
        self._tested = tuning.tested
        self._store = store
        self._jobs = jobs
        self._program = sources.program(RUNNER, *self._measurement.sources)
        self._hashes: dict[int, str] = {}
        self._planned: dict[str, Point[Row]] = {}

    def plan(self, path: NetworkPath, settings: Mapping[str, str], seeds: Iterable[int]) -> None:
        """Plan the runs that are not stored: of the settings, and without the tested flows if harm is measured.

        Raises
        ------
        ScenarioError
            If the settings make no valid scenario.
        """
        for seed in seeds:
            name = self._name(path, settings, seed)
            if not self._store.knows(name):
                self._planned[name] = Point(path.scenario.set({**settings, "seed": seed}), self._measurement)
            alone = self._name(path, None, seed)
            if self._harm and not self._store.knows(alone) and alone not in self._planned:
                self._planned[alone] = self.alone(path, seed)

    def alone(self, path: NetworkPath, seed: int) -> Point[Row]:
        """Return the run of the rivals without the tested flows, which start at the end."""
        return Point(_without(path.scenario.set({"seed": seed}), self._tested), self._measurement)

    def execute(self) -> None:
        """Execute the planned runs, equal ones once.

        Raises
        ------
        Interrupted
            After Ctrl-C; finished points are stored.
        """
        planned, self._planned = self._planned, {}
        distinct = {point.key: point for point in planned.values()}
        engine.execute(list(distinct.values()), self._store, jobs=self._jobs)
        for name, point in planned.items():
            self._store.name(name, point)

    def measures(self, path: NetworkPath, settings: Mapping[str, str], seed: int) -> dict[str, float | None]:
        """Return the measures of an executed run."""
        row = self._store.row(self._name(path, settings, seed))
        found: dict[str, float | None] = dict(row["values"])
        if self._harm:
            found[HARM] = harm(self._store.row(self._name(path, None, seed))["rivals"], row["rivals"])
        return found

    def _name(self, path: NetworkPath, settings: Mapping[str, str] | None, seed: int) -> str:
        """Return the short name of a run; settings None: without the tested flows."""
        if id(path) not in self._hashes:
            self._hashes[id(path)] = path.scenario.hash
        measurement = self._measurement
        said = (measurement.record, measurement.said)
        return sources.digest(self._hashes[id(path)], settings, seed, said, self._program)


def _without(scenario: Scenario, tested: tuple[str, ...]) -> Scenario:
    end = f"{scenario.duration:.9g} s"
    places = [place for place, flow in enumerate(Frozen(scenario).flows) if is_tested(flow["name"], tested)]
    return replaced(scenario, {f"flow.{place}.start": end for place in places})
