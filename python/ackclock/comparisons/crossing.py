"""The plan of a matrix: a comparison of every combination of slow start, avoidance, loss response and recovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from ackclock import _core
from ackclock.comparisons import parts as composing
from ackclock.comparisons import places
from ackclock.comparisons.contenders import Contender
from ackclock.comparisons.parts import Choice, Composition, PartSpec
from ackclock.comparisons.places import Place
from ackclock.comparisons.planning import Plan, in_worlds
from ackclock.experiments.world import SIMULATION, World

SEEDS = 3
LINUX = {"slow_start": "hystart", "avoidance": "cubic_linux"}
"""The parts of Linux."""


def plan(
    chosen: Mapping[str, Choice],
    *,
    paths: Sequence[str | Path] | None = None,
    worlds: Sequence[World] = (SIMULATION,),
    seeds: int = SEEDS,
    duration: str | None = None,
    baseline: Mapping[str, PartSpec] | None = None,
) -> Plan:
    """Return the plan of a matrix; parameters and errors are those of `ackclock.matrix`."""
    if seeds < 1:
        raise ValueError("seeds must be at least 1")
    found = places.shipped() if paths is None else places.find([str(word) for word in paths])
    if not found:
        raise ValueError(f"no path is chosen; known: {', '.join(place.name for place in places.shipped())}")
    wanted = composing.combine(chosen)
    base = composing.composition(baseline or {})
    extra = {} if duration is None else {"duration": duration}
    for world in worlds:
        world.check()
    possible, refused = _possible(wanted, found[0], extra, worlds)
    contenders = [_contender(each) for each in dict.fromkeys([base, *possible])]
    return Plan(
        contenders, in_worlds(found, worlds), seeds, extra=extra, harm=False, outside=base not in possible,
        refused=refused,
    )  # fmt: skip


Baseline = Mapping[str, PartSpec] | None


def of_field(
    chosen: Mapping[str, Choice], paths: Sequence[str | PathLike[str]] | None, baseline: Baseline
) -> tuple[dict[str, Choice], Sequence[str | PathLike[str]], Baseline]:
    """Return choices, paths and baseline of a map of the field: where nothing is chosen, that of the map.

    A loss response belongs to its avoidance, and recovery to the host. The baseline is what Linux has.
    """
    own = {"loss_response": "own", "recovery": composing.OF_HOST.value}
    named = {axis: choice for axis, choice in chosen.items() if choice is not None}
    wanted: dict[str, Choice] = {**own, **named}
    if not named:
        wanted.update({axis: composing.known(axis) for axis in ("slow_start", "avoidance", composing.WHOLE)})
    return wanted, paths or [places.FIELD.name], baseline or {**LINUX, "recovery": composing.OF_HOST.value}


def _contender(composition: Composition) -> Contender:
    return Contender(composition.name, composition.settings, labels=composition.labels)


def _possible(
    wanted: Sequence[Composition], place: Place, extra: Mapping[str, str], worlds: Sequence[World]
) -> tuple[list[Composition], list[str]]:
    """Return the combinations that a scenario and the worlds accept, and the errors of the others."""
    said = {each: _refusal(each, place, extra, worlds) for each in wanted}
    possible = [each for each, refusal in said.items() if not refusal]
    refused = [refusal for refusal in said.values() if refusal]
    if not possible:
        raise ValueError(refused[0])
    return possible, refused


def _refusal(composition: Composition, place: Place, extra: Mapping[str, str], worlds: Sequence[World]) -> str:
    try:
        scenario = place.paths[0].compose(_contender(composition), 1, extra)
    except _core.ScenarioError as error:
        return str(error)
    for world in worlds:
        if world.release and (reason := world.refuses(scenario)):
            return f"{composition.name} cannot run on {world.title}: {reason}"
    return ""
