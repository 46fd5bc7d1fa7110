"""Whether the worlds of a comparison agree: each contender's speed in each world against its speed in the first."""

from __future__ import annotations

from dataclasses import dataclass

from ackclock.comparisons import words
from ackclock.comparisons.judging import METRICS, Judged
from ackclock.comparisons.places import Place
from ackclock.comparisons.words import Shown
from ackclock.judging.effects import Finding, Question, Verdict, judge
from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import Tolerance

COLUMNS = ("path", "algorithm", "world", "speed", "verdict")
LEFT = 3
"""Columns of the table that hold words."""
NOTE = "The speed of each algorithm against its speed in the first world, on the same paths with the same seeds."
SAID: dict[Verdict, str] = {"same": "the same", "differs": "differs", "unclear": "open"}


@dataclass(frozen=True)
class Agreement:
    """A contender on a path in a world, against the first world.

    Attributes
    ----------
    path, contender, world : str
        Names of the path, the contender and the world.
    first : str
        Name of the first world.
    finding : Finding
        The ratio of its speeds.
    """

    path: str
    contender: str
    world: str
    first: str
    finding: Finding


def agreements(judged: Judged) -> list[Agreement]:
    """Judge, in one family, whether each contender is as fast in every world as in the first, on the same paths."""
    asked: list[tuple[Place, Place, int, Question]] = []
    by_path: dict[str, list[Place]] = {}
    for place in judged.places:
        by_path.setdefault(place.path, []).append(place)
    for first, *others in by_path.values():
        for other in others:
            every = [(index, _question(judged, first, other, index)) for index in range(len(judged.names))]
            asked += [(first, other, index, question) for index, question in every if question is not None]
    found = judge([question for *_, question in asked])
    return [
        Agreement(first.path, judged.names[index], other.world.name, first.world.name, finding)
        for (first, other, index, _), finding in zip(asked, found, strict=True)
    ]


def _question(judged: Judged, first: Place, other: Place, index: int) -> Question | None:
    metric = METRICS[judged.primary(first)]
    own, base = judged.values[other.name, index], judged.values[first.name, index]
    if len(own) != len(base) or judged.primary(other) != metric.key:
        return None  # an interrupted comparison
    both = [(a, b) for x, y in zip(own, base, strict=True) if None not in (a := x[metric.key], b := y[metric.key])]
    of, to = [a for a, _ in both], [b for _, b in both]
    if not both or not any(to):
        return None
    of, to = (of, to) if metric.better > 0 else (to, of)
    return Question(Sample(of, to, judged.scale(first, metric.key)), "", Tolerance(judged.margin))


def sentences(judged: Judged) -> list[str]:
    """Say where the worlds differ, and how many of their contenders' speeds are the same; empty with one world."""
    found = agreements(judged)
    if not found:
        return []
    first = found[0].first
    worlds = list(dict.fromkeys(each.world for each in found))
    said = []
    for world in worlds:
        own = [each for each in found if each.world == world]
        counts = {verdict: sum(each.finding.verdict == verdict for each in own) for verdict in SAID}
        text = f"In {world}, the speed is the same as in {first} (±{100 * judged.margin:g} %) in {counts['same']} of "
        text += f"{len(own)} cases"
        text += f", and open in {counts['unclear']}" if counts["unclear"] else ""
        apart = [each for each in own if each.finding.verdict == "differs"]
        text += "".join(f"; {each.contender} on {each.path}: {words.effect(each.finding)}" for each in apart)
        said.append(f"{text}.")
    return said


def tables(judged: Judged) -> list[Shown]:
    """Return a table with each contender's speed in a world against that in the first; none with one world."""
    rows = [
        [each.path, each.contender, each.world, words.effect(each.finding), SAID[each.finding.verdict]]
        for each in agreements(judged)
    ]
    return [Shown(f"speed against {judged.places[0].world.name}", COLUMNS, rows, LEFT, note=NOTE)] if rows else []
