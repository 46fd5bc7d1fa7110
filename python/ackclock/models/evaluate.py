"""Evaluation of analytic models at many points in one call; `ackclock.model` has a function for each model."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ackclock import _core
from ackclock.models import registry

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

BATCH = 16  # points per thread in one call of a slow model; Ctrl-C takes effect between calls
IN_ONE_CALL = 100_000  # points in one call of a formula
MOST_POINTS = 1_000_000  # rows of a table


def read(model: str, parameter: str, value: Any) -> Any:  # noqa: ANN401 - a parameter's value
    """Read a parameter's value: texts with units become numbers, also in lists; other values stay.

    A list that is one value, as of a parameter of kind ``numbers``, becomes a tuple.

    Raises
    ------
    ValueError
        If a text is not a valid value of the parameter.
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
    found = registry.find(model).parameter(parameter)
    return found is not None and found.kind == "numbers"


def _list_of(model: str, parameter: str, value: Any) -> tuple[float, ...] | None:  # noqa: ANN401 - a parameter's value
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
        Parameters by name: numbers in SI units, texts with units, or arrays of either; None means the default.
        Words, truth values and lists that are one value apply to all points.
    jobs
        Threads for a slow model; by default one per processor. Results do not depend on it.

    Returns
    -------
    tuple
        The model's outputs in their order: numbers, or arrays of the common shape.

    Raises
    ------
    ValueError
        If the model or a parameter does not exist, or a value is invalid; the message suggests the nearest right one.
    """
    import numpy as np

    registry.find(model)
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
        Parameters by name: one value or a sequence of values, as in `evaluate`; words may be sequences as well.
    jobs
        As in `evaluate`.

    Returns
    -------
    polars.DataFrame
        A row for every combination; the last parameter changes fastest. A column for every given parameter, in the
        model's order and in SI units, and for every output.

    Raises
    ------
    ValueError
        As `evaluate` does.
    """
    import numpy as np
    import polars

    described = registry.find(model)
    known = [parameter.name for parameter in described.parameters]
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
    outputs = np.empty((len(described.outputs), count))
    threads = jobs or os.cpu_count() or 1
    for rows in _batches(columns, count, BATCH * threads if described.slow else IN_ONE_CALL):
        here = {name: [values[row] for row in rows] for name, values in columns.items()}
        alike = {
            name: values[0] if isinstance(values[0], (str, bool, tuple)) else values for name, values in here.items()
        }
        for output, values in zip(outputs, evaluate(model, alike, threads), strict=True):
            output[rows] = values
    names = [output.name for output in described.outputs]
    return polars.DataFrame({**columns, **dict(zip(names, outputs, strict=True))})


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - a parameter's value
    if isinstance(value, (str, bool, int, float, tuple)):
        return [value]
    values: list[Any] = value.tolist() if hasattr(value, "tolist") else list(value)
    return values if isinstance(values, list) else [values]


def _batches(columns: Mapping[str, Sequence[Any]], count: int, most: int) -> Iterator[list[int]]:
    """Split rows into batches with equal words, of at most `most` rows each."""
    words = [values for values in columns.values() if values and isinstance(values[0], (str, bool, tuple))]
    alike: dict[tuple[Any, ...], list[int]] = {}
    for row in range(count):
        alike.setdefault(tuple(values[row] for values in words), []).append(row)
    for rows in alike.values():
        for start in range(0, len(rows), most):
            yield rows[start : start + most]


def trace(model: str, settings: Mapping[str, Any]) -> polars.DataFrame:
    """Return every step of one run of a model that has a trace; the functions in `ackclock.model` say more."""
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
