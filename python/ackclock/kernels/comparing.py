"""The runs of a comparison of simulation and kernel: each scenario several times on both sides, with equal seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ackclock import _core, freeze
from ackclock.experiments import draws, sources
from ackclock.experiments.engines.local import Local
from ackclock.experiments.execute import Interrupted, map_threads
from ackclock.experiments.store import Store
from ackclock.experiments.world import World, run_here
from ackclock.freeze import Frozen
from ackclock.kernels.judging import Pairs
from ackclock.kernels.measuring import RECORD, Run, take
from ackclock.scenario import Scenario, load

NEARBY = 10
"""Scenarios like each repetition's: the flows start at slightly different times, on paths as long as the world's."""
APART = 1_000_000
"""Distance of two start times of a later flow relative to the first, in nanoseconds."""
MEASURING = ("ackclock.kernels.measuring", "ackclock.kernels.running")

Progress = Callable[[int, int], None]


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


def cases(files: Sequence[Path]) -> list[Case]:
    """Return the scenarios of files: of a file with ``[sweep]`` every variant, named by its labels.

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
    for file in files:
        for labels, scenario in load(file).variants():
            name = "-".join([scenario.name, *labels.values()])
            if name in found:
                raise ValueError(f"{file}: {name} is also a scenario of {found[name].file}; rename one with `name`")
            found[name] = Case(name, scenario, file)
    return list(found.values())


@dataclass
class Outcome:
    """Finished runs.

    Attributes
    ----------
    cases : sequence of Case
        The scenarios.
    world : World
        The world whose kernel measures.
    repetitions : int
        Number of repetitions.
    stored : dict
        Runs on the kernel by their keys.
    simulated, nearby : dict
        Simulations by the name of the scenario: the repetitions, and each of the scenarios like them (`like`).
    refused : dict
        Why scenarios cannot run on the kernel, by name.
    failed : dict
        Why runs on the kernel failed, by their keys.
    measured : Store
        The runs on the kernel, by their keys, that the next attempt may use: those that were not disturbed.
    """

    cases: Sequence[Case]
    world: World
    repetitions: int
    stored: dict[str, Run] = field(default_factory=dict)
    simulated: dict[str, list[Run]] = field(default_factory=dict)
    nearby: dict[str, list[list[Run]]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    measured: Store = field(default_factory=Store)

    def __post_init__(self) -> None:
        for key, value in self.measured.items():
            if (run := Run.read(value)) is not None:
                self.stored[key] = run

    def key(self, scenario: Scenario) -> str:
        """Return the key of a run on the kernel: it covers scenario, program, and the kernel."""
        return sources.digest("kernel", scenario.hash, self.world.identity, sources.program(*MEASURING))

    def planned(self) -> list[tuple[Case, Scenario]]:
        """Return the runs on the kernel: all scenarios once, then all once more.

        A disturbance of this machine thus does not hit every repetition of one scenario.
        """
        return [
            (case, case.repetition(index))
            for index in range(self.repetitions)
            for case in self.cases
            if case.name not in self.refused
        ]

    def left(self) -> list[tuple[Case, Scenario]]:
        """Return the runs on the kernel that are missing and have not failed."""
        ended = self.stored.keys() | self.failed.keys()
        return [(case, scenario) for case, scenario in self.planned() if self.key(scenario) not in ended]

    def failures(self) -> list[tuple[str, int, str]]:
        """Return the failed runs: scenario, number of the repetition from 1, and the reason."""
        return [
            (case.name, index + 1, self.failed[key])
            for case in self.cases
            for index in range(self.repetitions)
            if (key := self.key(case.repetition(index))) in self.failed
        ]

    @property
    def seconds(self) -> float:
        """Time that the missing runs take in real time, in seconds, if none has to be repeated."""
        return sum(scenario.duration for _, scenario in self.left())

    def pairs(self) -> list[Pairs]:
        """Return the measurements of the scenarios that have runs on the kernel, without repetitions that have none."""
        found = []
        for case in self.cases:
            keys = [self.key(case.repetition(index)) for index in range(self.repetitions)]
            there = [index for index, key in enumerate(keys) if key in self.stored]
            if case.name not in self.refused and there:
                runs = [self.stored[keys[index]] for index in there]
                simulated = [self.simulated[case.name][index] for index in there]
                numbers = [index + 1 for index in there]
                nearby = [[each[index] for index in there] for each in self.nearby[case.name]]
                found.append(Pairs(case.name, case.scenario.duration, numbers, runs, simulated, nearby))
        return found


def simulate(outcome: Outcome, jobs: int | None = None) -> None:
    """Run all simulations on threads.

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    cancel = _core.Cancel()
    points: list[Scenario] = []
    for case in outcome.cases:
        repetitions = [case.repetition(index) for index in range(outcome.repetitions)]
        points += repetitions
        points += [like(scenario, draw, outcome.world) for draw in range(NEARBY) for scenario in repetitions]
    runs = iter(map_threads(lambda scenario: take(run_here(scenario, RECORD, cancel)), points, cancel, jobs=jobs))
    for case in outcome.cases:
        own, *nearby = (list(islice(runs, outcome.repetitions)) for _ in range(1 + NEARBY))
        outcome.simulated[case.name], outcome.nearby[case.name] = own, nearby


def like(scenario: Scenario, draw: int, world: World) -> Scenario:
    """Return a scenario whose flows start up to a tick later, on first links as long as they can be in the world.

    Later flows also start up to 4.5 ms before or after that, but not before 0 s.
    """
    frozen, changed = Frozen(scenario), {}
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
    return freeze.replaced(scenario, changed)


def measure(outcome: Outcome, *, jobs: int | None = None, progress: Progress | None = None) -> int:
    """Run the missing repetitions on the kernel; return their number.

    If a run fails, the others go on. A run that was disturbed in every attempt is not kept for later.

    Parameters
    ----------
    outcome
        The comparison, which gets the runs.
    jobs
        Number of runs at the same time; None: that of the world.
    progress
        Called with the number of finished runs and of all runs.

    Raises
    ------
    Interrupted
        After Ctrl-C. Every finished run is stored, but those that were disturbed are not kept.
    """
    left, planned, done, ended = outcome.left(), len(outcome.planned()), 0, 0

    def one(item: tuple[Case, Scenario], cancel: _core.Cancel) -> Run | str:
        _, scenario = item
        try:
            return take(outcome.world.runner(scenario, RECORD, cancel, ()))
        except ValueError as error:
            return str(error)

    def store(place: int, run: Run | str) -> None:
        nonlocal done, ended
        key = outcome.key(left[place][1])
        if isinstance(run, str):
            outcome.failed[key] = run
        else:
            outcome.stored[key] = run
            if not run.facts.get("tainted"):
                outcome.measured[key] = run.document()
            done += 1
        ended += 1
        if progress is not None:
            progress(planned - len(left) + ended, planned)

    try:
        Local(outcome.world.jobs if jobs is None else jobs).each_finished(one, left, store, _core.Cancel())
    except KeyboardInterrupt:
        results = [outcome.stored.get(outcome.key(scenario)) for _, scenario in outcome.planned()]
        raise Interrupted(results) from None
    return done
