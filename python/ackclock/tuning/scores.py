"""From the measures of cells to the value of a trial, its constraints, and the units of a paired comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from ackclock.tuning.runs import Cells
from ackclock.tuning.schema import Constraint, Goal, Over, Tuning

Sign = Literal[1, -1]


class MissingError(ValueError):
    """A measure has no value on a path."""


def mean(values: Sequence[float]) -> float:
    """Mean, rounded once."""
    return math.fsum(values) / len(values)


def column(cells: Cells, measure: str) -> dict[tuple[int, int], float]:
    """Return the values of a measure by path and seed.

    Raises
    ------
    MissingError
        If a cell has none.
    """
    found: dict[tuple[int, int], float] = {}
    for cell, values in cells.items():
        value = values.get(measure)
        if value is None:
            raise MissingError(f"{measure} has no value")
        found[cell] = value
    return found


def over_paths(values: Mapping[tuple[int, int], float], over: Over, sign: Sign) -> float:
    """Return the mean of each path over its seeds, then the mean or the worst of the paths."""
    means = list(by_path(values).values())
    return mean(means) if over == "mean" else min(means) if sign > 0 else max(means)


def by_path(values: Mapping[tuple[int, int], float]) -> dict[int, float]:
    """Return the mean of each path over its seeds."""
    paths = dict.fromkeys(path for path, _ in values)
    return {path: mean([value for (own, _), value in values.items() if own == path]) for path in paths}


def objective(goal: Goal, cells: Cells, reference: Cells) -> dict[tuple[int, int], float]:
    """Return the objective's value in each cell, over the reference if it is relative.

    Raises
    ------
    MissingError
        If a cell has no value, or the reference is 0 on a path.
    """
    values = column(cells, goal.measure)
    if not goal.relative:
        return values
    base = by_path(column(reference, goal.measure))
    if any(value <= 0 for value in base.values()):
        raise MissingError(f"{goal.measure} of the reference is 0 on a path; relative needs values above 0")
    return {cell: value / base[cell[0]] for cell, value in values.items()}


def violation(constraint: Constraint, cells: Cells, reference: Cells) -> float:
    """Return the distance beyond a bound in the unit of the measure; 0 or less if the bound holds."""
    value = over_paths(column(cells, constraint.measure), constraint.over, constraint.sign)
    bound = constraint.bound
    if bound is None:
        own = {cell: found for cell, found in column(reference, constraint.measure).items() if cell in cells}
        bound = over_paths(own, constraint.over, constraint.sign)
    return (bound - value) * constraint.sign


def violations(tuning: Tuning, cells: Cells, reference: Cells) -> dict[str, float]:
    """Return the distance beyond each bound, by measure."""
    return {each.measure: violation(each, cells, reference) for each in tuning.constraints}


def units(goal: Goal, values: Mapping[tuple[int, int], float], pairs: Literal["seeds", "paths"]) -> list[float]:
    """Return the sample of a paired comparison, in a fixed order: a value for each seed or path."""
    if pairs == "paths":
        return list(by_path(values).values())
    seeds = dict.fromkeys(seed for _, seed in values)
    return [
        over_paths({cell: value for cell, value in values.items() if cell[1] == seed}, goal.over, goal.sign)
        for seed in seeds
    ]
