"""The result of `ackclock.compare`."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars

from ackclock.cards import Block, Card, Cell, Table, Text
from ackclock.cards.card import Mark
from ackclock.comparisons import report, words
from ackclock.comparisons.judging import Judged
from ackclock.experiments.store import Store
from ackclock.texts.numbers import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS: dict[str, Mark] = {"better": "good", "worse": "bad"}
"""Looks of verdicts."""


class Comparison:
    """The judged runs of a comparison.

    Parameters
    ----------
    judged
        The judgement.
    """

    def __init__(self, judged: Judged) -> None:
        self._judged = judged

    def __repr__(self) -> str:
        names, places = self._judged.names, [place.name for place in self._judged.places]
        return f"<Comparison of {', '.join(names[1:])} with {names[0]} on {', '.join(places)}>"

    def _repr_html_(self) -> str:
        """Return its card for a notebook: answer, warnings, and the table of paths and contenders."""
        judged = self._judged
        columns, found = words.table(judged)
        wins, won = words.wins(judged)
        at = columns.index("verdict")
        rows = [[Cell(text, MARKS.get(text, "")) if i == at else text for i, text in enumerate(row)] for row in found]
        blocks: list[Block] = [
            *map(Text, self.answer),
            *(Text(warning, "warning") for warning in self.warnings),
            Table(wins, won, len(wins), title="who wins in what"),
            Table(columns, rows, words.LEFT),
            Text(words.legend(judged), "soft"),
            *(Text(f"{note}.", "soft") for note in words.notes(judged)),
        ]
        name = f"{' and '.join(judged.names[1:])} against {judged.names[0]}"
        facts = [counted(len(judged.outcome.points), "run"), ", ".join(place.name for place in judged.places)]
        return Card("Comparison", name, facts, blocks).html()

    @property
    def answer(self) -> list[str]:
        """Who wins where, by how much, how sure and at whose cost, in a few sentences."""
        return words.answer(self._judged)

    @property
    def warnings(self) -> list[str]:
        """Signs that the runs say little about congestion control: one line for each kind, and each missed `within`."""
        return self._judged.warnings

    @cached_property
    def wins(self) -> polars.DataFrame:
        """Who wins in what: one row for each path, with the winners in speed, costs and harm."""
        columns, rows = words.wins(self._judged)
        return polars.DataFrame(rows, dict.fromkeys(columns, polars.String), orient="row")

    @cached_property
    def table(self) -> polars.DataFrame:
        """One row for each path, or population, and contender.

        Goodput and completion time of a population are geometric means over its paths. A metric ``KEY`` has its mean
        with the 95 % interval ``KEY_low``, ``KEY_high``. Against the reference it has
        ``KEY_vs``, ``KEY_vs_low``, ``KEY_vs_high`` (a ratio for goodput and completion time, otherwise a difference),
        the adjusted p-values ``KEY_vs_p`` and ``KEY_vs_p_same``, the share ``KEY_vs_won`` of pairs in which the
        contender is better, and ``KEY_verdict``; ``KEY_verdict_half`` and ``KEY_verdict_double`` are the verdicts with
        half and with double the tolerance.
        """
        return report.summary(self._judged)

    @cached_property
    def runs(self) -> polars.DataFrame:
        """One row for each run."""
        return report.runs(self._judged)

    def plot(self) -> Figure:
        """Draw speed, costs and harm, with a row for each path and contender."""
        from ackclock.comparisons import figure
        from ackclock.drawing.matplotlib import draw

        return draw(figure.figure(self._judged))

    def write(self, directory: str | Path) -> Path:
        """Write report, figure and tables into a directory, and return the HTML report.

        Raises
        ------
        FileExistsError
            If the directory holds anything else.
        OSError
            If it cannot be written to.
        """
        directory = Path(directory)
        outcome = self._judged.outcome
        store = Store(directory)
        store.update(outcome.measured)
        with store.opened(report.KIND, report.manifest(outcome.plan), report.WRITTEN):
            written = report.write(self._judged, directory)
            store.finish(runs=len(outcome.points))
        return written
