"""Reading of stored sweeps; `ackclock.experiments.sweeps` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.files import checks, storage, stored

if TYPE_CHECKING:
    import polars

LINES = "runs.jsonl"
LINE = {"name": checks.TEXT, "manifest": checks.TABLE, "scenario": checks.TEXT}


class Reader:
    """The runs of a sweep that have no folder of their own.

    Parameters
    ----------
    directory
        The folder of the sweep.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._tables: dict[str, dict[tuple[str, ...], polars.DataFrame]] = {}
        self._empty: dict[str, polars.DataFrame] = {}

    @cached_property
    def lines(self) -> dict[str, dict[str, Any]]:
        """The line of each run, by the name of the run."""
        path = self._directory / LINES
        try:
            texts = stored.read_text(path).splitlines()
        except FileNotFoundError:
            return {}
        found = {}
        for number, text in enumerate(texts, 1):
            line = stored.parsed(text, path)
            stored.check_entries(path, line, LINE, f"line {number}: ")
            storage.check_manifest(path, line["manifest"], "run", f"line {number}: ")
            found[line["name"]] = line
        return found

    def has(self, name: str) -> bool:
        """Whether the sweep has a table of this name."""
        return (self._directory / f"{name}.parquet").exists()

    def table(self, name: str, labels: Mapping[str, str], check: stored.Check) -> polars.DataFrame:
        """Return the rows of the run with these labels; `check` refuses a table with wrong columns."""
        import polars

        if name not in self._tables:
            path = self._directory / f"{name}.parquet"
            table = stored.read_parquet(path, check)
            count = len(labels)
            keys, rest = table.columns[:count], table.columns[count:]
            if not all(table[key].dtype == polars.String for key in keys):
                raise stored.DamagedError(path, f"it does not begin with {count} columns of labels")
            parts = table.partition_by(keys, as_dict=True, maintain_order=True)
            self._tables[name] = {key: part.select(rest) for key, part in parts.items()}
            self._empty[name] = table.select(rest).clear()
        return self._tables[name].get(tuple(labels.values()), self._empty[name])
