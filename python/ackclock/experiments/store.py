"""The store of an experiment: the measurements of its points, in memory and in a folder.

Every measurement is in the folder as soon as its run is finished, so that the same work continues after any end, and
repeats nothing. ``manifest.json`` says what the folder holds and in which state, and ``lock`` lets one process write at
a time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ackclock.experiments import sources
from ackclock.experiments.plan import Point
from ackclock.files import leftovers, reading, storage, targets
from ackclock.files.journal import Journal
from ackclock.files.locking import Lock

M = TypeVar("M")
TABLE = "measured.parquet"
"""The measurements of finished work: their keys, and their values as JSON."""
JOURNAL = "measured.jsonl"
"""The measurements since then; a killed process leaves it."""
COLUMNS = ("key", "measured")
RUNNING, INTERRUPTED, COMPLETE = "running", "interrupted", "complete"


class Store(MutableMapping[str, Any]):
    """Measurements as values of JSON by the keys of their points.

    Parameters
    ----------
    folder
        The folder, whose readable measurements are read at once; nothing is written there before `opened`. None: memory
        alone.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        # As text, since the values of a study are several gigabytes of objects.
        self._texts: dict[str, str] = {}
        self._held: set[str] = set()  # keys of values that are not in the folder yet
        self._journal: Journal | None = None
        self._manifest: dict[str, Any] = {}
        self._kind = ""
        self._finished = False
        self._read()

    def has(self, point: Point[Any]) -> bool:
        """Whether a point is measured."""
        return point.key in self

    def put(self, point: Point[M], measured: M) -> None:
        """Store the measurement of a point; a second call changes nothing."""
        if point.key not in self:
            self[point.key] = point.measurement.pack(measured)

    def measured(self, point: Point[M]) -> M:
        """Return the measurement of a point.

        Raises
        ------
        KeyError
            If it is not measured.
        """
        return point.measurement.unpack(self[point.key])

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any JSON
        """Return a value.

        Raises
        ------
        KeyError
            If it is not there.
        DamagedError
            If another program has changed the table.
        """
        try:
            return json.loads(self._texts[key])
        except ValueError as error:
            raise reading.DamagedError(Path(str(self._folder)) / TABLE, f"not JSON: {error}") from None

    def __setitem__(self, key: str, value: object) -> None:
        """Store a value, in an open folder before this returns."""
        self._put(key, json.dumps(value))

    def _put(self, key: str, text: str) -> None:
        self._texts[key] = text
        if self._journal is not None:
            self._journal.add(key, text)
        else:
            self._held.add(key)

    def __delitem__(self, key: str) -> None:
        """Forget a value; it stays in the folder until `finish`."""
        del self._texts[key]

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._texts))

    def __len__(self) -> int:
        return len(self._texts)

    @contextlib.contextmanager
    def opened(self, kind: str, manifest: Mapping[str, Any], written: Sequence[str] = ()) -> Iterator[Store]:
        """Hold the folder for writing; without a folder, do nothing.

        The folder is made, or an earlier attempt in it is continued. Its report is removed, since it may describe other
        runs. If the block ends without `finish`, the state in the manifest is ``interrupted``.

        Parameters
        ----------
        kind
            Kind of the result, see `storage.write_manifest`.
        manifest
            Entries of the manifest beside kind, state and build.
        written
            Files and folders of the report.

        Raises
        ------
        FileExistsError
            If the folder holds anything else.
        LockedError
            If another process writes to it.
        OSError
            If it cannot be written to.
        """
        if self._folder is None:
            yield self
            return
        storage.check_free(self._folder, kind)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(f"{self._folder}: cannot write here: {storage.reason(error)}") from None
        lock = Lock(self._folder)
        try:
            self._begin(self._folder, kind, manifest, written)
            yield self
        finally:
            try:
                if not self._finished and self._journal is not None:
                    # A second error, such as a full disk again, must not hide the first.
                    with contextlib.suppress(OSError):
                        self.keep()
                        self.describe(state=INTERRUPTED)
            finally:
                self._journal = None
                lock.release()

    def _begin(self, folder: Path, kind: str, manifest: Mapping[str, Any], written: Sequence[str]) -> None:
        storage.check_free(folder, kind)  # another process may have written before the lock
        leftovers.remove_within(folder)
        self._kind, self._finished = kind, False
        self.describe(**manifest, state=RUNNING)
        targets.remove_written(folder, written)
        held = {key: self._texts[key] for key in self._held if key in self._texts}
        self._read()
        self._journal, self._held = Journal(folder / JOURNAL), set()
        for key, text in held.items():
            self._put(key, text)

    def describe(self, **entries: Any) -> None:  # noqa: ANN401 - any JSON
        """Change entries of the manifest of the open folder."""
        if self._folder is None:
            return
        self._manifest.update(entries)
        storage.write_manifest(self._folder, self._kind, {**self._manifest, "build": sources.build()})

    def keep(self) -> None:
        """Move the measurements of the open folder into its table, whose bytes do not tell how often it was open."""
        import polars

        if self._folder is None or self._journal is None:
            return
        keys = sorted(self._texts)
        table = polars.DataFrame(
            {"key": keys, "measured": [self._texts[key] for key in keys]}, dict.fromkeys(COLUMNS, polars.String)
        )
        storage.write_parquet(self._folder / TABLE, table)
        self._journal.remove()

    def finish(self, state: str = COMPLETE, **entries: Any) -> None:  # noqa: ANN401 - any JSON
        """Keep the measurements, and say in the manifest that the work is done, with further entries."""
        self.keep()
        self.describe(**entries, state=state)
        self._finished = True

    def _read(self) -> None:
        """Read the folder; a file or line that cannot be read does not count."""
        if self._folder is None:
            return
        import polars

        with contextlib.suppress(OSError, polars.exceptions.PolarsError):
            table = reading.read_parquet(self._folder / TABLE)
            own = dict.fromkeys(COLUMNS, polars.String())
            if table.schema == own and not table.null_count().sum_horizontal().item():
                self._texts = dict(zip(table["key"].to_list(), table["measured"].to_list(), strict=True))
        with contextlib.suppress(OSError):
            self._texts.update(Journal(self._folder / JOURNAL).read())
