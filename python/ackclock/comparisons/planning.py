"""Plan and execution of a comparison: which runs it needs, and when it has enough of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ackclock.comparisons import places
from ackclock.comparisons.contenders import Contender, Given, resolve_all
from ackclock.comparisons.measuring import REFERENCE, Alone, Reference, Row, Tested
from ackclock.comparisons.places import OWN, NetworkPath, Place
from ackclock.experiments import budget, draws
from ackclock.experiments.draws import Jitter
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.plan import Point
from ackclock.experiments.store import Store
from ackclock.experiments.world import SIMULATION, World
from ackclock.freeze import Frozen
from ackclock.metrics.groups import under_test
from ackclock.scenario import Scenario
from ackclock.statistics.sequential import Stopping

SEEDS = 10
"""Drawn paths of a place by default; each path of a population runs once."""
MOST_DRAWN = 100
"""Largest number of drawn paths if a rule of stopping decides."""
ROUND = 5
"""Drawn paths that a rule of stopping adds at once."""
MOST_RUNS = 200_000
PATIENCE = 10
"""Durations that a transfer may take, beside those of the runs for harm: a run ends with its last packet."""


@dataclass(frozen=True)
class Unit:
    """A pair of the comparison: every contender runs on this path with this seed.

    Attributes
    ----------
    path : NetworkPath
        The path.
    index : int
        The number of the path among those of its place.
    seed : int
        The seed of the runs, and the number of the drawn path.
    drawn : bool
        Whether rates and delays are drawn around those of the path.
    world : World
        Where the runs take place.
    """

    path: NetworkPath
    index: int
    seed: int
    drawn: bool
    world: World = SIMULATION


@dataclass(frozen=True)
class Runs:
    """The runs of a unit.

    Attributes
    ----------
    solo : list of Point
        The path's traffic with each contender.
    beside : list of Point or None
        A reference flow beside the flows under test of each contender, without other traffic; None if the contender's
        scenario has other links than that of the reference.
    alone : list of Point
        One flow of each contender alone on the path; the first is the reference flow. Empty without harm.
    like : Point or None
        The path's traffic, in which the flows under test are like their rivals; None without rivals.
    """

    solo: Sequence[Point[Row]]
    beside: Sequence[Point[Row] | None]
    alone: Sequence[Point[Row]]
    like: Point[Row] | None = None

    def __iter__(self) -> Iterator[Point[Row]]:
        """Iterate over all points."""
        yield from self.solo
        yield from (point for point in self.beside if point is not None)
        yield from self.alone
        if self.like is not None:
            yield self.like


@dataclass(frozen=True)
class Plan:
    """A comparison to run.

    Attributes
    ----------
    contenders : sequence of Contender
        The contenders, the reference first.
    places : sequence of Place
        The places.
    seeds : int or None
        Drawn paths of each place, and seeds of each path of a population; None: `SEEDS` and 1. With `stopping`, the
        largest number of drawn paths; each path of a population then runs once.
    stopping : Stopping or None
        The rule by which a place has enough drawn paths.
    extra : dict
        Further settings, see `NetworkPath.compose`.
    harm : bool
        Whether runs measure harm to a flow of the reference, and the end of slow start of a flow alone on the path.
    outside : bool
        Whether the reference of a matrix was not asked for, so that no ranking has it.
    refused : sequence of str
        The errors of combinations of parts that cannot be, which are left out.

    Raises
    ------
    ValueError
        If it has more than `MOST_RUNS` runs.
    """

    contenders: Sequence[Contender]
    places: Sequence[Place]
    seeds: int | None = None
    stopping: Stopping | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    harm: bool = True
    outside: bool = False
    refused: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse too many runs."""
        units = sum(self.most(place) * len(place.paths) for place in self.places)
        count = units * (3 if self.harm else 1) * len(self.contenders)
        budget.check_runs(count, MOST_RUNS, "choose fewer paths, algorithms or seeds")

    @property
    def crossed(self) -> bool:
        """Whether the contenders are the combinations of a matrix."""
        return any(contender.labels for contender in self.contenders)

    def units(self, place: Place, first: int, last: int) -> list[Unit]:
        """Return the units of a place with these seeds, the last excluded."""
        return [
            Unit(path, index, seed, drawn, place.world)
            for index, path in enumerate(place.paths)
            for drawn in [not place.population and path.constant]
            for seed in range(first, last)
        ]

    def most(self, place: Place) -> int:
        """Return the largest number of seeds of a place."""
        if place.population:
            return 1 if self.stopping else self.seeds or 1
        return self.seeds or SEEDS

    def runs(self, unit: Unit) -> Runs:
        """Return the runs of a unit.

        Raises
        ------
        ScenarioError
            If a path's flows cannot have the settings of a contender.
        ValueError
            If the rate or the delay of a link of a drawn path is a model.
        """
        world = unit.world
        solo: list[Point[Row]] = []
        beside: list[Point[Row] | None] = []
        alone: list[Point[Row]] = []
        first: dict[str, Any] | None = None
        reference: dict[str, Any] = {}
        # One document at a time: each takes far more memory than its scenario.
        for contender in self.contenders:
            document = _drawn(unit.path.compose(contender, unit.seed, self.extra), unit)
            solo.append(Point(world.hosted(self._patient(document, unit)), Tested(), world=world))
            if not self.harm:
                beside.append(None)
                continue
            tested = _tested(document)
            single = _lasting(tested[0])
            if first is None:
                first, reference = document, single
            # All competition takes place on the links of the reference, even if packets of another size round its
            # queues.
            elsewhere = unit.path.scenario is None and document["topology"] != first["topology"]
            shared = None if elsewhere else _with(first, [reference, *tested])
            beside.append(None if shared is None else Point(world.hosted(shared), Reference(), world=world))
            alone.append(Point(world.hosted(_with(document, [single])), Alone(), world=world))
        return Runs(solo, beside, alone, self._like(unit))

    def _like(self, unit: Unit) -> Point[Row] | None:
        if unit.path.rival is None:
            return None
        document = _drawn(unit.path.compose(unit.path.rival, unit.seed, self.extra), unit)
        return Point(self._patient(document, unit), Tested(), world=unit.world)

    def _patient(self, document: dict[str, Any], unit: Unit) -> Scenario:
        """Return the scenario of the path's traffic; a run whose duration is not given waits for a slow transfer."""
        if not unit.path.lasts(self.extra):
            return Scenario(**document)
        seconds = float(document["duration"].partition(" ")[0])
        return Scenario(**{**document, "duration": f"{PATIENCE * seconds:g} s"})


