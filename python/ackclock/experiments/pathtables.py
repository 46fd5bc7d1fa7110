"""Tables of paths: a population, each row of which gives a path's rates, delays, buffers and amounts of data."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ackclock.files import limits

HEADING = re.compile(r"(?:(?P<label>[^=:]+)=(?P<value>[^:]+): )?(?P<key>[\w.]+)(?: \((?P<unit>[^)]+)\))?")
NAME = "label"
"""The heading of the column with the names of paths."""


@dataclass(frozen=True)
class PathTable:
    """A ``.csv`` file of paths.

    A heading is the path of a key with its unit, such as ``topology.bottleneck.rate (Mbit/s)``. With a label in front,
    as in ``load=100 kB: flow.0.size (kB)``, the column counts in cells with this label alone. A column ``label`` may
    name the paths.

    Attributes
    ----------
    file : Path
        The file.
    """

    file: Path

    def __len__(self) -> int:
        return len(self._rows)

    def check(self, count: int, labels: Collection[str]) -> None:
        """Refuse a table that cannot be read, has too few rows, or names a label that there is not.

        Raises
        ------
        ValueError
            With the file, and what is wrong.
        OSError
            If the file cannot be read.
        """
        if len(self) < count:
            raise ValueError(f"{self.file}: has {len(self)} paths, but count is {count}")
        for heading in self._columns:
            if heading["label"] and heading["label"] not in labels:
                raise ValueError(f"{self.file}: column {heading[0]!r}: there is no label {heading['label']!r}")

    def paths(self, labels: Mapping[str, str]) -> list[dict[str, str]]:
        """Return the values of each row by the paths of their keys, for a cell with these labels."""
        chosen = [
            (place, heading["key"], heading["unit"])
            for place, heading in enumerate(self._columns)
            if heading["key"] != NAME and (not heading["label"] or labels[heading["label"]] == heading["value"])
        ]
        return [
            {key: f"{row[place]} {unit}" if unit else row[place] for place, key, unit in chosen} for row in self._rows
        ]

    @cached_property
    def _lines(self) -> list[list[str]]:
        limits.check(self.file, limits.most("table"))
        with self.file.open(newline="", encoding="utf-8") as lines:
            return [line for line in csv.reader(lines) if line]

    @cached_property
    def _columns(self) -> list[re.Match[str]]:
        if not self._lines:
            raise ValueError(f"{self.file}: is empty; its first line names the columns")
        found = []
        for heading in self._lines[0]:
            match = HEADING.fullmatch(heading)
            if match is None:
                raise ValueError(
                    f"{self.file}: column {heading!r}: expected the path of a key with its unit, such as "
                    "topology.bottleneck.rate (Mbit/s)"
                )
            found.append(match)
        return found

    @cached_property
    def _rows(self) -> list[list[str]]:
        width = len(self._columns)
        for number, line in enumerate(self._lines[1:], start=2):
            if len(line) != width or not all(line):
                raise ValueError(f"{self.file}: row {number}: expected {width} cells, none of them empty")
        return self._lines[1:]
