"""Runs of one scenario, or of many on several threads."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path

from ackclock import _core
from ackclock.arguments import File, Seed, checked
from ackclock.experiments.execute import Interrupted, Progress, map_threads
from ackclock.experiments.world import SIMULATION, World, run_here
from ackclock.files import storage
from ackclock.results import Result
from ackclock.scenario import Scenario

__all__ = ["Interrupted", "run", "run_many"]


@checked
def run(
    scenario: Scenario,
    *,
    record: Sequence[str] | None = None,
    capture: Sequence[str] = (),
    seed: Seed | None = None,
    on: str | World = "simulation",
    out: File | None = None,
    cancel: _core.Cancel | None = None,
) -> Result:
    """Run a scenario.

    Parameters
    ----------
    scenario
        The scenario. A ``[sweep]`` gives a warning, and only its base runs; see `Scenario.variants`.
    record
        Traces to record: ``cwnd delivered queue drops sequence rtt internals``; None: those of the scenario.
    capture
        Links and hosts at which to capture packets for `Result.write_pcap`: ``["r1>r2", "s0"]``.
    seed
        The seed; None: that of the scenario.
    on
        The world: ``simulation``, ``linux`` (a kernel in virtual time; ``linux:7.2`` names its version), ``machine``
        (this machine's kernel in real time).
    out
        Folder for the result, which is there whole or not at all; see `Result.write`.
    cancel
        A handle that stops the run from another thread.

    Raises
    ------
    ScenarioError
        If a trace, or a link or host to capture at, is unknown.
    ValueError
        If there is no such world, or it cannot run the scenario.
    OSError
        If the folder cannot be written to, or a kernel cannot run here.
    Interrupted
        After Ctrl-C.
    """
    _check([scenario])
    if seed is not None:
        scenario = scenario.set({"seed": seed})
    world = _world(scenario, on)
    stop = cancel or _core.Cancel()
    with contextlib.nullcontext() if out is None else storage.replacing(Path(out), "run") as folder:
        if threading.current_thread() is not threading.main_thread() or cancel is not None:
            result = world.runner(scenario, record, stop, capture)
        else:
            result = map_threads(lambda each: world.runner(each, record, stop, capture), [scenario], stop, jobs=1)[0]
        if folder is not None:
            result.write_files(folder)
    return result


def _world(scenario: Scenario, on: str | World) -> World:
    """Return the world of a run; the simulation alone needs no modules of kernels, which take longer to load."""
    if isinstance(on, World):
        world = on
    elif on == SIMULATION.name and scenario.core.needs_kernel is None:
        world = SIMULATION
    else:
        from ackclock.linux import worlds

        world = worlds.find(on)
    if reason := world.refusal(scenario):
        raise ValueError(f"{scenario.name}: {reason}")
    return world


def _check(scenarios: Sequence[Scenario]) -> None:
    """Refuse values that are not scenarios, and warn once of a ``[sweep]``, of which only the base runs."""
    if isinstance(scenarios, Scenario):
        raise TypeError("run_many: expected a list of scenarios, as [scenario]; run(scenario) runs one")
    if isinstance(scenarios, (str, os.PathLike)):
        raise TypeError(f"expected scenarios, not the name of a file; write load({str(scenarios)!r})")
    for scenario in scenarios:
        if isinstance(scenario, (str, os.PathLike)):
            raise TypeError(f"expected a scenario, not the name of a file; write load({str(scenario)!r})")
        if not isinstance(scenario, Scenario):
            raise TypeError(f"expected a scenario, not {scenario!r}")
    swept = next((scenario for scenario in scenarios if scenario.core.sweep), None)
    if swept is not None:
        text = f"{swept.name} has a [sweep], but only its base runs; pass its variants() to run_many"
        warnings.warn(text, stacklevel=4)  # of the call behind `checked`


@checked
def run_many(
    scenarios: Sequence[Scenario],
    *,
    record: Sequence[str] | None = None,
    capture: Sequence[str] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Run many scenarios in parallel.

    Parameters
    ----------
    scenarios
        The scenarios. A ``[sweep]`` gives a warning, and only its base runs; see `Scenario.variants`.
    record
        Traces to record; None: those of each scenario.
    capture
        Links and hosts at which to capture packets.
    jobs
        Number of threads; by default one per processor. Results do not depend on it.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Returns
    -------
    list of Result
        The results in the order of `scenarios`.

    Raises
    ------
    Interrupted
        After Ctrl-C; its ``results`` holds the finished runs.
    """
    _check(scenarios)
    return _run_many(scenarios, record=record, capture=capture, jobs=jobs, progress=progress)


def _run_many(
    scenarios: Sequence[Scenario],
    *,
    record: Sequence[str] | None,
    capture: Sequence[str],
    jobs: int | None,
    progress: Progress | None = None,
) -> list[Result]:
    cancel = _core.Cancel()
    return map_threads(
        lambda scenario: run_here(scenario, record, cancel, capture), scenarios, cancel, jobs=jobs, progress=progress
    )
