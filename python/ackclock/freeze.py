"""Frozen scenarios: every default is written out, so each value has a path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from ackclock import _core
from ackclock.files import toml
from ackclock.scenario import Scenario, key_of


class Frozen:
    """The tables of a scenario with every default written out, parsed once.

    Parameters
    ----------
    scenario
        The scenario.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything in the scenario, by key; a change in it changes what this object returns.

        ``Scenario(**document)`` is the scenario again; a control in Python is its class.
        """
        document: dict[str, Any] = json.loads(self.scenario.core.expanded_json())
        for index, made in self.scenario.controls.items():
            # The word for a class in the file is that of `congestion_control`, also for a slow start.
            flow = document["flow"][index]
            del flow["congestion_control"]
            flow[key_of(made)] = made
        return document

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.scenario.name

    @property
    def flows(self) -> list[dict[str, Any]]:
        """The tables of its flows."""
        return list(self.document.get("flow", []))

    def tables_of(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the table of each named flow; connections such as ``page.0`` share the table ``page``."""
        tables = {flow["name"]: flow for flow in self.flows}
        return {name: tables[name if name in tables else name.rpartition(".")[0]] for name in names}

    @property
    def links(self) -> list[dict[str, Any]]:
        """The tables of its links, one for each direction."""
        return list(self.document["topology"]["link"])


def arriving(scenario: Scenario) -> list[str]:
    """Return the names of the flow tables whose transfers arrive at random; a transfer has this name and a number."""
    text = scenario.to_toml()
    if "arrivals" not in text:
        return []
    flows = toml.own(text).get("flow", [])
    return [flow["name"] for flow in flows if "arrivals" in flow]


def replaced(scenario: Scenario, values: Mapping[str, str]) -> Scenario:
    """Freeze a scenario, then replace values by path, such as ``{"topology.link.0.rate": "9 Mbit/s"}``.

    Raises
    ------
    ScenarioError
        If a path is unknown or a value makes no sense.
    """
    core = _core.Scenario.from_toml(scenario.expanded(), scenario.name, list(values.items()))
    return Scenario.from_core(core, scenario.controls)
