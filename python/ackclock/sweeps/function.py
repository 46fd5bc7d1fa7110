"""The function `ackclock.sweep`."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ackclock import _core
from ackclock._core import ScenarioError
from ackclock.arguments import Count, File, Progress, Switch, Texts, Time, checked
from ackclock.experiments.engines.engine import AnEngine
from ackclock.experiments.world import World, is_worlds, run_here
from ackclock.files import toml
from ackclock.files.checks import Kind
from ackclock.formatting.numbers import counted
from ackclock.scenario import Scenario, load
from ackclock.sweeps.plan import Until
from ackclock.sweeps.recording import Recording
from ackclock.sweeps.work import Limits

if TYPE_CHECKING:
    from ackclock.sweeps.running import Outcome

AnUntil = Annotated[
    Until, Kind("an Until, such as Until('goodput_bps', Stopping(0.02))", lambda it: isinstance(it, Until))
]
Worlds = Annotated[
    str | World | Sequence[str | World],
    Kind('a world or a list of worlds, such as "simulation" or ["simulation", "linux"]', is_worlds),
]
LOOKED_AT = 100
"""Points in which places to capture are looked for."""
log = logging.getLogger(__name__)


@checked
def sweep(
    scenario: Scenario | str | Path,
    out: File | None = None,
    *,
    seeds: Count | None = None,
    until: AnUntil | None = None,
    limits: Limits | None = None,
    retry: Switch = False,
    on: Worlds = "simulation",
    record: Texts | None = (),
    capture: Texts | None = None,
    snaplen: Count | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the points of a scenario's ``[sweep]``, and store a row for each in a dataset.

    A dataset of the same sweep is continued: stored runs do not run again, whatever ended the process that wrote them.
    If the scenario changed, only what is new runs.

    Parameters
    ----------
    scenario
        The scenario, or its file. Without a ``[sweep]`` it is the only point.
    out
        Folder of the dataset; by default ``out`` and the name of the scenario or file.
    seeds
        Every point runs with the seeds from 1 to this; None: with its own seed.
    until
        After `seeds` runs, a point gets further seeds until this measure's interval is narrow; its `at_least` replaces
        `seeds`.
    limits
        Limits of one run in the simulation.
    retry
        Whether runs that ended with an error run again. They do in any case if the limits changed.
    on
        Worlds where every point runs: ``simulation``, ``linux`` (a kernel in virtual time; ``linux:7.2`` names its
        version), ``machine`` (this machine's kernel in real time). The column ``world`` has their names.
    record
        Traces that every run records; None: those of the scenario. A run with traces has a folder of its own in the
        dataset; see `Dataset.results`.
    capture
        Links and hosts at which every run captures packets, into a pcapng file in its folder; empty: its bottleneck.
    snaplen
        Largest number of bytes to store of each packet; None: only its headers.
    jobs
        Number of parallel runs; results do not depend on it.
    engine
        Where the runs take place, such as `ackclock.Ray`; by default on `jobs` threads of this process.
    budget
        Real time for the runs: seconds, or a text such as ``"20 min"``. No run begins later; the same call continues.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Raises
    ------
    ScenarioError
        If the sweep is wrong.
    ValueError
        If `seeds` and an axis ``seed`` exclude each other, a trace or a world is unknown, `limits` cannot hold for a
        run, or a control in Python has no source that can be read.
    OSError
        If the folder cannot be written to, or this computer cannot run a world.
    Interrupted
        After Ctrl-C; every finished run is in the dataset. Its ``found`` is the outcome so far.
    """
    # These modules import filelock or kernels, which take longer to load than the rest of the package.
    from ackclock.experiments.engines.local import Local
    from ackclock.sweeps.plan import Plan
    from ackclock.sweeps.running import Running

    file = None if isinstance(scenario, Scenario) else Path(scenario)
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    text = loaded.core.state()[0] if file is None else toml.read_text(file)
    folder = Path("out") / (loaded.name if file is None else file.stem) if out is None else Path(out)
    recording = Recording(
        None if record is None else tuple(record), None if capture is None else tuple(capture), snaplen
    )
    recording.check()
    worlds = _worlds(on)
    _check(loaded, worlds, limits or Limits())
    _check_places(loaded, recording)
    plan = Plan(loaded, worlds, seeds if until is None else until.rule.at_least, until, recording)
    for world in worlds:
        if reason := world.missing():
            raise OSError(f"{world.name}: {reason}")
    where = f" in {' and '.join(world.name for world in worlds)}" if len(worlds) > 1 else ""
    log.info("%s: %s%s%s", loaded.name, counted(len(plan.points), "point"), where, _seeds(seeds, until))
    began = time.monotonic()
    outcome = Running(plan, folder, limits or Limits(), engine or Local(jobs), progress, budget).run(text, retry=retry)
    _say(outcome, time.monotonic() - began, until)
    return outcome


def _say(outcome: Outcome, seconds: float, until: Until | None) -> None:
    """Log how many runs took place, and what became of the others."""
    parts = [f"{counted(outcome.new, 'run')} in {seconds:.1f} s"]
    parts += [f"{outcome.stored:,} were stored"] if outcome.stored else []
    parts += [f"{outcome.copied:,} equal others"] if outcome.copied else []
    log.info(", ".join(parts))
    if outcome.wide and until is not None:
        wide, most = counted(outcome.wide, "point"), counted(until.rule.at_most, "seed")
        log.warning("%s: %s reached %s, with a wider interval", until.measure, wide, most)
    earlier = outcome.dataset.folder / "earlier"
    if outcome.again:
        log.info("%s ran again; the rows of the failures moved to %s", counted(outcome.again, "failed run"), earlier)
    if outcome.moved:
        rows = f"{counted(outcome.moved, 'row')} {'is' if outcome.moved == 1 else 'are'}"
        log.info("%s of values that the sweep has no more, and moved to %s", rows, earlier)


def _worlds(on: str | World | Sequence[str | World]) -> list[World]:
    from ackclock.linux import worlds

    if isinstance(on, (str, World)):
        on = [on]
    return [found for each in on for found in ([each] if isinstance(each, World) else worlds.several(each))]


def _check(scenario: Scenario, worlds: Sequence[World], limits: Limits) -> None:
    """Refuse limits that nothing keeps."""
    kernels = [world.name for world in worlds if world.release]
    if limits and (kernels or scenario.controls or scenario.core.needs_kernel):
        where = f"in the world {kernels[0]}" if kernels else "of a flow on a kernel or a control in Python"
        raise ValueError(f"limits: only for runs of the engine alone, and not {where}")


def _check_places(scenario: Scenario, recording: Recording) -> None:
    """Refuse places to capture that none of the first points has.

    Raises
    ------
    ScenarioError
        If there is no such link or host.
    """
    if not recording.capture or scenario.core.needs_kernel is not None:
        return
    reason: ScenarioError | None = None
    points = scenario.sweep_points()
    for index in range(min(len(points), LOOKED_AT)):
        try:
            point = points[index][1]
        except ScenarioError:
            continue  # the row of the point has the error
        stopped = _core.Cancel()
        stopped.set()
        try:
            # A run looks for its places before its first event.
            run_here(point, (), stopped, recording.capture)
        except _core.Interrupted:
            return
        except ScenarioError as error:
            reason = error
    if reason is not None:
        raise reason


def _seeds(seeds: int | None, until: Until | None) -> str:
    if until is not None:
        return f", {until.rule.at_least} to {until.rule.at_most} seeds each"
    return f" with {counted(seeds, 'seed')} each" if seeds else ""
