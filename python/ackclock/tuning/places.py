"""Places in a TOML file: the line of every key, for messages."""

from __future__ import annotations

import re
from pathlib import Path

_WORD = r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[A-Za-z0-9_-]+'
_KEY = rf"(?:{_WORD})(?:\s*\.\s*(?:{_WORD}))*"
_TABLE = re.compile(rf"\s*\[\s*({_KEY})\s*\]")
_ENTRY = re.compile(rf"\s*({_KEY})\s*=")


class Places:
    """The lines of a file's keys; a key inside an inline table has the line of that table.

    Parameters
    ----------
    file
        The file, as the user named it.
    text
        Its text.
    """

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self._lines: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for number, line in enumerate(text.splitlines(), start=1):
            if head := _TABLE.match(line):
                table = _words(head[1])
                self._lines.setdefault(table, number)
            elif entry := _ENTRY.match(line):
                self._lines.setdefault((*table, *_words(entry[1])), number)

    def __call__(self, *path: str) -> str:
        """Return the beginning of a message: file, line and key."""
        key = ".".join(path)
        for length in range(len(path), 0, -1):
            if line := self._lines.get(path[:length]):
                return f"{self._file}:{line}: {key}"
        return f"{self._file}: {key}" if key else str(self._file)


def _words(key: str) -> tuple[str, ...]:
    return tuple(word.strip("\"'") for word in re.findall(_WORD, key))
