"""Reading of a dataset, also while a sweep writes it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import columns
from ackclock.datasets import layout, relabelling, sql
from ackclock.datasets.results import Tables, results
from ackclock.files import reading
from ackclock.formatting.labels import last_part
from ackclock.formatting.numbers import counted
from ackclock.formatting.units import twin
from ackclock.notebooks import Block, Card, Table, Text
from ackclock.notebooks.card import MOST_ROWS
from ackclock.results import StoredResult
from ackclock.scenario import Scenario, load

if TYPE_CHECKING:
    import polars

MEASURES = ("goodput_bps", "utilisation", "queue_mean", "jain", "retransmitted_packets")
"""Columns of `runs` that a card shows."""
TRIES, PAUSE = 10, 0.01  # seconds


class Dataset:
    """A folder that ``ackclock sweep``, or ``ackclock run`` of a sweep, writes, also while it does.

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
        self._checked: set[Path] = set()
        layout.read_manifest(self.folder)

    def __repr__(self) -> str:
        return f"Dataset({str(self.folder)!r})"

    def card(self, said: Sequence[str] = ()) -> Card:
        """Return its card for a notebook: state, labels, and the first runs.

        Parameters
        ----------
        said
            Sentences above the table.
        """
        import polars

        manifest = self.manifest
        runs, labels = self.runs, self.labels
        count, errors = runs.select(polars.len(), polars.col("error").count().alias("errors")).collect().row(0)
        names = ["point", *labels, "seed", "error", *MEASURES]
        first = runs.select(names).head(MOST_ROWS).collect()
        shown = [name for name in names if name != "error" or errors]
        left = len(shown) - len(MEASURES)
        facts = [str(manifest["state"]), f"{count:,} of {counted(manifest['planned'], 'run')}", str(self.folder)]
        blocks: list[Block] = [
            *map(Text, said),
            *([Text(f"{counted(errors, 'run')} ended with an error.", "warning")] if errors else []),
            Table([last_part(name) for name in shown], first.select(shown).rows(), left, total=count),
        ]
        return Card("Dataset", str(manifest["scenario"]), facts, blocks)

    def _repr_html_(self) -> str:
        return self.card().html()

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest: scenario, state, labels, settings and number of planned runs."""
        return layout.read_manifest(self.folder)

    @property
    def complete(self) -> bool:
        """Whether the sweep has finished all planned runs."""
        return bool(self.manifest["state"] == "complete")

    @property
    def has_traces(self) -> bool:
        """Whether its runs have folders of their own, with traces or packets."""
        return (self.folder / layout.RESULTS).is_dir()

    @property
    def worlds(self) -> list[str]:
        """The worlds in which every point runs."""
        return list(self.manifest.get("worlds", []))

    @property
    def labels(self) -> list[str]:
        """The columns that distinguish the points, in the order of the sweep; ``world`` is one if there are several."""
        return [*self._own_labels, *([layout.WORLD] if len(self.worlds) > 1 else [])]

    @property
    def _own_labels(self) -> list[str]:
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
        # The file has another name here than where the scenario took its own from.
        name = {"name": str(self.manifest["scenario"])} if "scenario" in self.manifest else {}
        return load(path, name) if path.exists() else None

    @property
    def runs(self) -> polars.LazyFrame:
        """A row for each point and seed, sorted by both; a label whose values have a unit also has its numbers."""
        import polars

        return self.stored_runs.with_columns(
            polars.col(label).replace_strict(numbers, default=None, return_dtype=polars.Float64).alias(name)
            for label, (name, numbers) in self._twins().items()
        )

    @property
    def stored_runs(self) -> polars.LazyFrame:
        """The columns of `runs` that the files have."""
        import polars

        if found := self._files(layout.RUNS):
            return _scan(found).sort("point", "seed")
        return polars.LazyFrame(schema=layout.declared(layout.RUNS, self._own_labels))

    def results(self) -> dict[tuple[int, int], StoredResult]:
        """Return every run that ended without an error as a result, by its point and seed.

        The labels of a result have the seed, if the sweep has several. A run with traces or packets has a folder of its
        own, with its warnings in words; of any other, only the names of its warnings are known.
        """
        tables = Tables(self.folder, str(self.manifest["scenario"]), lambda: self.scenario, max(len(self.worlds), 1))
        return results(self.stored_runs.collect(), self.labels, tables)

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

    @property
    def media(self) -> polars.LazyFrame:
        """A row for each player of a video and each source of frames, after the point, labels and seed of the run."""
        return self._table("media")

    def sql(self, query: str) -> polars.DataFrame:
        """Run an SQL query by DuckDB. It reads nothing but the dataset, and writes nothing.

        A label with a unit, such as ``1.24514 BDP``, also has a column of its number: ``"limit (BDP)"`` for ``limit``.
        The views ``runs``, ``flows``, ``links``, ``transfers``, ``pages`` and ``media`` have the columns of the
        properties. The macro ``si`` gives the number of a label in seconds, bit/s, bytes or packets: ``si('5 ms')`` is
        0.005. It is NULL for a text without a number or with another unit, such as ``1 BDP``.

        Parameters
        ----------
        query
            The query. Columns whose names have dots need double quotes.

        Raises
        ------
        ValueError
            If DuckDB refuses the query; the message has the nearest name.

        Examples
        --------
        >>> import ackclock
        >>> data = ackclock.open("out")                                    # doctest: +SKIP
        >>> data.sql("SELECT point, avg(goodput_bps) FROM runs GROUP BY point")  # doctest: +SKIP
        """
        labels = self.labels
        files = {name: self._files(name) for name in (layout.RUNS, *layout.TABLES)}
        empty = {name: layout.declared(name, self._own_labels) for name in files}
        return sql.query(query, files, labels, empty, self._twins())

    def describe(self) -> polars.DataFrame:
        """Return the columns of the views: ``view``, ``column``, ``type``, ``unit``, ``meaning``."""
        import polars

        meanings = {
            **{column: f"number of the label {label}" for label, (column, _) in self._twins().items()},
            **dict.fromkeys(self._own_labels, "label of the sweep"),
            **layout.MEANINGS,
        }
        rows = []
        for view in (layout.RUNS, *layout.TABLES):
            known = {column.name: column for column in columns.of(view)}
            for name, kind in getattr(self, view).collect_schema().items():
                meaning = meanings.get(name, "")
                unit, meaning = (known[name].unit, known[name].meaning) if name in known else ("", meaning)
                rows.append((view, name, str(kind), unit, meaning))
        names = ("view", "column", "type", "unit", "meaning")
        return polars.DataFrame(rows, schema=dict.fromkeys(names, polars.String), orient="row")

    def _twins(self) -> dict[str, tuple[str, dict[str, float]]]:
        """Return the column and the numbers of each label whose values have a unit, such as ``1.24514 BDP``."""
        twins: dict[str, tuple[str, dict[str, float]]] = {}
        found = self._files(layout.RUNS)
        for label in self._own_labels if found else []:
            values = _scan(found).select(label).drop_nulls().unique(maintain_order=True).collect().to_series().to_list()
            if made := twin(label, values):
                twins[label] = made
        return twins

    def _table(self, name: str) -> polars.LazyFrame:
        import polars

        # Files of runs are listed first: a run that is listed has its rows in a file that is there already.
        twins = [column for column, _ in self._twins().values()]
        runs = self.runs.select("point", *self.labels, *twins, "seed", "run")
        found = self._files(name)
        table = _scan(found) if found else polars.LazyFrame(schema=layout.declared(name))
        return runs.join(table, on="run", how="inner")

    def _files(self, name: str) -> list[Path]:
        place, new = self.folder / name, self.folder / layout.NEW_RUNS
        if name == layout.RUNS:
            # A change of the plan replaces the folder. If it was killed before that, the new folder is complete.
            for _ in range(TRIES):
                if place.exists() or not new.exists():
                    break
                time.sleep(PAUSE)
            else:
                place = new
        found = list(layout.batches(place).values())
        for path in found:
            if path not in self._checked:
                _check(path, name)
                self._checked.add(path)
        return found

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Name the damaged file if reading fails while the block runs.

        Raises
        ------
        DamagedError
            If a file is damaged.
        """
        import polars

        try:
            yield
        except BaseException as error:
            if isinstance(error, Exception) or reading.is_panic(error):
                for path in (path for name in (layout.RUNS, *layout.TABLES) for path in self._files(name)):
                    relabelling.read(path)
            if isinstance(error, polars.exceptions.PolarsError):
                raise ValueError(f"{self.folder}: {reading.first_line(error)}") from None
            raise


def _check(path: Path, name: str) -> None:
    """Refuse a batch that cannot be read, or lacks columns."""
    import polars

    schema = layout.batch_schema(path)
    try:
        columns.checking(name, whole=False)(polars.DataFrame(schema=schema), path)
        for column, kind in (layout.schema() if name == layout.RUNS else {"run": polars.String}).items():
            if schema.get(column) != kind:
                raise reading.DamagedError(path, f"the column {column!r} is missing, or no {kind}")
        if name == layout.RUNS and {*layout.labels_in(schema.names())} & {*layout.declared(name)}:
            raise reading.DamagedError(path, "its columns are in another order")
    except reading.DamagedError as error:
        raise layout.damaged(path, error.what) from None


def _scan(paths: list[Path]) -> polars.LazyFrame:
    import polars

    return polars.scan_parquet(paths, glob=False)
