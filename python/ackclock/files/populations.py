"""Populations of paths: quantities drawn from published quantiles."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.files import checks, limits, tables, toml

FOLDER = Path(__file__).resolve().parents[1] / "data" / "populations"
"""The shipped populations. The first line of a file's opening comment is its summary."""
SHARES = checks.Kind(
    "a list of [percent, value] whose percents rise from 0 to 100",
    lambda value: (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(pair, list) and len(pair) == 2 and all(map(checks.is_number, pair)) for pair in value)
        and [pair[0] for pair in value] == sorted({pair[0] for pair in value})
        and value[0][0] >= 0
        and value[-1][0] <= 100
    ),
)
KEYS = {
    "name": checks.TEXT, "quantiles": SHARES, "scale": checks.one_of("linear", "log"), "unit": checks.TEXT,
    "key": checks.TEXT, "times": checks.NUMBER, "rank": checks.TEXT, "source": checks.TEXT,
}  # fmt: skip
REQUIRED = ("name", "quantiles", "unit", "key", "source")


@dataclass(frozen=True)
class Quantity:
    """A quantity of a population's paths.

    Attributes
    ----------
    name : str
        Its name in labels.
    quantiles : sequence of (float, float)
        Percents with the values that so many paths are at or below, both rising.
    log : bool
        Whether values between two quantiles are interpolated by their logarithms.
    unit : str
        The unit of the values.
    key : str
        The key of the scenario that it sets.
    times : float
        What the key takes of a value: a delay is half a round trip.
    rank : str
        The name of the draw that gives its percent. Quantities of one rank rise and fall together; others are
        independent.
    """

    name: str
    quantiles: Sequence[tuple[float, float]]
    log: bool
    unit: str
    key: str
    times: float
    rank: str

    def at(self, percent: float) -> float:
        """Return the value at a percent: interpolated between quantiles, and that of the nearest beyond the ends."""
        pairs = self.quantiles
        if percent <= pairs[0][0]:
            return pairs[0][1]
        for (low, before), (high, after) in itertools.pairwise(pairs):
            if percent <= high:
                share = (percent - low) / (high - low)
                if self.log:
                    return math.exp((1 - share) * math.log(before) + share * math.log(after))
                return (1 - share) * before + share * after
        return pairs[-1][1]


def names() -> list[str]:
    """Return the names of the shipped populations."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def summary(name: str) -> str:
    """Return what a population is, in one line."""
    first = toml.read_text(_file(name)).partition("\n")[0]
    return first.lstrip("#").strip().rstrip(".") if first.startswith("#") else ""


def columns(name: str, count: int, seed: int) -> list[tuple[str, str, bytes]]:
    """Draw paths of a population.

    A path depends on its number and the seed only: a larger population begins with the smaller one, and equal numbers
    have equal ranks in all populations (common random numbers).

    Parameters
    ----------
    name
        The name of a shipped population, or a ``.toml`` file.
    count
        Number of paths.
    seed
        Seed of the drawing.

    Returns
    -------
    :
        The columns, in the form of `tables.text_columns`: a label for each path, and a column for each quantity.

    Raises
    ------
    ValueError
        If there is no such population, or its file is wrong.
    OSError
        If the file cannot be read.
    """
    quantities = read(name)
    rows = []
    for index in range(count):
        ranks = {each.rank: 100 * random.Random(f"{seed}: {index}: {each.rank}").random() for each in quantities}
        rows.append([f"{each.at(ranks[each.rank]):.4g}" for each in quantities])
    cells: list[list[str]] = [[] for _ in quantities]
    labels = []
    for index, row in enumerate(rows):
        shown = ", ".join(f"{each.name} {cell} {each.unit}" for each, cell in zip(quantities, row, strict=True))
        labels.append(f"{index + 1}: {shown}")
        for column, each, cell in zip(cells, quantities, row, strict=True):
            column.append(cell if each.times == 1 else f"{float(cell) * each.times:.6g}")
    made = [("label", *tables.joined(labels))]
    return made + [
        (f"{each.key} ({each.unit})", *tables.joined(column)) for each, column in zip(quantities, cells, strict=True)
    ]


def read(name: str) -> list[Quantity]:
    """Return the quantities of a population.

    Raises
    ------
    ValueError
        If there is no such population, or its file is wrong.
    OSError
        If the file cannot be read.
    """
    file = _file(name)
    document = toml.read(file, limits.most("scenario"))
    checks.keys(str(file), document, {"quantity": checks.tables("quantity")}, ["quantity"])
    found = [_quantity(f"{file}: quantity {index}", table) for index, table in enumerate(document["quantity"])]
    if not found:
        raise ValueError(f"{file}: has no quantity")
    for index, one in enumerate(found):
        if any(one.key == other.key for other in found[:index]):
            raise ValueError(f"{file}: two quantities set {one.key}")
    return found


def _file(name: str) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    if name not in names():
        raise ValueError(f"unknown population {name!r}{checks.near(name, names())}; the name of a file ends in .toml")
    return FOLDER / f"{name}.toml"


def _quantity(place: str, table: Mapping[str, Any]) -> Quantity:
    checks.keys(place, table, KEYS, REQUIRED)
    values = [value for _, value in table["quantiles"]]
    if values != sorted(values):
        raise ValueError(f"{place}: the values of quantiles must not fall")
    log = table.get("scale", "log") == "log"
    if log and values[0] <= 0:
        raise ValueError(f'{place}: the values of quantiles must be above 0, or scale must be "linear"')
    pairs = [(float(percent), float(value)) for percent, value in table["quantiles"]]
    name = table["name"]
    return Quantity(
        name, pairs, log, table["unit"], table["key"], float(table.get("times", 1)), table.get("rank", name)
    )
