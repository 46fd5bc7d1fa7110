"""The commands `paper` and `papers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.cli import output
from ackclock.formatting.numbers import counted
from ackclock.judging import evidence
from ackclock.literature.verdicts import Judgement
from ackclock.reports import units

if TYPE_CHECKING:
    from ackclock.literature.report import Report
    from ackclock.literature.sentences import Sentence
    from ackclock.literature.summary import Reproduced
    from ackclock.literature.verification import Verified

LESS = ("source in the paper", "all claims together", "in other readings")
"""Columns of verdicts that a narrow terminal leaves out, the least important first."""


def new_command(name: str, *, ran: bool) -> None:
    """Write a small paper, and say how to go on; `ran` tells that options of a run were given."""
    from ackclock.literature import starting

    if ran:
        raise ValueError("--new writes files and runs nothing, so it takes no other option")
    for file in starting.start(name):
        output.place(file)
    output.note(f"run it: ackclock paper {name}")


def show(written: Report, *, brief: bool, json_output: bool) -> None:
    """Print the verdicts, and the answer, or JSON."""
    if written.quick:
        (output.note if json_output else output.say)(written.quick)
    if json_output:
        output.data(written.verdicts)
    elif not brief:
        _show(written.judgements)
    if said := evidence.summary([item.evidence for item in written.judgements]):
        output.note(said)
    if json_output:
        output.note(f"written: {written.html}")
        return
    for sentence in written.answer.sentences:
        output.say("".join(part.text for part in sentence))
    output.place(written.html)


def show_verified(found: Verified, *, json_output: bool) -> None:
    """Print what a verification found and the first difference, or JSON with all of them."""
    if json_output:
        names = ("runs", "of", "agreeing", "evaluations", "seed", "differences")
        output.data({name: getattr(found, name) for name in names})
        return
    output.say(found.said)
    if found.differences:
        output.say(f"The first: {found.differences[0]}")


def _show(judgements: Sequence[Judgement]) -> None:
    """Print the outcome of each sentence; with other worlds, the verdict on each reading that ran in one."""
    worlds = list(judgements[0].worlds) if judgements else []
    if not worlds:
        from ackclock.literature import sentences

        found = sentences.sentences(judgements)
        lines = [[it.name, it.outcome, _elsewhere(it), it.source] for it in found if not it.ours]
        output.table(["sentence", "outcome", "in other readings", "source in the paper"], lines, left=4, less=LESS)
        if ours := [it for it in found if it.ours]:
            held = sum(it.outcome == "reproduced" for it in ours)
            output.note(f"of {counted(len(ours), 'claim')} beyond the paper, {held} {'holds' if held == 1 else 'hold'}")
        return
    ran = [item for item in judgements if any(own.verdict != "not run" for own in item.worlds.values())]
    rows = [
        [item.claim.id, units.name(item.metric), item.verdict, *(item.worlds[name].verdict for name in worlds),
         evidence.survival(item.evidence), item.claim.source]
        for item in judgements
        if item.metric == item.claim.metrics[0] or item in ran
    ]  # fmt: skip
    columns = ["claim", "reading", "simulation", *worlds, "all claims together", "source in the paper"]
    output.table(columns, rows, left=len(columns), less=LESS)


def _elsewhere(sentence: Sentence) -> str:
    """Say in how many readings beside the main one a sentence is reproduced."""
    ways = list(sentence.others.values())
    return f"reproduced in {ways.count('reproduced')} of {len(ways)}" if ways else ""


def show_all(done: Sequence[Reproduced], *, json_output: bool) -> None:
    """Print the number of sentences by outcome, and the place of the page, or JSON: the verdicts of each paper."""
    from ackclock.literature import sentences

    if json_output:
        output.data({item.paper.name: item.report.verdicts for item in done})
        output.note(f"written: {done[0].report.folder.parent / 'report.html'}")
        return
    lines = [[item.paper.name, *(str(item.counts[way]) for way in sentences.OUTCOMES)] for item in done]
    output.table(["paper", *sentences.OUTCOMES], lines, see="the page below")
    output.place(done[0].report.folder.parent / "report.html")
