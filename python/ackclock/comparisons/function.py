"""The function `ackclock.compare`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.execute import Interrupted, Progress
from ackclock.experiments.experiment import Experiment

if TYPE_CHECKING:
    from ackclock.comparisons.result import Comparison

log = logging.getLogger(__name__)


def compare(
    *contenders: str | Path | type,
    paths: str | Path | Sequence[str | Path] | None = None,
    on: str | Sequence[str] = "simulation",
    reference: str | type | None = None,
    seeds: int | None = None,
    within: float | None = None,
    margin: float = 0.05,
    size: str | None = None,
    duration: str | None = None,
    harm: bool = True,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare algorithms, hosts or scenario files on paths; the first is the reference.

    Parameters
    ----------
    *contenders
        Names of slow starts, avoidances, whole controls and hosts; combinations such as ``linux+bbr``; ``KEY=VALUE`` of
        a flow; scenario files; or controls and slow starts in Python: classes, or their import paths such as
        ``delay.py:Delay``.
    paths
        Names of the matrix's paths, scenario files, or tables of paths (CSV, Parquet). By default all paths of the
        matrix; scenario files run as they are.
    on
        Worlds where the runs take place: ``simulation``, ``linux`` (a kernel in virtual time; ``linux:7.2`` names its
        version), ``machine`` (this machine's kernel in real time). In several, each path is judged in each, and the
        contenders' speeds are compared with those of the first.
    reference
        The contender to compare with, in place of the first.
    seeds
        Drawn paths, each with a seed of its own; by default 10. Of a population: seeds for each path, by default 1.
    within
        Draw paths until the interval of the speed is so narrow, as a share of the reference, but at most `seeds`, then
        by default 100. Each path of a population runs once, because it is not varied.
    margin
        Largest relative difference of speed, and largest difference of harm, that makes no difference.
    size, duration
        Size of every flow under test, and duration of every run, with their units. A transfer of this size on a path of
        a table by default lasts as long as it needs.
    harm
        Whether to measure the harm to a flow of the reference and the time lost in start-up, which take two thirds of
        the runs.
    out
        Folder for the measurements, the report and its tables; the same call continues an interrupted comparison there.
    jobs
        Number of parallel runs; the result does not depend on it.
    engine
        Where the runs take place, such as `ackclock.Ray`; by default on `jobs` threads of this process.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Raises
    ------
    ValueError
        If a name is unknown or ambiguous, two contenders are the same, or a path cannot have a contender.
    OSError
        If a file cannot be read, the folder cannot be written to, or this computer cannot run a world.
    Interrupted
        After Ctrl-C; its ``found`` is the comparison of the finished runs.
    """
    # These modules import polars, which takes longer to load than the rest of the package.
    from ackclock.comparisons import conditions, judging, planning, report
    from ackclock.comparisons.result import Comparison
    from ackclock.kernels import worlds

    where = [paths] if isinstance(paths, (str, Path)) else paths
    plan = planning.planned(
        contenders, None if where is None else [str(each) for each in where], worlds.several(on),
        reference=reference, seeds=seeds, within=within, margin=margin, size=size, duration=duration, harm=harm,
    )  # fmt: skip
    names = [each.name for each in plan.contenders]
    log.info("%s against %s on %s", " and ".join(names[1:]), names[0], ", ".join(each.name for each in plan.places))
    for text in conditions.conditions(plan):
        log.info(text)
    if text := conditions.mixed(plan):
        log.warning(text)
    experiment = Experiment(out, jobs=jobs, engine=engine, progress=progress)
    outcome = planning.Outcome(plan, experiment)
    with experiment.opened(report.KIND, report.manifest(plan), report.WRITTEN):
        try:
            planning.run(outcome)
        except Interrupted as stopped:
            judged = judging.Judged(outcome, margin)
            stopped.found = Comparison(judged) if judged.places else None
            raise
        finally:
            experiment.say_what_ran()
        found = Comparison(judging.Judged(outcome, margin))
        if experiment.out is not None:
            log.info("drawing and writing the report")
            report.write(found.judged, experiment.out)
            experiment.finish(runs=len(outcome.points))
    return found
