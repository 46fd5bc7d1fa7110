"""The functions `ackclock.compare` and `ackclock.matrix`."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.arguments import Amount, Count, File, Files, Progress, Share, Span, Switch, Text, Time, Words, checked
from ackclock.comparisons.parts import WHOLE, Choice, PartSpec
from ackclock.experiments.engines.engine import AnEngine
from ackclock.experiments.execute import Interrupted
from ackclock.experiments.experiment import Experiment
from ackclock.files import checks
from ackclock.formatting.numbers import counted

if TYPE_CHECKING:
    from ackclock.comparisons.planning import Plan
    from ackclock.comparisons.result import Comparison

MOST_REASONS = 3
"""Reasons of failed runs that are told one by one."""
log = logging.getLogger(__name__)


@checked
def compare(
    *contenders: str | Path | type | Mapping[str, str | Path | type],
    paths: Files | None = None,
    on: Words = "simulation",
    reference: str | type | None = None,
    seeds: Count | None = None,
    within: Share | None = None,
    margin: Share = 0.05,
    size: Amount | None = None,
    duration: Span | None = None,
    harm: Switch = True,
    out: File | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare algorithms, hosts or scenario files on paths; the first is the reference.

    Parameters
    ----------
    *contenders
        Names of slow starts, avoidances, whole controls and hosts; combinations such as ``linux+bbr``; ``KEY=VALUE`` of
        a flow; scenario files; or controls and slow starts in Python: classes, or their import paths such as
        ``delay.py:Delay``. A mapping gives contenders names of their own, such as ``{"gentle": make(0.3), "eager":
        make(0.9)}``; so does ``eager=delay.py:Eager``.
    paths
        Names of the matrix's paths, scenario files, or tables of paths (CSV, Parquet). By default all paths of the
        matrix; scenario files run as they are.
    on
        Worlds where the runs take place: ``simulation``, ``linux`` (a kernel in virtual time; ``linux:7.2`` names its
        version), ``machine`` (this machine's kernel in real time). In several, each path is judged in each, and the
        contenders' speeds are compared with those of the first.
    reference
        The contender to compare with, in place of the first; or the name of one that is given.
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
    budget
        Real time for the runs: seconds, or a text such as ``"20 min"``. No run begins later; the same call continues.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Raises
    ------
    ValueError
        If a name is unknown or ambiguous, two contenders are the same, or a path cannot have a contender.
    OSError
        If a file cannot be read, the folder cannot be written to, or this computer cannot run a world.
    Interrupted
        After Ctrl-C, or at the end of the budget; its ``found`` is the comparison of the finished runs.
    """
    # These modules import polars, which takes longer to load than the rest of the package.
    from ackclock.comparisons import planning
    from ackclock.linux import worlds

    where = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    plan = planning.planned(
        contenders, None if where is None else [str(each) for each in where], worlds.several(on),
        reference=reference, seeds=seeds, within=within, size=size, duration=duration, harm=harm,
    )  # fmt: skip
    return _asked(plan, margin, Experiment(out, jobs=jobs, engine=engine, budget=budget, progress=progress))


@checked
def matrix(
    *,
    slow_start: Choice = None,
    avoidance: Choice = None,
    loss_response: Choice = None,
    recovery: Choice = None,
    congestion_control: Choice = None,
    all: Switch = False,  # noqa: A002 - as the option of the command
    paths: Files | None = None,
    on: Words = "simulation",
    seeds: Count = 3,
    duration: Span | None = None,
    baseline: Mapping[str, PartSpec] | None = None,
    margin: Share = 0.05,
    sort: Text | None = None,
    top: Count = 3,
    out: File | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare every combination of parts with a baseline on paths: a `compare` without harm.

    Parameters
    ----------
    slow_start, avoidance, loss_response, recovery
        The parts to combine: names, or tables such as ``{"kind": "staged", "algorithm": 3}``; by default all parts.
    congestion_control
        Whole controls, which combine only with recoveries: names or tables, such as ``"bbr"``. By default all, or none
        if one of the first three axes is given. If only this axis is given, there are no other combinations.
    all
        Whether to draw a map of the field: every slow start with every avoidance, and every whole control, on the paths
        ``field`` with hosts of today, against what Linux has. Other parameters restrict it.
    seeds
        Drawn paths, each with a seed of its own.
    baseline
        Parts of the combination to compare with, by axis, such as ``{"avoidance": "cubic"}``. The other axes have a
        scenario's defaults. ``{"congestion_control": "bbr"}`` is a whole control.
    sort
        The metric to rank by in the report: ``goodput_bps``, ``completion``, ``sojourn_p95``, ``resent``, ``jain`` or
        ``taken``; by default completion time on paths whose flows end, otherwise goodput.
    top
        Number of best combinations of a path that the report shows of many.
    paths, on, duration, margin, out, jobs, engine, budget, progress
        As for `compare`.

    Raises
    ------
    ValueError
        If a part or a path is unknown, or no combination is possible.
    OSError, Interrupted
        As for `compare`.
    """
    from ackclock.comparisons import crossing
    from ackclock.comparisons.crossed import SHOWN
    from ackclock.linux import worlds

    checks.words("--sort", "metric", [sort] if sort else [], SHOWN)
    where = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    chosen: dict[str, Choice] = {
        "slow_start": slow_start, "avoidance": avoidance, "loss_response": loss_response, "recovery": recovery,
        WHOLE: congestion_control,
    }  # fmt: skip
    if all:
        chosen, where, baseline = crossing.of_field(chosen, where, baseline)
    plan = crossing.plan(
        chosen,
        paths=None if where is None else [str(each) for each in where], worlds=worlds.several(on),
        seeds=seeds, duration=duration, baseline=baseline,
    )  # fmt: skip
    experiment = Experiment(out, jobs=jobs, engine=engine, budget=budget, progress=progress)
    return _asked(plan, margin, experiment, sort, top)


def _asked(plan: Plan, margin: float, experiment: Experiment, sort: str | None = None, top: int = 3) -> Comparison:
    """Run a plan, judge it, and write the report."""
    from ackclock.comparisons import conditions, judging, planning, report
    from ackclock.comparisons.result import Comparison

    log.info(conditions.about(plan))
    for text in conditions.conditions(plan):
        log.info(text)
    if text := conditions.mixed(plan):
        log.warning(text)
    outcome = planning.Outcome(plan, experiment)
    with experiment.opened(report.KIND, report.manifest(plan), report.WRITTEN):
        try:
            planning.run(outcome)
        except Interrupted as stopped:
            judged = judging.Judged(outcome, margin)
            stopped.found = Comparison(judged, sort, top) if judged.places else None
            raise
        finally:
            experiment.say_what_ran()
        judged = judging.Judged(outcome, margin)
        failed = Counter(experiment.failed.values())
        if failed and not judged.places:
            raise ValueError(f"no pair of runs has a result: {next(iter(failed))}")
        for reason, count in failed.most_common(MOST_REASONS):
            log.warning("%s without a result: %s", counted(count, "run"), reason)
        found = Comparison(judged, sort, top)
        if experiment.out is not None:
            log.info("drawing and writing the report")
            written = report.write(found, experiment.out)
            experiment.finish(runs=len(outcome.points))
            log.info("written to %s: %s", experiment.out, ", ".join(written))
    return found
