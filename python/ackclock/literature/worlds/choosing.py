"""The choice of runs in a world beside the simulation: all readings of claims that it can run.

If a budget limits the time of the runs, as it does in real time by default, the cheapest are chosen. A reading is a
claim on one of its metrics. It needs the runs of all its cells, repeated `REPETITIONS` times, or on all paths of a
population: a reading on some of its cells would be another claim. A metric of the first seconds needs a run of these
seconds only, because a later event changes no earlier one. Readings share runs. The choice depends on nothing but the
plan, the budget and the refusals, so that the same command continues after an interruption.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ackclock.experiments.draws import nanoseconds
from ackclock.experiments.repetitions import Repetition, repetitions
from ackclock.experiments.world import SIMULATION, World
from ackclock.formatting.numbers import counted, in_words
from ackclock.freeze import Frozen
from ackclock.linux import worlds
from ackclock.literature.claims import Claim
from ackclock.literature.contents import Repeat, matches
from ackclock.literature.measurement import FlowTable
from ackclock.literature.plan import Plan, PlannedRun, measures
from ackclock.scenario import Scenario

REPETITIONS = 5
"""Runs of a cell. The range of five paths contains the value of one more with a probability of 4/6."""
BUDGET, QUICK_BUDGET = 3600.0, 600.0
"""Real time of the runs by default, in seconds; the second one for the quick plan."""
MARGIN = 0.1
"""Seconds by which a run is longer than its metrics need."""
SECOND = 10**9
SHOWN = 3
"""Reasons in a message."""
EARLY = re.compile(r"delivered_(\d+)s")
"""Columns of flows that count the first seconds after the start."""

Series = tuple[int, bool]
"""Runs of a cell: its place in the plan, and whether their seeds are common to all cells."""


@dataclass(frozen=True)
class Reading:
    """A claim on one of its metrics, and the runs that it needs.

    Attributes
    ----------
    claim, metric : Claim, str
        The claim, and the column that is judged.
    series : sequence of Series
        The runs that it needs.
    reason : str
        Why the reading is not run; empty if it is chosen.
    cost : float
        The time that a reading beyond the budget needs in addition, in seconds; otherwise 0.
    """

    claim: Claim
    metric: str
    series: Sequence[Series] = ()
    reason: str = ""
    cost: float = 0.0


@dataclass(frozen=True)
class Choice:
    """The chosen readings and their runs.

    Attributes
    ----------
    plan : Plan
        The plan of the paper.
    world : World
        Where the runs take place.
    budget : float or None
        The time that all runs may last, in seconds; None without a limit.
    readings : sequence of Reading
        All readings of its claims, in their order.
    runs : sequence of PlannedRun
        The runs in the world, in their order.
    refused : dict
        Refusals of the world, by the hash of the scenario.
    """

    plan: Plan
    world: World
    budget: float | None
    readings: Sequence[Reading]
    runs: Sequence[PlannedRun]
    refused: Mapping[str, str]

    @cached_property
    def simulated(self) -> list[PlannedRun]:
        """The simulation beside each run: a kernel's of the same scenario, a QUIC stack's of the paper's own hosts."""
        return [replace(run, scenario=self._beside(run), world=SIMULATION) for run in self.runs]

    def _beside(self, run: PlannedRun) -> Scenario:
        if self.world.release:
            return run.scenario
        return run.repetition.scenario.set({"duration": Frozen(run.scenario).document["duration"]})

    @property
    def chosen(self) -> list[Reading]:
        """The readings that are run."""
        return [reading for reading in self.readings if not reading.reason]

    @property
    def seconds(self) -> float:
        """The real time of all runs, if none is repeated; 0 in virtual time."""
        return self.world.takes(run.scenario for run in self.runs)

    @property
    def said(self) -> str:
        """What will run, in words."""
        time = "" if self.world.virtual else f" one after another, about {in_words(self.seconds)} of real time,"
        readings = f"{len(self.chosen)} of {counted(len(self.readings), 'reading')}"
        return f"on {self.world.title}: {counted(len(self.runs), 'run')}{time} for {readings}"


def worlds_beside(on: str | Sequence[str]) -> list[World]:
    """Return the worlds beside the simulation, in which claims are judged first.

    Raises
    ------
    ValueError
        If the first is not the simulation, or one is unknown.
    """
    first, *others = worlds.several(on)
    if first.name != SIMULATION.name:
        rest = [world.name for world in (first, *others) if world.name != SIMULATION.name]
        names = ",".join([SIMULATION.name, *rest])
        raise ValueError(f"--on: claims are judged in the simulation first; write --on {names}")
    return others


