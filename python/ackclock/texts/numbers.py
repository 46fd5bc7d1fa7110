"""Numbers for people."""

from __future__ import annotations


def number(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits, thousands separated by commas.

    >>> number(0.123456), number(1234567.0), number(250000.0), number(12.0)
    ('0.1235', '1,234,567', '250,000', '12')
    """
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:,.{digits}g}"


def counted(count: int, noun: str) -> str:
    """Write how many there are of something.

    >>> counted(1, "flow"), counted(2000, "flow")
    ('1 flow', '2,000 flows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
