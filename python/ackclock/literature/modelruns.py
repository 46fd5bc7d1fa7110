"""A paper's experiments with analytic models: ``[[model]]`` of ``paper.toml``; their rows join the rows of runs.

A closed form has one row for each cell, with the sampling ``exact``, and so has a simulated model without chance; any
other simulated model has one row for each seed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ackclock.curves import Line
from ackclock.files.places import Key
from ackclock.files.problems import Problems
from ackclock.formatting.numbers import finite
from ackclock.literature.contents import ModelExperiment
from ackclock.literature.library import Paper
from ackclock.models import evaluate as modelling
from ackclock.models import registry

Settings = Mapping[str, Any]
Rows = list[dict[str, Any]]
TRACED = "rounds"  # the only model with a trace
SEED = "seed"
WITHOUT_CHANCE = {"losses": "periodic"}
"""A parameter with which a simulated model gives the same for every seed."""


@dataclass(frozen=True)
class Point:
    """A cell of an experiment with a model: its labels and its parameters.

    Attributes
    ----------
    model : str
        Name of the model.
    labels : dict
        Its labels, without the label of flows.
    flow : str
        The label of flows; by default the name of the model.
    parameters : dict
        Parameters that differ from their defaults.
    columns : dict
        Additional columns, for comparisons with the rows of runs: outputs by column name.
    """

    model: str
    labels: Mapping[str, str]
    flow: str
    parameters: Settings
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def cell(self) -> tuple[str, ...]:
        """The values of its labels."""
        return tuple(self.labels.values())


@dataclass(frozen=True)
class PlannedModel:
    """A planned evaluation of a cell.

    Attributes
    ----------
    point : Point
        The cell.
    seeds : sequence of int or None
        The seed of each evaluation; None if nothing is random.
    traces : sequence of str
        Columns of the trace that charts draw; of several seeds, the first one's.
    """

    point: Point
    seeds: Sequence[int] | None
    traces: Sequence[str] = ()

    @property
    def count(self) -> int:
        """Number of evaluations."""
        return 1 if self.seeds is None else len(self.seeds)

    @property
    def fingerprint(self) -> list[Any]:
        """Everything that determines the outputs, except the program."""
        return [self.point.model, dict(self.point.labels), dict(self.point.parameters), self.seeds]


def points(paper: Paper) -> list[Point]:
    """Return the cells of all experiments with models.

    Raises
    ------
    ValueError
        If a model, parameter, output or label is unknown, or if two experiments have the same cell.
    """
    found: dict[tuple[str, ...], Point] = {}
    problems = paper.problems()
    for number, entry in enumerate(paper.contents.models):
        path: Key = ("model", number)
        try:
            for point in _points_of(entry, paper, path, problems):
                if point.cell in found:
                    raise ValueError(f"another experiment has the cell {', '.join(point.cell)}")
                found[point.cell] = point
        except ValueError as error:
            problems.add(path, str(error))
    problems.check()
    return list(found.values())


def _points_of(entry: ModelExperiment, paper: Paper, path: Key, problems: Problems) -> list[Point]:
    model = registry.find(entry.name)
    problems.words((*path, "columns"), "output", entry.columns.values(), outputs(entry.name))
    axes = [_axis(label, values) for label, values in entry.sweep.items()]
    made = []
    for chosen in itertools.product(*axes):
        given = {**paper.contents.defaults, **entry.labels, **{k: v for k, v, _ in chosen}}
        flow = given.pop(paper.contents.flows or "", model.name)
        settings = dict(entry.parameters)
        for _, _, changes in chosen:
            settings |= changes
        problems.words(path, "label", given, paper.labels)
        problems.words(path, "label", paper.labels, given)
        problems.words(path, "parameter", settings, [parameter.name for parameter in model.parameters])
        if problems:
            return []
        if model.simulated and SEED in settings:
            raise ValueError(f"{SEED} is set by [[repeat]]")
        for name, value in settings.items():
            modelling.read(model.name, name, value)
        labels = {label: given[label] for label in paper.labels}
        made.append(Point(model.name, labels, flow, settings, entry.columns))
    return made


def _axis(label: str, values: Any) -> list[tuple[str, str, Settings]]:  # noqa: ANN401 - a list or a table
    """Return the values of an axis; a list sets the parameter named by the label, a table sets its own parameters."""
    if isinstance(values, Mapping):
        return [(label, value, settings) for value, settings in values.items()]
    return [(label, value, {label: value}) for value in values]


def outputs(model: str) -> list[str]:
    """Return the names of a model's outputs."""
    return [output.name for output in registry.find(model).outputs]


def is_random(point: Point) -> bool:
    """Whether the model draws random numbers, so that each seed is one value of a sample."""
    without = any(point.parameters.get(name) == value for name, value in WITHOUT_CHANCE.items())
    return registry.find(point.model).simulated and not without


def trace_names() -> list[str]:
    """Return the names of the quantities in a trace."""
    return [column for column in registry.find("rounds").trace if column not in ("round", "time")]


def evaluate(planned: PlannedModel, flows: str | None) -> tuple[Rows, dict[str, Line]]:
    """Evaluate a cell: its rows, one for each seed, and the curves of the first one over rounds.

    Parameters
    ----------
    planned
        The planned evaluation.
    flows
        The label of flows, if the paper has one.
    """
    point = planned.point
    seeds = {} if planned.seeds is None else {SEED: list(planned.seeds)}
    table = modelling.table(point.model, {**point.parameters, **seeds})
    name = hashlib.sha256(json.dumps(planned.fingerprint, sort_keys=True).encode()).hexdigest()
    common = {
        **point.labels,
        "sampling": "exact" if planned.seeds is None else "seed",
        "seeds": None,
        "paths": None,
        "hash": name,
        "flow": point.flow,
        **({flows: point.flow} if flows else {}),
    }
    made = []
    for index, row in enumerate(table.iter_rows(named=True)):
        # An output that is undefined at these parameters is None.
        numbers = finite({key: row[key] for key in outputs(point.model)})
        renamed = {column: numbers[output] for column, output in point.columns.items()}
        made.append({**common, "unit": 0 if planned.seeds is None else index + 1, **numbers, **renamed})
    return made, _curves(planned)


def _curves(planned: PlannedModel) -> dict[str, Line]:
    if not planned.traces:
        return {}
    seed = {} if planned.seeds is None else {SEED: planned.seeds[0]}
    table = modelling.trace("rounds", {**planned.point.parameters, **seed})
    rounds = table["round"].to_numpy().astype(np.float64)
    return {
        f"{TRACED}/{name}": Line(name, rounds, table[name].to_numpy().astype(np.float64)) for name in planned.traces
    }
