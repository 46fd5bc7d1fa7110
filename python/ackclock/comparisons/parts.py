"""Compositions: one part on each axis, and every combination of the parts chosen."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.control import is_import_path, named
from ackclock.files import checks, toml
from ackclock.scenario import Scenario

AXES = ("slow_start", "avoidance", "loss_response", "recovery")
"""The keys of a flow that are combined."""

WHOLE = "congestion_control"
"""The key of a flow with a whole control, which replaces all `PARTS`."""

PARTS = AXES[:3]
"""The axes that a whole control replaces."""

REPLACED = (*PARTS, "initial_window")
"""The keys of a flow that a whole control replaces."""

PartSpec = str | Mapping[str, object] | type
"""A part as in a scenario: its name, a table with its `kind` and parameters, or a class or its import path."""

Choice = Sequence[PartSpec] | PartSpec | None
"""The parts on an axis; None: all."""


@dataclass(frozen=True)
class Part:
    """A part on an axis.

    Attributes
    ----------
    label : str
        Its name in tables: the name of the part, followed by the given parameters.
    value : str or mapping
        Its value in a scenario.
    """

    label: str
    value: PartSpec

    def __hash__(self) -> int:
        return hash(self.label)


OF_HOST = Part("host", "host")
"""The recovery that the host of each path has, which no scenario sets: hosts of today have no other."""


@dataclass(frozen=True)
class Composition:
    """A part on each axis, in the order of `AXES`; a whole control occupies all axes that it replaces."""

    parts: tuple[Part, ...]
    whole: bool = False

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its parts, by axis."""
        return {axis: part.label for axis, part in zip(AXES, self.parts, strict=True)}

    @property
    def name(self) -> str:
        """Its parts as one text, as in the column `control` of a result."""
        parts = self.parts[len(PARTS) - 1 :] if self.whole else self.parts
        return " + ".join(part.label for part in parts if part is not OF_HOST)

    @property
    def settings(self) -> dict[str, PartSpec]:
        """The keys of a flow that give it this composition, with their values."""
        axes = (
            {WHOLE: self.parts[0], "recovery": self.parts[-1]}
            if self.whole
            else dict(zip(AXES, self.parts, strict=True))
        )
        return {axis: part.value for axis, part in axes.items() if part is not OF_HOST}


def known(axis: str) -> list[str]:
    """Return the names on an axis: the default first, the others in the order of the registry."""
    key = flow_keys()[axis]
    if axis == WHOLE:
        # The default and the word for a class in Python name no control.
        return [form["properties"]["kind"]["const"] for form in key["oneOf"] if "properties" in form]
    names: list[str] = key.get("enum") or key["oneOf"][0]["enum"]
    return [key["default"], *(name for name in names if name != key["default"])]


def default(axis: str) -> str:
    """Return the default part of an axis."""
    return known(axis)[0]


@cache
def flow_keys() -> dict[str, Any]:
    """Return the keys of a flow from the schema."""
    flows: dict[str, Any] = json.loads(_core.schema())["properties"]["flow"]
    keys: dict[str, Any] = flows["oneOf"][0]["items"]["properties"]
    return keys


def part(axis: str, spec: PartSpec) -> Part:
    """Check a part.

    Raises
    ------
    ScenarioError
        If the part or a parameter does not exist.
    ValueError
        If it is a word of a scenario that names no control.
    """
    if axis == "recovery" and spec == OF_HOST.value:
        return OF_HOST
    if axis == WHOLE and spec in ("composed", "python"):
        raise ValueError(f"{axis}: {spec!r} names no control; known: {', '.join(known(axis))}")
    if isinstance(spec, str) and is_import_path(spec):
        return replace(part(axis, named(spec)), label=spec)
    if isinstance(spec, type):
        Scenario(axis, duration="1 s", flow=[{axis: spec}])
        return Part(spec.__name__, spec)
    if not isinstance(spec, (str, Mapping)):
        raise ValueError(f"{axis}: must be names of parts, tables or classes, not {spec!r}")
    if axis == WHOLE:
        checks.words(
            axis, "congestion control", [spec if isinstance(spec, str) else str(spec.get("kind"))], known(axis)
        )
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
    # Commas inside a table separate its keys.
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


def choose(axis: str, specs: Choice) -> list[Part]:
    """Return the parts to combine on an axis, each once: the named ones, or all known."""
    if specs is None:
        chosen: Sequence[PartSpec] = known(axis)
    else:
        chosen = specs if isinstance(specs, Sequence) and not isinstance(specs, str) else [specs]
    if not chosen:
        raise ValueError(f"{axis}: no part is chosen; known: {', '.join(known(axis))}")
    found: dict[str, Part] = {}
    for made in (part(axis, spec) for spec in chosen):
        if found.setdefault(made.label, made).value != made.value:
            raise ValueError(f"{axis}: two classes are called {made.label}; rename one")
    return list(found.values())


def combine(chosen: Mapping[str, Choice]) -> list[Composition]:
    """Return every combination, where the last axis changes fastest; then every whole control with every recovery.

    Parameters
    ----------
    chosen
        Parts by axis, and whole controls as `WHOLE`. An axis that is absent or None has all known parts, with two
        exceptions: if only parts are named, there are no whole controls; if only whole controls are named, there are
        no other compositions.
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
    """Return the composition of a whole control and a recovery."""
    return Composition((*[whole] * len(PARTS), recovery), whole=True)


def composition(specs: Mapping[str, PartSpec]) -> Composition:
    """Return the composition of named parts, with the defaults of the other axes; or that of a whole control.

    Raises
    ------
    ValueError
        If an axis or a part is unknown, or a whole control is combined with parts that it replaces.
    """
    checks.words("baseline", "axis", specs, (*AXES, WHOLE))
    if WHOLE in specs:
        beside = [axis for axis in PARTS if axis in specs]
        if beside:
            raise ValueError(f"baseline: {beside[0]} cannot be combined with {WHOLE}, which replaces it")
        recovery = part("recovery", specs.get("recovery", default("recovery")))
        return whole_control(part(WHOLE, specs[WHOLE]), recovery)
    return Composition(tuple(part(axis, specs.get(axis, default(axis))) for axis in AXES))
