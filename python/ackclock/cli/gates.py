"""What the command `gate` prints."""

from __future__ import annotations

from ackclock.cli import output
from ackclock.formatting.numbers import counted
from ackclock.gates.comparing import Change, Outcome, name_of
from ackclock.gates.texts import COLUMNS, cells, headline, rule, sameness

MOST = 20  # rows of the table
LESS = ("runs", "p", "baseline", "now")
"""Columns that a narrow terminal leaves out, the least important first."""


def show(outcome: Outcome) -> None:
    """Print the changes beyond noise, the worst first, and the answer."""
    for gap in outcome.gaps[:MOST]:
        output.error(f"{name_of(gap.point)}: {gap.text}")
    if len(outcome.gaps) > MOST:
        output.note(f"{len(outcome.gaps) - MOST:,} more points have missing or failed runs")
    if outcome.shown:
        output.table(COLUMNS, [_row(change) for change in outcome.shown[:MOST]], left=3, less=LESS)
    if len(outcome.shown) > MOST:
        output.note(f"{len(outcome.shown) - MOST:,} more changes; --json, --junit and --markdown list them")
    if outcome.extra:
        names = "; ".join(map(name_of, outcome.extra[:3])) + ("; …" if len(outcome.extra) > 3 else "")
        output.note(f"{counted(len(outcome.extra), 'point')} not in the baseline: {names}")
    for note in outcome.notes:
        output.warning(note)
    output.say(headline(outcome))
    output.say(sameness(outcome))
    output.say(rule(outcome))


def _row(change: Change) -> list[str]:
    verdict, *rest = cells(change)
    return [verdict, name_of(change.point), *rest]
