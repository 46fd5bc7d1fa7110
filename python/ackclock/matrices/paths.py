"""Paths on which compositions are compared: scenario files, found where they lie and registered nowhere.

A path's flows under test have names that begin with ``tested``; all others are rivals, which stay as the file has them.
The first line of a file's opening comment says what it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.files import checks, toml
from ackclock.matrices.parts import AXES, WHOLE, Composition, Part, whole_control
from ackclock.scenario import Scenario, load

FOLDER = Path(__file__).resolve().parents[1] / "data" / "paths"
TESTED = "tested"


@dataclass(frozen=True)
class NetworkPath:
    """A path and the flows on it.

    Attributes
    ----------
    name : str
        Name of its file without ending.
    summary : str
        What it is.
    scenario : Scenario
        What is run, but for the parts of the flows under test.
    tested : sequence of str
        Where the scenario has its flows under test, as ``flow.0``.
    sized : frozenset of str
        Names of the flows that have an end.
    rival : Composition or None
        What the rivals are; None if there are none, or several kinds.
    """

    name: str
    summary: str
    scenario: Scenario
    tested: Sequence[str]
    sized: frozenset[str]
    rival: Composition | None

    def until(self, duration: str) -> NetworkPath:
        """Give the same path with another duration, as ``"10 s"``.

        Raises
        ------
        ValueError
            If it is no duration.
        """
        try:
            return replace(self, scenario=self.scenario.set({"duration": duration}))
        except _core.ScenarioError as error:
            raise ValueError(str(error).removeprefix(f"--set duration={duration}: ")) from None

    def compose(self, composition: Composition, seed: int) -> Scenario:
        """Give the scenario in which the flows under test are of this composition.

        Raises
        ------
        ScenarioError
            If the parts cannot stand together.
        """
        parts = {key: value for flow in self.tested for key, value in composition.settings(flow).items()}
        return self.scenario.set({**parts, "seed": seed})


def is_tested(flow: str) -> bool:
    """Whether a flow of this name is under test."""
    return flow.startswith(TESTED)


def shipped() -> list[NetworkPath]:
    """Give the paths that come with ackclock, by name; one whose file is wrong is left out, with a warning."""
    found = [_read_or_warn(file) for file in sorted(FOLDER.glob("*.toml"))]
    return [path for path in found if path is not None]


def _read_or_warn(file: Path) -> NetworkPath | None:
    try:
        return read(file)
    except (OSError, ValueError) as error:
        warnings.warn(f"path {file.stem!r} is left out: {error}", stacklevel=3)
        return None


def find(word: str | Path) -> NetworkPath:
    """Give a path by its name, or from a file.

    Raises
    ------
    ValueError
        If there is none of that name, or its file is wrong.
    OSError
        If the file cannot be read.
    """
    if isinstance(word, Path) or word.endswith(".toml"):
        return read(Path(word))
    names = sorted(file.stem for file in FOLDER.glob("*.toml"))
    if word not in names:
        raise ValueError(f"unknown path {word!r}{checks.near(word, names)}; a file of your own ends in .toml")
    return read(FOLDER / f"{word}.toml")


def read(file: Path) -> NetworkPath:
    """Read a path's file.

    Raises
    ------
    ValueError
        If it is no scenario, or none of its flows is under test.
    OSError
        If it cannot be read.
    """
    scenario = load(file)
    document = toml.read(file)
    flows = document["flow"] if isinstance(document["flow"], list) else [document["flow"]]
    tested = [f"flow.{index}" for index, flow in enumerate(flows) if is_tested(flow.get("name", ""))]
    if not tested:
        raise ValueError(f"{file}: no flow is under test; its name must begin with {TESTED!r}")
    if "sweep" in document:
        raise ValueError(f"{file}: a path is one scenario; [sweep] must go")
    frozen = toml.parse(scenario.to_toml(), str(file))["flow"]
    sized = frozenset(flow["name"] for flow in frozen if "size" in flow)
    return NetworkPath(file.stem, _summary(file), scenario, tested, sized, _rival(frozen))


def _summary(file: Path) -> str:
    first = toml.read_text(file).partition("\n")[0]
    return first.lstrip("#").strip().rstrip(".") if first.startswith("#") else ""


def _rival(flows: Sequence[dict[str, Any]]) -> Composition | None:
    """Give the composition of the flows that are not under test, if they are all alike."""
    rivals = [_composition(flow) for flow in flows if not is_tested(flow["name"])]
    if not rivals or any(rival != rivals[0] for rival in rivals):
        return None
    return rivals[0]


def _composition(flow: dict[str, Any]) -> Composition:
    """Give the composition of a flow of a frozen scenario."""
    if WHOLE in flow:
        return whole_control(_part(flow[WHOLE]), _part(flow["recovery"]))
    return Composition(tuple(_part(flow[axis]) for axis in AXES))


def _part(value: str | dict[str, object]) -> Part:
    """Wrap a part as a frozen scenario has it, with all its parameters."""
    return Part(value if isinstance(value, str) else str(value["kind"]), value)
