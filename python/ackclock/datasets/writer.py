"""Writing of a dataset: batches of finished runs, each complete or absent."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.datasets import batch, layout, recovery, relabelling
from ackclock.datasets.batch import Batch
from ackclock.files import storage
from ackclock.files.locking import Lock

if TYPE_CHECKING:
    import polars
    from typing_extensions import Self

MOST_BYTES = 32_000_000
"""Size of the buffered rows at which a batch is written."""
SHARE, LEAST_SECONDS, MOST_SECONDS = 0.02, 1.0, 60.0
"""A batch is written after this share of the time so far, so that long sweeps do not get many small files."""
SIMULATION = "simulation"
RUNNING, INTERRUPTED, COMPLETE = "running", "interrupted", "complete"


class Writer:
    """Writes a dataset; a context manager, which holds the lock of the folder.

    If the block ends without `finish`, the buffered runs are written and the state is ``interrupted``.

    Parameters
    ----------
    folder
        The folder: a new one, an empty one, or a dataset, which is continued.
    manifest
        Entries of the manifest besides the writer's own (``program``, ``version``, ``kind``, ``format``, ``state``,
        ``labels``).
    labels
        The labels of the sweep in their order.
    scenario
        The scenario file as text, stored as ``sweep.toml``; None: no file.

    Attributes
    ----------
    folder : Path
        The folder.
    label_columns : list of str
        The column of each label in `runs`; a label that is also a column of a table gets the prefix ``label.``.

    Raises
    ------
    FileExistsError
        If the folder holds something else.
    LockedError
        If another process writes to the folder.
    OSError
        If the folder cannot be written to, or a file of it is damaged.
    """

    def __init__(
        self, folder: str | Path, *, manifest: Mapping[str, Any], labels: Sequence[str], scenario: str | None = None
    ) -> None:
        self.folder = Path(folder)
        self.label_columns = layout.label_columns(labels)
        self._manifest = {**manifest, "format": layout.FORMAT, "labels": self.label_columns}
        self._finished = False
        recovery.check_free(self.folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(f"{self.folder}: cannot write here: {error.strerror}") from None
        self._lock = Lock(self.folder)
        try:
            recovery.check_free(self.folder)  # another process may have written before the lock
            # The manifest is first: it marks the folder as a dataset.
            self._state(RUNNING)
            if scenario is not None:
                storage.write_text(self.folder / layout.SCENARIO, scenario)
            recovery.recover(self.folder)
            recovery.remove_orphans(self.folder, relabelling.known(self.folder))
            self._read()
        except BaseException:
            self._lock.release()
            raise

    def _state(self, state: str) -> None:
        storage.write_manifest(self.folder, layout.KIND, {**self._manifest, "state": state})

    def _read(self) -> None:
        """Read the keys of the stored runs."""
        stored = self._keys()
        self._points = set(zip(stored["point"].to_list(), stored["seed"].to_list(), strict=True))
        # The rows of a run in the other tables are stored once; a failed run has none and may be repeated.
        self._runs = set(stored.filter(stored["error"].is_null())["run"].to_list())
        self._schemas = {name: _schema(self.folder / name) for name in (layout.RUNS, *layout.TABLES)}
        self._buffer = Batch(recovery.next_number(self.folder))
        self._writing: Batch | None = None
        self._began: float | None = None
        self._written = 0.0

    def stored(self) -> polars.DataFrame:
        """Return point, seed, run and error of every row of `runs`; buffered rows are written first."""
        self.flush()
        return self._keys().select("point", "seed", "run", "error")

    def _keys(self) -> polars.DataFrame:
        return relabelling.keys(self.folder / layout.RUNS, self.label_columns)

    def relabel(self, plan: polars.DataFrame, *, retry: bool = False) -> relabelling.Changes:
        """Make the stored runs those of a plan: with its points, labels and seeds, and no other rows.

        Rows outside the plan move to ``earlier``. Known runs, also those in ``earlier``, get rows in `runs` without
        being run again.

        Parameters
        ----------
        plan
            A row for each point and seed: ``point``, `label_columns`, ``world`` (by default the simulation),
            ``seed``, ``hash``, ``run``.
        retry
            Whether failed runs count as unknown.

        Returns
        -------
        Changes
            Numbers of rows.
        """
        self.flush()
        types = layout.schema(self.label_columns)
        del types["version"], types["error"]
        plan = _placed(plan)
        wanted = plan.select(*types).cast(types)
        changes = relabelling.relabel(self.folder, wanted, self.label_columns, retry=retry)
        self._read()
        return changes

    def add(self, runs: polars.DataFrame, tables: Mapping[str, polars.DataFrame]) -> None:
        """Add finished runs; they are written with the next batch.

        A row whose point and seed are stored, and rows of tables whose run is stored, are left out: a repeated call
        changes nothing.

        Parameters
        ----------
        runs
            A row for each point and seed: ``point``, `label_columns`, ``world`` (by default the simulation), ``seed``,
            ``hash``, ``run``, ``error`` (null or a text), and measures.
        tables
            Rows of ``flows``, ``links``, ``transfers``, ``pages``, ``media`` with the column ``run``; those of failed
            runs are left out.

        Raises
        ------
        ValueError
            If columns are missing, or differ from those of stored rows.
        """
        runs = self._ordered(runs)
        others = {name: self._aligned(name, table, "run") for name, table in tables.items() if table.height}
        keys = list(zip(runs["point"].to_list(), runs["seed"].to_list(), strict=True))
        last = {key: row for row, key in enumerate(keys) if key not in self._points}
        runs = batch.some_rows(runs, [last.get(key) == row for row, key in enumerate(keys)])
        errors = zip(runs["run"].to_list(), runs["error"].to_list(), strict=True)
        fresh = {run for run, error in errors if error is None and run not in self._runs}
        parts = {
            name: batch.some_rows(table, [run in fresh for run in table["run"].to_list()])
            for name, table in others.items()
        }
        # Runs are never added in part: if Ctrl-C stops this call, they are missing, and the next sweep repeats them.
        self._points.update(keys)
        self._runs |= fresh
        self._buffer.add({layout.RUNS: runs, **parts})
        now = time.monotonic()
        if self._began is None:
            self._began = self._written = now
        wait = min(max(SHARE * (now - self._began), LEAST_SECONDS), MOST_SECONDS)
        due = now - self._written >= wait
        if self._buffer.size >= MOST_BYTES or due:
            self.flush()

    def _ordered(self, runs: polars.DataFrame) -> polars.DataFrame:
        """Return a table of runs with its columns in the order of the files."""
        import polars

        if runs.schema == self._schemas[layout.RUNS]:
            return runs
        runs = _placed(runs)
        if "version" not in runs.columns:
            runs = runs.with_columns(polars.lit(_core.__version__).alias("version"))
        types = layout.schema(self.label_columns)
        if missing := [name for name in types if name not in runs.columns]:
            raise ValueError(f"runs: columns are missing: {', '.join(missing)}")
        measures = {name: kind for name, kind in runs.schema.items() if name not in types}
        return self._aligned(layout.RUNS, batch.shaped(runs, polars.Schema({**types, **measures})), "point")

    def _aligned(self, name: str, table: polars.DataFrame, first: str) -> polars.DataFrame:
        """Return a table with the columns and types of the stored files."""
        import polars

        if name not in self._schemas:
            raise ValueError(f"there is no table {name!r} (known: {', '.join(layout.TABLES)})")
        if first not in table.columns:
            raise ValueError(f"{name}: the column {first!r} is missing")
        schema = self._schemas[name]
        if table.schema == schema:
            return table
        if schema is None:
            if untyped := [column for column, kind in table.schema.items() if kind == polars.Null]:
                raise ValueError(f"{name}: columns have no type: {', '.join(untyped)}")
            schema = self._schemas[name] = polars.Schema({first: table.schema[first], **table.schema})
        if differing := sorted(set(schema) ^ set(table.columns)):
            raise ValueError(f"{name}: columns differ from those of the stored rows: {', '.join(differing)}")
        return batch.shaped(table, schema)

    def flush(self) -> None:
        """Write the buffered runs as a batch."""
        self._finish_batch()
        if self._buffer:
            self._buffer, self._writing = Batch(self._buffer.number + 1), self._buffer
            self._finish_batch()
        if self._began is not None:
            self._written = time.monotonic()

    def _finish_batch(self) -> None:
        """Write the batch that is being written; an interrupted call is repeated by the next."""
        import polars

        if self._writing is None:
            return
        name = layout.batch_name(self._writing.number)
        # The file in `runs` makes the batch count, so it is the last.
        for table in (*layout.TABLES, layout.RUNS):
            if parts := self._writing.parts(table):
                (self.folder / table).mkdir(exist_ok=True)
                storage.write_parquet(self.folder / table / name, polars.concat(parts, rechunk=True))
        self._writing = None

    def describe(self, **entries: Any) -> None:  # noqa: ANN401 - any JSON
        """Change entries of the manifest."""
        self._manifest.update(entries)
        self._state(RUNNING)

    def finish(self, state: str = COMPLETE) -> None:
        """Write the buffered runs, and the manifest with a state: ``complete`` or ``interrupted``."""
        self.flush()
        self._state(state)
        self._finished = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._finished:
                # A second error, such as a full disk again, must not hide the first.
                with contextlib.suppress(OSError) if kind else contextlib.nullcontext():
                    self.finish(INTERRUPTED)
        finally:
            self._lock.release()


def _placed(table: polars.DataFrame) -> polars.DataFrame:
    """Return a table of runs with the column of worlds; without one, all runs are simulated."""
    import polars

    if layout.WORLD in table.columns:
        return table
    return table.with_columns(polars.lit(SIMULATION).alias(layout.WORLD))


def _schema(folder: Path) -> polars.Schema | None:
    """Return the columns and types of the files in a folder; None without files."""
    paths = list(layout.batches(folder).values())
    return layout.batch_schema(paths[0]) if paths else None
