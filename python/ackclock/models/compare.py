"""Comparison of a model with the measured points of a stored run or sweep."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.datasets import runs as stored_runs
from ackclock.files import checks
from ackclock.formatting.labels import find, last_part
from ackclock.models import evaluate, registry
from ackclock.results import StoredResult
from ackclock.statistics.intervals import Interval, interval

if TYPE_CHECKING:
    import polars

SEED = "seed"  # the label over which means are taken
COLUMNS = ("runs", "mean", "low", "high", "theory", "ratio")  # of a comparison, after labels and parameters
MEASURES = {"bit/s": "goodput_bps"}  # the measured column by an output's unit, unless another is named


@dataclass(frozen=True)
class Point:
    """Runs at one value of x.

    Attributes
    ----------
    x : float
        The value, in SI units.
    series : tuple of str
        Values of the other labels except the seed; then the flow's name, if there are several flows.
    y : Interval
        Mean over runs with Student's 95 % interval, which is infinite for a single run.
    """

    x: float
    series: tuple[str, ...]
    y: Interval


@dataclass(frozen=True)
class Measured:
    """Points of a stored result.

    Attributes
    ----------
    x, y : str
        The columns read.
    parameter : str
        The model's parameter that `x` holds.
    labels : list of str
        Names of the parts of a point's series.
    points : list of Point
        The points, sorted by series and x.
    """

    x: str
    y: str
    parameter: str
    labels: list[str]
    points: list[Point]


def measured(directory: Path, model: str, x: str | None, y: str | None, unit: str) -> Measured:
    """Read the measured points of a stored run or sweep.

    Parameters
    ----------
    directory
        Written by `ackclock run --out`.
    model
        The model to compare with.
    x
        ``COLUMN`` or ``PARAMETER=COLUMN``: a label of the sweep or a column of the table of flows, and the model's
        parameter that it holds. The default is the model's usual axis, and the label with its name or valid values.
    y
        Column of the table of flows; by default goodput for an output in bit/s.
    unit
        Unit of the compared output.

    Raises
    ------
    ValueError
        If a column does not exist, or a value is not valid for the parameter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = stored_runs(directory)
    labels = list(results[0].labels)
    flows = _flows(results)
    described = registry.find(model)
    parameter, _, column = x.rpartition("=") if x is not None else ("", "", "")
    parameter = parameter or described.axis
    known = [found.name for found in described.parameters]
    if parameter not in known:
        raise ValueError(f"x={x}: {model} has no parameter {parameter!r}{checks.near(parameter, known)}")
    if column:
        column = find(f"x={column}", "label or column", column, [*labels, *flows.columns])
    else:
        column = _usual(model, parameter, labels, flows)
    if y is None and unit not in MEASURES:
        raise ValueError(f"y is needed: no measured column is the default for an output in {unit or 'no unit'}")
    y = find(f"y={y or MEASURES[unit]}", "column", y or MEASURES[unit], flows.columns)
    if not flows[y].dtype.is_numeric():
        raise ValueError(f"y={y}: the column holds no numbers")
    series = [label for label in labels if label not in (column, SEED)]
    series += ["name"] if flows["name"].n_unique() > 1 else []
    points = [
        Point(_number(model, parameter, column, key[0]), key[1:], interval(sample, "seed"))
        for key, sample in _samples(flows, [column, *series], y)
    ]
    if not points:
        raise ValueError(f"y={y}: no run in {directory} has a value in this column")
    return Measured(
        column, y, parameter, _shown(series, [*known, *COLUMNS]), sorted(points, key=lambda each: (each.series, each.x))
    )


def _shown(series: Sequence[str], others: Sequence[str]) -> list[str]:
    """Shorten labels to their last parts, unless another label or column has that name."""
    last = ["flow" if label == "name" else last_part(label) for label in series]
    taken = [*last, *others]
    return [short if taken.count(short) == 1 else label for short, label in zip(last, series, strict=True)]


def _flows(results: Sequence[StoredResult]) -> polars.DataFrame:
    """Join the flows of all runs; labels precede the columns, and replace columns of the same name."""
    import polars

    tables = []
    for result in results:
        labels = result.labels
        table = result.flows.with_columns(polars.col(polars.Categorical).cast(polars.String))
        table = table.drop([name for name in labels if name in table.columns])
        columns = [polars.lit(value, dtype=polars.String).alias(label) for label, value in labels.items()]
        tables.append(table.select(*columns, polars.all()))
    return polars.concat(tables, how="vertical_relaxed")


def _usual(model: str, parameter: str, labels: Sequence[str], flows: polars.DataFrame) -> str:
    """Choose the label that holds the parameter: by its name, or because only its values are valid."""
    named = [label for label in labels if parameter in label.split(".")]
    fitting = [label for label in labels if label != SEED and _fits(model, parameter, flows[label].unique().to_list())]
    for found in (named, fitting):
        if len(found) == 1:
            return found[0]
    known = ", ".join(labels) or "none"
    raise ValueError(f"x is needed: name the label that holds the model's {parameter}; labels of this sweep: {known}")


def _fits(model: str, parameter: str, texts: Sequence[str]) -> bool:
    try:
        return all(isinstance(_core.read_parameter(model, parameter, text), float) for text in texts)
    except ValueError:
        return False


def _number(model: str, parameter: str, column: str, value: str | float) -> float:
    if not isinstance(value, str):
        return float(value)
    try:
        number = _core.read_parameter(model, parameter, value)
    except ValueError as error:
        raise ValueError(f"x={column}: {value!r} is not a valid {parameter}: {error}") from None
    if not isinstance(number, float):
        raise ValueError(f"x={column}: {value!r} is not a number")
    return number


def _samples(flows: polars.DataFrame, keys: Sequence[str], y: str) -> Iterator[tuple[tuple[Any, ...], list[float]]]:
    rows = flows.select(*keys, value=y).drop_nulls("value")
    for key, group in rows.group_by(*keys, maintain_order=True):
        yield key, group["value"].cast(float).to_list()


def theory(model: str, settings: Mapping[str, Any], points: Measured) -> polars.DataFrame:
    """Evaluate a model at the measured values of x."""
    values = sorted({point.x for point in points.points})
    return evaluate.table(model, {**settings, points.parameter: values})
