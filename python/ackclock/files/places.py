"""The line of every key and element of a TOML file, for messages; no reader of TOML for Python keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterator

Key = tuple[str | int, ...]
"""The path of a value: keys of tables, and positions in lists from 0."""

_TOKEN = re.compile(
    r"""
    # A choice for each letter of a long text would take much memory; texts of several lines come first.
    \"{3}[^"\\]*(?:(?:\\.|\"{1,2}(?!"))[^"\\]*)*\"{3,5} | '{3}[^']*(?:'{1,2}(?!')[^']*)*'{3,5}
    | "[^"\\\n]*(?:\\.[^"\\\n]*)*" | '[^'\n]*'
    | \#[^\n]* | \n | [\[\]{},=] | [^\s"'#\[\]{},=]+
    """,
    re.VERBOSE | re.DOTALL,
)


def lines(text: str) -> dict[Key, int]:
    """Return the line of every table, key and element of a list.

    Parameters
    ----------
    text
        The text of a file that a reader of TOML accepts.
    """
    return dict(_Scanner(text).places())


class _Scanner:
    """Reads the structure alone; a value counts only by its brackets."""

    def __init__(self, text: str) -> None:
        self._found = (match for match in _TOKEN.finditer(text) if not match[0].startswith("#"))
        self._text, self._line, self._read = text, 1, 0
        self._lengths: dict[Key, int] = {}  # of lists of tables
        self._next()

    def _next(self) -> None:
        match = next(self._found, None)
        self._token, self._place = (match[0], match.start()) if match else ("", len(self._text))

    def _here(self) -> int:
        """Return the line of the next token."""
        self._line, self._read = self._line + self._text.count("\n", self._read, self._place), self._place
        return self._line

    def _skip(self, tokens: str) -> None:
        while self._token and self._token in tokens:
            self._next()

    def places(self) -> Iterator[tuple[Key, int]]:
        table: Key = ()
        self._skip("\n")
        while self._token:
            line = self._here()
            if self._token == "[":
                self._next()
                if several := self._token == "[":
                    self._next()
                table = self._header(self._key(), several=several)
                self._skip("]")
                yield table, line
            else:
                yield from self._entry(table)
            self._skip("\n")

    def _header(self, words: Key, *, several: bool) -> Key:
        """Return the path of a table; a name of a list of tables means the last one so far."""
        path: Key = ()
        for number, word in enumerate(words, start=1):
            path = (*path, word)
            if several and number == len(words):
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        return path

    def _key(self) -> Key:
        words: list[str] = []
        while self._token not in ("=", "]", ""):
            token = self._token
            quoted = token[0] in "\"'"
            words += [token[1:-1]] if quoted else [word for word in token.split(".") if word]
            self._next()
        return tuple(words)

    def _entry(self, table: Key) -> Iterator[tuple[Key, int]]:
        """Read a key and its value; the tables that a dotted key opens have its line."""
        line, words = self._here(), self._key()
        self._next()
        for length in range(1, len(words) + 1):
            yield (*table, *words[:length]), line
        yield from self._value((*table, *words))

    def _value(self, path: Key) -> Iterator[tuple[Key, int]]:
        opened = self._token
        if opened not in ("[", "{"):
            while self._token not in (",", "]", "}", "\n", ""):
                self._next()
            return
        self._next()
        self._skip("\n")
        position = 0
        while self._token not in ("]", "}", ""):
            if opened == "{":
                yield from self._entry(path)
            else:
                yield (*path, position), self._here()
                yield from self._value((*path, position))
                position += 1
            self._skip(",\n")
        self._next()
