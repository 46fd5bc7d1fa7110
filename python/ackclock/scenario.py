"""Scenarios: from a file, or built in code with the keys of a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ackclock import _core

ControlFactory = Callable[[], Any]
Settings = Mapping[str, object]


def setting(value: object) -> str:
    """Write a Python value as the text of a setting.

    Parameters
    ----------
    value
        A string with its unit (``"10 ms"``), a number, a truth value, or a list or table of such.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in value.items()) + " }"
    return _toml(value)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return setting(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)


class Scenario:
    """A scenario: topology, flows and what to record; checked when it is made.

    Scenarios do not change; `set` makes another one.

    Parameters
    ----------
    name
        What tables and plots call it.
    **document
        The keys of a scenario file: ``duration="30 s"``, ``topology={...}``, ``flow=[{...}]``. Values carry their
        units, as in a file. ``congestion_control`` of a flow may be a class, see `ackclock.CongestionControl`.

    Raises
    ------
    ScenarioError
        If a key is unknown or a value makes no sense; the text says what, where, and the nearest right thing.
    """

    __slots__ = ("_controls", "_core")

    def __init__(self, name: str = "scenario", **document: Any) -> None:  # noqa: ANN401 - the tables of a TOML document
        self._controls: dict[int, ControlFactory] = {}
        plain = self._take_controls(document)
        plain.setdefault("name", name)
        self._core = _core.Scenario.from_json(json.dumps(plain), name)

    def _take_controls(self, document: dict[str, Any]) -> dict[str, Any]:
        flows = document.get("flow")
        if isinstance(flows, Mapping):
            flows = [flows]
        if flows is None:
            return dict(document)
        plain = []
        for index, flow in enumerate(flows):
            control = flow.get("congestion_control")
            if callable(control):
                if flow.get("count", 1) != 1:
                    raise _core.ScenarioError(
                        f"flow[{index}].count: a flow with a control in Python stands for one flow; list each"
                    )
                self._controls[index] = control
                flow = {**flow, "congestion_control": "python"}
            plain.append(flow)
        return {**document, "flow": plain}

    @classmethod
    def from_core(cls, core: _core.Scenario, controls: Mapping[int, ControlFactory] | None = None) -> Scenario:
        """Wrap a scenario of the compiled core."""
        scenario = cls.__new__(cls)
        scenario._core = core
        scenario._controls = dict(controls or {})
        return scenario

    @property
    def core(self) -> _core.Scenario:
        """The compiled core's scenario."""
        return self._core

    @property
    def controls(self) -> dict[int, ControlFactory]:
        """Congestion controls written in Python, by the index of their flow."""
        return dict(self._controls)

    @property
    def name(self) -> str:
        """What tables and plots call it."""
        return self._core.name

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        return self._core.duration

    @property
    def seed(self) -> int:
        """Seed of all generators of the run."""
        return self._core.seed

    @property
    def flows(self) -> list[str]:
        """Names of the flows."""
        return self._core.flows

    @property
    def links(self) -> list[str]:
        """Names of the links, one for each direction."""
        return self._core.links

    @property
    def bottleneck(self) -> str:
        """Name of the slowest link on the way of the first flow's data."""
        return self._core.bottleneck

    @property
    def record(self) -> list[str]:
        """Traces that a run of it records."""
        return self._core.record

    @property
    def hash(self) -> str:
        """Names the scenario with all its defaults filled in; a control in Python is not part of it."""
        return self._core.hash

    def to_toml(self) -> str:
        """Write it as a scenario file with every default filled in."""
        return self._core.to_toml()

    def set(self, settings: Settings) -> Scenario:
        """Make a like scenario with other values.

        Parameters
        ----------
        settings
            Values by path: ``{"flow.start": "10 ms", "seed": 3}``.

        Raises
        ------
        ScenarioError
            If a path is unknown or a value makes no sense.
        """
        pairs = [(path, setting(value)) for path, value in settings.items()]
        return Scenario.from_core(self._core.set(pairs), self._controls)

    def variants(self) -> list[tuple[dict[str, str], Scenario]]:
        """Give every variant of its ``[sweep]`` with its labels, in the order of the file; itself if it has none."""
        return [(dict(labels), Scenario.from_core(core, self._controls)) for labels, core in self._core.variants()]

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}: {self.duration:g} s, seed {self.seed}, {len(self.flows)} flows>"


def load(path: str | Path, settings: Settings | None = None) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path
        A TOML file.
    settings
        Values to change before it is checked, by path.

    Raises
    ------
    ScenarioError
        If the file is wrong.
    OSError
        If it cannot be read.
    """
    path = Path(path)
    pairs = [(key, setting(value)) for key, value in (settings or {}).items()]
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _core.ScenarioError(f"{path}: not a text file in UTF-8: {error}") from None
    return Scenario.from_core(_core.Scenario.from_toml(text, str(path), pairs))
