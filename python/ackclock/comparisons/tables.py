"""Tables of paths: columns such as ``rate``, ``rtt`` and ``buffer``, with their units, as the keys of a scenario."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.files import tables

Column = tuple[str, str, bytes]
"""A header, the cells as one text, and the length of each cell, as `tables.text_columns` returns them."""

RATES = {
    f"{prefix.lower()}{unit}": f"{prefix}bit/s" for prefix in ("", "k", "M", "G") for unit in ("bps", "bit/s", "bit")
}
TIMES = {"s": "s", "ms": "ms", "us": "us", "µs": "us"}
BUFFERS = {"packets": "packets", "pkts": "packets", "bdp": "BDP", "b": "B", "bytes": "B", "kb": "kB", "mb": "MB"}
SHARES = {"%": "%", "percent": "%"}


@dataclass(frozen=True)
class Quantity:
    """A column of a table of paths.

    Attributes
    ----------
    names : sequence of str
        The words for it, the usual one first.
    key : str
        The key of the scenario that it sets.
    units : dict
        Its units as they are written in headers, each with the unit of the scenario.
    factor : float
        What the key takes of a value: a round trip has two delays.
    """

    names: Sequence[str]
    key: str
    units: Mapping[str, str]
    factor: float = 1.0


QUANTITIES = (
    Quantity(("rate", "bandwidth", "capacity"), "topology.bottleneck.rate", RATES),
    Quantity(("rtt", "base_rtt", "min_rtt"), "topology.bottleneck.delay", TIMES, 0.5),
    Quantity(("delay", "one_way_delay"), "topology.bottleneck.delay", TIMES),
    Quantity(("buffer", "queue", "queue_limit"), "topology.bottleneck.queue.limit", BUFFERS),
    Quantity(("loss", "loss_rate"), "topology.bottleneck.loss", SHARES),
)
LABEL = "label"
PLAIN = (LABEL, "seed", "duration")
"""Headers without a dot that are no quantity."""
EXPECTED = (
    "expected rate, rtt or delay, buffer, loss and label, each with its unit, as in rate_mbps, rtt_ms or "
    '"buffer (packets)", or the path of a key such as topology.bottleneck.rate'
)


@dataclass(frozen=True)
class _Read:
    """A column that was read: its header in the table and in the scenario, its cells, and its unit."""

    header: str
    key: str
    cells: list[str]
    unit: str
    quantity: Quantity | None

    @property
    def column(self) -> Column:
        """The column for the scenario."""
        factor = 1.0 if self.quantity is None else self.quantity.factor
        cells = self.cells if factor == 1 else [_scaled(cell, factor) for cell in self.cells]
        return (f"{self.key} ({self.unit})" if self.unit and self.quantity else self.key, *tables.joined(cells))

    @property
    def values(self) -> list[str]:
        """The cells as parts of a path's name."""
        unit = f" {self.unit}" if self.unit else ""
        word = "RTT " if self.quantity is not None and self.quantity.factor != 1 else ""
        return [f"{word}{cell}{unit}" for cell in self.cells]


def columns(file: Path) -> tuple[list[Column], dict[str, str]]:
    """Read a table of paths.

    Parameters
    ----------
    file
        A CSV or Parquet file.

    Returns
    -------
    :
        The columns of `Scenario.sweep_points`, and the headers of the table by their keys, for messages. Rows without
        a label are named by the columns that differ.

    Raises
    ------
    ValueError
        If the file is no table, a header is unknown, or two headers mean the same.
    OSError
        If the file cannot be read.
    """
    found = [_read(file, *column) for column in tables.text_columns(file)]
    for index, one in enumerate(found):
        for other in found[:index]:
            if one.key == other.key:
                raise ValueError(
                    f'{file}: the columns "{other.header}" and "{one.header}" mean the same; leave out one'
                )
    made = [each.column for each in found]
    if all(each.key != LABEL for each in found):
        made.insert(0, (LABEL, *tables.joined(_labels(found))))
    return made, {each.key: each.header for each in found if each.quantity is not None}


def _read(file: Path, header: str, text: str, lengths: bytes) -> _Read:
    cells = tables.cells(text, lengths)
    for quantity in QUANTITIES:
        for name in quantity.names:
            match = re.fullmatch(rf"{name}(?:[ _]*[(\[]?([^()\[\] _]+)[)\]]?)?", header.strip().lower())
            if match is None:
                continue
            if match[1] is None:
                return _Read(header, quantity.key, cells, "", quantity)
            if match[1] in quantity.units:
                return _Read(header, quantity.key, cells, quantity.units[match[1]], quantity)
            units = ", ".join(dict.fromkeys(quantity.units.values()))
            raise ValueError(f'{file}: column "{header}": {match[1]!r} is no unit of {name} (known: {units})')
    key, _, rest = header.strip().partition(" (")
    if key.lower() == "name":
        return _Read(header, LABEL, cells, "", None)
    if "." not in key and key not in PLAIN:
        raise ValueError(f'{file}: column "{header}": {EXPECTED}')
    unit = rest.removesuffix(")")
    return _Read(header, header, cells, unit, None)


def _labels(found: Sequence[_Read]) -> list[str]:
    """Return a name for each row, made of the columns that differ; equal names get a number."""
    differing = [each for each in found if len(set(each.cells)) > 1] or list(found)
    names = [", ".join(values) for values in zip(*(each.values for each in differing), strict=True)]
    counts, used = Counter(names), Counter[str]()
    for index, name in enumerate(names):
        if counts[name] > 1:
            used[name] += 1
            names[index] = f"{name} #{used[name]}"
    return names


def _scaled(cell: str, factor: float) -> str:
    """Return a cell with a multiple of its number; a cell without a number stays, and is refused with the others."""
    match = re.fullmatch(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)(.*)", cell)
    try:
        return cell if match is None else f"{float(match[1]) * factor!r}{match[2]}"
    except ValueError:
        return cell