def choose(plan: Plan, world: World, budget: float | None = None) -> Choice:
    """Choose readings and runs of a plan.

    Parameters
    ----------
    plan
        The plan.
    world
        The world, which can refuse scenarios.
    budget
        The time that all runs may last, in seconds of the world. By default real time has `BUDGET`, or `QUICK_BUDGET`
        for a quick plan, and virtual time has no limit.

    Raises
    ------
    ValueError
        If no claim can run, or none within the budget.
    """
    if budget is None and not world.virtual:
        budget = QUICK_BUDGET if plan.quick else BUDGET
    asked = _Refusals(plan, world)
    readings = [_needed(plan, claim, metric, asked) for claim in plan.claims for metric in claim.metrics]
    possible = [reading for reading in readings if not reading.reason]
    if not possible:
        reasons = list(dict.fromkeys(reading.reason for reading in readings)) or ["it has no claims"]
        more = f"; and {len(reasons) - SHOWN} more reasons" if len(reasons) > SHOWN else ""
        raise ValueError(f"{plan.paper.name}: no claim can run on {world.title}: {'; '.join(reasons[:SHOWN])}{more}")
    lengths = _Lengths(plan, world)
    picked, least = lengths.pick(possible, math.inf if budget is None else budget)
    if budget is None:
        return Choice(plan, world, None, readings, lengths.runs(), asked.refused)
    if not picked:
        quick = "" if plan.quick else ", and --quick needs less"
        raise ValueError(
            f"{plan.paper.name}: no claim can run within {in_words(budget)}: "
            f"the shortest needs {in_words(least)} (--budget){quick}"
        )
    within = {(reading.claim.id, reading.metric) for reading in picked}
    said = [
        reading if reading.reason or (reading.claim.id, reading.metric) in within else lengths.beyond(reading, budget)
        for reading in readings
    ]
    return Choice(plan, world, budget, said, lengths.runs(), asked.refused)


class _Refusals:
    """The reasons why cells of a plan cannot run, each asked once."""

    def __init__(self, plan: Plan, world: World) -> None:
        self._cells = [cell[0] for cell in plan.cells]
        self._world = world
        self._known: dict[int, str] = {}
        self.refused: dict[str, str] = {}

    def of(self, place: int) -> str:
        """Return the reason of a cell; empty if it can run."""
        if place not in self._known:
            self._known[place] = self._ask(self._cells[place].given)
        return self._known[place]

    def _ask(self, scenario: Scenario) -> str:
        # The names of scenario and flow would differ between the cells of a paper.
        if reason := self._world.why_not(scenario):
            self.refused[scenario.hash] = reason
        return reason


def _needed(plan: Plan, claim: Claim, metric: str, asked: _Refusals) -> Reading:
    """Return a reading with the runs that it needs, or with the reason why it cannot run."""
    flows = plan.paper.contents.flows
    where = {label: value for label, value in claim.where.items() if label != flows}
    if any(_takes(claim, where, model.point.labels, flows) for model in plan.models):
        return Reading(claim, metric, reason="it judges a model, which sends no packets")
    places = [place for place, cell in enumerate(plan.cells) if _takes(claim, where, cell[0].labels, flows)]
    if not places:
        return Reading(claim, metric, reason=f"the plan{' of --quick' if plan.quick else ''} has no runs of it")
    series: list[Series] = []
    for place in places:
        rule = plan.cells[place][0].rule
        common = claim.kind == "equal" and rule.common > 0
        if (count := rule.common if common else rule.count) < REPETITIONS:
            said = f"the paper repeats its runs {count} times, and another world needs {REPETITIONS}"
            return Reading(claim, metric, reason=said)
        if reason := asked.of(place):
            return Reading(claim, metric, reason=reason)
        series.append((place, common))
    return Reading(claim, metric, series)


def _takes(claim: Claim, where: Mapping[str, str], labels: Mapping[str, str], flows: str | None) -> bool:
    """Whether a claim compares the runs of a cell."""
    if not matches(labels, where):
        return False
    named = {variant for group in (*claim.expected, claim.lead, claim.rest) for variant in group}
    named |= {claim.of, claim.to} - {""} if claim.kind == "bound" else set()
    return claim.axis == flows or not named or labels[claim.axis] in named


def end_of(repeat: Repeat, metric: str) -> tuple[float, bool] | None:
    """Return the last second that a metric needs, and whether it counts from the flow's start; None: the whole run."""
    if (span := {**repeat.spans, **repeat.cwnd}.get(metric)) is not None:
        return float(span[1]), False
    found = EARLY.fullmatch(metric)
    return (float(found[1]), True) if found else None


