"""The commands `paper` and `papers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.cli import output
from ackclock.judging import evidence
from ackclock.literature.verdicts import Judgement
from ackclock.reports import units

if TYPE_CHECKING:
    from ackclock.literature.report import Report
    from ackclock.literature.summary import Reproduced

LESS = ("source in the paper", "all claims together")
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


def _show(judgements: Sequence[Judgement]) -> None:
    """Print the main reading of each claim; with other worlds also every other reading that ran in one."""
    main = [item for item in judgements if item.metric == item.claim.metrics[0]]
    worlds = list(main[0].worlds) if main else []
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


def show_all(done: Sequence[Reproduced]) -> None:
    """Print the number of claims by verdict, and the place of the page."""
    from ackclock.literature import summary

    lines = [[item.paper.name, *(str(item.counts[verdict]) for verdict in summary.VERDICTS)] for item in done]
    output.table(["paper", *summary.VERDICTS], lines, see="the page below")
    output.place(done[0].report.folder.parent / "report.html")
