"""TOML files that are no scenarios: read, with a message that names the file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def parse(text: str, place: str) -> dict[str, Any]:
    """Parse TOML.

    Raises
    ------
    ValueError
        If it is none; the text begins with `place`.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place}: {error}") from None


def read(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    ValueError
        If it is none.
    OSError
        If it cannot be read.
    """
    return parse(read_text(path), str(path))


def read_text(path: Path) -> str:
    """Read a text file.

    Raises
    ------
    ValueError
        If it is not UTF-8.
    OSError
        If it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text file in UTF-8: {error}") from None
