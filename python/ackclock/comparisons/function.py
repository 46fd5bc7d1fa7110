"""The function `ackclock.compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.execute import Progress

if TYPE_CHECKING:
    from ackclock.comparisons.result import Comparison


def compare(
    *contenders: str | Path,
    on: str | Path | Sequence[str | Path] | None = None,
    reference: str | None = None,
    seeds: int | None = None,
    within: float | None = None,
    margin: float = 0.05,
    size: str | None = None,
    duration: str | None = None,
    harm: bool = True,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare algorithms, hosts or scenario files on paths; the first is the reference.

    Parameters
    ----------
    *contenders
        Names of slow starts, avoidances, whole controls and hosts; combinations such as ``linux+bbr``; ``KEY=VALUE`` of
        a flow; or scenario files.
    on
        Names of the matrix's paths, scenario files, or tables of paths (CSV, Parquet). By default all paths of the
        matrix; scenario files run as they are.
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
        If a file cannot be read.
    """
    # These modules import polars, which takes longer to load than the rest of the package.
    from ackclock.comparisons import judging, planning
    from ackclock.comparisons.result import Comparison

    where = [on] if isinstance(on, (str, Path)) else on
    plan = planning.planned(
        [str(each) for each in contenders], None if where is None else [str(each) for each in where],
        reference=reference, seeds=seeds, within=within, margin=margin, size=size, duration=duration,
        harm=harm,
    )  # fmt: skip
    outcome = planning.Outcome(plan)
    planning.run(plan, outcome, jobs=jobs, engine=engine, progress=progress)
    return Comparison(judging.Judged(outcome, margin))
