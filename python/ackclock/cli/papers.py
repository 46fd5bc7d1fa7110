"""The commands `paper` and `papers`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.cli import options, output
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.execute import Interrupted
from ackclock.files import storage
from ackclock.judging import evidence
from ackclock.papers import answers, library
from ackclock.papers.library import Paper
from ackclock.papers.onkernel import runs as realtime
from ackclock.papers.onkernel import section
from ackclock.papers.onkernel.machine import Machine
from ackclock.papers.onkernel.runs import OnMachine
from ackclock.papers.verdicts import Judgement
from ackclock.reports import units
from ackclock.texts.numbers import counted, in_words

if TYPE_CHECKING:
    from ackclock.papers.report import Report


BUDGET, QUICK_BUDGET = 3600.0, 600.0
"""Real time of runs on the kernel, in seconds, without and with --quick."""
LESS = ("source in the paper", "all claims together")
"""Columns of verdicts that a narrow terminal leaves out, the least important first."""


def new_command(name: str, *, ran: bool) -> None:
    """Write a small paper, and say how to go on; `ran` tells that options of a run were given."""
    from ackclock.papers import starting

    if ran:
        raise ValueError("--new writes files and runs nothing, so it takes no other option")
    for file in starting.start(name):
        output.place(file)
    output.note(f"run it: ackclock paper {name}")


def paper_command(
    name: str,
    *,
    quick: bool,
    on_kernel: bool,
    budget: str | None,
    brief: bool,
    out: Path | None,
    json_output: bool,
    engine: Engine,
) -> None:
    """Run a paper, write its report, and print the verdicts and the answer."""
    if budget is not None and not on_kernel:
        raise ValueError("--budget is for runs in real time; add --on kernel")
    seconds = options.seconds(budget, "--budget") if budget is not None else QUICK_BUDGET if quick else BUDGET
    paper = library.find(name)
    target = out or Path("out") / (f"{name}-quick" if quick else name)
    storage.check_free(target, "paper")  # before the plan, which takes seconds
    machine = _machine() if on_kernel else None
    written = _reproduce(paper, target, quick=quick, engine=engine, machine=machine, budget=seconds)
    if json_output:
        output.data(json.loads((target / "verdicts.json").read_text(encoding="utf-8")))
    elif not brief:
        _show(written.judgements)
    if said := evidence.summary([item.evidence for item in written.judgements]):
        output.note(said)
    if machine is not None:
        output.note("".join(part.text for part in section.sentence(machine.release, written.judgements)))
    if json_output:
        output.note(f"written: {written.html}")
    else:
        for sentence in answers.answer(paper, written.judgements).sentences:
            output.say("".join(part.text for part in sentence))
        output.place(written.html)


def _show(judgements: Sequence[Judgement]) -> None:
    """Print the main reading of each claim; with runs on the kernel also every other reading that ran there."""
    main = [item for item in judgements if item.metric == item.claim.metrics[0]]
    if all(item.kernel is None for item in main):
        lines = [[item.claim.id, item.verdict, evidence.survival(item.evidence), item.claim.source] for item in main]
        output.table(["claim", "verdict", "all claims together", "source in the paper"], lines, left=4, less=LESS)
        return
    shown = [item for item in judgements if item in main or (item.kernel and item.kernel.verdict != "not run")]
    rows = [
        [item.claim.id, units.name(item.metric), item.verdict, item.kernel.verdict if item.kernel else None,
         evidence.survival(item.evidence), item.claim.source]
        for item in shown
    ]  # fmt: skip
    columns = ["claim", "reading", "simulation", "kernel", "all claims together", "source in the paper"]
    output.table(columns, rows, left=6, less=LESS)


def papers_command(*, quick: bool, out: Path | None, jobs: int | None, engine: Engine) -> None:
    """Run all papers, compare their ideas on hosts of today, and write a page about all of them."""
    from ackclock.papers import summary, today

    found = library.papers()
    target = out or Path("out") / ("papers-quick" if quick else "papers")
    storage.check_free(target, summary.KIND)
    target.mkdir(parents=True, exist_ok=True)
    entries = {"papers": [paper.name for paper in found], "quick": quick, "state": "running"}
    storage.write_manifest(target, summary.KIND, entries)
    done = [
        summary.Reproduced(paper, _reproduce(paper, target / paper.name, quick=quick, engine=engine)) for paper in found
    ]
    output.note(f"ideas on hosts of today ({today.HOST})")
    effects = today.measure(found, quick=quick, jobs=jobs)
    lines = [[item.paper.name, *(str(item.counts[verdict]) for verdict in summary.VERDICTS)] for item in done]
    output.table(["paper", *summary.VERDICTS], lines, see="the page below")
    output.place(summary.write(done, effects, target, quick=quick))


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
    paper: Paper, target: Path, *, quick: bool, engine: Engine, machine: Machine | None = None, budget: float = 0.0
) -> Report:
    """Run what is not stored of a paper, also on a machine's kernel, and write its report."""
    from ackclock.papers import report, reproduction
    from ackclock.papers.onkernel import choosing
    from ackclock.papers.plan import plan_paper

    plan = plan_paper(paper, quick=quick)
    evaluations = f" and {counted(plan.evaluations, 'evaluation')} of models" if plan.models else ""
    output.note(f"{paper.title}: {counted(len(plan.runs), 'run')}{evaluations}")
    choice = choosing.choose(plan, machine, budget) if machine is not None else None
    if choice is not None:
        output.note(
            f"on the kernel, Linux {choice.release}: {counted(len(choice.runs), 'run')} one after another, about "
            f"{in_words(choice.seconds)} of real time, for {len(choice.chosen)} of "
            f"{counted(len(choice.readings), 'reading')}"
        )
    with output.progress("runs") as progress, _advised():
        outcome = reproduction.execute(plan, target, engine=engine, progress=progress)
    found = None
    if choice is not None and machine is not None:
        with output.progress("runs on the kernel") as progress, _advised():
            found = realtime.execute(choice, target, machine, progress=progress)
    output.note("drawing and writing the report")
    written = report.write(outcome, target, found)
    output.note(f"{counted(outcome.reused, 'run')} stored before, {len(plan.runs) - outcome.reused:,} new")
    if found is not None:
        _note(found)
    return written


def _note(found: OnMachine) -> None:
    """Say how many runs on the kernel are new, and how many have no result."""
    new = found.count - found.reused
    output.note(f"on the kernel, {counted(found.reused, 'run')} stored before, {new:,} new")
    if found.missing:
        left = counted(len(found.missing), "run")
        reasons = "".join(f"\n  {problem}" for problem in found.problems)
        output.warning(f"{left} on the kernel have no result; the same command repeats them{reasons}")


@contextlib.contextmanager
def _advised() -> Iterator[None]:
    """Add an advice to the message after Ctrl-C."""
    try:
        yield
    except Interrupted as stopped:
        raise Interrupted(stopped.results, advice="run the same command to continue") from None
