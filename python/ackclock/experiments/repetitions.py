"""Repetitions of a scenario: over seeds, paths like a given one, start times, or a population of paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ackclock import freeze
from ackclock.experiments import draws
from ackclock.experiments.draws import Jitter
from ackclock.freeze import Frozen
from ackclock.scenario import Scenario

Sampling = Literal["seed", "path", "offset", "population"]
COMMON = 1_000_000  # the first of the seeds that all cells share
FURTHER = 2_000_000  # the first of the seeds that no plan uses


@dataclass(frozen=True)
class Rule:
    """Rule of repetition for the scenario of a cell.

    Attributes
    ----------
    sampling : {"seed", "path", "offset", "population"}
        Kind of repetition: over seeds, paths drawn around the given one, start times, or the paths of a table.
    count : int
        Number of repetitions; of paths, if it is over a population.
    spread : str
        Span of the start times, such as ``"60 ms"``; empty for seeds.
    jitter : Jitter or None
        Largest deviations of drawn paths. None means the default for paths, and no drawn paths for seeds.
    exact : int
        Number of additional runs on the given path.
    common : int
        Number of additional runs with seeds that all cells share.
    paths : sequence of dict
        The population: values by the paths of their keys, for each path.
    seeds : int
        Number of runs on each path of the population, each with a seed of its own, which all cells share.
    """

    sampling: Sampling
    count: int
    spread: str = ""
    jitter: Jitter | None = None
    exact: int = 0
    common: int = 0
    paths: Sequence[Mapping[str, str]] = ()
    seeds: int = 1


@dataclass(frozen=True)
class Repetition:
    """One run of a cell.

    Attributes
    ----------
    sampling : {"seed", "path", "offset", "population"}
        Kind of repetition.
    unit : int
        Number of the seed, of the path, or of the start time.
    scenario : Scenario
        The scenario of the run.
    seeds : {"own", "common"} or None
        Whether the seed belongs to the cell or to all cells; None if the rule has no common seeds.
    paths : {"like", "exact"} or None
        Whether the path is drawn or exact; None if the cell has no drawn paths.
    """

    sampling: Sampling
    unit: int
    scenario: Scenario
    seeds: Literal["own", "common"] | None = None
    paths: Literal["like", "exact"] | None = None


def repetitions(rule: Rule, scenario: Scenario, first: int, counts: Mapping[str, int]) -> list[Repetition]:
    """Repeat a scenario by a rule; runs on the exact path come before runs on drawn paths.

    Parameters
    ----------
    rule
        The rule.
    scenario
        The scenario of the cell.
    first
        The first seed of the cell.
    counts
        Largest number of repetitions by sampling.
    """
    count = min(rule.count, counts.get(rule.sampling, rule.count))
    if rule.sampling == "offset":
        return _started(scenario, rule.spread, rule.count, count, None)
    if rule.sampling == "path":
        return _on_paths(rule, scenario, count, counts)
    if rule.sampling == "population":
        return _of_population(rule, scenario, range(count))
    if rule.jitter is not None:
        return _seeded_on_paths(rule, rule.jitter, scenario, first, count)
    # Cells have different seeds, so a sample averaged over cells consists of independent runs.
    own: Literal["own"] | None = "own" if rule.common else None
    units = range(COMMON, COMMON + min(rule.common, count))
    return [
        *(Repetition("seed", index + 1, _seeded(scenario, first + index), own) for index in range(count)),
        *(Repetition("seed", unit, _seeded(scenario, unit), "common") for unit in units),
    ]


def further(rule: Rule, scenario: Scenario, first: int, count: int) -> list[Repetition]:
    """Repeat a scenario by a rule, beyond all its repetitions: other seeds of its own, drawn paths or start times.

    Start times lie in the middle between those of the rule, so there are at most as many as the rule has. Of a
    population these are the paths that the rule does not use.

    Parameters
    ----------
    rule, scenario, first
        As in `repetitions`.
    count
        Number of repetitions.
    """
    if rule.sampling == "offset":
        return _started(scenario, rule.spread, rule.count, min(count, rule.count), None, shift=0.5)
    if rule.sampling == "path":
        return _drawn_paths(rule, scenario, range(rule.count + 1, rule.count + 1 + count))
    if rule.sampling == "population":
        return _of_population(rule, scenario, range(rule.count, min(rule.count + count, len(rule.paths))))
    # Cells have seeds of their own, as in the plan.
    seed = FURTHER + (first - 1) // rule.count * count
    if rule.jitter is not None:
        return _seeded_on_paths(replace(rule, exact=0), rule.jitter, scenario, seed, count)
    own: Literal["own"] | None = "own" if rule.common else None
    return [Repetition("seed", index + 1, _seeded(scenario, seed + index), own) for index in range(count)]


def _started(
    scenario: Scenario, spread: str, steps: int, count: int, paths: Literal["exact"] | None, shift: float = 0.0
) -> list[Repetition]:
    """Repeat at the first `count` of `steps` start times, evenly spaced over `spread`; `shift` is a part of a step."""
    amount, word = spread.split()
    starts = [f"{float(amount) * (index + shift) / steps:.12g} {word}" for index in range(count)]
    given = Frozen(scenario)
    return [
        Repetition("offset", index, freeze.replaced(scenario, _later(given, start)), paths=paths)
        for index, start in enumerate(starts)
    ]


def _later(given: Frozen, offset: str) -> dict[str, str]:
    """Return the start times of all flows, each later by the offset."""
    own = [draws.nanoseconds(flow["start"]) for flow in given.flows]
    # The sum is rounded to nanoseconds; the offset alone is left to the core's reader.
    return {
        f"flow.{index}.start": f"{start + draws.nanoseconds(offset)} ns" if start else offset
        for index, start in enumerate(own)
    }


def _on_paths(rule: Rule, scenario: Scenario, count: int, counts: Mapping[str, int]) -> list[Repetition]:
    """Repeat on drawn paths at drawn start times, and on the exact path at evenly spaced start times."""
    steps = rule.exact
    made = _started(scenario, rule.spread, steps, min(steps, counts.get("offset", steps)), "exact")
    return made + _drawn_paths(rule, scenario, range(1, count + 1))


def _drawn_paths(rule: Rule, scenario: Scenario, numbers: Iterable[int]) -> list[Repetition]:
    """Repeat on drawn paths at drawn start times."""
    made, given, spread = [], Frozen(scenario), draws.nanoseconds(rule.spread)
    for draw in numbers:
        later = _later(given, draws.start(draw, spread))
        drawn = freeze.replaced(scenario, {**later, **draws.like(given, draw, rule.jitter or Jitter())})
        made.append(Repetition("path", draw, drawn, paths="like"))
    return made


def _seeded_on_paths(rule: Rule, jitter: Jitter, scenario: Scenario, first: int, count: int) -> list[Repetition]:
    """Repeat over seeds, each on a path of its own draw."""
    seeded = [(unit, first + unit - 1) for unit in range(1, count + 1)]
    given = Frozen(scenario)
    exact = [Repetition("seed", unit, _seeded(scenario, seed), paths="exact") for unit, seed in seeded[: rule.exact]]
    drawn = [(unit, freeze.replaced(_seeded(scenario, seed), draws.like(given, seed, jitter))) for unit, seed in seeded]
    return [*exact, *(Repetition("seed", unit, like, paths="like") for unit, like in drawn)]


def _of_population(rule: Rule, scenario: Scenario, places: Iterable[int]) -> list[Repetition]:
    """Repeat on the paths of a population; all cells have the same paths and seeds."""
    made = []
    for place in places:
        for seed in range(place * rule.seeds + 1, (place + 1) * rule.seeds + 1):
            there = scenario.set({**rule.paths[place], "seed": str(seed)})
            made.append(Repetition("population", place + 1, there))
    return made


def _seeded(scenario: Scenario, seed: int) -> Scenario:
    return scenario.set({"seed": str(seed)})
