"""Parameters as the command `model` reads them: one value, a list ``A,B,…``, or a range ``LOW..HIGH:COUNT``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.cli.options import key_and_value
from ackclock.models import evaluate
from ackclock.models.registry import Model, Parameter

POINTS = 25  # of a range without a count


def read_settings(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Read KEY=VALUE texts, in the model's order; several values become a list.

    Raises
    ------
    ValueError
        If a text is not a valid setting of the model.
    """
    given: dict[str, Any] = {}
    for text in texts:
        key, value = key_and_value(text, "--param", "loss='1 %'")
        if key in given:
            raise ValueError(f"--param {key} is given twice")
        parameter = model.parameter(key)
        if parameter is None:
            evaluate.read(model.name, key, value)  # raises an error that suggests the nearest name
            raise ValueError(f"--param {key}: {model.name} has no such parameter")
        given[key] = _read(model, parameter, value)
    return {known.name: given[known.name] for known in model.parameters if known.name in given}


def varied(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that have several values."""
    return [key for key, values in settings.items() if isinstance(values, list)]


def spaced(low: float, high: float, points: int) -> list[float]:
    """Return numbers from `low` to `high`: in equal ratios, or in equal steps if `low` is not positive."""
    inner = (
        low + (high - low) * step / (points - 1) if low <= 0 else low * (high / low) ** (step / (points - 1))
        for step in range(1, points - 1)
    )
    return [low, *inner, high]


def _read(model: Model, parameter: Parameter, text: str) -> Any:  # noqa: ANN401 - a parameter's value
    if parameter.kind == "numbers":
        return evaluate.read(model.name, parameter.name, text)
    if ".." in text:
        return _range(model, parameter, text)
    return evaluate.read(model.name, parameter.name, text.split(",") if "," in text else text)


def _range(model: Model, parameter: Parameter, text: str) -> list[float]:
    """Return the numbers of LOW..HIGH or LOW..HIGH:COUNT; without a count, every whole number of an integer."""
    problem = f"--param {parameter.name}={text}: expected LOW..HIGH or LOW..HIGH:COUNT"
    ends, _, count = text.partition(":")
    low, high = (evaluate.read(model.name, parameter.name, end) for end in ends.split("..", 1))
    if not all(isinstance(end, float) for end in (low, high)):
        raise ValueError(f"{problem} of numbers")
    if count and not (count.strip().isdecimal() and 2 <= int(count) <= evaluate.MOST_POINTS):
        raise ValueError(f"{problem}, with 2 to {evaluate.MOST_POINTS:,} as COUNT")
    if low >= high:
        raise ValueError(f"{problem}, with LOW below HIGH")
    if parameter.kind == "integer" and not count:
        if high - low >= evaluate.MOST_POINTS:
            raise ValueError(f"{problem}, with at most {evaluate.MOST_POINTS:,} numbers")
        return [float(whole) for whole in range(int(low), int(high) + 1)]
    numbers = spaced(low, high, int(count) if count else POINTS)
    if parameter.kind == "integer":
        return [float(whole) for whole in dict.fromkeys(round(value) for value in numbers)]
    return numbers
