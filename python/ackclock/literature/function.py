"""The functions `ackclock.paper`, `ackclock.papers` for all papers, and `ackclock.verify`, which checks a result."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.arguments import Count, File, Progress, Seed, Switch, Text, Time, Words, checked, seconds
from ackclock.experiments.engines.engine import AnEngine, Engine
from ackclock.experiments.engines.timed import RealTime
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.world import SIMULATION, World
from ackclock.files import storage
from ackclock.formatting.numbers import counted

if TYPE_CHECKING:
    from ackclock.literature.library import Paper
    from ackclock.literature.report import Report
    from ackclock.literature.summary import Reproduced
    from ackclock.literature.verification import Verified
    from ackclock.literature.worlds.runs import Elsewhere

log = logging.getLogger(__name__)


@checked
def paper(
    name: Text,
    *,
    quick: Switch = False,
    on: Words = "simulation",
    budget: Time | None = None,
    out: File | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    progress: Progress | None = None,
) -> Report:
    """Run the experiments of a paper, judge its claims, and write figures and a report.

    Parameters
    ----------
    name
        A paper, by its name or folder.
    quick
        Whether to use fewer seeds, start times and variants.
    on
        Worlds in which claims are judged: ``simulation``, and beside it ``linux`` (a kernel in virtual time;
        ``linux:7.2`` names its version) or ``machine`` (this machine's kernel in real time).
    budget
        Real time for the runs: seconds, or a text such as ``"20 min"``. No run begins later; the same call continues.
        With other worlds, it chooses beforehand the claims whose runs in each of these last as long: on ``machine``
        real time, by default an hour, or 10 minutes with `quick`; on ``linux`` virtual time, by default no limit.
    out
        Folder to write to; by default ``out/NAME``, or ``out/NAME-quick``. Stored runs are reused.
    jobs
        Number of parallel runs; the result does not depend on it.
    engine
        Where the runs take place, such as `ackclock.Ray`; by default on `jobs` threads of this process.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Raises
    ------
    ValueError
        If there is no such paper or world, a file is wrong, or no claim can be judged in a world.
    OSError
        If the folder cannot be written to, or this machine cannot run a world.
    Interrupted
        After Ctrl-C; finished runs are stored.
    """
    # These modules import polars and matplotlib, which take longer to load than the rest of the package.
    from ackclock.literature import library
    from ackclock.literature.reproduction import KIND
    from ackclock.literature.worlds import choosing

    others = choosing.worlds_beside(on)
    found = library.find(name)
    target = _target(name, quick, out)
    storage.check_free(target, KIND)  # before the plan, which takes seconds
    for world in others:
        world.check()
    own = RealTime(None if others else budget)
    chosen = None if budget is None else seconds(budget)
    return _reproduce(found, target, quick, jobs, engine, own, progress, others, chosen)


@checked
def verify(
    name: Text,
    *,
    quick: Switch = False,
    out: File | None = None,
    seed: Seed = 1,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Run a sample of a paper's stored runs anew, and compare every row with the stored one, bit by bit.

    The sample has 5 % of the runs, at least 50 and at most 1,000. The stored rows may come from another machine or
    another version of the program.

    Parameters
    ----------
    name
        A paper, by its name or folder.
    quick
        Whether the stored runs are the quick ones.
    out
        The folder that `paper` wrote; by default ``out/NAME``, or ``out/NAME-quick``.
    seed
        Seed of the sample.
    jobs, engine, budget, progress
        As in `paper`.

    Returns
    -------
    Verified
        How many runs agree, and the rows that differ.

    Raises
    ------
    ValueError
        If there is no such paper, or its files describe other runs than the stored ones.
    OSError
        If the folder has no finished runs of the paper.
    Interrupted
        After Ctrl-C, or at the end of the budget.
    """
    from ackclock.literature import library, verification
    from ackclock.literature.plan import plan_paper

    plan = plan_paper(library.find(name), quick=quick)
    return verification.verify(
        plan, _target(name, quick, out), seed, jobs=jobs, engine=engine, progress=progress, budget=RealTime(budget)
    )


def _target(name: str, quick: bool, out: str | PathLike[str] | None) -> Path:
    """Return the folder of a paper's results."""
    return Path(out) if out is not None else Path("out") / (f"{name}-quick" if quick else name)


@checked
def papers(
    *,
    quick: Switch = False,
    on: Words = "simulation",
    out: File | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> list[Reproduced]:
    """Run all papers with a ``[summary]``, compare their ideas on hosts of today, and write a page about all of them.

    Parameters and errors are those of `paper`; `on` has the worlds in which the ideas run, while the papers run in the
    simulation. The page is ``report.html`` in the folder, which has a folder for each paper.
    """
    from ackclock.literature import library, summary, today
    from ackclock.literature.worlds import choosing

    others = choosing.worlds_beside(on)
    found = [each for each in library.papers() if each.contents.summary is not None]
    if not found:
        raise ValueError(f"there is no paper; a paper is a folder in one of {', '.join(map(str, library.places()))}")
    target = Path(out) if out is not None else Path("out") / ("papers-quick" if quick else "papers")
    for world in others:
        world.check()
    own = RealTime(budget)
    experiment = Experiment(target, jobs=jobs, engine=engine, budget=own, progress=progress)
    entries = {"papers": [each.name for each in found], "quick": quick}
    with experiment.opened(summary.KIND, entries, [summary.PAGE]):
        done = [
            summary.Reproduced(each, _reproduce(each, target / each.name, quick, jobs, engine, own, progress))
            for each in found
        ]
        worlds = [SIMULATION, *others]
        log.info("ideas on hosts of today (%s)", ", ".join(map(today.how, worlds)))
        try:
            effects = today.measure(found, experiment, worlds, quick=quick)
        finally:
            experiment.say_what_ran()
        summary.write(done, effects, target, quick=quick)
        experiment.finish()
    return done


def _reproduce(
    found: Paper,
    target: Path,
    quick: bool,
    jobs: int | None,
    engine: Engine | None,
    own: RealTime,
    progress: Progress | None,
    others: Sequence[World] = (),
    budget: float | None = None,
) -> Report:
    """Run what is not stored of a paper, also in other worlds, and write its report."""
    from ackclock.literature import report, reproduction
    from ackclock.literature.plan import plan_paper
    from ackclock.literature.worlds import choosing
    from ackclock.literature.worlds import runs as elsewhere

    if not others and (there := report.written(found, target, quick=quick)) is not None:
        runs = storage.read_manifest(target, reproduction.KIND)["runs"]
        log.info("%s: %s", found.title, counted(runs, "run"))
        log.info("0 runs in 0.0 s, %s were stored; nothing that determines the report has changed", f"{runs:,}")
        return there
    plan = plan_paper(found, quick=quick)
    evaluations = f" and {counted(plan.evaluations, 'evaluation')} of models" if plan.models else ""
    log.info("%s: %s%s", found.title, counted(len(plan.runs), "run"), evaluations)
    choices = [choosing.choose(plan, world, budget) for world in others]
    for choice in choices:
        log.info(choice.said)
    outcome = reproduction.execute(plan, target, jobs=jobs, engine=engine, budget=own, progress=progress)
    made: list[Elsewhere] = []
    if choices:
        experiment = Experiment(target, jobs=jobs, engine=engine, budget=own, progress=progress)
        with experiment.opened(reproduction.KIND, reproduction.manifest(plan)):
            try:
                made = elsewhere.run(choices, experiment)
            finally:
                experiment.say_what_ran()
            experiment.finish(reproduction.DRAWING)
    log.info("drawing and writing the report")
    written = report.write(outcome, target, made, jobs=jobs)
    for each in made:
        world = each.choice.world
        if each.missing:
            left, reasons = counted(len(each.missing), "run"), "".join(f"\n  {problem}" for problem in each.problems)
            log.warning("%s on %s had no result; the same command repeats them%s", left, world.title, reasons)
    return written
