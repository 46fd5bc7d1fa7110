"""The command `paper`."""

from __future__ import annotations

from pathlib import Path

from ackclock.cli import output
from ackclock.experiments.execute import Interrupted
from ackclock.papers import library


def paper_command(name: str, *, quick: bool, out: Path | None, jobs: int | None) -> None:
    """Run a paper, write its report, and print the verdicts."""
    paper = library.find(name)
    target = out or Path("out") / (f"{name}-quick" if quick else name)

    from ackclock.papers import report, reproduction
    from ackclock.papers.evidence import summary, survival
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
    main = [judgement for judgement in written.judgements if judgement.metric == judgement.claim.metrics[0]]
    lines = [[item.claim.id, item.verdict, survival(item.evidence), item.claim.source] for item in main]
    output.table(["claim", "verdict", "all claims together", "source in the paper"], lines, left=4)
    if said := summary([item.evidence for item in written.judgements]):
        output.note(said)
    output.note(f"{outcome.reused} runs were stored, {len(plan.runs) - outcome.reused} are new")
    output.place(written.html)
