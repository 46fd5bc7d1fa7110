"""The worlds in which a scenario runs, by their names on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ackclock.experiments.execute import Runner, run_here
from ackclock.kernels import running, store
from ackclock.scenario import Scenario

SIMULATION = "simulation"
NAMES = (SIMULATION, store.WORLD, running.MACHINE)
"""`linux` also takes a version, as in ``linux:6.12``."""


@dataclass(frozen=True)
class World:
    """A world.

    Attributes
    ----------
    name : str
        Its name.
    runner : callable
        Runs a scenario on its thread.
    refusal : callable
        Returns why a scenario cannot run there; None if it can.
    """

    name: str
    runner: Runner
    refusal: Callable[[Scenario], str | None]


def find(
    name: str, *, attempts: int = running.ATTEMPTS, change_hystart: bool = False, outside: bool = False
) -> World:
    """Return a world by its name.

    Parameters
    ----------
    name
        ``simulation``; ``linux`` or ``linux:VERSION`` for a kernel in virtual time (`store.find`); ``machine`` for this
        machine's kernel in real time.
    attempts, change_hystart
        As in `running.run`; only for ``machine``.
    outside
        As in `running.run_virtual`; only for ``linux``.

    Raises
    ------
    ValueError
        If there is no such world, or no such kernel was built.
    """
    first = name.partition(":")[0]
    if first == store.WORLD:
        kernel = store.find(name)
        return World(name, partial(running.run_virtual, kernel=kernel, outside=outside), running.refusal_virtual)
    if name == SIMULATION:
        return World(name, run_here, lambda _: None)
    if name == running.MACHINE:
        runner = partial(running.run_here, attempts=attempts, change_hystart=change_hystart)
        return World(name, runner, partial(running.refusal, change_hystart=change_hystart))
    near = difflib.get_close_matches(first, NAMES, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f"--on {name}: expected {', '.join(NAMES[:-1])} or {NAMES[-1]}{hint}")
