"""Tables of reports: typed columns, which readers sort and filter.

>>> table = Table([Column("flow"), Column("goodput", "number", "Mbit/s")], [["a", 8.123456], ["b", None]])
>>> [[cell.text for cell in row] for row in table.cells]
[['a', '8.123'], ['b', '–']]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ackclock.formatting.numbers import number

NOTHING = "–"
MOST_ROWS = 500
"""Rows that a page shows of a longer table."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes
    ----------
    name : str
        Its heading.
    kind : {"text", "number"}
        Whether it sorts as numbers.
    unit : str
        Its unit, shown beside the name.
    meaning : str
        An explanation, shown under the pointer.
    """

    name: str
    kind: Literal["text", "number"] = "text"
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell whose text differs from its value.

    Attributes
    ----------
    text : str
        Its text.
    value : float, str or None
        The value by which its column sorts; None: the text.
    mark : str
        Its look: ``holds``, ``does-not-hold``, ``cannot-tell``, ``not-run``, ``better``, ``worse``, or "".
    target : str
        Anchor in the page to which it links; with a slash, a relative file, such as ``./run/report.html``.
    """

    text: str
    value: float | str | None = None
    mark: str = ""
    target: str = ""

    @property
    def key(self) -> float | str:
        """The value by which its column sorts; empty cells come last."""
        if isinstance(self.value, float) and not math.isfinite(self.value):
            return ""
        return self.text.replace(NOTHING, "") if self.value is None else self.value


Value = str | float | int | bool | Cell | None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    columns : sequence of Column
        Its columns.
    rows : sequence of sequence
        Its rows: texts, numbers, None or `Cell`.
    title : str
        Its heading.
    anchor : str
        Its name in links within the page; empty: none.
    note : str
        A line below it.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    anchor: str = ""
    note: str = ""

    @property
    def cells(self) -> list[list[Cell]]:
        """The cells of the rows that a page shows."""
        return [[_cell(value) for value in row] for row in self.rows[:MOST_ROWS]]

    @property
    def omitted(self) -> int:
        """Number of rows that a page does not show."""
        return max(0, len(self.rows) - MOST_ROWS)


def numbers(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Return a table of formatted numbers; all columns but the first `left` sort by the number they begin with."""
    kinds = [Column(name, "text" if index < left else "number") for index, name in enumerate(columns)]
    return Table(kinds, [[_parsed(text, index >= left) for index, text in enumerate(row)] for row in rows])


def _parsed(text: str, numeric: bool) -> Value:
    if not numeric:
        return text
    head = text.split(" ")[0].replace(",", "").replace("−", "-").lstrip("×+").rstrip("%")
    try:
        return Cell(text, float(head))
    except ValueError:
        return Cell(text, math.nan)


def _cell(value: Value) -> Cell:
    if isinstance(value, Cell):
        return value
    if value is None:
        return Cell(NOTHING, math.nan)
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, str):
        return Cell(value)
    if not math.isfinite(value):
        return Cell(NOTHING, math.nan)
    return Cell(number(float(value), 4).replace("-", "−"), float(value))
