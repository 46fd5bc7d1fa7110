"""Rows and cells that the command `model` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ackclock.cli import output
from ackclock.formatting.numbers import finite
from ackclock.models.registry import Model

if TYPE_CHECKING:
    import polars


def cell(model: Model, name: str, value: Any) -> object:  # noqa: ANN401 - a cell of a table
    """Return the cell of a parameter or a label: parameters in the unit in which people write them."""
    if isinstance(value, bool):
        return str(value).lower()
    parameter = model.parameter(name)
    if parameter is None or not isinstance(value, float):
        return value
    return plain(parameter.factor * value)


def plain(value: float) -> object:
    """Return the cell of a number: NaN is empty."""
    return value if math.isfinite(value) else None if math.isnan(value) else "∞"


def title(model: Model, name: str) -> str:
    """Return the title of a parameter's column."""
    parameter = model.parameter(name)
    return name if parameter is None else parameter.title


def rows(table: polars.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of some columns for JSON."""
    chosen = table.select([name for name in dict.fromkeys(names) if name in table.columns])
    return [{name: finite(value) for name, value in row.items()} for row in chosen.iter_rows(named=True)]


def note_more(count: int) -> None:
    """Print a note if not all rows are shown."""
    if count > output.MOST_ROWS:
        output.note(f"only the first {output.MOST_ROWS} of {count:,} rows are shown; --json prints all")
