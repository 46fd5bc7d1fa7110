"""The result of `ackclock.compare`."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars

from ackclock.comparisons import conditions, report, words
from ackclock.comparisons.answered import Answered
from ackclock.comparisons.crossed import Crossed
from ackclock.comparisons.words import Shown
from ackclock.experiments.store import Store
from ackclock.formatting.numbers import counted
from ackclock.notebooks import Block, Card, Cell, Table, Text
from ackclock.notebooks.card import Mark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS: dict[str, Mark] = {"better": "good", "worse": "bad"}
"""Looks of verdicts."""


class Comparison(Answered):
    """The judged runs of a comparison or a matrix; parameters are those of `Answered`."""

    def __repr__(self) -> str:
        return f"<Comparison of {conditions.about(self.judged.outcome.plan)}>"

    def _repr_html_(self) -> str:
        """Return its card for a notebook: answer, warnings, and the tables."""
        judged = self.judged
        blocks: list[Block] = [*map(Text, self.answer), *(Text(warning, "warning") for warning in self.warnings)]
        for shown in self.tables:
            blocks += [_table(shown), *([Text(shown.note, "soft")] if shown.note else [])]
        blocks += [Text(f"{note}.", "soft") for note in self.notes]
        name = conditions.about(judged.outcome.plan).partition(" on ")[0]
        facts = [counted(len(judged.outcome.points), "run"), ", ".join(place.name for place in judged.places)]
        return Card("Comparison", name, facts, blocks).html()

    def ranked(self, path: str, metric: str | None = None) -> polars.DataFrame:
        """Return the combinations of a matrix on a path, best first; see `Crossed.ranked`."""
        return self._of_matrix().ranked(path, metric)

    def parts(self, metric: str | None = None) -> polars.DataFrame:
        """Return the mean effect of every part of a matrix on every path; see `Crossed.parts`."""
        return self._of_matrix().parts(metric)

    @property
    def front(self) -> polars.DataFrame:
        """Speed, queue and harm of every combination of a matrix over all paths; see `Crossed.front`."""
        return self._of_matrix().front

    def _of_matrix(self) -> Crossed:
        if self.crossed is None:
            raise ValueError("only a matrix has parts and ranks its combinations")
        return self.crossed

    @property
    def warnings(self) -> list[str]:
        """Signs that the runs say little about congestion control: one line for each kind, and each missed `within`."""
        return self.judged.warnings

    @cached_property
    def wins(self) -> polars.DataFrame:
        """Who wins in what: one row for each path, with the winners in speed, costs and harm."""
        columns, rows = words.wins(self.judged)
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
        return report.summary(self.judged)

    @cached_property
    def runs(self) -> polars.DataFrame:
        """One row for each run."""
        return report.runs(self.judged)

    def plot(self, path: str | None = None, metric: str | None = None) -> Figure:
        """Draw speed, costs and harm, with a row for each path and contender; of a matrix, a map.

        Parameters
        ----------
        path
            Of a matrix, the path whose combinations to draw; by default the mean of every part over its combinations on
            every path.
        metric
            Of a matrix, one of `SHOWN`; by default that of the path, or all.
        """
        from ackclock.comparisons import figure, maps
        from ackclock.drawing.matplotlib import draw

        if self.crossed is None:
            return draw(figure.figure(self.judged))
        return draw(maps.overview(self.crossed, metric) if path is None else maps.cells(self.crossed, path, metric))

    def write(self, directory: str | Path) -> Path:
        """Write report, figures and tables into a directory, and return the HTML report.

        Raises
        ------
        FileExistsError
            If the directory holds anything else.
        OSError
            If it cannot be written to.
        """
        directory = Path(directory)
        outcome = self.judged.outcome
        store = Store(directory)
        store.update(outcome.measured)
        with store.opened(report.KIND, report.manifest(outcome.plan), report.WRITTEN):
            report.write(self, directory)
            store.finish(runs=len(outcome.points))
        return directory / "report.html"


def _table(shown: Shown) -> Table:
    at = shown.columns.index("verdict") if "verdict" in shown.columns else None
    rows = [[Cell(text, MARKS.get(text, "")) if i == at else text for i, text in enumerate(row)] for row in shown.rows]
    return Table(shown.columns, rows, shown.left, title=shown.title)
