"""What the commands `compare` and `matrix` print."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.cli import output
from ackclock.cli.options import key_and_value
from ackclock.comparisons import parts
from ackclock.comparisons.parts import PartSpec
from ackclock.comparisons.result import Comparison
from ackclock.files import checks
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


def baseline(texts: Sequence[str]) -> dict[str, PartSpec]:
    """Read the options `--baseline AXIS=PART`, one for each axis.

    Raises
    ------
    ValueError
        If a text has no axis, or an axis has two parts.
    """
    found: dict[str, PartSpec] = {}
    for text in texts:
        axis, value = key_and_value(text, "--baseline", "avoidance=reno")
        checks.words("--baseline", "axis", [axis], (*parts.AXES, parts.WHOLE))
        if axis in found:
            raise ValueError(f"--baseline {text}: {axis} is given twice")
        specs = parts.read_parts(axis, [value])
        if len(specs) != 1:
            raise ValueError(f"--baseline {text}: a baseline takes one part on each axis")
        found[axis] = specs[0]
    return found
