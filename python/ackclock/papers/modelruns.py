"""A paper's experiments with analytic models: ``[[model]]`` of ``paper.toml``, whose rows stand beside those of runs.

A closed form gives one row for each cell, of the sampling ``exact``; a simulated model one for each seed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ackclock import plot
from ackclock.files import checks
from ackclock.models import evaluate as modelling
from ackclock.models import registry
from ackclock.models.registry import Model
from ackclock.papers.contents import ModelExperiment
from ackclock.papers.library import Paper
from ackclock.texts.numbers import finite

Settings = Mapping[str, Any]
Rows = list[dict[str, Any]]
TRACED = "rounds"  # the model whose single steps can be seen
SEED = "seed"


@dataclass(frozen=True)
class Point:
    """A cell of an experiment with a model: its labels, and the parameters that they stand for.

    Attributes
    ----------
    model : str
        Its name.
    labels : dict
        Which cell it is, without the label that names flows.
    flow : str
        What that label says: by default the model's name.
    parameters : dict
        Those that are not left at their defaults.
    columns : dict
        Outputs by the further columns in which they stand, so that they compare with others'.
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
    """A cell that is evaluated.

    Attributes
    ----------
    point : Point
        What is evaluated.
    seeds : sequence of int or None
        One evaluation for each; None for a closed form.
    traces : sequence of str
        Columns of the first seed's trace that are drawn.
    """

    point: Point
    seeds: Sequence[int] | None
    traces: Sequence[str] = ()

    @property
    def count(self) -> int:
        """Number of evaluations."""
        return 1 if self.seeds is None else len(self.seeds)

    @property
    def said(self) -> list[Any]:
        """All that determines what it gives, but the program."""
        return [self.point.model, dict(self.point.labels), dict(self.point.parameters), self.seeds]


def points(paper: Paper) -> list[Point]:
    """Return the cells of a paper's experiments with models.

    Raises
    ------
    ValueError
        If a model, parameter, output or label does not exist, or two experiments have the same cell.
    """
    found: dict[tuple[str, ...], Point] = {}
    for number, entry in enumerate(paper.contents.models, start=1):
        place = f"{paper.file}: model {number} ({entry.name})"
        try:
            for point in _points_of(entry, paper, place):
                if point.cell in found:
                    raise ValueError(f"another experiment has the cell {', '.join(point.cell)}")
                found[point.cell] = point
        except ValueError as error:
            text = str(error)
            raise ValueError(text if text.startswith(place) else f"{place}: {text}") from None
    return list(found.values())


def _points_of(entry: ModelExperiment, paper: Paper, place: str) -> list[Point]:
    model = registry.find(entry.name)
    checks.words(f"{place}: columns", "output", entry.columns.values(), outputs(entry.name))
    axes = [_axis(label, values) for label, values in entry.sweep.items()]
    made = []
    for chosen in itertools.product(*axes):
        given = {**paper.contents.defaults, **entry.labels, **{k: v for k, v, _ in chosen}}
        flow = given.pop(paper.contents.flows or "", model.name)
        checks.words(place, "label", given, paper.labels)
        checks.words(place, "label", paper.labels, given)
        settings = dict(entry.parameters)
        for _, _, changes in chosen:
            settings |= changes
        _check_settings(model, settings, place)
        labels = {label: given[label] for label in paper.labels}
        made.append(Point(model.name, labels, flow, settings, entry.columns))
    return made


def _axis(label: str, values: Any) -> list[tuple[str, str, Settings]]:  # noqa: ANN401 - a list or a table
    """Return an axis' values: of a list the parameter has the label's name, in a table each value says what it sets."""
    if isinstance(values, Mapping):
        return [(label, value, settings) for value, settings in values.items()]
    return [(label, value, {label: value}) for value in values]


def _check_settings(model: Model, settings: Settings, place: str) -> None:
    known = [parameter.name for parameter in model.parameters]
    checks.words(place, "parameter", settings, known)
    if model.simulated and SEED in settings:
        raise ValueError(f"{place}: {SEED} is set by [[repeat]]")
    for name, value in settings.items():
        modelling.read(model.name, name, value)


def outputs(model: str) -> list[str]:
    """Name the outputs of a model."""
    return [output.name for output in registry.find(model).outputs]


def is_random(point: Point) -> bool:
    """Whether a model is simulated, so that one evaluation is one of a sample."""
    return registry.find(point.model).simulated


def trace_names() -> list[str]:
    """Name the quantities that a trace has."""
    return [column for column in registry.find("rounds").trace if column not in ("round", "time")]


def evaluate(planned: PlannedModel, flows: str | None) -> tuple[Rows, dict[str, plot.Line]]:
    """Evaluate a cell: a row for each seed, or one, and the curves of its first seed over rounds.

    Parameters
    ----------
    planned
        What to evaluate.
    flows
        The label that names flows, if the paper has one.
    """
    point = planned.point
    seeds = {} if planned.seeds is None else {SEED: list(planned.seeds)}
    table = modelling.table(point.model, {**point.parameters, **seeds})
    name = hashlib.sha256(json.dumps(planned.said, sort_keys=True).encode()).hexdigest()
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
        # What is not defined at these parameters is no number.
        numbers = finite({key: row[key] for key in outputs(point.model)})
        renamed = {column: numbers[output] for column, output in point.columns.items()}
        made.append({**common, "unit": 0 if planned.seeds is None else index + 1, **numbers, **renamed})
    return made, _curves(planned)


def _curves(planned: PlannedModel) -> dict[str, plot.Line]:
    if not planned.traces or planned.seeds is None:
        return {}
    table = modelling.trace("rounds", {**planned.point.parameters, SEED: planned.seeds[0]})
    rounds = table["round"].to_numpy().astype(np.float64)
    return {
        f"{TRACED}/{name}": plot.Line(name, rounds, table[name].to_numpy().astype(np.float64))
        for name in planned.traces
    }
