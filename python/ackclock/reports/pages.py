"""Pages: the answer first, in one paragraph and one figure; then sections that fold.

>>> from ackclock.reports import Answer, Column, Section, Table
>>> table = Table([Column("flow"), Column("goodput", "number", "Mbit/s")], [["a", 8.1], ["b", 1.9]])
>>> html = page("Two flows", Answer("Flow a gets four times the goodput of flow b."), [Section("Flows", [table])])
>>> html.startswith("<!doctype html>")
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ackclock import _core
from ackclock.drawing.figure import Figure
from ackclock.reports.grids import Table
from ackclock.reports.live import Live
from ackclock.reports.rendering import render


@dataclass(frozen=True)
class Part:
    """A part of a sentence: its text, its link and its look, as in `Cell`."""

    text: str
    target: str = ""
    mark: str = ""


Sentence = str | Sequence[str | Part]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: Sentence


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[Sentence]


@dataclass(frozen=True)
class Verbatim:
    """Text with fixed line breaks, such as a scenario file."""

    text: str


@dataclass(frozen=True)
class Answer:
    """The answer: one or several sentences, and the figure that shows it.

    Attributes
    ----------
    text : str or sequence of sentences
        A paragraph, or several.
    figure : Figure or None
        The leading figure.
    """

    text: str | Sequence[Sentence]
    figure: Figure | None = None


Item = Figure | Table | Text | Bullets | Verbatim


@dataclass(frozen=True)
class Section:
    """A section.

    Attributes
    ----------
    title : str
        Its heading.
    items : sequence
        Figures, tables, texts, lists, and sections within it.
    folded : bool
        Whether it is folded at first.
    anchor : str
        Its name in links within the page; empty: from its title.
    printed : bool
        Whether print opens it.
    """

    title: str
    items: Sequence[Item | Section] = field(default_factory=list)
    folded: bool = True
    anchor: str = ""
    printed: bool = False


def page(
    title: str,
    answer: Answer,
    sections: Sequence[Section],
    *,
    about: str = "",
    footer: str = "",
    live: Live | None = None,
    static: str = "",
) -> str:
    """Return a report as one HTML file, which needs no other file and no network.

    Parameters
    ----------
    title
        Its title.
    answer
        The paragraph and the figure at the top.
    sections
        Its sections.
    about
        A line below the title: what was run.
    footer
        The last line, beside the version of Ackclock: hashes, for example.
    live
        The live part; None: the report is static.
    static
        Why a report that could be live is static; one line.

    Returns
    -------
    str
        The page. All texts are escaped; its size is about 0.7 MB and the compressed data of its figures.
    """
    context = {
        "title": title,
        "about": about,
        "answer": [answer.text] if isinstance(answer.text, str) else answer.text,
        "lead": answer.figure,
        "sections": sections,
        "footer": footer,
        "version": _core.__version__,
        "live": live,
        "static": static,
    }
    return render("page.html.j2", context)
