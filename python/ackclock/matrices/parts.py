"""Compositions: one part on each axis, and every combination of the parts chosen."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.files import checks, toml
from ackclock.scenario import Scenario

AXES = ("slow_start", "avoidance", "loss_response", "recovery")
"""The keys of a flow that are crossed."""

WHOLE = "congestion_control"
"""The key of a flow with a control that does not decompose: it takes the place of all `PARTS`."""

PARTS = AXES[:3]
"""The axes that a whole control replaces."""

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
    """A part on each axis, in the order of `AXES`; a whole control stands on all axes that it replaces."""

    parts: tuple[Part, ...]
    whole: bool = False

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its parts, by axis."""
        return {axis: part.label for axis, part in zip(AXES, self.parts, strict=True)}

    @property
    def name(self) -> str:
        """Its parts in one text, as in the column `control` of a result."""
        parts = self.parts[len(PARTS) - 1 :] if self.whole else self.parts
        return " + ".join(part.label for part in parts)

    def settings(self, flow: str) -> dict[str, PartSpec]:
        """Give the settings that make a flow of it.

        Parameters
        ----------
        flow
            Path of the flow in the scenario, as ``flow.0``.
        """
        settings = {f"{flow}.{axis}": part.value for axis, part in zip(AXES, self.parts, strict=True)}
        if self.whole:
            settings = {f"{flow}.{WHOLE}": self.parts[0].value, f"{flow}.recovery": self.parts[-1].value}
        return settings


def known(axis: str) -> list[str]:
    """Give the names that a scenario may have on an axis, the default first, the others in the registry's order."""
    key = _keys()[axis]
    if axis == WHOLE:
        # The default and the word for a Python object are no controls of their own.
        return [form["properties"]["kind"]["const"] for form in key["oneOf"] if "properties" in form]
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
    ValueError
        If it is a word of a scenario that names no control.
    """
    if axis == WHOLE and spec in ("composed", "python"):
        raise ValueError(f"{axis}: {spec!r} names no control; known: {', '.join(known(axis))}")
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


def combine(chosen: Mapping[str, Sequence[PartSpec] | PartSpec | None]) -> list[Composition]:
    """Give every combination, the last axis changing fastest; then the whole controls, each with every recovery.

    Parameters
    ----------
    chosen
        Parts by axis, and whole controls as `WHOLE`. What is absent or None is all that are known, with two
        exceptions: if only parts are named, no whole control takes part, and if only whole controls are named, no
        others do.
    """
    named = [axis for axis in PARTS if chosen.get(axis) is not None]
    recoveries = choose("recovery", chosen.get("recovery"))
    found = []
    if named or chosen.get(WHOLE) is None:
        parts = [choose(axis, chosen.get(axis)) for axis in PARTS]
        found += [Composition(combined) for combined in itertools.product(*parts, recoveries)]
    if chosen.get(WHOLE) is not None or not named:
        for whole in choose(WHOLE, chosen.get(WHOLE)):
            found += [whole_control(whole, recovery) for recovery in recoveries]
    return found


def whole_control(whole: Part, recovery: Part) -> Composition:
    """Give a whole control with a recovery."""
    return Composition((*[whole] * len(PARTS), recovery), whole=True)


def composition(specs: Mapping[str, PartSpec]) -> Composition:
    """Compose the parts that are named, and on the other axes the defaults of a scenario; or take a whole control.

    Raises
    ------
    ValueError
        If an axis or a part is unknown, or a whole control is named beside parts that it replaces.
    """
    checks.words("baseline", "axis", specs, (*AXES, WHOLE))
    if WHOLE in specs:
        beside = [axis for axis in PARTS if axis in specs]
        if beside:
            raise ValueError(f"baseline: {beside[0]} cannot stand beside {WHOLE}, which replaces it")
        recovery = part("recovery", specs.get("recovery", default("recovery")))
        return whole_control(part(WHOLE, specs[WHOLE]), recovery)
    return Composition(tuple(part(axis, specs.get(axis, default(axis))) for axis in AXES))