def _drawn(scenario: Scenario, unit: Unit) -> dict[str, Any]:
    """Return the document of a scenario with every default written out, on the drawn path."""
    frozen = Frozen(scenario)
    for path, value in (draws.like(frozen, unit.seed, Jitter()) if unit.drawn else {}).items():
        _, _, index, key = path.split(".")
        frozen.document["topology"]["link"][int(index)][key] = value
    return frozen.document


def _tested(document: dict[str, Any]) -> list[dict[str, Any]]:
    names = under_test(flow["name"] for flow in document["flow"])
    return [flow for flow in document["flow"] if flow["name"] in names]


def _lasting(flow: dict[str, Any]) -> dict[str, Any]:
    """Return a flow under the name of the reference, with data for the whole run."""
    dropped = ("size", "stop", "application", "arrivals")
    return {key: value for key, value in flow.items() if key not in dropped} | {"name": REFERENCE, "start": "0 s"}


def _with(document: dict[str, Any], flows: list[dict[str, Any]]) -> Scenario:
    return Scenario(**{**document, "flow": flows})


@dataclass
class Outcome:
    """The measurements of a comparison.

    Attributes
    ----------
    plan : Plan
        The plan.
    experiment : Experiment
        Where the runs take place and their measurements stay.
    units : dict
        The units of each place with their runs.
    """

    plan: Plan
    experiment: Experiment = field(default_factory=Experiment)
    units: dict[str, list[tuple[Unit, Runs]]] = field(default_factory=dict)

    @property
    def measured(self) -> Store:
        """The measurements by the keys of their runs."""
        return self.experiment.store

    def has(self, point: Point[Row]) -> bool:
        """Whether a run is measured."""
        return self.measured.has(point)

    @property
    def points(self) -> dict[str, Point[Row]]:
        """The planned runs by their keys, each once."""
        return {point.key: point for units in self.units.values() for _, runs in units for point in runs}

    def relative(self, place: str, index: int, column: str) -> list[float]:
        """Return a contender's values over those of the reference, unit by unit."""
        made = []
        for _, runs in self.units[place]:
            own, base = (self.measured[runs.solo[each].key][column] for each in (index, 0))
            if own is not None and base:
                made.append(own / base)
        return made


