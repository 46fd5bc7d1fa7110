"""Worlds: where the runs of an experiment take place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ackclock import _core
from ackclock.control import programs
from ackclock.results import Result
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


def _same(scenario: Scenario) -> Scenario:
    return scenario


def _none() -> str | None:
    return None


@dataclass(frozen=True)
class World:
    """A world: the simulation as it is, or with the hosts of a kernel or of a QUIC stack for a scenario's TCP flows.

    Attributes
    ----------
    name : str
        Its name on the command line, and in the column ``world``.
    runner : callable
        Runs a scenario on its thread. A cluster needs one that can be pickled.
    hosted : callable
        Returns the scenario with the hosts that the world has in place of others; raises ValueError if it has none for
        a flow.
    replaces : str
        What `hosted` puts in place of what, for readers.
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
    sources : sequence of str
        The modules that run scenarios there, beside those of the simulation; keys of stored runs cover them.
    virtual : bool
        Whether its time is virtual, so that a busy computer changes no result.
    jobs : int or None
        Runs at the same time by default; None for one on each processor.
    repetitions : int
        Runs of a scenario in a comparison with another world by default: the fewest that show the spread.
    programs : bool
        Whether programs can take the place of a flow there.
    tick : int
        A tick of its kernel, in nanoseconds.
    longer : int
        By how much its paths can be longer than those of the scenario, in nanoseconds.
    overhead : float
        Real time that a run takes beyond its duration, in seconds.
    """

    name: str
    runner: Runner = run_here
    hosted: Callable[[Scenario], Scenario] = _same
    replaces: str = ""
    refusal: Callable[[Scenario], str | None] = _nothing
    missing: Callable[[], str | None] = _none
    fault: Callable[[Result], str | None] = _nothing
    release: str = ""
    identity: str = ""
    sources: Sequence[str] = ()
    virtual: bool = True
    jobs: int | None = None
    repetitions: int = 1
    programs: bool = False
    tick: int = TICK
    longer: int = 0
    overhead: float = 0.0

    @property
    def title(self) -> str:
        """The world in words, for readers."""
        if not self.release:
            return self.name
        return f"Linux {self.release} in virtual time" if self.virtual else f"Linux {self.release}"

    def check(self) -> None:
        """Refuse a world that this computer cannot run.

        Raises
        ------
        OSError
            If it lacks something, which the message names.
        """
        if missing := self.missing():
            raise OSError(f"this machine cannot run scenarios on {self.title}: {missing}")

    def refuses(self, scenario: Scenario) -> str | None:
        """Return why a scenario cannot run there with the hosts of the world; None if it can."""
        if not self.programs:
            for made in programs(scenario.controls).values():
                return made.elsewhere()
        try:
            return self.refusal(self.hosted(scenario))
        except ValueError as error:
            return str(error)

    def why_not(self, scenario: Scenario) -> str:
        """Return why a scenario cannot run there, without the names of scenario and flow; empty if it can."""
        found = self.refuses(scenario) or ""
        return found.partition(" cannot run on the kernel: ")[2] or found

    def takes(self, scenarios: Iterable[Scenario]) -> float:
        """Return the real time that runs take if none has to be repeated, in seconds; 0 in virtual time."""
        if self.virtual:
            return 0.0
        return sum(scenario.duration + self.overhead for scenario in scenarios) / (self.jobs or 1)


SIMULATION = World("simulation")
"""The simulation, in which also hosts are Ackclock's own."""


def is_worlds(value: object) -> bool:
    """Whether a value is a world, the name of one, or a list of these."""
    several = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return all(isinstance(each, (str, World)) for each in several)
