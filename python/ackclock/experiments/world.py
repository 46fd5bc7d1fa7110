"""Worlds: where the runs of an experiment take place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ackclock import _core
from ackclock.result import Result
from ackclock.scenario import Scenario

Runner = Callable[[Scenario, Sequence[str] | None, _core.Cancel, Sequence[str]], Result]
"""A function that runs a scenario on its thread: scenario, traces, handle that stops it, places to capture."""
TICK = 4_000_000
"""A tick of this machine's kernel in nanoseconds: 250 a second, as in the kernels of distributions."""


def run_here(
    scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
) -> Result:
    """Simulate a scenario on this thread; the caller handles Ctrl-C."""
    if isinstance(capture, str):
        raise TypeError(f"capture: expected a list of links and hosts, such as [{capture!r}]")
    if isinstance(record, str):
        raise TypeError(f"record: expected a list of traces, such as [{record!r}]")
    traces = None if record is None else list(record)
    return Result(scenario, _core.run(scenario.core, traces, scenario.controls or None, cancel, list(capture)))


def _nothing(_: object) -> str | None:
    return None


def _none() -> str | None:
    return None


@dataclass(frozen=True)
class World:
    """A world; of all but the simulation, a kernel has a scenario's TCP flows.

    Attributes
    ----------
    name : str
        Its name on the command line, and in the column ``world``.
    runner : callable
        Runs a scenario on its thread. A cluster needs one that can be pickled.
    refusal : callable
        Returns why a scenario cannot run there; None if it can.
    missing : callable
        Returns what this computer lacks to run scenarios there; None if it lacks nothing.
    fault : callable
        Returns why a result should not be used, such as packets that the emulator released too late; None if it can be.
    release : str
        Release of its kernel; empty without one.
    identity : str
        What makes it another world for a stored run; empty for the simulation.
    virtual : bool
        Whether its time is virtual, so that a busy computer changes no result.
    jobs : int or None
        Runs at the same time by default; None for one on each processor.
    repetitions : int
        Runs of a scenario in a comparison with another world by default: the fewest that show the spread.
    tick : int
        A tick of its kernel, in nanoseconds.
    longer : int
        By how much its paths can be longer than those of the scenario, in nanoseconds.
    """

    name: str
    runner: Runner = run_here
    refusal: Callable[[Scenario], str | None] = _nothing
    missing: Callable[[], str | None] = _none
    fault: Callable[[Result], str | None] = _nothing
    release: str = ""
    identity: str = ""
    virtual: bool = True
    jobs: int | None = None
    repetitions: int = 1
    tick: int = TICK
    longer: int = 0

    @property
    def title(self) -> str:
        """The world in words, for readers."""
        if not self.release:
            return self.name
        return f"Linux {self.release} in virtual time" if self.virtual else f"Linux {self.release}"


SIMULATION = World("simulation")
"""The simulation, in which also hosts are Ackclock's own."""