def run(outcome: Outcome) -> None:
    """Run a plan until every place has enough units.

    Raises
    ------
    Interrupted
        After Ctrl-C; the outcome holds the finished runs.
    ScenarioError
        If a path's flows cannot have the settings of a contender.
    """
    plan = outcome.plan
    open_places, done = list(plan.places), 0
    while open_places:
        step = plan.stopping.at_least if plan.stopping and not done else ROUND
        last = 1 + done + step if plan.stopping else 1 + max(map(plan.most, open_places))
        for place in open_places:
            most = 1 + plan.most(place)
            fresh = plan.units(place, 1 + done, most if place.population else min(last, most))
            outcome.units.setdefault(place.name, []).extend((unit, plan.runs(unit)) for unit in fresh)
        outcome.experiment.run(outcome.points.values())
        done = last - 1
        open_places = [place for place in open_places if plan.stopping and not _enough(plan, outcome, place)]


def _enough(plan: Plan, outcome: Outcome, place: Place) -> bool:
    """Whether the intervals of all contenders against the reference are narrow enough, or the units are used up."""
    if plan.stopping is None or place.population or len(outcome.units[place.name]) >= plan.most(place):
        return True
    column = primary(outcome, place)
    samples = [outcome.relative(place.name, index, column) for index in range(1, len(plan.contenders))]
    return all(plan.stopping.is_over(sample) for sample in samples)


def primary(outcome: Outcome, place: Place) -> str:
    """Return the column that decides who wins: completion time if a flow under test has a size, otherwise goodput."""
    sized = any(
        outcome.measured[point.key]["completion"] is not None
        for _, runs in outcome.units[place.name]
        for point in runs.solo
        if point.key in outcome.measured
    )
    return "completion" if sized else "goodput_bps"


def same(plan: Plan) -> str:
    """Return a message if two contenders are the same on a path, although their settings differ; otherwise empty.

    Raises
    ------
    ScenarioError
        If a path's flows cannot have the settings of a contender.
    """
    for place in plan.places:
        seen: dict[object, Contender] = {}
        for contender in plan.contenders:
            made = place.paths[0].compose(contender, 1, plan.extra)
            key = made.hash, tuple(made.controls.items())
            if key in seen:
                where = "" if place.name == OWN else f" on {place.name}"
                return f"{seen[key].name} and {contender.name} are the same{where}: they give the same scenario"
            seen[key] = contender
    return ""


def planned(
    given: Sequence[Given | Mapping[str, Given]],
    paths: Sequence[str] | None,
    worlds: Sequence[World] = (SIMULATION,),
    *,
    reference: Given | None,
    seeds: int | None,
    within: float | None,
    size: str | None,
    duration: str | None,
    harm: bool = True,
) -> Plan:
    """Return the plan of a comparison; parameters and errors are those of `ackclock.compare`."""
    found = resolve_all(given, reference)
    extra = {key: value for key, value in (("duration", duration), ("flow.size", size)) if value is not None}
    plan = Plan(found, in_worlds(_places(found, paths), worlds), *_repetitions(seeds, within), extra, harm)
    if message := same(plan):
        raise ValueError(message)
    _check_worlds(plan)
    return plan


def _places(found: Sequence[Contender], paths: Sequence[str] | None) -> list[Place]:
    if paths is None:
        return [places.own()] if all(contender.file is not None for contender in found) else places.shipped()
    return places.find(paths)


def in_worlds(found: Sequence[Place], worlds: Sequence[World]) -> list[Place]:
    """Return each place in each world; its name has the world if there are several."""
    if len(worlds) == 1:
        return [replace(place, path=place.name, world=worlds[0]) for place in found]
    return [
        replace(place, name=f"{place.name} in {world.name}", path=place.name, world=world)
        for place in found
        for world in worlds
    ]


def _check_worlds(plan: Plan) -> None:
    """Refuse a plan whose worlds cannot run a contender.

    Raises
    ------
    ValueError
        If a kernel cannot run the flows of a contender.
    OSError
        If this computer cannot run a world.
    """
    for world in {place.world.name: place.world for place in plan.places}.values():
        world.check()
    for place in plan.places:
        for contender in plan.contenders:
            if not (place.world.release or contender.program):
                continue
            if reason := place.world.refuses(place.paths[0].compose(contender, 1, plan.extra)):
                raise ValueError(f"{contender.name} cannot run on {place.world.title}: {reason}")
            if plan.harm and contender.program:
                said = "transfers a size, so that no run of endless flows can have it: add --no-harm"
                raise ValueError(f"{contender.name} {said}")


def _repetitions(seeds: int | None, within: float | None) -> tuple[int | None, Stopping | None]:
    if within is None:
        return seeds, None
    most = seeds or MOST_DRAWN
    if within <= 0 or most < 2:
        raise ValueError("within: must be above 0 %, with at least 2 seeds")
    return most, Stopping(within, at_least=min(SEEDS, most), at_most=most)
