"""Paths on which compositions are compared: scenario files that need no registration.

Names of flows under test begin with ``tested``. All other flows are rivals, which keep their settings. The first line
of the file's opening comment is the summary of the path.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.files import checks, limits, toml
from ackclock.freeze import Frozen
from ackclock.matrices.parts import AXES, WHOLE, Composition, Part, whole_control
from ackclock.metrics.groups import is_tested
from ackclock.scenario import Scenario, load

FOLDER = Path(__file__).resolve().parents[1] / "data" / "paths"


@dataclass(frozen=True)
class NetworkPath:
    """A path and the flows on it.

    Attributes
    ----------
    name : str
        Name of its file without the ending.
    summary : str
        Its description.
    scenario : Scenario
        The scenario, in which the parts of the flows under test are replaced.
    tested : sequence of str
        Paths of the flows under test in the scenario, such as ``flow.0``.
    sized : frozenset of str
        Names of the flows that have a size, and so an end.
    rival : Composition or None
        The composition of the rivals; None if there are no rivals, or several kinds.
    """

    name: str
    summary: str
    scenario: Scenario
    tested: Sequence[str]
    sized: frozenset[str]
    rival: Composition | None

    def until(self, duration: str) -> NetworkPath:
        """Return the path with another duration, such as ``"10 s"``.

        Raises
        ------
        ValueError
            If the text is not a duration.
        """
        try:
            return replace(self, scenario=self.scenario.set({"duration": duration}))
        except _core.ScenarioError as error:
            raise ValueError(str(error).removeprefix(f"--set duration={duration}: ")) from None

    def compose(self, composition: Composition, seed: int) -> Scenario:
        """Return the scenario whose flows under test have this composition.

        Raises
        ------
        ScenarioError
            If the parts cannot be combined.
        """
        parts = {key: value for flow in self.tested for key, value in composition.settings(flow).items()}
        return self.scenario.set({**parts, "seed": seed})


def shipped() -> list[NetworkPath]:
    """Return the shipped paths, sorted by name; a path with an invalid file is skipped with a warning."""
    found = [_read_or_warn(file) for file in sorted(FOLDER.glob("*.toml"))]
    return [path for path in found if path is not None]


def _read_or_warn(file: Path) -> NetworkPath | None:
    try:
        return read(file)
    except (OSError, ValueError) as error:
        warnings.warn(f"path {file.stem!r} is skipped: {error}", stacklevel=3)
        return None


def find(word: str | Path) -> NetworkPath:
    """Return a path by its name, or from a file.

    Raises
    ------
    ValueError
        If no path has this name, or its file is invalid.
    OSError
        If the file cannot be read.
    """
    if isinstance(word, Path) or word.endswith(".toml"):
        return read(Path(word))
    names = sorted(file.stem for file in FOLDER.glob("*.toml"))
    if word not in names:
        raise ValueError(f"unknown path {word!r}{checks.near(word, names)}; the name of a file must end in .toml")
    return read(FOLDER / f"{word}.toml")


def read(file: Path) -> NetworkPath:
    """Read a path's file.

    Raises
    ------
    ValueError
        If the file is not a scenario, or no flow is under test.
    OSError
        If the file cannot be read.
    """
    scenario = load(file)
    document = toml.read(file, limits.most("scenario"))
    flows = document["flow"] if isinstance(document["flow"], list) else [document["flow"]]
    tested = [f"flow.{index}" for index, flow in enumerate(flows) if is_tested(flow.get("name", ""))]
    if not tested:
        raise ValueError(f"{file}: no flow is under test; its name must begin with 'tested'")
    if "sweep" in document:
        raise ValueError(f"{file}: a path is one scenario; remove [sweep]")
    frozen = Frozen(scenario).flows
    sized = frozenset(flow["name"] for flow in frozen if "size" in flow)
    return NetworkPath(file.stem, _summary(file), scenario, tested, sized, _rival(frozen))


def _summary(file: Path) -> str:
    first = toml.read_text(file).partition("\n")[0]
    return first.lstrip("#").strip().rstrip(".") if first.startswith("#") else ""


def _rival(flows: Sequence[dict[str, Any]]) -> Composition | None:
    """Return the composition of the rivals, if it is the same for all."""
    rivals = [_composition(flow) for flow in flows if not is_tested(flow["name"])]
    if not rivals or any(rival != rivals[0] for rival in rivals):
        return None
    return rivals[0]


def _composition(flow: dict[str, Any]) -> Composition:
    """Return the composition of a flow of a frozen scenario."""
    if WHOLE in flow:
        return whole_control(_part(flow[WHOLE]), _part(flow["recovery"]))
    return Composition(tuple(_part(flow[axis]) for axis in AXES))


def _part(value: str | dict[str, object]) -> Part:
    """Return a part of a frozen scenario, with all its parameters."""
    return Part(value if isinstance(value, str) else str(value["kind"]), value)
