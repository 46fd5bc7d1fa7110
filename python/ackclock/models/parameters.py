"""Parameters of a model, derived from stored runs: from measurements, links and the scenario."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from ackclock.datasets import runs as stored_runs
from ackclock.files import toml
from ackclock.formatting.numbers import number
from ackclock.models import evaluate, registry
from ackclock.models.registry import Model, Parameter
from ackclock.results import StoredResult

ALIKE = 0.05
"""Largest relative difference between runs at which their mean represents all of them."""
Value = float | str


@dataclass(frozen=True)
class Sourced:
    """The value of a model's parameter and its source; None means the model's default.

    Attributes
    ----------
    value : float, str, bool, list or None
        The value in SI units.
    origin : str
        ``given``, ``default``, or the part of the runs that it comes from.
    """

    value: Any
    origin: str


def _flow_tables(result: StoredResult) -> list[dict[str, Any]]:
    """Return the flow tables of a run's scenario file."""
    tables: list[dict[str, Any]] = toml.parse(result.to_toml(), str(result.directory / "scenario.toml")).get("flow", [])
    return tables


class _Run:
    """One stored run."""

    def __init__(self, result: StoredResult) -> None:
        self.flows, self.links = result.flows, result.links
        self._tables = _flow_tables(result)

    def setting(self, key: str) -> Any:  # noqa: ANN401 - any value of a scenario
        """Return the value of a flow's key, also from its table ``modern``; None if flows differ in it."""
        found = [{**table, **table.get("modern", {})}.get(key) for table in self._tables]
        return found[0] if found and all(value == found[0] for value in found) else None

    def quantity(self, key: str, model: str, parameter: str) -> float | None:
        """Return the value of a key in SI units, read as a parameter of a model."""
        text = self.setting(key)
        try:
            found = evaluate.read(model, parameter, text) if isinstance(text, str) else None
        except ValueError:
            return None
        return found if isinstance(found, float) else None

    def mean(self, column: str) -> float | None:
        """Return the mean of a column over all flows; None if a flow has no value."""
        values = self.flows[column]
        return None if values.null_count() or not len(values) else float(values.cast(polars.Float64).mean())  # type: ignore[arg-type]


Derive = Callable[[_Run, Model, Parameter], Value | None]


def _rate(run: _Run, _model: Model, _parameter: Parameter) -> float | None:
    used = run.links.filter(polars.col("arrivals") > 0)["rate_bps"]
    return float(used.min()) if len(used) else None  # type: ignore[arg-type]


def _packet(run: _Run, model: Model, parameter: Parameter) -> float | None:
    size, header = (run.quantity(key, model.name, parameter.name) for key in ("packet_size", "header"))
    if not parameter.headers:
        return size
    return None if size is None or header is None else size + header


def _rwnd(run: _Run, model: Model, parameter: Parameter) -> float | None:
    text = run.setting("rwnd")
    if not isinstance(text, str) or parameter.kind == "segments":
        return run.quantity("rwnd", model.name, parameter.name)
    count, _, unit = text.partition(" ")
    size = run.quantity("packet_size", model.name, parameter.name)
    return None if size is None or unit not in ("packets", "packet") else float(count) * size


def _rto(run: _Run, model: Model, parameter: Parameter) -> float | None:
    least, rtt = run.quantity("min_rto", model.name, parameter.name), run.mean("min_rtt")
    return None if least is None or rtt is None else max(least, rtt)


def _b(run: _Run, _model: Model, _parameter: Parameter) -> float:
    return 2.0 if run.setting("delayed_ack") or run.setting("profile") in ("modern", "kernel") else 1.0


def _loss(run: _Run, _model: Model, _parameter: Parameter) -> float | None:
    sent = int(run.flows["sent_packets"].sum())
    lost = int(run.links["drops"].sum()) + int(run.links["losses"].sum())
    return lost / sent if sent and lost else None


def _law(run: _Run, _model: Model, parameter: Parameter) -> str | None:
    avoidance = run.setting("avoidance")
    name = avoidance.get("kind") if isinstance(avoidance, Mapping) else avoidance
    return name if name in (parameter.words or ()) else None


DERIVE: dict[str, tuple[str, Derive]] = {
    "rtt": ("measured: min_rtt of the flows", lambda run, _model, _parameter: run.mean("min_rtt")),
    "rate": ("the slowest link used", _rate),
    "packet_size": ("the scenario: packet_size", _packet),
    "mss": ("the scenario: packet_size", _packet),
    "b": ("the scenario: delayed_ack and profile", _b),
    "rto": ("the scenario: min_rto, at least min_rtt", _rto),
    "rwnd": ("the scenario: rwnd", _rwnd),
    "buffer": ("measured: queue_packets of the flows", lambda run, _model, _parameter: run.mean("queue_packets")),
    "flows": ("the scenario: number of flows", lambda run, _model, _parameter: float(run.flows.height)),
    "loss": ("measured: lost packets over sent packets", _loss),
    "law": ("the scenario: avoidance", _law),
}
"""Source and derivation of a parameter, by the name that it has in all models."""


def of_runs(directory: Path, model: str, given: Mapping[str, Any], skip: str) -> dict[str, Sourced]:
    """Return all parameters of a model except one, to compare the model with stored runs.

    Parameters
    ----------
    directory
        Written by `ackclock run --out`.
    model
        The model.
    given
        Parameters given by the user.
    skip
        The parameter that differs between points.

    Raises
    ------
    ValueError
        If runs differ in a parameter that was not given.
    """
    described = registry.find(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [_Run(result) for result in stored_runs(directory)]
    found = {}
    for parameter in described.parameters:
        name = parameter.name
        if name in given:
            found[name] = Sourced(given[name], "given")
        elif name != skip:
            found[name] = _of_all(runs, described, parameter, directory)
    return found


def _of_all(runs: Sequence[_Run], model: Model, parameter: Parameter, directory: Path) -> Sourced:
    origin, derive = DERIVE.get(parameter.name, ("", None))
    values = [None] if derive is None else [derive(run, model, parameter) for run in runs]
    if any(value is None for value in values):
        return Sourced(None, "default")
    numbers = [value for value in values if isinstance(value, float)]
    if not numbers:
        if len(set(values)) == 1:
            return Sourced(values[0], origin)
        ends = ", ".join(sorted({str(value) for value in values}))
    else:
        if max(numbers) - min(numbers) <= ALIKE * max(numbers):
            mean = numbers[0] if len(set(numbers)) == 1 else sum(numbers) / len(numbers)
            return Sourced(float(round(mean)) if parameter.kind == "integer" else mean, origin)
        shown = (f"{number(parameter.factor * value)} {parameter.unit}" for value in (min(numbers), max(numbers)))
        ends = " to ".join(text.strip() for text in shown)
    name = parameter.name
    raise ValueError(
        f"{name} is needed: the runs of {directory} differ in it ({ends}); "
        f"give it, choose runs with one value, or compare over their column, x={name}=COLUMN"
    )
