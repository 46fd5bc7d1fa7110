"""Compositions: one part on each axis, and every combination of the parts chosen."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ackclock import _core, checks, toml
from ackclock.scenario import Scenario

AXES = ("slow_start", "avoidance", "loss_response", "recovery")
"""The keys of a flow that are crossed."""

PartSpec = str | Mapping[str, object]
"""A part as a scenario has it: its name, or a table with its `kind` and parameters."""


@dataclass(frozen=True)
class Part:
    """A part on an axis.

    Attributes
    ----------
    label : str
        What tables call it: its name, followed by the parameters that are given.
    value : str or mapping
        What a scenario has.
    """

    label: str
    value: PartSpec

    def __hash__(self) -> int:
        return hash(self.label)


@dataclass(frozen=True)
class Composition:
    """A part on each axis, in the order of `AXES`."""

    parts: tuple[Part, ...]

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its parts, by axis."""
        return {axis: part.label for axis, part in zip(AXES, self.parts, strict=True)}

    @property
    def name(self) -> str:
        """Its parts in one text, as in the column `control` of a result."""
        return " + ".join(part.label for part in self.parts)

    def settings(self, flow: str) -> dict[str, PartSpec]:
        """Give the settings that make a flow of it.

        Parameters
        ----------
        flow
            Path of the flow in the scenario, as ``flow.0``.
        """
        return {f"{flow}.{axis}": part.value for axis, part in zip(AXES, self.parts, strict=True)}


def known(axis: str) -> list[str]:
    """Give the names that a scenario may have on an axis, the default first, the others in the registry's order."""
    key = _keys()[axis]
    names: list[str] = key.get("enum") or key["oneOf"][0]["enum"]
    return [key["default"], *(name for name in names if name != key["default"])]


def default(axis: str) -> str:
    """Give the part that a scenario has if it names none."""
    return known(axis)[0]


@cache
def _keys() -> dict[str, Any]:
    """Give what the schema says of the keys of a flow."""
    flows: dict[str, Any] = json.loads(_core.schema())["properties"]["flow"]
    keys: dict[str, Any] = flows["oneOf"][0]["items"]["properties"]
    return keys


def part(axis: str, spec: PartSpec) -> Part:
    """Check a part.

    Raises
    ------
    ScenarioError
        If there is no such part, or it has no such parameter.
    """
    Scenario(axis, duration="1 s", flow=[{axis: spec}])
    if isinstance(spec, str):
        return Part(spec, spec)
    parameters = {key: value for key, value in spec.items() if key != "kind"}
    return Part(" ".join([str(spec["kind"]), *(f"{key}={value}" for key, value in parameters.items())]), dict(spec))


def read_parts(axis: str, texts: Sequence[str]) -> list[PartSpec]:
    """Read parts from texts: names and inline tables, as in a scenario, separated by commas.

    Raises
    ------
    ValueError
        If a table is not TOML.
    """
    # Commas within a table part its keys.
    words = [word.strip() for text in texts for word in re.split(r",(?![^{}]*\})", text)]
    if not all(words):
        raise ValueError(f"{axis}: expected parts separated by commas, as in standard,limited")
    return [_table(axis, word) if word.startswith("{") else word for word in words]


def _table(axis: str, text: str) -> Mapping[str, object]:
    table = toml.parse(f"part = {text}", f'{axis}: {text}: expected a table, as in {{ kind = "NAME", key = 1 }}')[
        "part"
    ]
    checks.keys(f"{axis}: {text}", {"kind": table.get("kind")}, {"kind": checks.TEXT})
    return dict(table)


def choose(axis: str, specs: Sequence[PartSpec] | PartSpec | None) -> list[Part]:
    """Give the parts to cross on an axis, each once: those named, or all that are known."""
    if specs is None:
        chosen: Sequence[PartSpec] = known(axis)
    else:
        chosen = [specs] if isinstance(specs, (str, Mapping)) else specs
    if not chosen:
        raise ValueError(f"{axis}: no part is chosen; known: {', '.join(known(axis))}")
    return list({made.label: made for made in (part(axis, spec) for spec in chosen)}.values())


def combine(chosen: Mapping[str, Sequence[Part]]) -> list[Composition]:
    """Give every combination, the last axis changing fastest."""
    return [Composition(parts) for parts in itertools.product(*(chosen[axis] for axis in AXES))]


def composition(specs: Mapping[str, PartSpec]) -> Composition:
    """Compose the parts that are named, and on the other axes the defaults of a scenario.

    Raises
    ------
    ValueError
        If an axis or a part is unknown.
    """
    checks.words("baseline", "axis", specs, AXES)
    return Composition(tuple(part(axis, specs.get(axis, default(axis))) for axis in AXES))
