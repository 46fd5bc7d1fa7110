"""The function `ackclock.linux.compare`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.arguments import Count, File, Progress, Share, Switch, Text, Time, checked
from ackclock.experiments.engines.engine import AnEngine
from ackclock.experiments.experiment import Experiment
from ackclock.formatting.numbers import counted, in_words
from ackclock.judging.tolerances import SAME
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    from ackclock.linux.comparing import Outcome
    from ackclock.linux.result import Comparison

log = logging.getLogger(__name__)


@checked
def compare(
    scenarios: str | Path | Scenario | Iterable[str | Path | Scenario],
    *,
    on: Text = "machine",
    repetitions: Count | None = None,
    tolerance: Share = SAME.value,
    attempts: Count | None = None,
    change_hystart: Switch = False,
    out: File | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare simulations with the TCP of a Linux kernel.

    Parameters
    ----------
    scenarios
        Scenario files or scenarios; of one with ``[sweep]`` every variant.
    on
        The world of the kernel: ``machine`` for this machine's in real time; ``linux`` for one in virtual time;
        ``linux:VERSION`` names its version.
    repetitions
        Runs of each scenario on the kernel, each with a seed of its own; by default 3 on ``machine`` and 6 on
        ``linux``. Fewer than 3 do not show the kernel's spread.
    tolerance
        Largest relative difference of delivered data and completion times that counts as none.
    attempts
        Most attempts to get a run without late packets; only on ``machine``, by default 3.
    change_hystart
        Whether HyStart may be switched off for the whole machine while a run lasts; only on ``machine``.
    out
        Folder for the measurements, the report and its tables; the same call continues an interrupted comparison there,
        and repeats runs that failed.
    jobs
        Number of parallel runs: by default one for each processor, but one on ``machine``, where more make packets
        late.
    engine
        Where simulations and runs in virtual time take place, such as `ackclock.Ray`.
    budget
        Real time for the runs: seconds, or a text such as ``"20 min"``. No run begins later; the same call continues.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Raises
    ------
    ValueError
        If a file is invalid, the world has no kernel, or no scenario could run on it.
    OSError
        If a file cannot be read, the folder cannot be written to, or this computer cannot run the world.
    Interrupted
        After Ctrl-C; with `out`, finished runs are stored.
    """
    # These modules import polars, which takes longer to load than the rest of the package.
    from ackclock.linux import comparing, report, worlds
    from ackclock.linux.result import Comparison

    world = worlds.find(on, attempts=attempts, change_hystart=change_hystart)
    if not world.release:
        raise ValueError(f"{on} has no kernel to compare with; choose linux or machine")
    if jobs is not None and not world.virtual:
        world = replace(world, jobs=jobs)
    given = [scenarios] if isinstance(scenarios, (str, Path, Scenario)) else list(scenarios)
    experiment = Experiment(out, jobs=jobs, engine=engine, budget=budget, progress=progress)
    outcome = comparing.Outcome(comparing.cases(given), world, repetitions or world.repetitions, experiment)
    world.check()
    for case in outcome.cases:
        if reason := world.refusal(case.scenario):
            outcome.refused[case.name] = reason
            log.warning("not run on the kernel: %s: %s", case.name, reason)
    with experiment.opened(report.KIND, report.manifest(outcome), report.WRITTEN):
        _say_what_runs(outcome)
        try:
            outcome.run()
        finally:
            experiment.say_what_ran()
        for line in report.failures(outcome):
            log.warning(line)
        found = Comparison(outcome, tolerance)
        if not found.pairs:
            raise ValueError("no scenario could run on the kernel; the messages above say why")
        if experiment.out is not None:
            log.info("drawing and writing the report")
            report.write(experiment.out, outcome, found.pairs, found.differences)
            experiment.finish()
            log.info("written to %s: %s", experiment.out, ", ".join(report.WRITTEN))
    return found


def _say_what_runs(outcome: Outcome) -> None:
    """Log how many runs are missing on the kernel, and which real time they take."""
    left = [point.scenario for point in outcome.on_kernel if not outcome.experiment.store.has(point)]
    if left:
        seconds = outcome.world.takes(left)
        time = f" take {in_words(seconds)}, longer if this machine disturbs them" if seconds else ""
        runs = counted(len(left), "run")
        log.info("%s: %s on %s%s", counted(len(outcome.cases), "scenario"), runs, outcome.world.title, time)
