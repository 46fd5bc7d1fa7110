"""The commands `paper` and `papers`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.cli import output
from ackclock.experiments.execute import Interrupted
from ackclock.files import storage
from ackclock.papers import library
from ackclock.papers.library import Paper

if TYPE_CHECKING:
    from ackclock.papers.report import Report


def paper_command(name: str, *, quick: bool, out: Path | None, jobs: int | None) -> None:
    """Run a paper, write its report, and print the verdicts."""
    paper = library.find(name)
    target = out or Path("out") / (f"{name}-quick" if quick else name)
    from ackclock.papers import evidence

    written = _reproduce(paper, target, quick=quick, jobs=jobs)
    main = [judgement for judgement in written.judgements if judgement.metric == judgement.claim.metrics[0]]
    lines = [[item.claim.id, item.verdict, evidence.survival(item.evidence), item.claim.source] for item in main]
    output.table(["claim", "verdict", "all claims together", "source in the paper"], lines, left=4)
    if said := evidence.summary([item.evidence for item in written.judgements]):
        output.note(said)
    output.place(written.html)


def papers_command(*, quick: bool, out: Path | None, jobs: int | None) -> None:
    """Run all papers, compare their ideas on hosts of today, and write a page about all of them."""
    from ackclock.papers import summary, today

    found = library.papers()
    target = out or Path("out") / ("papers-quick" if quick else "papers")
    storage.check_free(target, summary.KIND)
    target.mkdir(parents=True, exist_ok=True)
    entries = {"papers": [paper.name for paper in found], "quick": quick, "state": "running"}
    storage.write_manifest(target, summary.KIND, entries)
    done = [
        summary.Reproduced(paper, _reproduce(paper, target / paper.name, quick=quick, jobs=jobs)) for paper in found
    ]
    output.note(f"ideas on hosts of today ({today.HOST})")
    effects = today.measure(found, quick=quick, jobs=jobs)
    lines = [[item.paper.name, *(str(item.counts[verdict]) for verdict in summary.VERDICTS)] for item in done]
    output.table(["paper", *summary.VERDICTS], lines)
    output.place(summary.write(done, effects, target, quick=quick))


def _reproduce(paper: Paper, target: Path, *, quick: bool, jobs: int | None) -> Report:
    """Run what is not stored of a paper, and write its report."""
    from ackclock.papers import report, reproduction
    from ackclock.papers.plan import plan_paper

    plan = plan_paper(paper, quick=quick)
    evaluations = f" and {plan.evaluations} evaluations of models" if plan.models else ""
    output.note(f"{paper.title}: {len(plan.runs)} runs{evaluations}")
    with output.progress("runs", len(plan.runs)) as progress:
        try:
            outcome = reproduction.execute(plan, target, jobs=jobs, progress=progress)
        except Interrupted as stopped:
            advice = "run the same command to continue"
            raise Interrupted(stopped.results, advice=advice) from None
    output.note("drawing and writing the report")
    written = report.write(outcome, target)
    output.note(f"{outcome.reused} runs were stored, {len(plan.runs) - outcome.reused} are new")
    return written
