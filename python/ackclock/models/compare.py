"""Theory beside measurement: a model's numbers at the points of a stored sweep."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.files import checks
from ackclock.models import evaluate
from ackclock.result import StoredResult, read
from ackclock.statistics.intervals import Interval, interval

if TYPE_CHECKING:
    import polars

SEED = "seed"  # the label over which means are taken
COLUMNS = ("runs", "mean", "low", "high", "theory", "ratio")  # of a comparison, after labels and parameters
MEASURES = {"bit/s": "goodput_bps"}  # what is compared with an output of this unit, unless another column is named


@dataclass(frozen=True)
class Point:
    """Runs at one value of x.

    Attributes
    ----------
    x : float
        The value, in SI units.
    series : tuple of str
        The values of all other labels but the seed, and the flow's name if there are several.
    y : Interval
        Mean over runs with Student's 95 % interval, infinite for a single run.
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
        Columns that were taken.
    parameter : str
        The model's parameter that x is.
    labels : list of str
        What the parts of a point's series are.
    points : list of Point
        The points by series and x.
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
        What `ackclock run --out` wrote.
    model
        The model that they are compared with.
    x
        ``COLUMN`` or ``PARAMETER=COLUMN``: a label of the sweep or a column of its table of flows, and the model's
        parameter that it is; by default the model's usual axis, and the label that is called like it or has such
        values.
    y
        Column of the table of flows; by default goodput for an output in bit/s.
    unit
        Unit of the output that is compared.

    Raises
    ------
    ValueError
        If a column is not there, or its values are none of the parameter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = read(directory)
    labels = list(results[0].manifest["labels"])
    flows = _flows(results)
    entry = evaluate.describe(model)
    parameter, _, column = x.rpartition("=") if x is not None else ("", "", "")
    parameter = parameter or entry["axis"]
    known = [name["name"] for name in entry["params"]]
    if parameter not in known:
        raise ValueError(f"--x {x}: {model} has no parameter {parameter!r}{checks.near(parameter, known)}")
    column = _find(column, [*labels, *flows.columns], "--x") if column else _usual(model, parameter, labels, flows)
    if y is None and unit not in MEASURES:
        raise ValueError(f"--y is needed: nothing measured is usually compared with an output in {unit or 'no unit'}")
    y = _find(y or MEASURES[unit], flows.columns, "--y")
    if not flows[y].dtype.is_numeric():
        raise ValueError(f"--y {y}: not numbers")
    series = [label for label in labels if label not in (column, SEED)]
    series += ["name"] if flows["name"].n_unique() > 1 else []
    points = [
        Point(_number(model, parameter, column, key[0]), key[1:], interval(sample, "seed"))
        for key, sample in _samples(flows, [column, *series], y)
    ]
    if not points:
        raise ValueError(f"--y {y}: nothing was measured in this column of {directory}")
    return Measured(
        column, y, parameter, _shown(series, [*known, *COLUMNS]), sorted(points, key=lambda each: (each.series, each.x))
    )


def _shown(series: Sequence[str], others: Sequence[str]) -> list[str]:
    """Shorten labels to their last parts, where none of them and no other column is called so."""
    last = ["flow" if label == "name" else label.rsplit(".", 1)[-1] for label in series]
    taken = [*last, *others]
    return [short if taken.count(short) == 1 else label for short, label in zip(last, series, strict=True)]


def _flows(results: Sequence[StoredResult]) -> polars.DataFrame:
    """Give the flows of all runs, with their labels before the columns of the table, where a label may not be."""
    import polars

    tables = []
    for result in results:
        labels = result.manifest["labels"]
        table = result.flows.with_columns(polars.col(polars.Categorical).cast(polars.String))
        table = table.drop([name for name in labels if name in table.columns])
        columns = [polars.lit(value, dtype=polars.String).alias(label) for label, value in labels.items()]
        tables.append(table.select(*columns, polars.all()))
    return polars.concat(tables, how="vertical_relaxed")


def _find(word: str, names: Sequence[str], option: str) -> str:
    """Find a column by its name or, of a label, its last part."""
    known = list(dict.fromkeys(names))
    short = [name for name in known if word in (name, name.rsplit(".", 1)[-1])]
    if word in known or len(short) == 1:
        return word if word in known else short[0]
    near = difflib.get_close_matches(word, [*known, *(name.rsplit(".", 1)[-1] for name in known)], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    what = "several labels are" if short else "no label or column is"
    raise ValueError(f"{option} {word}: {what} called so{hint} (known: {', '.join(known)})")


def _usual(model: str, parameter: str, labels: Sequence[str], flows: polars.DataFrame) -> str:
    """Choose the label that is the parameter: by its name, or by its values if it is the only one."""
    named = [label for label in labels if parameter in label.split(".")]
    fitting = [label for label in labels if label != SEED and _fits(model, parameter, flows[label].unique().to_list())]
    for found in (named, fitting):
        if len(found) == 1:
            return found[0]
    known = ", ".join(labels) or "none"
    raise ValueError(f"--x is needed: which label is the model's {parameter}? labels of this sweep: {known}")


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
        raise ValueError(f"--x {column}: {value!r} is no value of {parameter}: {error}") from None
    if not isinstance(number, float):
        raise ValueError(f"--x {column}: {value!r} is no number")
    return number


def _samples(flows: polars.DataFrame, keys: Sequence[str], y: str) -> Iterator[tuple[tuple[Any, ...], list[float]]]:
    rows = flows.select(*keys, value=y).drop_nulls("value")
    for key, group in rows.group_by(*keys, maintain_order=True):
        yield key, group["value"].cast(float).to_list()


def theory(model: str, settings: Mapping[str, Any], points: Measured) -> polars.DataFrame:
    """Evaluate a model at the measured values of x."""
    values = sorted({point.x for point in points.points})
    return evaluate.table(model, {**settings, points.parameter: values})
