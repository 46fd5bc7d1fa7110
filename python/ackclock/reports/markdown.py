"""Markdown as a part of a report, without HTML of its own and without links that leave the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ackclock.formatting.names import shown_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BELOW = 2
"""Levels by which headings sink: a report has the first two."""


def rendered(text: str) -> Markup:
    r"""Return a text in Markdown as HTML.

    A report travels alone, so that a relative link becomes its text, an image its description, and a link to a site its
    text and address. HTML in the text is shown as it is written.

    >>> rendered("See [notes](notes.md) or <b>.")
    Markup('<p>See notes or &lt;b&gt;.</p>\n')
    """
    reader = _reader()
    tokens = reader.parse(shown_text(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + BELOW)}"
        if token.children:
            token.children = list(_without_links(token.children))
    return Markup(reader.renderer.render(tokens, reader.options, {}))


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only reports of papers need it

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("table_open", _table_open)
    reader.add_render_rule("table_close", _table_close)
    return reader


def _table_open(*_: Any) -> str:  # noqa: ANN401 - the arguments of a rule of the renderer
    return '<div class="scroll"><table>\n'


def _table_close(*_: Any) -> str:  # noqa: ANN401
    return "</table></div>\n"


def _without_links(tokens: Sequence[Token]) -> Iterator[Token]:
    from markdown_it.token import Token

    address = ""
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrGet("href") or "")
        elif token.type == "link_close":
            if "://" in address and token.markup != "autolink":
                yield Token("text", "", 0, content=f" ({address})")
        elif token.type == "image":
            yield Token("text", "", 0, content=token.content)
        else:
            yield token
