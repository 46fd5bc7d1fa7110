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
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.world import World
from ackclock.files import storage
from ackclock.judging import evidence
from ackclock.papers import answers, library
from ackclock.papers.library import Paper
from ackclock.papers.verdicts import Judgement
from ackclock.papers.worlds import choosing, section
from ackclock.papers.worlds import runs as elsewhere
from ackclock.papers.worlds.runs import Elsewhere
from ackclock.reports import units
from ackclock.texts.numbers import counted

if TYPE_CHECKING:
    from ackclock.papers.report import Report


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
    on: str,
    budget: str | None,
    brief: bool,
    out: Path | None,
    json_output: bool,
    engine: Engine,
) -> None:
    """Run a paper, write its report, and print the verdicts and the answer."""
    seconds = None if budget is None else options.seconds(budget, "--budget")
    others = choosing.worlds_beside(on)
    if budget is not None and not others:
        raise ValueError("--budget is for runs in other worlds; add --on simulation,linux or simulation,machine")
    paper = library.find(name)
    target = out or Path("out") / (f"{name}-quick" if quick else name)
    storage.check_free(target, "paper")  # before the plan, which takes seconds
    for world in others:
        world.check()
    written = _reproduce(paper, target, quick=quick, engine=engine, others=others, budget=seconds)
    if json_output:
        output.data(json.loads((target / "verdicts.json").read_text(encoding="utf-8")))
    elif not brief:
        _show(written.judgements, [world.name for world in others])
    if said := evidence.summary([item.evidence for item in written.judgements]):
        output.note(said)
    for world in others:
        output.note("".join(part.text for part in section.sentence(world, written.judgements)))
    if json_output:
        output.note(f"written: {written.html}")
    else:
        for sentence in answers.answer(paper, written.judgements).sentences:
            output.say("".join(part.text for part in sentence))
        output.place(written.html)


def _show(judgements: Sequence[Judgement], worlds: Sequence[str]) -> None:
    """Print the main reading of each claim; with other worlds also every other reading that ran in one."""
    main = [item for item in judgements if item.metric == item.claim.metrics[0]]
    if not worlds:
        lines = [[item.claim.id, item.verdict, evidence.survival(item.evidence), item.claim.source] for item in main]
        output.table(["claim", "verdict", "all claims together", "source in the paper"], lines, left=4, less=LESS)
        return
    ran = [item for item in judgements if any(own.verdict != "not run" for own in item.worlds.values())]
    rows = [
        [item.claim.id, units.name(item.metric), item.verdict, *(item.worlds[name].verdict for name in worlds),
         evidence.survival(item.evidence), item.claim.source]
        for item in judgements
        if item in main or item in ran
    ]  # fmt: skip
    columns = ["claim", "reading", "simulation", *worlds, "all claims together", "source in the paper"]
    output.table(columns, rows, left=len(columns), less=LESS)


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


def _reproduce(
    paper: Paper,
    target: Path,
    *,
    quick: bool,
    engine: Engine,
    others: Sequence[World] = (),
    budget: float | None = None,
) -> Report:
    """Run what is not stored of a paper, also in other worlds, and write its report."""
    from ackclock.papers import report, reproduction
    from ackclock.papers.plan import plan_paper

    plan = plan_paper(paper, quick=quick)
    evaluations = f" and {counted(plan.evaluations, 'evaluation')} of models" if plan.models else ""
    output.note(f"{paper.title}: {counted(len(plan.runs), 'run')}{evaluations}")
    choices = [choosing.choose(plan, world, budget) for world in others]
    for choice in choices:
        output.note(choice.said)
    with output.progress("runs") as progress, _advised():
        outcome = reproduction.execute(plan, target, engine=engine, progress=progress)
    found: list[Elsewhere] = []
    if choices:
        with output.progress("runs in other worlds") as progress:
            experiment = Experiment(target, engine=engine, progress=progress)
            with experiment.opened(reproduction.KIND, reproduction.manifest(plan)):
                found = elsewhere.run(choices, experiment)
                experiment.finish(reproduction.DRAWING)
    output.note("drawing and writing the report")
    written = report.write(outcome, target, found)
    output.note(f"{counted(outcome.reused, 'run')} stored before, {len(plan.runs) - outcome.reused:,} new")
    if choices:
        output.note(f"in other worlds, {counted(experiment.reused, 'run')} stored before, {experiment.new:,} new")
    for each in found:
        if each.missing:
            reasons = "".join(f"\n  {problem}" for problem in each.problems)
            left = f"{counted(len(each.missing), 'run')} on {each.choice.world.title} had no result"
            output.warning(f"{left}; the same command repeats them{reasons}")
    return written


@contextlib.contextmanager
def _advised() -> Iterator[None]:
    """Add an advice to the message after Ctrl-C."""
    try:
        yield
    except Interrupted as stopped:
        raise Interrupted(stopped.results, advice="run the same command to continue") from None
