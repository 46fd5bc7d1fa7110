"""The runs of a dataset as results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.datasets import layout, relabelling
from ackclock.datasets.numbering import SEED, Numbering
from ackclock.results.stored import Folder, StoredResult
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    import polars


def results(runs: polars.DataFrame, labels: Sequence[str], tables: Tables) -> dict[tuple[int, int], StoredResult]:
    """Return the runs of a dataset that ended without an error, by point and seed.

    Parameters
    ----------
    runs
        The table of runs.
    labels
        Its columns that distinguish points.
    tables
        The other tables.
    """
    import polars

    names = [*labels, *([SEED] if runs[SEED].n_unique() > 1 else [])]
    finished = runs.filter(polars.col("error").is_null())
    return {(row["point"], row[SEED]): _result(tables, row, names) for row in finished.iter_rows(named=True)}


def _result(tables: Tables, row: Mapping[str, Any], labels: Sequence[str]) -> StoredResult:
    # A label that is also a column has a prefix.
    named = {label.removeprefix("label."): str(row[label]) for label in labels}
    directory = tables.folder / layout.RESULTS / row["run"]
    return StoredResult(directory, _Own(directory, named) if directory.exists() else _Row(tables, row, named))


class _Own(Folder):
    """A run with a folder of its own; points with equal runs share it."""

    def __init__(self, directory: Path, labels: dict[str, str]) -> None:
        super().__init__(directory)
        self.manifest = {**self.manifest, "labels": labels}


class Tables:
    """The rows of each run in the tables of a dataset.

    Parameters
    ----------
    folder
        The folder of the dataset.
    name
        Name of its scenario.
    load
        Returns the scenario with its sweep; None if the dataset has none.
    worlds
        Number of worlds in which every point runs.
    """

    def __init__(self, folder: Path, name: str, load: Callable[[], Scenario | None], worlds: int) -> None:
        self.folder = folder
        self.scenario = name
        self._load = load
        self._worlds = worlds
        self._whole: dict[str, polars.DataFrame] = {}
        self._places: dict[str, dict[str, tuple[int, int]]] = {}

    def of(self, table: str, run: str) -> polars.DataFrame:
        """Return the rows of a run in a table."""
        import polars

        if table not in self._whole:
            parts = [relabelling.read(path) for path in layout.batches(self.folder / table).values()]
            whole = polars.concat(parts or [polars.DataFrame(schema=layout.declared(table))])
            # A part of a frame is a view; a frame for each run would need far more memory than its rows.
            self._whole[table] = whole.sort("run", maintain_order=True)
            ends, start = {}, 0
            for row in self._whole[table]["run"].rle().struct.unnest().iter_rows():
                ends[row[1]] = (start, row[0])
                start += row[0]
            self._places[table] = ends
        start, length = self._places[table].get(run, (0, 0))
        return self._whole[table].slice(start, length).drop("run")

    @cached_property
    def numbering(self) -> Numbering:
        """The way from a row to its scenario.

        Raises
        ------
        FileNotFoundError
            If the dataset has no scenario.
        """
        scenario = self._load()
        if scenario is None:
            raise FileNotFoundError(f"{self.folder / layout.SCENARIO}: is missing; repeat the command that wrote it")
        return Numbering(scenario.sweep_points(), self._worlds)


class _Row:
    """A run whose rows are in the tables of a dataset."""

    def __init__(self, tables: Tables, row: Mapping[str, Any], labels: dict[str, str]) -> None:
        self._tables = tables
        self._row = row
        self._labels = labels

    @property
    def manifest(self) -> dict[str, Any]:
        """The entries of its manifest; of its warnings, the names."""
        names = (self._row.get("warnings") or "").split(", ")
        return {
            "scenario": self._tables.scenario,
            "labels": self._labels,
            "seed": self._row[SEED],
            "hash": self._row["hash"],
            "traces": [],
            "trace_hash": self._row["run"],
            "warnings": [{"name": name, "flows": [], "text": ""} for name in names if name],
            "python_controls": False,
        }

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        return self._scenario.duration

    def has(self, table: str) -> bool:
        """Whether it has rows in a table."""
        return self.table(table).height > 0

    def table(self, name: str) -> polars.DataFrame:
        """Return one of its tables."""
        return self._tables.of(name, self._row["run"])

    def toml(self) -> str:
        """Return its scenario with every default."""
        return self._scenario.to_toml()

    @cached_property
    def _scenario(self) -> Scenario:
        return self._tables.numbering.scenario(self._row["point"], self._row[SEED])
