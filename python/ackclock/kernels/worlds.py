"""The worlds in which a scenario runs, by their names on the command line."""

from __future__ import annotations

import difflib
import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ackclock.experiments import sources
from ackclock.experiments.here import Runner
from ackclock.kernels import checking, running, store
from ackclock.scenario import Scenario

SIMULATION = running.SIMULATION
NAMES = (SIMULATION, store.WORLD, running.MACHINE)
"""`linux` also takes a version, as in ``linux:6.12``."""
TICK = 4_000_000
"""A tick of this machine's kernel in nanoseconds: 250 a second, as in the kernels of distributions."""
LONGER = 200_000
"""What a path is longer on this machine, in nanoseconds: the emulator adds 0.16 to 0.20 ms to round-trip times in the
median."""


@dataclass(frozen=True)
class World:
    """A world.

    Attributes
    ----------
    name : str
        Its name on the command line.
    runner : callable
        Runs a scenario on its thread.
    refusal : callable
        Returns why a scenario cannot run there; None if it can.
    missing : callable
        Returns what this computer lacks to run scenarios there; None if it lacks nothing.
    release : str
        Release of its kernel; empty without one.
    identity : str
        What makes it another world for a stored run.
    virtual : bool
        Whether its time is virtual, so that a busy computer changes no result.
    jobs : int or None
        Runs at the same time by default; None for one on each processor.
    repetitions : int
        Runs of a scenario in a comparison by default: the fewest that show the spread.
    tick : int
        A tick of its kernel, in nanoseconds.
    longer : int
        By how much its paths can be longer than those of the scenario, in nanoseconds.
    """

    name: str
    runner: Runner
    refusal: Callable[[Scenario], str | None]
    missing: Callable[[], str | None]
    release: str = ""
    identity: str = ""
    virtual: bool = True
    jobs: int | None = None
    repetitions: int = 1
    tick: int = TICK
    longer: int = 0

    @property
    def title(self) -> str:
        """Its kernel, for readers."""
        return f"Linux {self.release} in virtual time" if self.virtual else f"Linux {self.release}"


def find(
    name: str,
    *,
    attempts: int | None = None,
    change_hystart: bool = False,
    outside: bool = False,
    control: str | None = None,
) -> World:
    """Return a world by its name.

    Parameters
    ----------
    name
        ``simulation``, in which flows with ``profile = "kernel"`` are on a kernel; ``linux`` or ``linux:VERSION`` for a
        kernel in virtual time (`store.find`); ``machine`` for this machine's kernel in real time.
    attempts, change_hystart
        As in `running.run`; only for ``machine``.
    outside, control
        As in `running.run_virtual`; only for ``linux``.

    Raises
    ------
    ValueError
        If there is no such world, no such kernel was built, or the world has no such option.
    """
    first = name.partition(":")[0]
    if first != store.WORLD and (outside or control is not None):
        option = "--outside" if outside else "--control"
        raise ValueError(f"{option}: only for --on {store.WORLD}, not with --on {name}")
    if name == running.MACHINE:
        return machine(running.ATTEMPTS if attempts is None else attempts, change_hystart=change_hystart)
    if attempts is not None:
        raise ValueError(f"--attempts: only runs with --on {running.MACHINE} can be disturbed, not with --on {name}")
    if change_hystart:
        raise ValueError(f"--change-hystart: only for --on {running.MACHINE}; other worlds need no permission")
    if first == store.WORLD:
        return linux(name, outside=outside, control=control)
    if name == SIMULATION:
        return World(name, running.run_written, running.refusal_written, lambda: None)
    near = difflib.get_close_matches(first, NAMES, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f"--on {name}: expected {', '.join(NAMES[:-1])} or {NAMES[-1]}{hint}")


def linux(name: str = store.WORLD, *, outside: bool = False, control: str | None = None) -> World:
    """Return the world of a kernel in virtual time; parameters are those of `store.find` and `running.run_virtual`.

    Raises
    ------
    ValueError
        If no such kernel was built.
    """
    kernel = store.find(name)
    return World(
        name,
        partial(running.run_virtual, kernel=kernel, outside=outside, control=control),
        partial(running.refusal_virtual, control=control),
        partial(running.missing_virtual, kernel),
        release=kernel.release,
        identity=sources.digest(store.WORLD, kernel.release, kernel.hz, kernel.hash, outside, control),
        repetitions=6,
        tick=1_000_000_000 // kernel.hz,
    )


def machine(attempts: int = running.ATTEMPTS, *, change_hystart: bool = False) -> World:
    """Return the world of this machine's kernel."""
    return World(
        running.MACHINE,
        partial(running.run_here, attempts=attempts, change_hystart=change_hystart),
        partial(running.refusal, change_hystart=change_hystart),
        lambda: checking.check().missing,
        release=platform.release(),
        identity=f"{running.MACHINE} {platform.release()}",
        virtual=False,
        jobs=1,
        repetitions=3,
        longer=LONGER,
    )
