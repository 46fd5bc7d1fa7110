"""The command `compare`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ackclock.cli import output
from ackclock.comparisons import judging, planning, words
from ackclock.comparisons.planning import Outcome, Plan
from ackclock.running import Interrupted
from ackclock.texts.numbers import counted, finite


def compare_command(
    texts: Sequence[str],
    on: Sequence[str] | None,
    *,
    reference: str | None,
    seeds: int | None,
    within: float | None,
    margin: float,
    size: str | None,
    duration: str | None,
    out: Path | None,
    json_output: bool,
    jobs: int | None,
) -> None:
    """Run a comparison, print its answer and table or JSON, and write the report."""
    where = None if on is None else [name.strip() for text in on for name in text.split(",")]
    plan = planning.planned(
        texts, where, reference=reference, seeds=seeds, within=None if within is None else within / 100,
        margin=margin / 100, size=size, duration=duration,
    )  # fmt: skip

    from ackclock.comparisons import report

    outcome = Outcome(plan, report.begin(out, plan) if out is not None else {})
    if out is not None:
        outcome.keep = report.journal(out).add
    stopped = _run(plan, outcome, jobs)
    judged = judging.Judged(outcome, margin / 100)
    written = None
    if out is not None and stopped:
        report.keep(outcome, out, "interrupted")
    elif out is not None:
        output.note("drawing and writing the report")
        written = report.write(judged, out)
    if judged.places:
        _show(judged, json_output=json_output)
    if stopped:
        advice = "run the same command to continue" if out is not None else "--out stores finished runs"
        raise Interrupted(stopped.results, advice=advice)
    if written is not None:
        output.note(f"written to {out}: {', '.join(report.WRITTEN)}")


def _run(plan: Plan, outcome: Outcome, jobs: int | None) -> Interrupted | None:
    """Run the plan; after Ctrl-C, return the interruption."""
    names = ", ".join(place.name for place in plan.places)
    output.note(
        f"{' and '.join(each.name for each in plan.contenders[1:])} against {plan.contenders[0].name} on {names}"
    )
    started, stopped = time.monotonic(), None
    before = set(outcome.measured)
    # The number of runs is not known in advance if a rule of stopping decides.
    with output.progress("runs", 2) as progress:
        try:
            planning.run(plan, outcome, jobs=jobs, progress=progress)
        except Interrupted as caught:
            stopped = caught
    points = outcome.points
    new = sum(key not in before for key in points if key in outcome.measured)
    stored = sum(key in before for key in points)
    ending = f", {stored:,} were stored" if stored else ""
    output.note(f"{counted(new, 'run')} in {time.monotonic() - started:.1f} s{ending}")
    return stopped


def _show(judged: judging.Judged, *, json_output: bool) -> None:
    if json_output:
        output.data(
            finite(
                {
                    "reference": judged.names[0],
                    "margin": judged.margin,
                    "answer": words.answer(judged),
                    "warnings": judged.warnings,
                    "rows": judged.rows,
                }
            )
        )
        return
    print("\n\n".join(words.answer(judged)))
    titles, wins = words.wins(judged)
    output.table(titles, wins, title="who wins in what", left=len(titles))
    columns, rows = words.table(judged)
    # A path is named once, in the first of its rows.
    short = [["" if at and rows[at - 1][0] == path else path, *rest] for at, (path, *rest) in enumerate(rows)]
    output.table(columns, short, left=words.LEFT)
    if any(name.endswith(" *") for _, name, *_ in rows):
        print("* wins: faster than every other on its path, or about as fast and better by its costs")
    for text in judged.warnings:
        output.warning(text)
    for text in words.notes(judged):
        output.note(text)
