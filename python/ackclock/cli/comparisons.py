"""What the commands `compare` and `matrix` print."""

from __future__ import annotations

from ackclock.cli import output
from ackclock.comparisons.result import Comparison
from ackclock.formatting.numbers import finite


def show(found: Comparison, *, json_output: bool) -> None:
    """Print the answer and the tables, or JSON."""
    judged = found.judged
    if json_output:
        said = {"reference": judged.names[0], "margin": judged.margin, "answer": found.answer}
        output.data(finite({**said, "warnings": judged.warnings, "rows": judged.rows}))
        return
    output.say("\n\n".join(found.answer))
    for shown in found.tables:
        # A path is named once, in the first of its rows.
        rows = [
            ["" if at and shown.rows[at - 1][0] == path else path, *rest] for at, (path, *rest) in enumerate(shown.rows)
        ]
        output.table(shown.columns, rows, title=shown.title, left=shown.left, less=shown.less)
    if any(name.endswith(" *") for shown in found.tables for _, name, *_ in shown.rows):
        output.say("* wins: faster than every other on its path, or about as fast and better by its costs")
    for text in judged.warnings:
        output.warning(text)
    for text in found.notes:
        output.note(text)
