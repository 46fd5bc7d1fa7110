"""What a paper's idea would do on hosts of today: against the host as it is, and against a control.

Four scenarios in ``data/today`` have a flow ``tested`` of the host preset `linux`. The keys `today` of a paper's
``[summary]`` replace those of this flow. The keys `control` make a flow that has everything of the idea but its rule,
such as halving in place of Return Back to Threshold, so that a gain is the rule's own or its control's. Each seed draws
a round-trip time between 20 and 100 ms; runs with the same seed are pairs, in every world.

The number of seeds was measured with 120 seeds of the simulation. In disjoint sets of 20, 40 or 60 seeds, none of the
65 comparisons was better, worse or the same in one set and another of these in the next. What differs is whether the
runs can tell at all: they could in 58, 70 and 77 % of the comparisons. With 60 seeds, 2 of the 25 comparisons with the
host are decided in one set and not in the other, both those of `rbt` beside a Linux flow, whose effect of 4 to 8 % is
at the tolerance. A sentence that an idea gains without a loss is therefore said only if a loss is excluded everywhere:
with 30 seeds, what "no loss is shown" would say of `icw` depends on the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ackclock.experiments.experiment import Experiment
from ackclock.experiments.plan import Point
from ackclock.experiments.world import SIMULATION, World
from ackclock.judging import effects as judging
from ackclock.judging.effects import Finding
from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import ABOUT
from ackclock.literature.library import Paper
from ackclock.literature.measurement import FlowTable, Measured
from ackclock.scenario import Scenario, load
from ackclock.statistics.intervals import Interval

FOLDER = Path(__file__).resolve().parents[1] / "data" / "today"
SEEDS, QUICK_SEEDS = 60, 8
"""Seeds in the simulation."""
FEW, QUICK_FEW = 10, 4
"""Seeds in another world, whose runs take longer."""
TESTED = "tested"
TOLERANCE = ABOUT
"""That of comparisons: close enough for the choice between two algorithms not to depend on it."""

Verdict = Literal["better", "worse", "no difference", "cannot tell", "never acts", "no result"]
Keys = Mapping[str, Any]
HOST: tuple[str, str] = ("", "host")
"""The variant of the host as it is; the others are a paper's name with the word ``idea`` or ``control``."""


@dataclass(frozen=True)
class Question:
    """A question about an idea: a scenario, a measure, and the words for it.

    Attributes
    ----------
    name : str
        Name of the scenario's file.
    title : str
        What is compared, for figures.
    measure : str
        A column of flows.
    flow : str
        The flow whose measure it is.
    better : {-1, 1}
        Whether a larger value is better (1), or a smaller one (−1).
    """

    name: str
    title: str
    measure: str
    flow: str
    better: int


QUESTIONS = (
    Question("download", "time of a 1 MB download", "completion_time", TESTED, -1),
    Question("long", "time of a 10 MB download, short queue", "completion_time", TESTED, -1),
    Question("wireless", "goodput with 0.1 % random loss", "goodput_bps", TESTED, 1),
    Question("shared", "goodput beside a Linux flow", "goodput_bps", TESTED, 1),
    Question("shared", "goodput left to the Linux flow", "goodput_bps", "other", 1),
)


@dataclass(frozen=True)
class Effect:
    """The ratio of two means over seeds.

    Attributes
    ----------
    question : Question
        The question.
    finding : Finding or None
        What the judge of comparisons finds; None without a value in every run.
    """

    question: Question
    finding: Finding | None

    @property
    def ratio(self) -> Interval:
        """The ratio with its 95 % interval."""
        if self.finding is None:
            return Interval(math.nan, -math.inf, math.inf, 0, "a run has no value")
        return self.finding.estimate

    @property
    def verdict(self) -> Verdict:
        """The effect in words; *never acts* if the values of all pairs are equal."""
        if self.finding is None:
            return "no result"
        if self.finding.question.sample.equal:
            return "never acts"
        found = self.finding.verdict
        if found == "better" or found == "worse":
            return found
        return "no difference" if found == "same" else "cannot tell"

    @property
    def decided(self) -> bool:
        """Whether it is a gain or a loss."""
        return self.verdict in ("better", "worse")


@dataclass(frozen=True)
class Compared:
    """An idea in one world, by the order of `QUESTIONS`.

    Attributes
    ----------
    world : World
        Where it ran.
    host : sequence of Effect
        The idea over the host as it is.
    control : sequence of Effect
        The idea over its control; empty if the host as it is is the control.
    alone : sequence of Effect
        The control over the host as it is; empty likewise.
    refused : str
        Why the world cannot run the idea, which then has no effects.
    """

    world: World
    host: Sequence[Effect] = ()
    control: Sequence[Effect] = ()
    alone: Sequence[Effect] = ()
    refused: str = ""


@dataclass
class _Runs:
    """The runs of all variants in one world."""

    world: World
    seeds: Sequence[int]
    points: dict[tuple[str, tuple[str, str], int], Point[Measured]] = field(default_factory=dict)
    refused: dict[tuple[str, str], str] = field(default_factory=dict)

    def values(self, experiment: Experiment, question: Question, variant: tuple[str, str]) -> list[float] | None:
        """Return a value for each seed; None if a run has none."""
        found: list[float] = []
        for seed in self.seeds:
            point = self.points.get((question.name, variant, seed))
            if point is None or not experiment.store.has(point):
                return None
            row = next(row for row in experiment.store.measured(point).rows if row["flow"] == question.flow)
            if row[question.measure] is None:
                return None
            found.append(float(row[question.measure]))
        return found


