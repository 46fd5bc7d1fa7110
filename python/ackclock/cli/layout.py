"""How a table fits a terminal: no word and no number is split over two lines."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

PROSE = 12
"""A column of words does not become narrower than this if its texts are longer: narrower prose is hard to read."""
EDGE = 1
"""Blanks before the first and after the last column."""
GAPS = (3, 2)
"""Blanks between columns: the usual ones, and those of a table that is otherwise too wide."""


@dataclass(frozen=True)
class Fitted:
    """A table that fits a terminal.

    Attributes
    ----------
    kept : list of int
        The columns that are shown.
    widths : list of int
        Their widths, in characters.
    gap : int
        Blanks between them.
    """

    kept: list[int]
    widths: list[int]
    gap: int


def fitted(
    columns: Sequence[str], rows: Sequence[Sequence[str]], left: int, width: int, less: Sequence[str] = ()
) -> Fitted | None:
    """Choose columns and widths with which a table fits; None if even the indispensable columns are too wide.

    Parameters
    ----------
    columns, rows
        Titles and cells.
    left
        The number of first columns that hold words, which may be wrapped between words; the others hold numbers.
    width
        Width of the terminal, in characters.
    less
        Titles of the columns that may be left out, the least important first.
    """
    kept = list(range(len(columns)))
    least = [_least(columns[at], [row[at] for row in rows], at < left) for at in kept]
    most = [max(cell_len(columns[at]), *(cell_len(row[at]) for row in rows), 0) for at in kept]
    dropped: Iterator[str] = iter(less)
    while True:
        for gap in GAPS:
            free = width - 2 * EDGE - gap * (len(kept) - 1)
            if sum(least[at] for at in kept) <= free:
                return Fitted(kept, _shared([least[at] for at in kept], [most[at] for at in kept], free), gap)
        title = next(dropped, None)
        if title is None:
            return None
        kept = [at for at in kept if columns[at] != title]


def record(columns: Sequence[str], row: Sequence[str], width: int) -> Iterator[tuple[str, str]]:
    """Yield the lines of a row that is shown as a record: a title, padded, and a part of its value.

    A value with a word that is too long to stand beside the titles begins on a line of its own.
    """
    longest = max(map(_longest_word, columns))
    names = max(min(max(map(cell_len, columns)), width // 2 - EDGE), longest)
    values = max(width - 2 * EDGE - names - GAPS[-1], 1)
    for title, value in zip(columns, row, strict=True):
        heading, text = wrapped(title, names) or [""], wrapped(value, values)
        if _longest_word(value) > values:
            yield from ((f"{' ' * EDGE}{name}", "") for name in heading)
            indent = " " * (EDGE + GAPS[-1])
            yield from ((indent, part) for part in wrapped(value, max(width - EDGE - len(indent), 1)))
            continue
        for name, part in itertools.zip_longest(heading, text, fillvalue=""):
            yield f"{' ' * EDGE}{name}{' ' * (names - cell_len(name) + GAPS[-1])}", part


def wrapped(text: str, width: int) -> list[str]:
    """Break a text between words; a longer word has a line of its own."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False, drop_whitespace=True)


def _least(title: str, cells: Sequence[str], words: bool) -> int:
    """Return the least width of a column: numbers stay on one line, and titles and words are not split."""
    if not words:
        return max(_longest_word(title), *map(cell_len, cells), 1)
    longest = max(_longest_word(title), *map(_longest_word, cells), 1)
    return max(longest, min(PROSE, max(map(cell_len, cells), default=0)))


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _shared(least: Sequence[int], most: Sequence[int], free: int) -> list[int]:
    """Return widths from `least` to `most`: what is free goes to the narrowest columns that need it."""
    widths = list(least)
    left = free - sum(widths)
    while left > 0:
        growing = [at for at, width in enumerate(widths) if width < most[at]]
        if not growing:
            break
        widths[min(growing, key=widths.__getitem__)] += 1
        left -= 1
    return widths
