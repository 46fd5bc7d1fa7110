"""Journals: values by their keys in a file that grows by a line for each, so that a killed process loses none."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any


class Journal:
    """Values of JSON by their keys, a line each, which is in the file when `add` returns.

    Parameters
    ----------
    file
        The file, which need not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> dict[str, Any]:
        """Return the values by their keys, the last of each key; lines that cannot be read do not count."""
        try:
            lines = self._file.read_bytes().splitlines()
        except OSError:
            return {}
        found: dict[str, Any] = {}
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, RecursionError):
                key, value = json.loads(line)
                if isinstance(key, str):
                    found[key] = value
        return found

    def add(self, key: str, value: object) -> None:
        """Append a value.

        Raises
        ------
        OSError
            If the file cannot be written to.
        """
        with self._file.open("a+b") as file:
            # A killed process may have left an incomplete line.
            if file.tell() and not _ends_with_newline(file):
                file.write(b"\n")
            file.write(json.dumps([key, value]).encode() + b"\n")

    def remove(self) -> None:
        """Remove the file."""
        self._file.unlink(missing_ok=True)


def _ends_with_newline(file: io.BufferedRandom) -> bool:
    file.seek(-1, io.SEEK_END)
    return file.read(1) == b"\n"
