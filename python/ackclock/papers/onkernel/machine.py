"""What a paper's runs in real time need of a machine, and a machine of the past: the one that made stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ackclock.result import Result
from ackclock.scenario import Scenario


@dataclass(frozen=True)
class Ran:
    """A run in real time.

    Attributes
    ----------
    result : Result
        The result.
    lateness : float
        The 99th percentile of the lateness of packets that the emulator released, in seconds.
    attempts : int
        Number of attempts; a tainted one is repeated.
    tainted : str
        Why the last attempt says nothing, such as packets that were released too late; empty if it counts.
    warnings : sequence of str
        Settings of the scenario that the kernel does not follow.
    """

    result: Result
    lateness: float = 0.0
    attempts: int = 1
    tainted: str = ""
    warnings: Sequence[str] = ()


class Machine(Protocol):
    """A machine that runs scenarios in real time."""

    @property
    def release(self) -> str:
        """Release of its kernel."""
        ...

    def refusal(self, scenario: Scenario) -> str | None:
        """Say why no machine of this kind can run a scenario; None if it can."""
        ...

    def run(self, scenario: Scenario, record: Sequence[str]) -> Ran:
        """Run a scenario, and record traces."""
        ...


@dataclass(frozen=True)
class Past:
    """The machine that made stored runs: it knows what it refused, by the hash of the scenario, and runs nothing."""

    release: str
    refused: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, scenario: Scenario) -> str | None:
        """Return the reason of the past."""
        return self.refused.get(scenario.hash)

    def run(self, scenario: Scenario, record: Sequence[str]) -> Ran:
        """Refuse to run."""
        raise RuntimeError(f"{scenario.name}: a machine of the past runs nothing, and records no {record}")
