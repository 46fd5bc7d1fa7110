"""Everything wrong with a TOML file in one message: file, line, table, key, and the nearest known word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import cast

from ackclock.files import limits, places, toml
from ackclock.files.checks import near
from ackclock.files.places import Key
from ackclock.formatting.numbers import counted

NAMES = ("id", "name", "number")
"""Keys whose value names a table of a list better than its position does."""


class Problems:
    """Collects the problems of a file.

    Parameters
    ----------
    file
        The file's name in messages.
    document
        Its parsed contents.
    text
        Its text; None: the text is read again if there are problems.

    Attributes
    ----------
    others : int
        Number of problems that are not in the list.
    """

    def __init__(self, file: str, document: Mapping[str, object], text: str | None = None) -> None:
        self._file, self._document, self._text = file, document, text
        self._found: dict[tuple[Key, Key, str], None] = {}
        self.others = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, path: Key, message: str) -> None:
        """Add a problem of the value at a path, which stands before the message."""
        self._found[path, path, message] = None

    def key(self, path: Key, message: str) -> None:
        """Add a problem of a key, which the message names itself; its table stands before the message."""
        self._found[path, path[:-1], message] = None

    def words(self, path: Key, noun: str, found: Iterable[str], known: Iterable[str]) -> bool:
        """Add a problem for each unknown word; return whether all are known."""
        names = list(known)
        wrong = [word for word in found if word not in names]
        for word in wrong:
            self.add(path, f"unknown {noun} {word!r}{near(word, names)}")
        return not wrong

    def once(self, path: Key, found: Iterable[object], message: str) -> None:
        """Add a problem for each word that occurs more than once; its message has the fields word and count."""
        for word, count in Counter(found).items():
            if count > 1:
                self.add(path, message.format(word=word, count=count))

    def choice(self, path: Key, where: Mapping[str, str], known: Mapping[str, Collection[str]]) -> None:
        """Add a problem for each label that is unknown, or whose value is."""
        self.only(path, {label: [value] for label, value in where.items()}, known)

    def only(self, path: Key, only: Mapping[str, Iterable[str]], known: Mapping[str, Collection[str]]) -> None:
        """Add a problem for each label that is unknown, and for each of its values that is."""
        for label, kept in only.items():
            if self.words(path, "label", [label], known):
                self.words(path, label, kept, known[label])

    def check(self, kind: type[ValueError] = ValueError) -> None:
        """Raise an error that lists the problems, if there are any, in the order of their lines.

        As of a scenario, the first 20 are listed, with the number of the others.
        """
        if not self._found:
            return
        lines, most = self._lines, limits.most("problems")
        found = sorted(self._found, key=lambda entry: _line(entry[0], lines) or 0)
        texts = [self._text_of(*entry) for entry in found[:most]]
        if others := self.others + len(found) - len(texts):
            texts.append(f"{self._file}: {counted(others, 'further problem')}")
        raise kind("\n".join(texts))

    def place(self, path: Key) -> str:
        """Return the beginning of a message about a path: file, line and path."""
        return self._text_of(path, path, "").removesuffix(": ")

    def _text_of(self, path: Key, shown: Key, text: str) -> str:
        line, place = _line(path, self._lines), self._words(shown)
        return f"{self._file}{f':{line}' if line else ''}: {f'{place}: ' if place else ''}{text}"

    @cached_property
    def _lines(self) -> dict[Key, int]:
        file = Path(self._file)
        given = self._text is None and file.is_file()
        return places.lines(toml.read_text(file) if given else self._text or "")

    def _words(self, path: Key) -> str:
        """Write a path: ``figures.block 2: where``; the tables of a list count from 1, or have their own names."""
        words, value = "", cast("object", self._document)
        for part in path:
            value = _inside(value, part)
            if isinstance(part, int):
                own = next((value[key] for key in NAMES if key in value), None) if isinstance(value, Mapping) else None
                words += f" {own if isinstance(own, (str, int)) and own else part + 1}: "
            else:
                words += part if not words or words.endswith(": ") else f".{part}"
        return words.removesuffix(": ")


def _inside(value: object, part: str | int) -> object:
    try:
        return value[part]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return None


def _line(path: Key, lines: Mapping[Key, int]) -> int | None:
    """Return the line of the innermost table or key of a path that the file has."""
    return next((lines[path[:length]] for length in range(len(path), 0, -1) if path[:length] in lines), None)
