"""A matrix that was run: its tables, figures and report."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from ackclock.matrices import figures, report
from ackclock.matrices.effects import Crossed


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
    measured : dict
        The measurements of each scenario, by its hash.
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
        return figures.overview(self, metric) if path is None else figures.cells(self, path, metric)

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
        report.begin(Path(directory), self.plan)
        return report.write(self, Path(directory))

    def __repr__(self) -> str:
        done = sum(run.key in self.measured for run in self.plan.runs)
        count = len(self.plan.compositions)
        return f"<Matrix: {count} compositions on {len(self.plan.paths)} paths, {done} of {len(self.plan.runs)} runs>"
