"""The functions `ackclock.paper`, and the same for all papers: runs, verdicts, and the report."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.execute import Progress
from ackclock.files import storage
from ackclock.texts.numbers import counted, in_words

if TYPE_CHECKING:
    from ackclock.papers.library import Paper
    from ackclock.papers.onkernel.machine import Machine
    from ackclock.papers.onkernel.runs import OnMachine
    from ackclock.papers.report import Report
    from ackclock.papers.summary import Reproduced

BUDGET, QUICK_BUDGET = 3600.0, 600.0
"""Real time of runs on the kernel, in seconds, without and with `quick`."""
WORLDS = ("simulation", "kernel")
log = logging.getLogger(__name__)


def paper(
    name: str,
    *,
    quick: bool = False,
    on: str = "simulation",
    budget: float | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: Engine | None = None,
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
        ``kernel`` also runs a part of the experiments in real time on this machine's TCP.
    budget
        Real time of the runs on the kernel, in seconds; by default an hour, or 10 minutes with `quick`.
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
        If there is no such paper, its files are wrong, or `budget` has no kernel.
    OSError
        If the folder cannot be written to, or this machine cannot run scenarios on its kernel.
    Interrupted
        After Ctrl-C; finished runs are stored.
    """
    # These modules import polars and matplotlib, which take longer to load than the rest of the package.
    from ackclock.papers import library
    from ackclock.papers.reproduction import KIND

    if on not in WORLDS:
        raise ValueError(f"on {on}: expected {' or '.join(WORLDS)}")
    if budget is not None and on != "kernel":
        raise ValueError("--budget is for runs in real time; add --on kernel")
    found = library.find(name)
    target = Path(out) if out is not None else Path("out") / (f"{name}-quick" if quick else name)
    storage.check_free(target, KIND)  # before the plan, which takes seconds
    machine = _machine() if on == "kernel" else None
    seconds = budget if budget is not None else QUICK_BUDGET if quick else BUDGET
    return _reproduce(found, target, quick, jobs, engine, progress, machine, seconds)


def papers(
    *,
    quick: bool = False,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> list[Reproduced]:
    """Run all papers, compare their ideas on hosts of today, and write a page about all of them.

    Parameters and errors are those of `paper`. The page is ``report.html`` in the folder, which has a folder for each
    paper.
    """
    from ackclock.papers import library, summary, today

    found = library.papers()
    target = Path(out) if out is not None else Path("out") / ("papers-quick" if quick else "papers")
    storage.check_free(target, summary.KIND)
    target.mkdir(parents=True, exist_ok=True)
    entries = {"papers": [each.name for each in found], "quick": quick, "state": "running"}
    storage.write_manifest(target, summary.KIND, entries)
    done = [
        summary.Reproduced(each, _reproduce(each, target / each.name, quick, jobs, engine, progress)) for each in found
    ]
    log.info("ideas on hosts of today (%s)", today.HOST)
    effects = today.measure(found, quick=quick, jobs=jobs)
    summary.write(done, effects, target, quick=quick)
    return done


def _machine() -> Machine:
    """Return this machine, if its kernel can run scenarios.

    Raises
    ------
    OSError
        If something is missing, which the message names.
    """
    from ackclock.papers.onkernel import linux

    return linux.ThisMachine()


def _reproduce(
    found: Paper,
    target: Path,
    quick: bool,
    jobs: int | None,
    engine: Engine | None,
    progress: Progress | None,
    machine: Machine | None = None,
    budget: float = 0.0,
) -> Report:
    """Run what is not stored of a paper, also on a machine's kernel, and write its report."""
    from ackclock.papers import report, reproduction
    from ackclock.papers.onkernel import choosing, section
    from ackclock.papers.onkernel import runs as realtime
    from ackclock.papers.plan import plan_paper

    plan = plan_paper(found, quick=quick)
    evaluations = f" and {counted(plan.evaluations, 'evaluation')} of models" if plan.models else ""
    log.info("%s: %s%s", found.title, counted(len(plan.runs), "run"), evaluations)
    choice = choosing.choose(plan, machine, budget) if machine is not None else None
    if choice is not None:
        log.info(
            "on the kernel, Linux %s: %s one after another, about %s of real time, for %d of %s",
            choice.release, counted(len(choice.runs), "run"), in_words(choice.seconds), len(choice.chosen),
            counted(len(choice.readings), "reading"),
        )  # fmt: skip
    outcome = reproduction.execute(plan, target, jobs=jobs, engine=engine, progress=progress)
    on_kernel = None
    if choice is not None and machine is not None:
        on_kernel = realtime.execute(choice, target, machine, progress=progress)
    log.info("drawing and writing the report")
    written = report.write(outcome, target, on_kernel)
    if on_kernel is not None:
        _note(on_kernel)
        said = section.sentence(on_kernel.choice.release, written.judgements)
        log.info("".join(part.text for part in said))
    return written


def _note(found: OnMachine) -> None:
    """Say how many runs on the kernel are new, and how many have no result."""
    log.info("on the kernel, %s stored before, %d new", counted(found.reused, "run"), found.count - found.reused)
    if found.missing:
        left = counted(len(found.missing), "run")
        reasons = "".join(f"\n  {problem}" for problem in found.problems)
        log.warning("%s on the kernel have no result; the same command repeats them%s", left, reasons)
