"""Tables of paths: a population, each row of which gives a path's rates, delays, buffers and amounts of data."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ackclock.files import tables

HEADING = re.compile(r"(?:(?P<label>[^=:]+)=(?P<value>[^:]+): )?(?P<key>[\w.]+)(?: \((?P<unit>[^)]+)\))?")
NAME = "label"
"""The heading of the column with the names of paths."""
Values = Sequence[Mapping[str, str]]
"""For each path the values by the paths of their keys."""


@dataclass(frozen=True)
class Column:
    """A column that counts in the cells with a label, or in all if `label` is empty.

    Attributes
    ----------
    label, value : str
        The label, and its value.
    key : str
        The path of the key.
    texts : sequence of str
        The values of the key.
    """

    label: str
    value: str
    key: str
    texts: Sequence[str]

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Whether it counts in a cell with these labels."""
        return not self.label or labels[self.label] == self.value


@dataclass(frozen=True)
class PathTable:
    """A table of paths.

    A heading is the path of a key with its unit, such as ``topology.bottleneck.rate (Mbit/s)``. With a label in front,
    as in ``load=100 kB: flow.0.size (kB)``, the column counts in cells with this label alone. A column ``label`` may
    name the paths.

    Attributes
    ----------
    count : int
        Number of paths.
    columns : sequence of Column
        The columns.
    """

    count: int
    columns: Sequence[Column]
    _found: dict[tuple[int, ...], Values] = field(default_factory=dict, repr=False, compare=False)

    def paths(self, labels: Mapping[str, str]) -> Values:
        """Return the paths of a cell with these labels; cells with the same columns share them."""
        places = tuple(place for place, column in enumerate(self.columns) if column.counts(labels))
        if places not in self._found:
            chosen = [self.columns[place] for place in places]
            self._found[places] = [{column.key: column.texts[row] for column in chosen} for row in range(self.count)]
        return self._found[places]


def read(file: Path, labels: Collection[str]) -> PathTable:
    """Read a table of paths.

    Parameters
    ----------
    file
        A ``.csv`` or ``.parquet`` file.
    labels
        The known labels.

    Raises
    ------
    ValueError
        If it is no such table, or names an unknown label.
    OSError
        If the file cannot be read.
    """
    columns, count = [], 0
    for heading, text, lengths in tables.text_columns(file):
        match, cells = HEADING.fullmatch(heading), tables.cells(text, lengths)
        where = f'{file}: column "{heading}"'
        if match is None:
            example = "topology.bottleneck.rate (Mbit/s)"
            raise ValueError(f"{where}: expected the path of a key with its unit, such as {example}")
        if match["label"] and match["label"] not in labels:
            raise ValueError(f"{where}: there is no label {match['label']!r} (known: {', '.join(labels)})")
        if "" in cells:
            raise ValueError(f"{where}: row {cells.index('') + 2} is empty")
        count = len(cells)
        unit = f" {match['unit']}" if match["unit"] else ""
        if match["key"] != NAME:
            columns.append(
                Column(match["label"] or "", match["value"] or "", match["key"], [f"{cell}{unit}" for cell in cells])
            )
    return PathTable(count, columns)