class _Lengths:
    """The lengths of runs that picked readings need, by series."""

    def __init__(self, plan: Plan, world: World) -> None:
        self._cells = plan.cells
        self._world = world
        self._started: dict[int, float] = {}
        self._picked: dict[Series, float] = {}
        self._order: list[list[Series]] = []

    def pick(self, readings: Sequence[Reading], budget: float) -> tuple[list[Reading], float]:
        """Pick readings while the budget lasts, the cheapest first; return them, and the cost of the cheapest."""
        left, picked, spent, least = list(readings), [], 0.0, math.inf
        while left:
            # Of equal costs, the first in the paper.
            costs = [self.cost(reading) for reading in left]
            cheapest = min(range(len(left)), key=costs.__getitem__)
            least = min(least, costs[cheapest])
            if spent + costs[cheapest] > budget:
                break
            spent += costs[cheapest]
            reading = left.pop(cheapest)
            self._add(reading)
            picked.append(reading)
        return picked, least

    def cost(self, reading: Reading) -> float:
        """Return the time that a reading adds to the picked ones, in seconds."""
        added = 0.0
        for series in reading.series:
            length, there = self._needs(series, reading.metric), self._picked.get(series)
            more = length + self._world.overhead if there is None else max(0.0, length - there)
            added += repeated(self._cells[series[0]]) * more
        return added

    def beyond(self, reading: Reading, budget: float) -> Reading:
        """Return a reading that is beyond the budget, and says so."""
        longest, cost = max(self._needs(series, reading.metric) for series in reading.series), self.cost(reading)
        count = sum(repeated(self._cells[place]) for place, _ in reading.series)
        runs = f"{count} runs of {longest:g} s"
        said = f"it needs {in_words(cost)} more ({runs}), beyond the budget of {in_words(budget)}"
        return replace(reading, reason=said, cost=cost)

    def runs(self) -> list[PlannedRun]:
        """Return the runs of all picked readings; those of a reading alternate between its cells."""
        made: list[PlannedRun] = []
        for together in self._order:
            by_cell = [(place, self._picked[place, common], _repeated(self._cells[place], common=common))
                       for place, common in together]  # fmt: skip
            made += [
                self._run(place, seconds, own[index])
                for index in range(max(len(own) for _, _, own in by_cell))
                for place, seconds, own in by_cell
                if index < len(own)
            ]
        return made

    def _add(self, reading: Reading) -> None:
        new = [series for series in reading.series if series not in self._picked]
        for series in reading.series:
            self._picked[series] = max(self._picked.get(series, 0.0), self._needs(series, reading.metric))
        if new:
            self._order.append(new)

    def _needs(self, series: Series, metric: str) -> float:
        """Return the length of the runs of a series that a metric needs, in seconds."""
        run = self._cells[series[0]][0]
        whole, end = run.given.duration, end_of(run.repeat, metric)
        if end is None:
            return whole
        needed = end[0] + (self._latest(series[0]) if end[1] else 0.0) + MARGIN
        return min(whole, math.ceil(10 * needed) / 10)

    def _latest(self, place: int) -> float:
        """Return the latest start of a flow in any repetition of a cell, in seconds."""
        if place not in self._started:
            run = self._cells[place][0]
            spread = nanoseconds(run.rule.spread) / SECOND if run.rule.spread else 0.0
            starts = (nanoseconds(flow["start"]) / SECOND for flow in Frozen(run.given).flows)
            self._started[place] = max(starts, default=0.0) + spread
        return self._started[place]

    def _run(self, place: int, seconds: float, repetition: Repetition) -> PlannedRun:
        given = self._cells[place][0]
        whole = seconds >= given.given.duration
        hosted = self._world.hosted(repetition.scenario)
        scenario = hosted if whole else hosted.set({"duration": f"{round(seconds * SECOND)} ns"})
        repeat = replace(
            given.repeat,
            spans={name: span for name, span in given.repeat.spans.items() if span[1] <= seconds},
            cwnd={name: span for name, span in given.repeat.cwnd.items() if span[1] <= seconds},
            derived=given.repeat.derived if whole else (),
        )
        return PlannedRun(
            scenario, FlowTable(measures(repeat)), given.labels, repetition, repeat, given.given, given.rule,
            given.first, world=self._world,
        )  # fmt: skip


def repeated(cell: Sequence[PlannedRun]) -> int:
    """Return how often the runs of a cell are repeated in another world."""
    return len(cell) if cell[0].rule.sampling == "population" else REPETITIONS


def _repeated(cell: Sequence[PlannedRun], *, common: bool) -> list[Repetition]:
    """Return the first repetitions of a cell, as the paper draws them; of a population, those of the plan."""
    run = cell[0]
    if run.rule.sampling == "population":
        return [planned.repetition for planned in cell]
    rule = replace(run.rule, exact=0)
    counts: dict[str, int] = dict.fromkeys(("seed", "path", "offset"), REPETITIONS)
    made = repetitions(rule, run.given, run.first, counts)
    return [it for it in made if (it.seeds == "common") == common][:REPETITIONS]
