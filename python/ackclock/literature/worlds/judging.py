"""Verdicts from runs in a world beside the simulation, and from the simulations beside them.

The rules are those of `verdicts`. A reading without all of its runs cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ackclock.judging import evidence
from ackclock.literature.verdicts import Judgement, judge
from ackclock.literature.worlds.choosing import Reading, repeated
from ackclock.literature.worlds.runs import Elsewhere
from ackclock.metrics.derivation import Rows

Key = tuple[str, str]
"""A reading: the claim's name and the metric."""


@dataclass(frozen=True)
class Agreement:
    """Runs in a world against the simulations beside them, on one metric.

    Attributes
    ----------
    metric : str
        The column.
    count : int
        Number of pairs of runs.
    median, low, high : float
        Median, smallest and largest ratio of the world's value to the simulated one.
    """

    metric: str
    count: int
    median: float
    low: float
    high: float


def judged(found: Elsewhere) -> dict[Key, Judgement]:
    """Judge the readings of a paper's claims; a reading without runs has its reason."""
    made = _all(found, found.rows)
    simulated = _all(found, found.simulated)
    return {key: replace(judgement, simulated=simulated[key]) for key, judgement in made.items()}


def agreements(found: Elsewhere) -> list[Agreement]:
    """Compare the runs with the simulations beside them, on each metric that was judged."""
    twins = {_identity(row, found): row for row in found.simulated}
    made = []
    for metric in dict.fromkeys(reading.metric for reading in found.choice.chosen):
        # A run that is too short for a metric has none of it.
        own = _judged_with(found, metric)
        pairs = [
            (row[metric], twins[_identity(row, found)][metric])
            for row in found.rows
            if _cell(row, found) in own and _identity(row, found) in twins
        ]
        ratios = sorted(of / to for of, to in pairs if of is not None and to)
        if ratios:
            made.append(Agreement(metric, len(ratios), median(ratios), ratios[0], ratios[-1]))
    return made


def _all(found: Elsewhere, rows: Rows) -> dict[Key, Judgement]:
    labels = found.choice.plan.paper.all_labels
    made = {_key(reading): _judge(reading, found, rows, labels) for reading in found.choice.readings}
    corrected = evidence.corrected([judgement.evidence for judgement in made.values()])
    return {
        key: replace(judgement, evidence=own) for (key, judgement), own in zip(made.items(), corrected, strict=True)
    }


def _judge(reading: Reading, found: Elsewhere, rows: Rows, labels: Sequence[str]) -> Judgement:
    if reading.reason:
        return Judgement(reading.claim, reading.metric, "not run", [reading.reason], [], [], "exact")
    cells = _cells(found, [reading])
    judgement = judge(reading.claim, reading.metric, [row for row in rows if _cell(row, found) in cells], labels)
    missing = sum(run.cell in cells for run in found.missing)
    if not missing:
        return judgement
    planned = found.choice.plan.cells
    needed = sum(repeated(planned[place]) for place, _ in reading.series)
    reason = f"{missing} of its {needed} runs have no result; the same command repeats them"
    return replace(judgement, verdict="cannot tell", reasons=[reason], why=None, evidence=None)


def _key(reading: Reading) -> Key:
    return reading.claim.id, reading.metric


def _judged_with(found: Elsewhere, metric: str) -> set[tuple[str, ...]]:
    return _cells(found, [reading for reading in found.choice.chosen if reading.metric == metric])


def _cells(found: Elsewhere, readings: Sequence[Reading]) -> set[tuple[str, ...]]:
    cells = found.choice.plan.cells
    return {cells[place][0].cell for reading in readings for place, _ in reading.series}


def _cell(row: Mapping[str, object], found: Elsewhere) -> tuple[str, ...]:
    return tuple(str(row[label]) for label in found.choice.plan.paper.labels)


def _identity(row: Mapping[str, object], found: Elsewhere) -> tuple[object, ...]:
    return (*_cell(row, found), row["flow"], row["seeds"], row["unit"])


def latest(found: Elsewhere) -> float:
    """Return the largest 99th percentile of the lateness of releases in any run, in seconds; NaN without runs."""
    return max((float(row["lateness_p99"]) for row in found.rows), default=math.nan)
