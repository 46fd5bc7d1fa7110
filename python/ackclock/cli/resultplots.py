"""The command `plot` with results over the labels of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ackclock import plot
from ackclock.cli import output
from ackclock.drawing import results as resultplots
from ackclock.experiments.labelled import samples
from ackclock.result import StoredResult
from ackclock.texts.labels import last_part
from ackclock.texts.names import in_file

# The columns drawn by default: the first that was measured.
TIMES = ("load_time", "completion_time")


def plot_results(
    results: Sequence[StoredResult],
    *,
    kinds: Sequence[str],
    x: str | None,
    y: str | None,
    by: Sequence[str],
    link: str | None,
    file: Callable[[str], Path],
) -> None:
    """Draw means over a label, distributions, or boxes, and print notes; `file` returns the path of an image."""
    for kind in kinds:
        if kind == "points" and x is None:
            raise ValueError("--x is needed: name the label on the axis, as in --x limit")
        if kind == "cdf" and x is not None:
            raise ValueError(f"--x {x}: the axis of a cdf is its column; name labels with --by")
    for kind in kinds:
        column = y or ("goodput_bps" if kind == "points" else _measured(results))
        words = [kind, last_part(column), *([last_part(x)] if x is not None else [])]
        path = file("-".join(in_file(word) for word in words))
        if kind == "points":
            drawn = resultplots.points(results, x or "", column, by, link=link)
        elif kind == "cdf":
            drawn = resultplots.cdf(results, column, by, link=link)
        else:
            drawn = resultplots.box(results, column, x, by, link=link)
        plot.save(drawn.figure, path)
        output.place(path)
        for note in drawn.notes:
            output.note(note)


def _measured(results: Sequence[StoredResult]) -> str:
    for column in TIMES:
        try:
            samples(results, column)
        except ValueError:
            continue
        return column
    raise ValueError("no flow has a size, and no application loads pages: name a column with --y")
