"""Numbers as people and JSON read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

ANY_NUMBER = r"\d[\d.,]*"
"""Regular expression of a number in a message: messages that differ only in numbers are of one kind."""


def number(value: float, digits: int = 4) -> str:
    """Write a number with this many significant digits, and commas between thousands.

    >>> number(0.123456), number(1234567.0), number(250000.0), number(12.0)
    ('0.1235', '1,234,567', '250,000', '12')
    """
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:,.{digits}g}"


def cell(value: object) -> str:
    """Return a value as the text of a cell; numbers that are not whole have four significant digits.

    >>> cell(None), cell(1234), cell(0.123456)
    ('–', '1,234', '0.1235')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def counted(count: int, noun: str) -> str:
    """Write a count with its noun.

    >>> counted(1, "flow"), counted(2000, "flow")
    ('1 flow', '2,000 flows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def finite(value: Any) -> Any:  # noqa: ANN401 - any value of a table or document
    """Replace infinities and NaN, which JSON cannot hold, by None; also inside tables and lists.

    >>> finite({"a": float("nan"), "b": [1.5, float("inf")]})
    {'a': None, 'b': [1.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def in_words(seconds: float) -> str:
    """Format a time: ``90 s``, ``12 min``, ``3.5 h``.

    >>> in_words(90), in_words(700), in_words(12700)
    ('90 s', '12 min', '3.5 h')
    """
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    return f"{math.ceil(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
