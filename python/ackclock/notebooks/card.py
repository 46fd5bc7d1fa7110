"""A card and its texts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from ackclock.formatting.names import shown_text
from ackclock.formatting.numbers import cell
from ackclock.notebooks.pictures import Picture

if TYPE_CHECKING:
    import jinja2

MOST_ROWS = 10
"""Rows of a table that a card shows."""
MOST_LINES = 200
"""Lines of a source that a card shows."""
Mark = Literal["", "good", "bad"]


@dataclass(frozen=True)
class Cell:
    """A cell with a look: ``good`` or ``bad``."""

    text: str
    mark: Mark = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    columns : sequence of str
        Its headings.
    rows : sequence of sequence
        Its rows: texts, numbers, None or `Cell`. Only the first `MOST_ROWS` are shown.
    left : int
        Number of columns with words, which come first.
    title : str
        Its title.
    total : int or None
        Number of all rows, if `rows` has only the first ones.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    left: int = 1
    title: str = ""
    total: int | None = None

    @property
    def cells(self) -> list[list[Cell]]:
        """The cells of the rows that are shown."""
        return [[it if isinstance(it, Cell) else Cell(cell(it)) for it in row] for row in self.rows[:MOST_ROWS]]

    @property
    def omitted(self) -> int:
        """Number of rows that are not shown."""
        return max(self.total or 0, len(self.rows)) - min(len(self.rows), MOST_ROWS)


@dataclass(frozen=True)
class Text:
    """A paragraph; ``warning`` and ``soft`` are looks."""

    text: str
    look: Literal["", "warning", "soft"] = ""


@dataclass(frozen=True)
class Source:
    """Text with fixed line breaks, folded at first.

    Attributes
    ----------
    title : str
        The line that unfolds it.
    text : str
        The text; only the first `MOST_LINES` lines are shown.
    """

    title: str
    text: str

    @property
    def first(self) -> str:
        """The lines that are shown."""
        return "\n".join(self.text.splitlines()[:MOST_LINES])

    @property
    def omitted(self) -> int:
        """Number of lines that are not shown."""
        return max(0, len(self.text.splitlines()) - MOST_LINES)


@dataclass(frozen=True)
class Charts:
    """A drawing.

    Attributes
    ----------
    svg : str
        An SVG element, which the card contains as it is.
    note : str
        A line below it.
    """

    svg: str
    note: str = ""


Block = Text | Table | Charts | Picture | Source


@dataclass(frozen=True)
class Card:
    """What a notebook shows of an object.

    Attributes
    ----------
    kind : str
        What the object is: ``Scenario``.
    name : str
        Its name.
    facts : sequence of str
        Facts beside the name: duration, seed.
    blocks : sequence
        Texts, tables, charts, pictures and sources.
    """

    kind: str
    name: str
    facts: Sequence[str] = ()
    blocks: Sequence[Block] = ()

    def html(self) -> str:
        """Return the card as a fragment of HTML, which needs no script, no other file and no network."""
        return _environment().get_template("card.html.j2").render(card=self, kind=lambda item: type(item).__name__)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock.notebooks"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: shown_text(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
