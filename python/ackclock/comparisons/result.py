"""The result of `ackclock.compare`."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars

from ackclock.comparisons import report, words
from ackclock.comparisons.judging import Judged

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison:
    """The judged runs of a comparison.

    Parameters
    ----------
    judged
        The judgement.
    """

    def __init__(self, judged: Judged) -> None:
        self._judged = judged

    @property
    def answer(self) -> list[str]:
        """Who wins where, by how much, how sure and at whose cost, in a few sentences."""
        return words.answer(self._judged)

    @property
    def warnings(self) -> list[str]:
        """Signs that the runs say little about congestion control: one line for each kind, and each missed `within`."""
        return self._judged.warnings

    @cached_property
    def table(self) -> polars.DataFrame:
        """One row for each path, or population, and contender.

        Goodput and completion time of a population are geometric means over its paths. A metric ``KEY`` has its mean
        with the 95 % interval ``KEY_low``, ``KEY_high``. Against the reference it has
        ``KEY_vs``, ``KEY_vs_low``, ``KEY_vs_high`` (a ratio for goodput and completion time, otherwise a difference),
        the adjusted p-values ``KEY_vs_p`` and ``KEY_vs_p_same``, the share ``KEY_vs_won`` of pairs in which the
        contender is better, and ``KEY_verdict``.
        """
        return report.summary(self._judged)

    @cached_property
    def runs(self) -> polars.DataFrame:
        """One row for each run."""
        return report.runs(self._judged)

    def plot(self) -> Figure:
        """Draw speed, costs and harm, with a row for each path and contender."""
        from ackclock.comparisons import figure

        return figure.draw(self._judged)

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
        report.begin(directory, self._judged.outcome.plan)
        return report.write(self._judged, directory)
