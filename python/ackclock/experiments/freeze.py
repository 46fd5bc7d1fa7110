"""Frozen scenarios: every default written out, as tables whose values can be replaced by path."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from ackclock import _core
from ackclock.files import toml
from ackclock.scenario import Scenario


class Frozen:
    """A scenario with every default written out; it is parsed once, for any number of scenarios like it.

    Parameters
    ----------
    scenario
        The scenario.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._document = toml.parse(scenario.to_toml(), scenario.name)

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self._scenario.name

    @property
    def flows(self) -> list[dict[str, Any]]:
        """The tables of its flows."""
        return list(self._document["flow"])

    @property
    def links(self) -> list[dict[str, Any]]:
        """The tables of its links, one for each direction."""
        return list(self._document["topology"]["link"])

    def scenario(self, changes: Mapping[tuple[str | int, ...], object]) -> Scenario:
        """Make the scenario with other values.

        Parameters
        ----------
        changes
            Values by path: ``{("topology", "link", 0, "rate"): "9 Mbit/s"}``.

        Raises
        ------
        LookupError
            If a path leads nowhere.
        ScenarioError
            If a value makes no sense.
        """
        document = copy.deepcopy(self._document)
        for (*place, key), value in changes.items():
            table: Any = document
            for step in place:
                table = table[step]
            if key not in table:
                raise KeyError(f"{self.name}: {'.'.join(map(str, (*place, key)))} is no key of the frozen scenario")
            table[key] = value
        core = _core.Scenario.from_json(json.dumps(document), self.name)
        return Scenario.from_core(core, self._scenario.controls)
