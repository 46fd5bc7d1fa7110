"""The navigation of the site: the questions of docs/README.md, in their order."""

from __future__ import annotations

import re

from staging import DOCS, INDEX, TOP, Stage

# Entries that a section has besides the links of docs/README.md.
MORE = {"What is …": [("Python package", "api/index")]}


def sections(stage: Stage) -> dict[str, list[tuple[str, str]]]:
    """Return the title and the name of each section's pages, each page once."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    found: dict[str, list[tuple[str, str]]] = {}
    seen: set[str] = set()
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, table = part.partition("\n")
        entries = found[heading.strip(" ")] = []
        for title, link in re.findall(r"\[([^\]]+)\]\(([^)#]+)\)", table):
            name = stage.names[(DOCS / link).resolve()]
            if name not in seen:
                seen.add(name)
                entries.append((title, name))
        entries += MORE.get(heading, [])
    # An empty title stands for that of the page.
    found["Papers"] = [("", name) for name in stage.names.values() if name.startswith("papers/")]
    found["Versions"] = [("Changes", TOP["CHANGELOG.md"])]
    return found


def toctrees(stage: Stage) -> str:
    """Return the navigation for the front page, as MyST writes it."""
    blocks = [_toctree("", [("All pages, by question", INDEX)])]
    blocks += [_toctree(caption, entries) for caption, entries in sections(stage).items()]
    return "\n".join(blocks)


def _toctree(caption: str, entries: list[tuple[str, str]]) -> str:
    lines = [f":caption: {caption}"] if caption else []
    lines += [":hidden:", ":titlesonly:", "", *(f"{title} <{name}>" if title else name for title, name in entries)]
    return "\n".join(["```{toctree}", *lines, "```", ""])
