"""Runs of a tuning: a trial's points, executed once each and stored by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ackclock.experiments import sources
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.plan import RUNNER, Point
from ackclock.experiments.store import Store
from ackclock.freeze import Frozen, replaced
from ackclock.metrics.groups import TRACES, is_tested
from ackclock.scenario import Scenario
from ackclock.tuning.measures import HARM, Row, Score, harm
from ackclock.tuning.schema import NetworkPath, Tuning

Cell = tuple[int, int]
"""Place of a path in its setting, and a seed."""
Cells = dict[Cell, dict[str, float | None]]
"""The measures of each cell."""


class Named:
    """Measurements by short names.

    The key of a point covers its whole scenario, which takes as long to make as a short run. A short name covers the
    path, the settings and the seed; the store holds the key of each.

    Parameters
    ----------
    store
        The measurements by the keys of their points.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def key(self, name: str) -> str | None:
        """Return the key of the measured point of a short name; None if it is not measured."""
        return self.store[name] if name in self.store and self.store[name] in self.store else None

    def row(self, name: str) -> Row:
        """Return the measurement of a short name."""
        found: Row = self.store[self.store[name]]
        return found

    def name(self, name: str, point: Point[Row]) -> None:
        """Give a measured point a short name."""
        if name not in self.store or self.store[name] != point.key:
            self.store[name] = point.key


class Runs:
    """Executes the points of trials.

    Parameters
    ----------
    tuning
        The tuning.
    experiment
        Where the points run and their measurements stay.
    """

    def __init__(self, tuning: Tuning, experiment: Experiment) -> None:
        traced = tuple(name for name in tuning.measures if name in TRACES)
        self._measurement = Score(tuning.tested, traced)
        self._harm = HARM in tuning.measures
        self._tested = tuning.tested
        self._experiment = experiment
        self._store = Named(experiment.store)
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
            self._add(self._name(path, settings, seed), path, settings, seed)
            if self._harm:
                self._add(self._name(path, None, seed), path, None, seed)

    def _add(self, name: str, path: NetworkPath, settings: Mapping[str, str] | None, seed: int) -> None:
        """Plan a run, unless it is planned or stored; settings None: without the tested flows."""
        if (key := self._store.key(name)) is not None:
            self._experiment.use(key)
        elif name in self._planned:
            pass
        elif settings is None:
            self._planned[name] = self.alone(path, seed)
        else:
            self._planned[name] = Point(path.scenario.set({**settings, "seed": seed}), self._measurement)

    def alone(self, path: NetworkPath, seed: int) -> Point[Row]:
        """Return the run of the rivals without the tested flows, which start at the end."""
        return Point(_without(path.scenario.set({"seed": seed}), self._tested), self._measurement)

    def execute(self) -> None:
        """Execute the planned runs.

        Raises
        ------
        Interrupted
            After Ctrl-C; finished points are stored.
        """
        planned, self._planned = self._planned, {}
        self._experiment.run(planned.values())
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
        said = (measurement.record, measurement.fingerprint)
        return sources.digest(self._hashes[id(path)], settings, seed, said, self._program)


def _without(scenario: Scenario, tested: tuple[str, ...]) -> Scenario:
    end = f"{scenario.duration:.9g} s"
    places = [place for place, flow in enumerate(Frozen(scenario).flows) if is_tested(flow["name"], tested)]
    return replaced(scenario, {f"flow.{place}.start": end for place in places})