def how(world: World) -> str:
    """Return how the numbers of a world came about: by simulation, or by measurement on a kernel or in a stack."""
    if world.release:
        return f"measured on Linux {world.release}"
    return "simulated" if world.name == SIMULATION.name else f"measured on {world.name}"


def files() -> list[Path]:
    """Return the files of the scenarios."""
    return [FOLDER / f"{name}.toml" for name in dict.fromkeys(question.name for question in QUESTIONS)]


def variant(scenario: Scenario, keys: Keys) -> Scenario:
    """Return a scenario whose flow under test has these keys.

    Raises
    ------
    ScenarioError
        If the keys do not fit a flow.
    """
    return scenario.set({f"flow.0.{key}": value for key, value in keys.items()})


def variants(papers: Sequence[Paper]) -> dict[tuple[str, str], Keys]:
    """Return the keys of the host as it is, and of the idea and the control of each paper with an idea for today."""
    made: dict[tuple[str, str], Keys] = {HOST: {}}
    for paper in papers:
        summary = paper.contents.summary
        if summary is not None and summary.today:
            made[paper.name, "idea"] = summary.today
            if summary.control:
                made[paper.name, "control"] = summary.control
    return made


def seeds(world: World, *, quick: bool) -> range:
    """Return the seeds of a world."""
    counts = (QUICK_FEW, FEW) if world.release else (QUICK_SEEDS, SEEDS)
    return range(1, counts[not quick] + 1)


def measure(
    papers: Sequence[Paper], experiment: Experiment, worlds: Sequence[World] = (SIMULATION,), *, quick: bool = False
) -> dict[str, list[Compared]]:
    """Run every scenario for the unchanged host, each idea and each control, and compare.

    Parameters
    ----------
    papers
        The papers; those without keys in `today` are omitted.
    experiment
        Where the runs take place, and their measurements stay.
    worlds
        Where they run. All comparisons in one world are one family for Holm's correction.
    quick
        Whether to use fewer seeds.

    Returns
    -------
    dict
        For each paper by its name, what each world shows.

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    made = variants(papers)
    planned = [_plan(world, made, seeds(world, quick=quick)) for world in worlds]
    experiment.run(point for runs in planned for point in runs.points.values())
    names = [name for name, kind in made if kind == "idea"]
    found: dict[str, list[Compared]] = {name: [] for name in names}
    for runs in planned:
        effects = _judge(runs, experiment, names, made)
        for name in names:
            host, control, alone = (effects.get((name, *pair), ()) for pair in PAIRS)
            refused = runs.refused.get((name, "idea"), "") or runs.refused.get(HOST, "")
            found[name].append(Compared(runs.world, host, control, alone, refused))
    return found


PAIRS = (("idea", "host"), ("idea", "control"), ("control", "host"))


def _plan(world: World, made: Mapping[tuple[str, str], Keys], chosen: Sequence[int]) -> _Runs:
    runs = _Runs(world, chosen)
    scenarios = {file.stem: load(file) for file in files()}
    for who, keys in made.items():
        own = {name: variant(scenario, keys) for name, scenario in scenarios.items()}
        if reason := next(filter(None, map(world.why_not, own.values())), ""):
            runs.refused[who] = reason
            continue
        for name, scenario in own.items():
            for seed in chosen:
                drawn = scenario.set({"seed": seed, "topology.bottleneck.delay": _delay(seed)})
                runs.points[name, who, seed] = Point(world.hosted(drawn), FlowTable(), world=world)
    return runs


def _judge(
    runs: _Runs, experiment: Experiment, names: Sequence[str], made: Mapping[tuple[str, str], Keys]
) -> dict[tuple[str, str, str], list[Effect]]:
    """Return the effects of a world by paper, variant and reference."""
    asked: list[judging.Question] = []
    later: list[tuple[tuple[str, str, str], Question, bool]] = []
    for name in names:
        for of, to in PAIRS:
            ends = [HOST if end == "host" else (name, end) for end in (of, to)]
            if any(end not in made or end in runs.refused for end in ends):
                continue
            for question in QUESTIONS:
                own, other = (runs.values(experiment, question, end) for end in ends)
                if there := own is not None and other is not None:
                    better: judging.Better = "more" if question.better > 0 else "less"
                    asked.append(judging.Question(Sample(own or (), other, "ratio"), better, TOLERANCE))
                later.append(((name, of, to), question, there))
    found = iter(judging.judge(asked))
    effects: dict[tuple[str, str, str], list[Effect]] = {}
    for key, question, there in later:
        effects.setdefault(key, []).append(Effect(question, next(found) if there else None))
    return effects


def _delay(seed: int) -> str:
    """Draw the delay of the bottleneck: with the access links, round trips take 20 to 100 ms."""
    return f"{np.random.default_rng(seed).uniform(8.0, 48.0):.3f} ms"
