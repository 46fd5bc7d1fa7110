"""The analytic models that the compiled core has: their parameters and outputs."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.files import checks

SHOWN = {
    "probability": ("%", 100.0),
    "duration": ("s", 1.0),
    "rate": ("bit/s", 1.0),
    "size": ("B", 1.0),
    "segments": ("packets", 1.0),
}
"""Units in which parameters are shown, by their kind, and the factor from SI units."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a model.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        ``number``, ``integer``, ``numbers``, ``bool``, ``word``, or a quantity, such as ``probability``.
    words : list of str or None
        The words that it takes.
    default : str, float, bool or list
        Its default, quantities with their unit; ``auto`` is computed from other parameters.
    bounds : list of float or None
        Smallest and largest value, in the unit shown.
    doc : str
        Its meaning.
    headers : bool
        Whether it is the size of a packet on the wire, headers included.
    """

    name: str
    kind: str
    words: list[str] | None
    default: Any
    bounds: list[float] | None
    doc: str
    headers: bool

    @property
    def unit(self) -> str:
        """The unit in which its numbers are shown; empty for plain numbers."""
        return SHOWN.get(self.kind, ("", 1.0))[0]

    @property
    def factor(self) -> float:
        """The factor from SI units to the unit shown."""
        return SHOWN.get(self.kind, ("", 1.0))[1]

    @property
    def title(self) -> str:
        """Its name with the unit shown."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Output:
    """An output of a model: its name, its unit (empty for plain numbers), and its meaning."""

    name: str
    unit: str
    doc: str

    @property
    def title(self) -> str:
        """Its name with its unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes
    ----------
    name : str
        Its name.
    summary : str
        What it computes.
    reference : str
        The document that it follows.
    parameters : tuple of Parameter
        Its parameters.
    outputs : tuple of Output
        Its outputs.
    axis : str
        The parameter over which it is usually drawn.
    simulated : bool
        Whether it draws random numbers, from the parameter ``seed``.
    slow : bool
        Whether one point takes so long that points are spread over threads.
    paper : str or None
        The paper that it belongs to.
    trace : tuple of str
        Columns of its trace; empty without one.
    """

    name: str
    summary: str
    reference: str
    parameters: tuple[Parameter, ...]
    outputs: tuple[Output, ...]
    axis: str
    simulated: bool
    slow: bool
    paper: str | None
    trace: tuple[str, ...]

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of this name; None: there is none."""
        return next((found for found in self.parameters if found.name == name), None)

    def output(self, name: str) -> Output:
        """Return the output of this name, which must exist."""
        return next(found for found in self.outputs if found.name == name)


def declared() -> list[dict[str, Any]]:
    """Return every model as the compiled core declares it, for JSON."""
    found: list[dict[str, Any]] = json.loads(_core.models())
    return found


@cache
def models() -> dict[str, Model]:
    """Return every model by its name."""
    return {entry["name"]: _model(entry) for entry in declared()}


def _model(entry: dict[str, Any]) -> Model:
    return Model(
        name=entry["name"],
        summary=entry["summary"],
        reference=entry["reference"],
        parameters=tuple(
            Parameter(**{field.name: found[field.name] for field in fields(Parameter)}) for found in entry["params"]
        ),
        outputs=tuple(Output(found["name"], found["unit"], found["doc"]) for found in entry["outputs"]),
        axis=entry["axis"],
        simulated=entry["simulated"],
        slow=entry["slow"],
        paper=entry["paper"],
        trace=tuple(column["name"] for column in (entry["trace"] or {"columns": []})["columns"]),
    )


def find(name: str) -> Model:
    """Return the model of this name.

    Raises
    ------
    ValueError
        If no model has this name; the message suggests the nearest one.
    """
    known = models()
    if name not in known:
        raise ValueError(f"there is no model {name!r}{checks.near(name, known)}")
    return known[name]
