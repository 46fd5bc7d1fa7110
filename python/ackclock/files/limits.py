"""The limits of files and of the memory to read them, from the table of the compiled core."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from ackclock import _core


@cache
def most(name: str) -> int:
    """Return the largest number of a limit; ``docs/reference/limits.md`` lists all."""
    return next(int(limit["most"]) for limit in json.loads(_core.limits()) if limit["name"] == name)


def check(path: Path, largest: int) -> None:
    """Refuse a file of more than `largest` bytes before it is read; a pipe or a device has no size.

    Raises
    ------
    ValueError
        If the file is too large.
    """
    if path.is_file() and (size := path.stat().st_size) > largest:
        raise ValueError(f"{path}: {size / 1e6:,.1f} MB is larger than the limit of {largest / 1e6:,.0f} MB")


def excess(text: str, *, json: bool = False) -> str:
    """Return why a text of TOML or JSON would take too much memory to read, with the line; empty if it would not.

    The memory is estimated from the text, before a tree of its values is made.
    """
    found = _core.excess(text, json=json)
    return f"line {found[0]}: {found[1]}" if found else ""
