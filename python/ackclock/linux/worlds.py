"""The worlds in which a scenario runs, by their names on the command line."""

from __future__ import annotations

import difflib
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ackclock import _core
from ackclock.experiments import sources
from ackclock.experiments import world as places
from ackclock.experiments.world import World
from ackclock.linux import checking, hosts, running, stacks, store, transfers
from ackclock.results import Result
from ackclock.scenario import Scenario

SIMULATION = running.SIMULATION
NAMES = (SIMULATION, store.WORLD, running.MACHINE, *stacks.NAMES)
"""`linux` also takes a version, as in ``linux:6.12``."""
LINUX = "hosts of Linux in place of ns-2's"
"""What kernels put in place of what."""
LONGER = 200_000
"""What a path is longer on this machine, in nanoseconds: the emulator adds 0.16 to 0.20 ms to round-trip times in the
median."""
OVERHEAD = 0.3
"""Seconds of a run on this machine beyond its duration: namespaces, devices, and the connection that warms the path
up."""
SOURCES = ("ackclock.linux.running", "ackclock.linux.transfers")
"""The modules that run scenarios on kernels."""


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
        kernel in virtual time (`store.find`); ``machine`` for this machine's kernel in real time; ``quic`` or ``quinn``
        for the simulation with hosts of a QUIC stack in place of those of TCP.
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
    if name in stacks.NAMES:
        return stack(name)
    if name == SIMULATION:
        return World(name, running.run_written, refusal=running.refusal_written)
    near = difflib.get_close_matches(first, NAMES, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f"--on {name}: expected {', '.join(NAMES[:-1])} or {NAMES[-1]}{hint}")


def controlled(
    name: str,
    control: str | None,
    *,
    outside: bool,
    **options: Any,  # noqa: ANN401 - those of `find`
) -> tuple[World, str | None]:
    """Return a world, and the control of ``--control`` that the scenario is still to get.

    On ``linux``, a name alone is the kernel's own control, which the world gives to all flows, unless controls are to
    decide outside the kernel. Other parameters and errors are those of `find`.
    """
    inside = name.partition(":")[0] == store.WORLD and control is not None and control.isidentifier() and not outside
    world = find(name, outside=outside, control=control if inside else None, **options)
    return world, None if inside else control


def several(names: str | Sequence[str], **options: Any) -> list[World]:  # noqa: ANN401 - those of `find`
    """Return worlds by their names, each once; parameters and errors are those of `find`."""
    words = [names] if isinstance(names, str) else list(names)
    words = [word.strip() for each in words for word in each.split(",")]
    for index, word in enumerate(words):
        if word in words[:index]:
            raise ValueError(f"--on {','.join(words)}: names {word} twice")
    return [find(word, **options) for word in words]


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
        partial(_run_linux, kernel=kernel, outside=outside, control=control),
        hosts.hosted,
        LINUX,
        partial(_refusal_linux, control=control),
        partial(running.missing_virtual, kernel),
        release=kernel.release,
        identity=sources.digest(store.WORLD, kernel.release, kernel.hz, kernel.hash, outside, control),
        sources=SOURCES,
        repetitions=6,
        programs=True,
        tick=1_000_000_000 // kernel.hz,
    )


def _run_linux(
    scenario: Scenario,
    record: Sequence[str] | None,
    cancel: _core.Cancel,
    capture: Sequence[str] = (),
    *,
    kernel: store.Built,
    outside: bool,
    control: str | None,
) -> Result:
    """Run a scenario on a kernel in virtual time, or a program in place of one of its flows, on this thread."""
    if transfers.takes_part(scenario):
        return transfers.run(scenario, record, capture, kernel=kernel)
    return running.run_virtual(scenario, record, cancel, capture, kernel=kernel, outside=outside, control=control)


def _refusal_linux(scenario: Scenario, *, control: str | None) -> str | None:
    """Return why a scenario cannot run on a kernel in virtual time; None if it can."""
    if transfers.takes_part(scenario):
        return transfers.refusal(scenario)
    return running.refusal_virtual(scenario, control=control)


def machine(attempts: int = running.ATTEMPTS, *, change_hystart: bool = False) -> World:
    """Return the world of this machine's kernel."""
    return World(
        running.MACHINE,
        partial(running.run_here, attempts=attempts, change_hystart=change_hystart),
        hosts.hosted,
        LINUX,
        partial(running.refusal, change_hystart=change_hystart),
        _missing,
        fault=running.fault,
        release=platform.release(),
        identity=f"{running.MACHINE} {platform.release()}",
        sources=SOURCES,
        virtual=False,
        jobs=1,
        repetitions=3,
        longer=LONGER,
        overhead=OVERHEAD,
    )


def stack(name: str) -> World:
    """Return the world of a QUIC stack, ``quic`` or ``quinn``."""
    return World(
        name,
        partial(_run_stack, profile=name),
        partial(stacks.hosted, profile=name),
        "hosts of QUIC in place of TCP's",
        partial(stacks.refusal, profile=name),
        identity=name,
        sources=("ackclock.linux.stacks",),
    )


def _run_stack(
    scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = (), *, profile: str
) -> Result:
    """Run a scenario with hosts of a QUIC stack on this thread."""
    return places.run_here(stacks.hosted(scenario, profile), record, cancel, capture)


def past(*, name: str, release: str, identity: str, virtual: bool, refused: Mapping[str, str]) -> World:
    """Return the world of stored runs, which runs nothing: it knows what it refused, by the hash of the scenario."""
    if name in stacks.NAMES:
        return stack(name)

    def hosted(scenario: Scenario) -> Scenario:
        if scenario.hash in refused:
            raise ValueError(refused[scenario.hash])
        return hosts.hosted(scenario)

    overhead, jobs = (0.0, None) if virtual else (OVERHEAD, 1)
    return World(
        name, hosted=hosted, replaces=LINUX, release=release, identity=identity, sources=SOURCES, virtual=virtual,
        jobs=jobs, overhead=overhead,
    )  # fmt: skip


def _missing() -> str | None:
    missing = checking.check().missing
    return missing and f"{missing} (see: ackclock kernel check)"
