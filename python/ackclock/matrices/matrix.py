"""A matrix that was run: its tables, figures and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.cards import Block, Card, Table, Text
from ackclock.experiments.store import Store
from ackclock.matrices import figures, report, tables
from ackclock.matrices.effects import Crossed
from ackclock.texts.numbers import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Matrix(Crossed):
    """The results of a matrix.

    Parameters
    ----------
    outcome
        The outcome of its runs.

    Attributes
    ----------
    plan : Plan
        The planned runs.
    measured : Store
        The measurements of each run, by its key.
    """

    def plot(self, path: str | None = None, metric: str | None = None) -> Figure:
        """Draw a heat map against the baseline.

        Parameters
        ----------
        path
            The path whose compositions to draw: slow start and loss response down, avoidance and recovery across. By
            default, the mean of every part over its compositions on every path.
        metric
            One of `METRICS`; by default that of the path, or all.
        """
        from ackclock.drawing.matplotlib import draw

        return draw(figures.overview(self, metric) if path is None else figures.cells(self, path, metric))

    def write(self, directory: str | Path) -> Path:
        """Write tables, figures and the report.

        Returns
        -------
        Path
            The HTML report.

        Raises
        ------
        FileExistsError
            If the directory holds anything else.
        """
        store = Store(Path(directory))
        store.update(self.measured)
        with store.opened(report.KIND, report.manifest(self.plan), report.WRITTEN):
            written = report.write(self, Path(directory))
            store.finish(metric=None, top=tables.TOP)
        return written

    def _repr_html_(self) -> str:
        """Return its card for a notebook: the answer, and the tables that the command line prints."""
        blocks: list[Block] = [
            *map(Text, tables.answer(self) if self.finished else ()),
            *(Table(it.columns, it.rows, it.left, it.title) for it in (tables.tables(self) if self.finished else ())),
        ]
        done = sum(run.key in self.measured for run in self.plan.runs)
        name = f"{counted(len(self.plan.compositions), 'composition')} on {counted(len(self.plan.paths), 'path')}"
        facts = [f"{done:,} of {counted(len(self.plan.runs), 'run')}", f"baseline {self.plan.baseline.name}"]
        return Card("Matrix", name, facts, blocks).html()

    def __repr__(self) -> str:
        done = sum(run.key in self.measured for run in self.plan.runs)
        name = f"{counted(len(self.plan.compositions), 'composition')} on {counted(len(self.plan.paths), 'path')}"
        return f"<Matrix: {name}, {done} of {counted(len(self.plan.runs), 'run')}>"
