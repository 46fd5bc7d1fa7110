"""The space of the search: Rust's samples of a sweep give values, so ranges have the same grammar and rounding."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.experiments.labelled import scale_of
from ackclock.files import limits, toml
from ackclock.freeze import Frozen
from ackclock.scenario import Scenario
from ackclock.tuning.schema import Parameter, Tuning

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Values = dict[str, str]
"""Texts of values, by the name of the parameter."""
Raw = dict[str, Any]
"""Values as Optuna draws them, by the name of the parameter."""


class Space:
    """The space of the parameters.

    Optuna draws an index of a list, a whole number of a linear range between whole numbers, and otherwise a place from
    0 to 1 in a range.

    Parameters
    ----------
    tuning
        The tuning.

    Raises
    ------
    ValueError
        If a parameter's values are wrong, or the middle of the space is no valid scenario.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._parameters = tuning.parameters
        base = tuning.training.paths[0].scenario
        for parameter in tuning.parameters:
            self._draw(base, [parameter])
        self._core = self._draw(base, tuning.parameters)
        self._check(base)
        self._check_held_out(tuning)
        self._document = toml.read(tuning.scenario, limits.most("scenario"))
        self._base = base

    def _draw(self, base: Scenario, parameters: Any) -> _core.Scenario:  # noqa: ANN401
        keys = {each.keys[0]: each.values for each in parameters}
        try:
            core = base.set({"sweep": {"sample": {"method": "random", "count": 1, "keys": keys}}}).core
            core.sweep_points(struct.pack(f"<{len(keys)}d", *[0.5] * len(keys)), None)
        except _core.ScenarioError as error:
            # The message quotes the whole setting; the cause follows the key.
            parameter = parameters[0]
            cause = str(error).rpartition(f"{parameter.keys[0]}: ")[2]
            raise ValueError(f"{parameter.place}: {cause}") from None
        return core

    def _check(self, base: Scenario) -> None:
        """Refuse parameters whose middle values make no valid scenario; the message names the parameter."""
        values = self.values({each.name: self._middle(each) for each in self._parameters})
        try:
            base.set(self.settings(values))
        except _core.ScenarioError as joint:
            for parameter in self._parameters:
                self._check_alone(base, parameter, values[parameter.name])
            raise ValueError(f"{self._parameters[0].place}: with values in the middle of all ranges: {joint}") from None

    def _check_held_out(self, tuning: Tuning) -> None:
        middle = {each.name: self._middle(each) for each in self._parameters}
        try:
            tuning.held_out.paths[0].scenario.set(self.settings(self.values(middle)))
        except _core.ScenarioError as error:
            raise ValueError(f"{tuning.file}: held_out does not accept the parameters: {error}") from None

    def _check_alone(self, base: Scenario, parameter: Parameter, value: str) -> None:
        try:
            base.set(dict.fromkeys(parameter.keys, value))
        except _core.ScenarioError as error:
            raise ValueError(f"{parameter.place}: {str(error).splitlines()[0].rpartition(f'={value}: ')[2]}") from None

    def _middle(self, parameter: Parameter) -> Any:  # noqa: ANN401
        values = parameter.values
        if isinstance(values, Mapping):
            return (values["from"] + values["to"]) // 2 if _whole(values) else 0.5
        return len(values) // 2

    def distributions(self) -> dict[str, BaseDistribution]:
        """Return Optuna's distribution of each parameter."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        found: dict[str, BaseDistribution] = {}
        for each in self._parameters:
            values = each.values
            if not isinstance(values, Mapping):
                found[each.name] = CategoricalDistribution(range(len(values)))
            elif _whole(values):
                found[each.name] = IntDistribution(values["from"], values["to"])
            else:
                found[each.name] = FloatDistribution(0.0, 1.0)
        return found

    def values(self, raw: Raw) -> Values:
        """Return the texts of the values that Optuna drew."""
        places = [_place(each, raw[each.name]) for each in self._parameters]
        labels = self._core.sweep_points(struct.pack(f"<{len(places)}d", *places), None).labels(0)
        return {each.name: labels[each.keys[0]] for each in self._parameters}

    def settings(self, values: Values) -> dict[str, str]:
        """Return the settings of a scenario with these values."""
        return {key: values[each.name] for each in self._parameters for key in each.keys}

    def reference(self) -> dict[str, str | None]:
        """Return the scenario's own values; None for a key that the frozen scenario does not have."""
        flows, document = Frozen(self._base).flows, self._document
        given = document.get("flow", [])
        tables = [given] if isinstance(given, Mapping) else given
        found: dict[str, str | None] = {}
        for each in self._parameters:
            words = each.keys[0].split(".")
            index = int(words[1]) if words[0] == "flow" and words[1].isdecimal() else 0
            # Repeated flows move the places of those behind them.
            if words[0] != "flow" or any("count" in table or "arrivals" in table for table in tables[:index]):
                found[each.name] = None
                continue
            found[each.name] = _text(_inside(flows[index], words[2 if words[1].isdecimal() else 1 :]))
        return found

    def raw(self, values: Mapping[str, str | None]) -> Raw | None:
        """Return values as Optuna would draw them; None if one is not in its range."""
        found: Raw = {}
        for each in self._parameters:
            place = _drawn(each, values[each.name])
            if place is None:
                return None
            found[each.name] = place
        return found


def _whole(values: Mapping[str, Any]) -> bool:
    ends = type(values.get("from")), type(values.get("to"))
    return ends == (int, int) and values.get("scale", "linear") == "linear"


def _place(parameter: Parameter, raw: Any) -> float:  # noqa: ANN401 - a number or an index
    """Return the place from 0 to 1 of a drawn value."""
    values = parameter.values
    if not isinstance(values, Mapping):
        return (int(raw) + 0.5) / len(values)
    if _whole(values):
        first, last = int(values["from"]), int(values["to"])
        return (int(raw) - first + 0.5) / (last - first + 1)
    return min(float(raw), math.nextafter(1.0, 0.0))


def _drawn(parameter: Parameter, text: str | None) -> Any:  # noqa: ANN401 - a number or an index
    values = parameter.values
    if text is None:
        return None
    if not isinstance(values, Mapping):
        texts = [_text(value) for value in values]
        return texts.index(text) if text in texts else None
    scale = scale_of([str(values["from"]), str(values["to"]), text])
    if scale.words:
        return None
    low, high, value = (scale.places[str(each)] for each in (values["from"], values["to"], text))
    if not low <= value <= high:
        return None
    if _whole(values):
        return int(value) if value == int(value) else None
    if values.get("scale") == "log":
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _inside(table: Any, words: list[str]) -> Any:  # noqa: ANN401 - any value of a document
    for word in words:
        if isinstance(table, list):
            table = table[int(word)] if word.isdecimal() and int(word) < len(table) else None
        elif isinstance(table, Mapping):
            table = table.get(word)
        else:
            return None
    return table


def _text(value: object) -> str | None:
    """Return a value of a document as a sweep labels it."""
    if value is None or isinstance(value, (Mapping, list)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
