"""Reading of stored sweeps; `ackclock.experiments.sweeps` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.files import storage

if TYPE_CHECKING:
    import polars

LINES = "runs.jsonl"


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
        if not path.exists():
            return {}
        with path.open(encoding="utf-8") as file:
            return {line["name"]: line for line in map(json.loads, file)}

    def has(self, name: str) -> bool:
        """Whether the sweep has a table of this name."""
        return (self._directory / f"{name}.parquet").exists()

    def table(self, name: str, labels: Mapping[str, str]) -> polars.DataFrame:
        """Return the rows of the run with these labels."""
        if name not in self._tables:
            table = storage.read_parquet(self._directory / f"{name}.parquet")
            count = len(labels)
            keys, rest = table.columns[:count], table.columns[count:]
            parts = table.partition_by(keys, as_dict=True, maintain_order=True)
            self._tables[name] = {key: part.select(rest) for key, part in parts.items()}
            self._empty[name] = table.select(rest).clear()
        return self._tables[name].get(tuple(labels.values()), self._empty[name])
