"""What the command `conform` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.cli import output
from ackclock.formatting.numbers import finite

if TYPE_CHECKING:
    from ackclock.conformance.result import Conformance
    from ackclock.results.coverage import Coverage

COLUMNS = ("verdict", "section", "clause", "implementation", "measured")
LESS = ("measured", "implementation")
"""Columns that a narrow terminal leaves out, the least important first."""


def show(found: Conformance, *, json_output: bool, aside: bool) -> None:
    """Print every clause with its verdict, and why it is not kept."""
    if json_output:
        output.data(finite(found.to_dict()))
        return
    with output.aside(aside):
        rows = [
            [
                each.verdict, f"{each.asked.clause.suite} {each.asked.clause.section}", each.asked.clause.id,
                each.asked.implementation, each.words,
            ]
            for each in found.verdicts
        ]  # fmt: skip
        output.table(COLUMNS, rows, left=len(COLUMNS), less=LESS)
        for each in found.verdicts:
            if each.verdict != "holds":
                text = "; ".join(filter(None, (each.reason, each.words)))
                output.note(f"{each.asked.name}: {each.verdict} ({each.asked.implementation}): {text}")
        if found.coverage is not None:
            _show_states(found.coverage)
        output.say(found.answer)


def _show_states(found: Coverage) -> None:
    """Print the states and the transitions between them; the states that were never entered are notes."""
    states = [
        [row["control"], row["state"], f"{row['entered_in']} of {row['runs']}", row["entries"], row["seconds"]]
        for row in found.states.to_dicts()
    ]
    output.table(["control", "state", "in runs", "entered", "for (s)"], states, title="states", left=2)
    steps = [
        [row["control"], row["from"], row["to"], f"{row['entered_in']} of {row['runs']}", row["count"]]
        for row in found.transitions.to_dicts()
    ]
    output.table(["control", "from", "to", "in runs", "times"], steps, title="transitions", left=3)
    for sentence in found.never:
        output.note(sentence)
