"""Any program behind the path of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ackclock import _core
from ackclock.scenario import Scenario
from ackclock.summaries import rows


@dataclass(frozen=True)
class Emulated:
    """A command that has ended, and its path."""

    code: int
    """Exit code of the command; 128 plus the signal's number if a signal ended it."""
    interrupted: bool
    """Whether Ctrl-C ended it, because it did not end by itself within 2 s."""
    elapsed_s: float
    """Time from the start of the command to its end, in seconds."""
    cpu_s: float
    """Processor time of the emulator, in seconds."""
    releases: int
    """Packets given to the kernel."""
    lateness_p50_s: float
    """Median lateness of these packets, in seconds."""
    lateness_p99_s: float
    """99th percentile of their lateness, in seconds."""
    lateness_max_s: float
    """Largest lateness, in seconds."""
    taint: str | None
    """Why the run should not count; None if it counts."""
    links: tuple[dict[str, Any], ...]
    """A row for each link that carried packets, with the columns of `Result.links`."""


def emulate(
    scenario: Scenario,
    command: Sequence[str],
    *,
    at: Literal["sender", "receiver"] = "receiver",
    peer: str | None = None,
    flow: str | None = None,
) -> Emulated:
    """Run a command behind the path of a flow, in real time, as long as the command runs.

    The command takes the place of the flow; the other flows are simulated. Standard streams are shared.

    Parameters
    ----------
    scenario
        The scenario. Its duration does not matter.
    command
        The program and its arguments.
    at
        The end of the flow at which the command runs.
    peer
        A line of the shell that runs at the other end, such as a server. It ends with the command.
    flow
        Name of the flow; None: the first that is no stream of datagrams.

    Raises
    ------
    ValueError
        If this machine cannot run it, the flow or the command does not exist, or the peer ends at once.
    """
    code, links, facts = _core.emulate(scenario.core, list(command), sender=at == "sender", peer=peer, flow=flow)
    return Emulated(code=code, links=tuple(row for row in rows(links) if row["arrivals"]), **facts)
