"""Reading of a dataset, also while a sweep writes it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import columns
from ackclock.datasets import layout
from ackclock.scenario import Scenario, load

if TYPE_CHECKING:
    import polars

TRIES = 100
PAUSE = 0.01


class Dataset:
    """A folder that ``ackclock sweep`` writes, also while it does.

    Each access sees the batches that are complete at that moment.

    Parameters
    ----------
    folder
        The folder.

    Attributes
    ----------
    folder : Path
        The folder.

    Raises
    ------
    FileNotFoundError
        If the folder holds no dataset.
    ValueError
        If a later version of Ackclock wrote it.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        layout.read_manifest(self.folder)

    def __repr__(self) -> str:
        return f"Dataset({str(self.folder)!r})"

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest: scenario, state, labels, settings and number of planned runs."""
        return layout.read_manifest(self.folder)

    @property
    def complete(self) -> bool:
        """Whether the sweep has finished all planned runs."""
        return bool(self.manifest["state"] == "complete")

    @property
    def labels(self) -> list[str]:
        """The columns of labels, in the order of the sweep."""
        for path in self._files(layout.RUNS):
            return layout.labels_in(_scan([path]).collect_schema().names())
        return list(self.manifest["labels"])

    @property
    def scenario(self) -> Scenario | None:
        """The scenario with its sweep; None if the folder has no ``sweep.toml``.

        Raises
        ------
        ScenarioError
            If a table of paths that it names is not beside it.
        """
        path = self.folder / layout.SCENARIO
        return load(path) if path.exists() else None

    @property
    def runs(self) -> polars.LazyFrame:
        """A row for each point and seed, sorted by both."""
        import polars

        if found := self._files(layout.RUNS):
            return _scan(found).sort("point", "seed")
        return polars.LazyFrame(schema=layout.schema(self.labels))

    @property
    def flows(self) -> polars.LazyFrame:
        """A row for each flow of each run, after the point, labels and seed of the run."""
        return self._table("flows")

    @property
    def links(self) -> polars.LazyFrame:
        """A row for each link and direction of each run, after the point, labels and seed of the run."""
        return self._table("links")

    @property
    def transfers(self) -> polars.LazyFrame:
        """A row for each transfer of an application, after the point, labels and seed of the run."""
        return self._table("transfers")

    @property
    def pages(self) -> polars.LazyFrame:
        """A row for each page or exchange, after the point, labels and seed of the run."""
        return self._table("pages")

    def _table(self, name: str) -> polars.LazyFrame:
        import polars

        # Files of runs are listed first: a run that is listed has its rows in a file that is there already.
        runs = self.runs.select("point", *self.labels, "seed", "run")
        found = self._files(name)
        table = _scan(found) if found else polars.LazyFrame(schema=declared(name))
        return runs.join(table, on="run", how="inner")

    def _files(self, name: str) -> list[Path]:
        for _ in range(TRIES):
            if name != layout.RUNS or (self.folder / name).exists():
                break
            time.sleep(PAUSE)  # a change of the plan replaces the folder
        return list(layout.batches(self.folder / name).values())


def declared(name: str) -> polars.Schema:
    """Return the columns of a table other than `runs` as the engine declares them."""
    import polars

    kinds = {"texts": polars.String(), "whole numbers": polars.UInt64(), "numbers": polars.Float64()}
    return polars.Schema({"run": polars.String(), **{column.name: kinds[column.kind] for column in columns.of(name)}})


def _scan(paths: list[Path]) -> polars.LazyFrame:
    import polars

    return polars.scan_parquet(paths, glob=False)


def open(directory: str | Path) -> Dataset:  # noqa: A001 - called as ackclock.open
    """Open a dataset that ``ackclock sweep`` has written or is writing.

    Parameters
    ----------
    directory
        The directory given to ``--out``.

    Raises
    ------
    FileNotFoundError
        If it holds no dataset.
    ValueError
        If a later version of Ackclock wrote it.
    """
    return Dataset(directory)
