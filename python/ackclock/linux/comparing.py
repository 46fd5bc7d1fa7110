"""The runs of a comparison of simulation and kernel: each scenario several times on both sides, with equal seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ackclock import freeze
from ackclock.experiments import draws
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.plan import Point
from ackclock.experiments.world import World
from ackclock.freeze import Frozen
from ackclock.linux.judging import Pairs
from ackclock.linux.measuring import Run, RunMeasurement
from ackclock.scenario import Scenario, load

NEARBY = 10
"""Scenarios like each repetition's: the flows start at slightly different times, on paths as long as the world's."""
APART = 1_000_000
"""Distance of two start times of a later flow relative to the first, in nanoseconds."""


@dataclass(frozen=True)
class Case:
    """A scenario to compare.

    Attributes
    ----------
    name : str
        Its name in tables.
    scenario : Scenario
        The scenario.
    file : Path or None
        The file that has it.
    """

    name: str
    scenario: Scenario
    file: Path | None = None

    def repetition(self, index: int) -> Scenario:
        """Return the scenario of a repetition, which has a seed of its own."""
        return self.scenario.set({"seed": self.scenario.seed + index})


def cases(given: Iterable[str | Path | Scenario]) -> list[Case]:
    """Return the scenarios of files, and other scenarios: of one with ``[sweep]`` every variant, named by its labels.

    Raises
    ------
    ScenarioError
        If a file is invalid.
    ValueError
        If two scenarios have the same name.
    OSError
        If a file cannot be read.
    """
    found: dict[str, Case] = {}
    for each in given:
        file, base = (None, each) if isinstance(each, Scenario) else (Path(each), load(each))
        for labels, scenario in base.variants():
            name = "-".join([scenario.name, *labels.values()])
            if name in found:
                places = [str(place or "a scenario given in Python") for place in (file, found[name].file)]
                raise ValueError(f"{places[0]}: {name} is also a scenario of {places[1]}; rename one with `name`")
            found[name] = Case(name, scenario, file)
    return list(found.values())


@dataclass(frozen=True)
class Repetition:
    """The runs with one seed: on the kernel, simulated, and simulations of scenarios alike (`like`)."""

    kernel: Point[Run]
    simulated: Point[Run]
    nearby: Sequence[Point[Run]]


@dataclass
class Outcome:
    """A comparison and its runs.

    Attributes
    ----------
    cases : sequence of Case
        The scenarios.
    world : World
        The world whose kernel measures.
    count : int
        Number of repetitions.
    experiment : Experiment
        Where the runs take place and their measurements stay.
    refused : dict
        Why scenarios cannot run on the kernel, by name.
    """

    cases: Sequence[Case]
    world: World
    count: int
    experiment: Experiment = field(default_factory=Experiment)
    refused: dict[str, str] = field(default_factory=dict)

    @cached_property
    def repetitions(self) -> dict[str, list[Repetition]]:
        """The repetitions of the scenarios that the kernel can run, by name."""
        return {
            case.name: [self._repetition(case.repetition(index)) for index in range(self.count)]
            for case in self.cases
            if case.name not in self.refused
        }

    def _repetition(self, scenario: Scenario) -> Repetition:
        frozen = Frozen(scenario)
        alike = [like(frozen, draw, self.world) for draw in range(NEARBY)]
        return Repetition(
            Point(scenario, RunMeasurement(), world=self.world),
            Point(scenario, RunMeasurement()),
            [Point(each, RunMeasurement(curves=False)) for each in alike],
        )

    @property
    def on_kernel(self) -> list[Point[Run]]:
        """The runs on the kernel: all scenarios once, then all once more.

        A disturbance of this machine thus does not hit every repetition of one scenario.
        """
        return [each.kernel for together in zip(*self.repetitions.values(), strict=True) for each in together]

    def run(self) -> None:
        """Run what is not stored.

        If a run on the kernel fails, or should not be used, the others go on.

        Raises
        ------
        Interrupted
            After Ctrl-C. Every finished run is stored.
        """
        every = [each for repetitions in self.repetitions.values() for each in repetitions]
        simulated = [point for each in every for point in (each.simulated, *each.nearby)]
        self.experiment.run([*simulated, *self.on_kernel])

    @property
    def failures(self) -> list[tuple[str, int, str]]:
        """The runs without a result that can be used: scenario, number of the repetition from 1, and the reason."""
        return [
            (name, number, self.experiment.failed[each.kernel.key])
            for name, repetitions in self.repetitions.items()
            for number, each in enumerate(repetitions, 1)
            if each.kernel.key in self.experiment.failed
        ]

    def pairs(self) -> list[Pairs]:
        """Return the measurements of the scenarios that have runs on the kernel, without repetitions that have none."""
        found, store = [], self.experiment.store
        for case in self.cases:
            repetitions = self.repetitions.get(case.name, [])
            numbers = [number for number, each in enumerate(repetitions, 1) if store.has(each.kernel)]
            if numbers:
                there = [repetitions[number - 1] for number in numbers]
                kernel = [store.measured(each.kernel) for each in there]
                simulated = [store.measured(each.simulated) for each in there]
                nearby = [[store.measured(each.nearby[draw]) for each in there] for draw in range(NEARBY)]
                found.append(Pairs(case.name, case.scenario.duration, numbers, kernel, simulated, nearby))
        return found


def like(frozen: Frozen, draw: int, world: World) -> Scenario:
    """Return a scenario whose flows start up to a tick later, on first links as long as they can be in the world.

    Later flows also start up to 4.5 ms before or after that, but not before 0 s.
    """
    changed = {}
    senders = {flow["from"] for flow in frozen.flows}
    for number, flow in enumerate(frozen.flows):
        apart = round((draw + 0.5 - NEARBY / 2) * APART) if number else 0
        start = draws.nanoseconds(flow["start"]) + draw * world.tick // NEARBY + apart
        changed[f"flow.{number}.start"] = f"{max(0, start)} ns"
    # Seven has no common factor with ten: every length occurs once, and not in the order of the starts.
    longer = 7 * draw % NEARBY * world.longer // (NEARBY - 1)
    for number, link in enumerate(frozen.links):
        if link["from"] in senders:
            changed[f"topology.link.{number}.delay"] = f"{draws.nanoseconds(link['delay']) + longer} ns"
    return freeze.replaced(frozen.scenario, changed)
