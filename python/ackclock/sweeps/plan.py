"""The tasks of a sweep: each of its points in each world, with each seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ackclock import _core
from ackclock.datasets.numbering import SEED, Numbering
from ackclock.experiments import sources
from ackclock.experiments.budget import check_runs
from ackclock.experiments.world import World
from ackclock.scenario import Scenario
from ackclock.statistics.sequential import Stopping
from ackclock.sweeps.recording import Recording

MOST_TASKS = 10_000_000
LENGTH = 20
"""Digits of a run's key."""
MEASURING = "ackclock.metrics.runs"
"""The module that measures a run which no batch can run."""


@dataclass(frozen=True)
class Until:
    """A measure whose interval decides how many seeds each point gets.

    Attributes
    ----------
    measure : str
        A column of the table ``runs``.
    rule : Stopping
        The rule.
    """

    measure: str
    rule: Stopping


@dataclass(frozen=True)
class Task:
    """A point with a seed.

    Attributes
    ----------
    point : int
        Number of the point in the sweep, from 0.
    world : str
        Name of its world.
    seed : int
        The seed.
    labels : tuple of str
        Values of the point's labels.
    hash : str or None
        Hash of the scenario; None if the scenario is wrong.
    run : str
        Key of the run: scenario, world, what it records, and program.
    """

    point: int
    world: str
    seed: int
    labels: tuple[str, ...]
    hash: str | None
    run: str


class Plan:
    """The tasks of a sweep. A *place* is that of a point of the sweep in a world; the worlds change fastest.

    Parameters
    ----------
    scenario
        The scenario with its sweep.
    worlds
        Where every point runs.
    seeds
        Every point runs with the seeds from 1 to this; None: with its own seed.
    until
        The rule that adds seeds.
    recording
        What the runs record.

    Raises
    ------
    ValueError
        If the number of seeds is given twice, there are too many runs, or a control in Python has no source.
    """

    def __init__(
        self, scenario: Scenario, worlds: Sequence[World], seeds: int | None, until: Until | None, recording: Recording
    ) -> None:
        self.scenario = scenario
        self.worlds = worlds
        self.recording = recording
        self.points = scenario.sweep_points()
        self._controls = {flow: sources.of_class(made) for flow, made in scenario.controls.items()}
        names = list(self.points.labels(0))
        if seeds is not None and SEED in names:
            raise ValueError(f"{scenario.name}: [sweep] has an axis seed, so the number of seeds is given twice")
        self.labels = [name for name in names if name != SEED]
        self.seeds = seeds
        self._numbering = Numbering(self.points, len(worlds))
        self.until = until
        check_runs(self.places * (seeds or 1), MOST_TASKS, "use fewer seeds")

    @property
    def places(self) -> int:
        """Number of points, each in each world."""
        return len(self.points) * len(self.worlds)

    def identity(self, place: int, seed: int | None) -> tuple[int, int | None]:
        """Return point and seed of a task by its place; None: the seed of the scenario."""
        return self._numbering.identity(place, seed)

    def world(self, place: int) -> World:
        """Return the world of a place."""
        return self.worlds[place % len(self.worlds)]

    def __len__(self) -> int:
        return self.places * (self.seeds or 1)

    def __iter__(self) -> Iterator[tuple[int, int | None]]:
        """Place and seed of each task; all places have their first seed before any has its second."""
        for seed in range(1, self.seeds + 1) if self.seeds else [None]:
            for place in range(self.places):
                yield place, seed

    def everything(self) -> Iterator[tuple[int, int | None]]:
        """Place and seed of each task, also of those that a stopping rule may add."""
        if self.until is None:
            yield from self
            return
        for place in range(self.places):
            for seed in range(1, self.until.rule.at_most + 1):
                yield place, seed

    def task(self, place: int, seed: int | None) -> tuple[Task, Scenario | str]:
        """Return a task with its scenario, or with the message if its scenario is wrong."""
        point, known = self.identity(place, seed)
        world = self.world(place)
        labels, made = self._made(place, seed)
        values = tuple(labels[name] for name in self.labels)
        if isinstance(made, str):
            own = self.scenario.seed if known is None else known
            key = sources.digest(made, point, own, length=LENGTH)
            return Task(point, world.name, own, values, None, key), made
        return Task(point, world.name, made.seed, values, made.hash, self._key(made, world)), made

    def _made(self, place: int, seed: int | None) -> tuple[dict[str, str], Scenario | str]:
        index = place // len(self.worlds)
        try:
            labels, made = self.points.core.point(index, [] if seed is None else [(SEED, str(seed))])
        except _core.ScenarioError as error:
            return self.points.labels(index), str(error)
        scenario = Scenario.from_core(made, self.scenario.controls)
        return labels, self.world(place).refusal(scenario) or scenario

    def _key(self, scenario: Scenario, world: World) -> str:
        if self.recording.is_plain(scenario, world):
            return sources.digest(scenario.hash, sources.build(), length=LENGTH)
        said = (self._controls, self.recording.fingerprint(scenario), world.identity, sources.program(MEASURING))
        return sources.digest(scenario.hash, *said, length=LENGTH)

    @property
    def digest(self) -> str:
        """Hash of everything that determines the tasks and their rows."""
        text, _, _ = self.scenario.core.state()
        tables = [sources.digest(Path(file).read_bytes().hex()) for file in self.scenario.core.files]
        until = None if self.until is None else [self.until.measure, asdict(self.until.rule)]
        worlds = [[world.name, world.identity] for world in self.worlds]
        program = sources.program(MEASURING)
        return sources.digest(text, tables, self.seeds, until, worlds, self._controls, asdict(self.recording), program)
