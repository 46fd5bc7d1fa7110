"""Runs of a tuning: a trial's points, executed once each and stored by content."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ackclock.experiments import execute as engine
from ackclock.experiments.freeze import Frozen, replaced
from ackclock.experiments.plan import Point
from ackclock.scenario import Scenario
from ackclock.tuning.measures import HARM, MEASURES, Row, Score, harm, is_tested
from ackclock.tuning.schema import NetworkPath, Tuning

Cell = tuple[int, int]
"""Place of a path in its setting, and a seed."""
Cells = dict[Cell, dict[str, float | None]]
"""The measures of each cell."""


class Store:
    """Measurements by the keys of their points, appended to a file as soon as they are there.

    Parameters
    ----------
    file
        The file; None: memory alone.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._rows: dict[str, Row] = {}
        self.new = 0
        if file is not None and file.exists():
            for line in file.read_bytes().splitlines():
                self._read(line)

    def _read(self, line: bytes) -> None:
        # A killed process may have left an incomplete line.
        with contextlib.suppress(ValueError, TypeError, KeyError):
            key, row = json.loads(line)
            self._rows[key] = {"values": row["values"], "rivals": row["rivals"]}

    def __len__(self) -> int:
        return len(self._rows)

    def has(self, point: Point[Row]) -> bool:
        """Whether a point is measured."""
        return point.key in self._rows

    def get(self, point: Point[Row]) -> Row:
        """Return the measurement of a point."""
        return self._rows[point.key]

    def put(self, point: Point[Row], row: Row) -> None:
        """Store a measurement."""
        if self.has(point):
            return
        self._rows[point.key] = row
        self.new += 1
        if self._file is not None:
            with self._file.open("a+b") as file:
                if file.tell() and not _ends_with_newline(file):
                    file.write(b"\n")
                file.write(json.dumps([point.key, row]).encode() + b"\n")


def _ends_with_newline(file: io.BufferedRandom) -> bool:
    file.seek(-1, io.SEEK_END)
    return file.read(1) == b"\n"


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
        traced = tuple(name for name in tuning.measures if MEASURES[name].trace)
        self._measurement = Score(tuning.tested, traced)
        self._harm = HARM in tuning.measures
        self._tested = tuning.tested
        self._store = store
        self._jobs = jobs
        self._alone: dict[tuple[str, int], Point[Row]] = {}

    def points(self, path: NetworkPath, settings: Mapping[str, str], seeds: Iterable[int]) -> dict[int, Point[Row]]:
        """Return the point of each seed.

        Raises
        ------
        ScenarioError
            If the settings make no valid scenario.
        """
        return {seed: Point(path.scenario.set({**settings, "seed": seed}), self._measurement) for seed in seeds}

    def alone(self, path: NetworkPath, seed: int) -> Point[Row]:
        """Return the run of the rivals without the tested flows, which start at the end."""
        place = (path.scenario.hash, seed)
        if place not in self._alone:
            scenario = path.scenario.set({"seed": seed})
            self._alone[place] = Point(_without(scenario, self._tested), self._measurement)
        return self._alone[place]

    def execute(self, points: Iterable[Point[Row]]) -> None:
        """Execute the points that are not stored, equal ones once.

        Raises
        ------
        Interrupted
            After Ctrl-C; finished points are stored.
        """
        distinct = {point.key: point for point in points}
        engine.execute(list(distinct.values()), self._store, jobs=self._jobs)

    def needed(self, path: NetworkPath, points: Mapping[int, Point[Row]]) -> list[Point[Row]]:
        """Return points with the runs without the tested flows that their measures need."""
        return [*points.values(), *([self.alone(path, seed) for seed in points] if self._harm else [])]

    def measures(self, path: NetworkPath, seed: int, point: Point[Row]) -> dict[str, float | None]:
        """Return the measures of an executed point."""
        row = self._store.get(point)
        found: dict[str, float | None] = dict(row["values"])
        if self._harm:
            found[HARM] = harm(self._store.get(self.alone(path, seed))["rivals"], row["rivals"])
        return found


def _without(scenario: Scenario, tested: tuple[str, ...]) -> Scenario:
    end = f"{scenario.duration:.9g} s"
    places = [place for place, flow in enumerate(Frozen(scenario).flows) if is_tested(flow["name"], tested)]
    return replaced(scenario, {f"flow.{place}.start": end for place in places})
