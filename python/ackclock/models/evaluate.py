"""Analytic models: parameters with units, many points in one call. `ackclock.model` has a function for each model."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ackclock import _core
from ackclock.files import checks
from ackclock.papers import library

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import NDArray

Quantity: TypeAlias = "float | str | Sequence[float] | Sequence[str] | NDArray[Any]"
"""A parameter: a number in SI units (seconds, bit/s, bytes, 0 to 1), a text with its unit, or an array of either."""
Fixed: TypeAlias = "bool | str | list[float]"
"""A parameter that is the same at all points."""
Values: TypeAlias = "float | NDArray[np.float64]"
"""An output: a number, or an array of the shape to which the parameters broadcast."""

BATCH = 16  # points per thread of a slow model in one call, between which Ctrl-C is heard
IN_ONE_CALL = 100_000  # points of a formula
MOST_POINTS = 1_000_000  # of a table


@cache
def models() -> dict[str, dict[str, Any]]:
    """Give every model by its name, as the registry describes it."""
    return {model["name"]: model for model in json.loads(_core.models())}


def describe(name: str) -> dict[str, Any]:
    """Give what the registry says of a model.

    Raises
    ------
    ValueError
        If there is no such model.
    """
    known = models()
    if name not in known:
        raise ValueError(f"there is no model {name!r}{checks.near(name, known)}")
    return known[name]


def of_paper(paper: str) -> list[str]:
    """Give the models of a paper: those that say so, and those that its ``paper.toml`` evaluates.

    None if there is no such paper, or it has no models.
    """
    named = [name for name, entry in models().items() if entry["paper"] == paper]
    if paper in library.names():
        named += [entry["name"] for entry in library.find(paper).document.get("model", [])]
    return list(dict.fromkeys(named))


def read(model: str, parameter: str, value: Any) -> Any:  # noqa: ANN401 - what a parameter may be
    """Read a parameter's value: texts with units become numbers, in lists as well; others stay.

    Where a list is one value it becomes a tuple.

    Raises
    ------
    ValueError
        If a text is no value of the parameter.
    """
    if isinstance(value, str):
        found = _core.read_parameter(model, parameter, value)
        return tuple(found) if isinstance(found, list) else found
    if _is_list(model, parameter):
        return _list_of(model, parameter, value)
    if isinstance(value, (list, tuple)) or getattr(getattr(value, "dtype", None), "kind", "") in ("U", "O"):
        values = [read(model, parameter, item) for item in value]
        if any(item is None for item in values):
            raise ValueError(f"{model}: {parameter}: auto cannot be one of several values")
        return values
    return value


def _is_list(model: str, parameter: str) -> bool:
    return any(known["name"] == parameter and known["kind"] == "numbers" for known in describe(model)["params"])


def _list_of(model: str, parameter: str, value: Any) -> tuple[float, ...] | None:  # noqa: ANN401 - what may be a list
    if value is None:
        return None
    try:
        return tuple(float(number) for number in value)
    except (TypeError, ValueError):
        raise ValueError(f"{model}: {parameter}: must be a list of numbers, but is {value!r}") from None


def evaluate(model: str, settings: Mapping[str, Any], jobs: int | None = None) -> tuple[Values, ...]:
    """Evaluate a model at all points to which its parameters broadcast.

    Parameters
    ----------
    model
        Its name.
    settings
        Parameters by name: numbers in SI units, texts with units, or arrays of either; None is the default. Words,
        truth values, and parameters that are lists are the same at all points.
    jobs
        Threads of a slow model; by default one per processor. What it gives does not depend on it.

    Returns
    -------
    tuple
        The model's outputs in their order: numbers, or arrays of the common shape.

    Raises
    ------
    ValueError
        If there is no such model or parameter, or a value is none of it; the text says the nearest right thing.
    """
    import numpy as np

    describe(model)
    fixed: dict[str, Fixed] = {}
    varied: dict[str, NDArray[np.float64]] = {}
    for name, value in settings.items():
        number = read(model, name, value)
        if isinstance(number, (bool, str, tuple)):
            fixed[name] = list(number) if isinstance(number, tuple) else number
        elif number is not None:
            varied[name] = _numbers(model, name, number)
    try:
        shape = np.broadcast_shapes(*(array.shape for array in varied.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in varied.items() if array.shape)
        raise ValueError(f"{model}: these shapes do not broadcast: {shapes}") from None
    count = math.prod(shape)
    flat = {name: array if array.size == 1 else np.broadcast_to(array, shape) for name, array in varied.items()}
    inputs = [*fixed.items(), *((name, np.ascontiguousarray(array).tobytes()) for name, array in flat.items())]
    outputs = _core.evaluate(model, inputs, count, jobs or os.cpu_count() or 1)
    arrays = [np.frombuffer(output, dtype=np.float64).reshape(shape) for output in outputs]
    return tuple(float(array) if array.shape == () else array.copy() for array in arrays)


def _numbers(model: str, name: str, value: object) -> NDArray[np.float64]:
    import numpy as np

    if isinstance(value, list) and value and all(isinstance(item, (str, bool)) for item in value):
        raise ValueError(f"{model}: {name}: one word or truth value for all points, not {value!r}")
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{model}: {name}: neither a number nor an array of numbers: {value!r}") from None


def table(model: str, settings: Mapping[str, Any], jobs: int | None = None) -> polars.DataFrame:
    """Evaluate a model for every combination of its parameters' values.

    Parameters
    ----------
    model
        Its name.
    settings
        Parameters by name: one value or a sequence of values, as in `evaluate`; words may be sequences, too.
    jobs
        As in `evaluate`.

    Returns
    -------
    polars.DataFrame
        A row for every combination, the last parameter changing fastest; a column for every parameter that was given,
        in the model's order and in SI units, and for every output.

    Raises
    ------
    ValueError
        As `evaluate` does.
    """
    import numpy as np
    import polars

    entry = describe(model)
    known = [parameter["name"] for parameter in entry["params"]]
    given = {name: read(model, name, settings[name]) for name in known if settings.get(name) is not None}
    given |= {name: value for name, value in settings.items() if name not in known}
    lists = {name: _listed(value) for name, value in given.items() if value is not None}
    combinations = math.prod(map(len, lists.values()))
    if combinations > MOST_POINTS:
        sizes = ", ".join(f"{name} {len(values):,}" for name, values in lists.items() if len(values) > 1)
        raise ValueError(f"{model}: {combinations:,} combinations ({sizes}), but at most {MOST_POINTS:,} make a table")
    places = [np.arange(len(values)) for values in lists.values()]
    grid = [axis.ravel() for axis in np.meshgrid(*places, indexing="ij")] if places else []
    count = len(grid[0]) if grid else 1
    columns = {
        name: [values[place] for place in at.tolist()] for (name, values), at in zip(lists.items(), grid, strict=True)
    }
    outputs = np.empty((len(entry["outputs"]), count))
    threads = jobs or os.cpu_count() or 1
    for rows in _batches(columns, count, BATCH * threads if entry["slow"] else IN_ONE_CALL):
        here = {name: [values[row] for row in rows] for name, values in columns.items()}
        alike = {
            name: values[0] if isinstance(values[0], (str, bool, tuple)) else values for name, values in here.items()
        }
        for output, values in zip(outputs, evaluate(model, alike, threads), strict=True):
            output[rows] = values
    names = [output["name"] for output in entry["outputs"]]
    return polars.DataFrame({**columns, **dict(zip(names, outputs, strict=True))})


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - what a parameter may be
    if isinstance(value, (str, bool, int, float, tuple)):
        return [value]
    values: list[Any] = value.tolist() if hasattr(value, "tolist") else list(value)
    return values if isinstance(values, list) else [values]


def _batches(columns: Mapping[str, Sequence[Any]], count: int, most: int) -> Iterator[list[int]]:
    """Split rows into batches of equal words, of at most so many rows."""
    words = [values for values in columns.values() if values and isinstance(values[0], (str, bool, tuple))]
    alike: dict[tuple[Any, ...], list[int]] = {}
    for row in range(count):
        alike.setdefault(tuple(values[row] for values in words), []).append(row)
    for rows in alike.values():
        for start in range(0, len(rows), most):
            yield rows[start : start + most]


def trace(model: str, settings: Mapping[str, Any]) -> polars.DataFrame:
    """Give every step of one run of a model that has a trace; see their functions in `ackclock.model`."""
    import numpy as np
    import polars

    inputs: list[tuple[str, Fixed | bytes]] = []
    for name, value in settings.items():
        number = read(model, name, value)
        if isinstance(number, tuple):
            inputs.append((name, list(number)))
        elif isinstance(number, (bool, str)):
            inputs.append((name, number))
        elif number is not None:
            inputs.append((name, np.asarray(number, dtype=np.float64).tobytes()))
    return polars.DataFrame(_core.trace(model, inputs))


def unit_of(parameter: Mapping[str, Any]) -> tuple[str, Callable[[float], float]]:
    """Give the unit in which a parameter's numbers are shown, and how to get there from SI units."""
    shown: dict[str, tuple[str, Callable[[float], float]]] = {
        "probability": ("%", lambda value: 100 * value),
        "duration": ("s", float),
        "rate": ("bit/s", float),
        "size": ("B", float),
        "segments": ("packets", float),
    }
    return shown.get(parameter["kind"], ("", float))
