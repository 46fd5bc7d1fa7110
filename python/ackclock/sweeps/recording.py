"""What the runs of a sweep record beside their tables: traces, and packets at places."""

from __future__ import annotations

from dataclasses import dataclass

from ackclock.columns import tables
from ackclock.experiments.world import SIMULATION, World
from ackclock.files import checks
from ackclock.scenario import Scenario

PACKETS = "packets.pcapng"
"""The file of captured packets in the folder of a run."""


@dataclass(frozen=True)
class Recording:
    """Traces and packets that every run of a sweep records.

    Attributes
    ----------
    record : tuple of str or None
        Traces; None: those of each scenario.
    capture : tuple of str or None
        Links and hosts at which packets are captured; empty: the bottleneck of each scenario; None: nowhere.
    snaplen : int or None
        Largest number of bytes to store of each packet; None: only its headers.
    """

    record: tuple[str, ...] | None = ()
    capture: tuple[str, ...] | None = None
    snaplen: int | None = None

    def check(self) -> None:
        """Refuse unknown traces.

        Raises
        ------
        ValueError
            If there is no such trace.
        """
        known = [table.trace for table in tables().values() if table.trace is not None]
        checks.words("record", "trace", list(self.record or ()), known)

    def traces(self, scenario: Scenario) -> list[str]:
        """Return the traces that a run records."""
        return list(scenario.record if self.record is None else self.record)

    def places(self, scenario: Scenario) -> list[str]:
        """Return the links and hosts at which a run captures packets."""
        return [] if self.capture is None else list(self.capture or [scenario.bottleneck])

    def is_plain(self, scenario: Scenario, world: World) -> bool:
        """Whether a run has nothing but tables, and is simulated by the engine alone, so that a batch can run it."""
        alone = world.name == SIMULATION.name and scenario.core.needs_kernel is None and not scenario.controls
        return alone and not self.traces(scenario) and not self.places(scenario)

    def fingerprint(self, scenario: Scenario) -> list[object]:
        """Return what a run records, as values of JSON."""
        places = self.places(scenario)
        return [self.traces(scenario), places, self.snaplen if places else None]
