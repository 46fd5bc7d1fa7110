"""The arguments of a live plot, checked, and the text of its scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ackclock import _core
from ackclock.files import checks, toml
from ackclock.scenario import Scenario, setting

KNOBS = {
    "rate": "topology.bottleneck.rate",
    "rtt": "topology.bottleneck.delay",
    "buffer": "topology.bottleneck.queue",
    "loss": "topology.bottleneck.loss",
}
"""Sliders of the bottleneck, with the key that checks their ends."""
MENUS = (
    "flow.host", "flow.initial_window", "flow.slow_start", "flow.avoidance", "flow.loss_response",
    "flow.congestion_control", "topology.bottleneck.queue",
)  # fmt: skip
CHARTS = ("cwnd", "queue", "throughput", "sequence", "delay", "wait", "path-rate", "path-delay", "path-loss")
SHOWN = ("cwnd", "queue", "throughput", "delay", "path-rate", "path-delay", "path-loss")
TRACES = ("cwnd", "queue", "delivered", "drops", "sequence", "rtt", "sojourn")
"""Traces that the plot draws."""
ENGINES = ("auto", "kernel")
HEIGHTS = (60, 2000)


@dataclass(frozen=True)
class Options:
    """What the front end needs beside the scenario.

    Attributes
    ----------
    sliders : list of dict
        Each slider's ``key``, and its ends ``low`` and ``high`` as texts or numbers; None: the usual ones.
    menus : list of str
        Keys with menus.
    charts : list of str
        Visible charts.
    height : int or None
        Height of a chart, in pixels; None: the usual one.
    engine : str
        ``auto`` or ``kernel``.
    """

    sliders: list[dict[str, Any]]
    menus: list[str]
    charts: list[str]
    height: int | None
    engine: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def checked(
    scenario: Scenario,
    sliders: Mapping[str, Any] | Sequence[str] | None,
    menus: Sequence[str] | None,
    charts: Sequence[str] | None,
    height: int | None,
    engine: str,
) -> Options:
    """Check the arguments of `ackclock.widget`; its docstring has the errors."""
    if scenario.controls:
        flow = scenario.flows[min(scenario.controls)]
        raise _core.ScenarioError(
            f"widget: flow {flow!r} has a control in Python, which the live plot cannot run; use ackclock.run"
        )
    for name, words in (("sliders", sliders), ("menus", menus), ("charts", charts)):
        if isinstance(words, str):
            raise ValueError(f"widget: {name}: expected a list, as [{words!r}], not {words!r}")
    checks.words("widget: charts", "chart", charts or (), CHARTS)
    if charts is not None and not charts:
        raise ValueError(f"widget: charts: name at least one of {', '.join(CHARTS)}")
    checks.words("widget: engine", "engine", [engine], ENGINES)
    if height is not None and not HEIGHTS[0] <= height <= HEIGHTS[1]:
        raise ValueError(f"widget: height: must be {HEIGHTS[0]} to {HEIGHTS[1]} pixels, but is {height}")
    chosen = list(MENUS if menus is None else menus)
    checks.words("widget: menus", "menu", chosen, MENUS)
    return Options(
        [_slider(scenario, key, ends) for key, ends in _named(sliders)], chosen, list(charts or SHOWN), height, engine
    )


def _named(sliders: Mapping[str, Any] | Sequence[str] | None) -> list[tuple[str, Any]]:
    if sliders is None:
        return [(name, None) for name in KNOBS]
    if isinstance(sliders, Mapping):
        return list(sliders.items())
    return [(name, None) for name in sliders]


def _slider(scenario: Scenario, key: str, ends: Any) -> dict[str, Any]:  # noqa: ANN401 - as the user wrote it
    """Return a slider; both ends are tried in the scenario."""
    if ends is None:
        if key not in KNOBS:
            known = ", ".join(KNOBS)
            raise ValueError(
                f'widget: sliders: {key!r} needs its ends, as {{"{key}": (low, high)}}; only {known} have usual ends'
            )
        return {"key": key, "low": None, "high": None}
    if not isinstance(ends, (tuple, list)) or len(ends) != 2:
        raise ValueError(f"widget: sliders: {key}: expected the ends (low, high), not {ends!r}")
    for end in ends:
        _try(scenario, KNOBS.get(key, key), end)
    low, high = (end if isinstance(end, str) else json.loads(json.dumps(end, default=float)) for end in ends)
    (size, unit), (larger, other) = map(_quantity, (low, high))
    if unit != other:
        raise ValueError(f"widget: sliders: {key}: both ends need the same kind of unit, not {low!r} and {high!r}")
    if not size < larger:
        raise ValueError(
            f"widget: sliders: {key}: the first end must be below the second, but {low!r} is not below {high!r}"
        )
    return {"key": key, "low": low, "high": high}


def _try(scenario: Scenario, key: str, end: object) -> None:
    try:
        scenario.set({key: end})
    except _core.ScenarioError as error:
        raise _core.ScenarioError(f"widget: sliders: {error}") from None


def _quantity(value: object) -> tuple[float, str]:
    """Return a number with the kind of its unit, in the kind's base unit."""
    from ackclock.formatting.units import UNITS

    if not isinstance(value, str):
        return float(value), ""  # type: ignore[arg-type]
    number, _, unit = value.strip().partition(" ")
    kind, factor = {**UNITS, "%": ("share", 0.01), "BDP": ("bdp", 1.0)}.get(unit.strip(), ("", 1.0))
    try:
        return float(number) * factor, kind
    except ValueError:
        raise ValueError(f"widget: sliders: expected a number with its unit, not {value!r}") from None


def text_of(scenario: Scenario) -> str:
    """Return the keys of a scenario as a file, without ``[sweep]``: tables, one key a line."""
    document = toml.parse(scenario.core.state()[0], "widget")
    document.pop("sweep", None)
    document = {"name": scenario.name, **document}
    plain = [f"{_key(key)} = {setting_of(value)}" for key, value in document.items() if not _is_table(value)]
    tables = []
    for key, value in document.items():
        if _is_table(value):
            head, each = ("[[{}]]", value) if isinstance(value, list) else ("[{}]", [value])
            for entry in each:
                lines = (f"{_key(name)} = {setting_of(item)}" for name, item in entry.items())
                tables.append("\n".join([head.format(_key(key)), *lines]))
    return "\n\n".join(["\n".join(plain), *tables]) + "\n"


def setting_of(value: object) -> str:
    """Return a value of a document as TOML."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(key)} = {setting_of(item)}" for key, item in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(setting_of, value)) + "]"
    return setting([value])[1:-1]


def _key(name: str) -> str:
    return name if name.replace("_", "a").replace("-", "a").isalnum() and name.isascii() else json.dumps(name)


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(it, Mapping) for it in value)
    )
