"""What the site adds to Sphinx: anchors as GitHub has them, and a search that answers questions with few bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

Section = tuple[str, str, str]


ASKING = """
about am another any can could do does from get has have how i me much my need should some than us use want we what when
where which who why would you your
"""
"""Words of questions."""


class Questions(SearchEnglish):
    """English without the words of questions: every other word of a query must be on a page that answers it."""

    stopwords = SearchEnglish.stopwords | frozenset(ASKING.split())


def polish(app: Sphinx, document: nodes.document) -> None:
    """Give every heading of a Markdown page the anchor that it has on GitHub; write dashes."""
    slugs = app.env.metadata[app.env.docname].get("myst_slugs", {})
    ids = {found: slug for slug, (_, found, _) in slugs.items()}
    for section in document.findall(nodes.section):
        slug = next((ids[each] for each in section["ids"] if each in ids), None)
        if slug is not None and slug not in section["ids"]:
            section["ids"].insert(0, slug)
    # Sphinx writes two hyphens between a parameter and its text, and expects smart quotes to join them.
    for text in list(document.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def texts(app: Sphinx, failure: Exception | None) -> None:
    """Write the texts of each page's sections, for the results of a search.

    Each page has a file of its own, because a search shows few pages, and all texts are larger than everything else. It
    is a script, since a page cannot fetch a local file.
    """
    if failure is not None:
        return
    for name in sorted(app.env.found_docs):
        if "nosearch" not in app.env.metadata[name]:
            said = json.dumps(list(_sections(app.env.get_doctree(name))), ensure_ascii=False)
            path = Path(app.outdir) / "_static" / "texts" / f"{name}.js"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"TEXTS[{json.dumps(name)}] = {said};\n", encoding="utf-8")


def _sections(document: nodes.document) -> list[Section]:
    """Return anchor, title and own text of each section that has a text."""
    found = []
    for section in document.findall(nodes.section):
        title = section.next_node(nodes.title)
        own = [child for child in section.children if not isinstance(child, nodes.section | nodes.title)]
        text = " ".join(" ".join(_text(child) for child in own).split())
        if title is not None:
            found.append((section["ids"][0], title.astext(), text))
    return found


def _text(node: nodes.Node) -> str:
    """Return the text below a node, with a space between its blocks."""
    if isinstance(node, nodes.raw | nodes.comment):
        return ""
    if isinstance(node, nodes.Text):
        return str(node)
    inside = "" if isinstance(node, nodes.TextElement) else " "
    return inside.join(_text(child) for child in node.children)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what this file has."""
    app.add_search_language(Questions)
    # Before Sphinx collects the contents of a page.
    app.connect("doctree-read", polish, priority=100)
    app.connect("build-finished", texts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
