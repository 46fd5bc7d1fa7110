"""How a paper's runs are repeated: over seeds, over paths like the paper's, or over start times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ackclock.experiments import draws
from ackclock.experiments.draws import Jitter
from ackclock.scenario import Scenario

COMMON = 1_000_000  # the first of the seeds that all cells have in common


@dataclass(frozen=True)
class Repetition:
    """One of the runs of a cell; its attributes are those of `measures.PlannedRun`."""

    sampling: Literal["seed", "path", "offset"]
    unit: int
    scenario: Scenario
    seeds: Literal["own", "common"] | None = None
    paths: Literal["like", "exact"] | None = None


def repetitions(rule: Mapping[str, Any], scenario: Scenario, first: int, counts: Mapping[str, int]) -> list[Repetition]:
    """Repeat a scenario as a rule says; where paths are drawn, the runs on the exact one come first.

    Parameters
    ----------
    rule
        One ``[[repeat]]`` of ``paper.toml``.
    scenario
        That of the cell.
    first
        The first seed of the cell.
    counts
        Of each kind of sampling at most so many.
    """
    count = min(rule["count"], counts.get(rule["sampling"], rule["count"]))
    if rule["sampling"] == "offset":
        return _started(scenario, rule["spread"], rule["count"], count, None)
    if rule["sampling"] == "path":
        return _on_paths(rule, scenario, count, counts)
    if "jitter" in rule:
        return _seeded_on_paths(rule, scenario, first, count)
    # Cells of other values get other seeds: averaged over such cells, a sample is made of independent runs.
    own: Literal["own"] | None = "own" if "common" in rule else None
    units = range(COMMON, COMMON + min(rule.get("common", 0), count))
    return [
        *(Repetition("seed", index + 1, _seeded(scenario, first + index), own) for index in range(count)),
        *(Repetition("seed", unit, _seeded(scenario, unit), "common") for unit in units),
    ]


def _started(
    scenario: Scenario, spread: str, steps: int, count: int, paths: Literal["exact"] | None
) -> list[Repetition]:
    """Give the first of so many start times, at even steps over `spread`."""
    amount, word = spread.split()
    starts = [f"{float(amount) * index / steps:.12g} {word}" for index in range(count)]
    return [
        Repetition("offset", index, scenario.set({"flow.start": start}), paths=paths)
        for index, start in enumerate(starts)
    ]


def _on_paths(rule: Mapping[str, Any], scenario: Scenario, count: int, counts: Mapping[str, int]) -> list[Repetition]:
    jitter, spread = Jitter.read(rule.get("jitter", {})), draws.nanoseconds(rule["spread"])
    steps = rule.get("exact", 0)
    exact = _started(scenario, rule["spread"], steps, min(steps, counts.get("offset", steps)), "exact")
    for draw in range(1, count + 1):
        moved = scenario.set({"flow.start": draws.start(draw, spread)})
        exact.append(Repetition("path", draw, draws.like(moved, draw, jitter), paths="like"))
    return exact


def _seeded_on_paths(rule: Mapping[str, Any], scenario: Scenario, first: int, count: int) -> list[Repetition]:
    """Let each seed also draw a path."""
    jitter = Jitter.read(rule["jitter"])
    seeded = [_seeded(scenario, first + index) for index in range(count)]
    return [
        *(Repetition("seed", unit, own, paths="exact") for unit, own in enumerate(seeded[: rule.get("exact", 0)], 1)),
        *(
            Repetition("seed", unit, draws.like(own, first + unit - 1, jitter), paths="like")
            for unit, own in enumerate(seeded, 1)
        ),
    ]


def _seeded(scenario: Scenario, seed: int) -> Scenario:
    return scenario.set({"seed": str(seed)})
