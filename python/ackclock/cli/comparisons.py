"""The command `compare`."""

from __future__ import annotations

from ackclock.cli import output
from ackclock.comparisons import words, worlds
from ackclock.comparisons.judging import Judged
from ackclock.texts.numbers import finite


def show(judged: Judged, *, json_output: bool) -> None:
    """Print the answer and the tables, or JSON."""
    columns, apart = worlds.table(judged)
    if json_output:
        output.data(
            finite(
                {
                    "reference": judged.names[0],
                    "margin": judged.margin,
                    "answer": [*words.answer(judged), *worlds.sentences(judged)],
                    "worlds": [dict(zip(columns, row, strict=True)) for row in apart],
                    "warnings": judged.warnings,
                    "rows": judged.rows,
                }
            )
        )
        return
    output.say("\n\n".join([*words.answer(judged), *worlds.sentences(judged)]))
    titles, wins = words.wins(judged)
    output.table(titles, wins, title="who wins in what", left=len(titles))
    columns, rows = words.table(judged)
    # A path is named once, in the first of its rows.
    short = [["" if at and rows[at - 1][0] == path else path, *rest] for at, (path, *rest) in enumerate(rows)]
    less = columns[: columns.index("verdict") : -1]
    output.table(columns, short, left=words.LEFT, less=less)
    if any(name.endswith(" *") for _, name, *_ in rows):
        output.say("* wins: faster than every other on its path, or about as fast and better by its costs")
    titles, apart = worlds.table(judged)
    if apart:
        output.table(titles, apart, title=f"speed against {judged.places[0].world.name}", left=worlds.LEFT)
    for text in judged.warnings:
        output.warning(text)
    for text in words.notes(judged):
        output.note(text)
