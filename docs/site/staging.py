"""Copies the pages of the repository into a folder that Sphinx reads, with links that hold in the site.

The pages themselves stay plain Markdown, as GitHub shows them. A link to another page leads to it; a link to any other
file or folder of the repository leads to a page of its text, so the site needs no other host.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import ackclock
from ackclock import _core

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Pages at the top of the repository, and their names in the site.
TOP = {
    "README.md": "index",
    "ARCHITECTURE.md": "architecture",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
}
INDEX = "documentation"
IMAGES = {".png", ".svg"}
# Files that the site offers as they are.
RAW = {".csv", ".json"}
LEXERS = {
    ".rs": "rust", ".py": "python", ".toml": "toml", ".c": "c", ".h": "c", ".yml": "yaml", ".sh": "sh", ".sql": "sql",
}  # fmt: skip
# Fenced blocks and code spans have no links; a link is a target in parentheses behind a bracket, or ends a line.
MARKUP = re.compile(
    r"^```[^\n]*\n[\s\S]*?^```$|`+[^`\n]*`+|(?:(?<=\]\()|(?<=\]: ))<?(?P<link>[^)>\s]+)>?(?=\)|$)", re.MULTILINE
)
# The whole address of a file of the repository, as the README has it.
REPOSITORY = re.compile(
    r"https://(?:github\.com/ackclock/ackclock/blob|raw\.githubusercontent\.com/ackclock/ackclock)/main/(?P<path>\S+)"
)
FENCE = re.compile(r"^```toml[^\n]*\n(?P<text>[\s\S]*?)^```$", re.MULTILINE)


class LinkError(Exception):
    """A link of a page leads nowhere."""


def pages() -> dict[Path, str]:
    """Return the name in the site of every page of the repository."""
    found = {ROOT / name: title for name, title in TOP.items()}
    for path in sorted(DOCS.rglob("*.md")):
        found[path] = path.relative_to(DOCS).with_suffix("").as_posix()
    found[DOCS / "README.md"] = INDEX
    papers = {path: f"papers/{path.parent.name}" for path in sorted((ROOT / "papers").glob("*/README.md"))}
    plans = {path: f"papers/{path.parent.name}-plan" for path in sorted((ROOT / "papers").glob("*/PLAN.md"))}
    return found | papers | plans


def fragment(scenario: str) -> str:
    """Return the fragment of a link that opens a scenario in the playground, as `web/src/share/share.ts` reads it.

    It holds the text, no further runs and no view, as JSON, deflated, as base64url.
    """
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(json.dumps([scenario, [], {}], ensure_ascii=False).encode()) + packer.flush()
    return "s=1." + base64.urlsafe_b64encode(packed).decode().rstrip("=")


@dataclass
class Stage:
    """The folder that Sphinx reads.

    Parameters
    ----------
    folder
        The folder.

    Attributes
    ----------
    names
        The name in the site of every page, and of every file that has become one.
    problems
        Links that lead nowhere.
    """

    folder: Path
    names: dict[Path, str] = field(default_factory=pages)
    problems: list[str] = field(default_factory=list)

    def fill(self) -> None:
        """Write every page, and the files that pages link to."""
        waiting = list(self.names)
        while waiting:
            path = waiting.pop()
            before = set(self.names)
            text = path.read_text(encoding="utf-8") if path.suffix == ".md" else self.shown(path)
            if path == DOCS / "field.md":
                text = live(text)
            self.write(self.names[path] + ".md", self.linked(path, text))
            waiting += self.names.keys() - before

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the site."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def linked(self, page: Path, text: str) -> str:
        """Return the text of a page with its links changed, and links to the playground below its scenarios."""

        def changed(match: re.Match[str]) -> str:
            link = match["link"]
            if link is not None and (whole := REPOSITORY.fullmatch(link)):
                link = os.path.relpath(ROOT / whole["path"], page.parent)
            if link is None or link.startswith("#") or re.match(r"[a-z]+:", link):
                return match[0]
            try:
                return self.target(page, link)
            except LinkError as error:
                self.problems.append(f"{page.relative_to(ROOT)}: {error}")
                return match[0]

        return FENCE.sub(lambda match: match[0] + self.offer(page, match["text"]), MARKUP.sub(changed, text))

    def target(self, page: Path, link: str) -> str:
        """Return a link of a page as it is in the site."""
        path, _, anchor = link.partition("#")
        target = Path(os.path.normpath(page.parent / path))
        if not target.exists() or ROOT not in target.parents:
            raise LinkError(f"{link} leads nowhere")
        if (target / "README.md") in self.names:
            target = target / "README.md"
        if target.suffix in IMAGES | RAW:
            name = f"files/{target.relative_to(ROOT).as_posix()}"
            self.write(name, target.read_bytes())
        else:
            name = self.names.setdefault(target, f"files/{target.relative_to(ROOT).as_posix()}") + ".md"
        if target.suffix != ".md":
            # A file has no anchors.
            anchor = ""
        return self.relative(page, name) + (f"#{anchor}" if anchor else "")

    def relative(self, page: Path, name: str) -> str:
        """Return the way from a page of the site to a file of the site."""
        return os.path.relpath(name, Path(self.names[page]).parent)

    def shown(self, path: Path) -> str:
        """Return a page with the text of a file, or with the files of a folder."""
        title = f"---\norphan: true\nnosearch: true\n---\n\n# {path.relative_to(ROOT).as_posix()}\n\n"
        if path.is_dir():
            # Links of this page are changed like those of any other.
            inner = [each.relative_to(path.parent).as_posix() for each in files(path)]
            return title + "\n".join(f"- [{name.partition('/')[2]}]({name})" for name in inner) + "\n"
        fence = "`" * 3
        text = path.read_text(encoding="utf-8").rstrip("\n")
        return f"{title}{fence}{LEXERS.get(path.suffix, 'text')}\n{text}\n{fence}\n"

    def offer(self, page: Path, scenario: str) -> str:
        """Return a link that opens a scenario of a page in the playground; empty if the text is none to open."""
        if not is_playable(scenario):
            return ""
        target = f"{self.relative(page, 'playground/index.html')}#{fragment(scenario)}"
        return f'\n\n<p class="offer"><a href="{target}">Open in the playground</a></p>\n'


def live(text: str) -> str:
    """Return the page of the map of the field with the map that answers clicks."""
    sys.path.insert(0, str(DOCS))
    import fieldmap

    return text.replace(fieldmap.LIVE, fieldmap.live())


def is_playable(text: str) -> bool:
    """Whether a text is a scenario of one run that needs no other file and no kernel."""
    try:
        scenario = _core.Scenario.from_toml(text, "scenario")
    except ackclock.ScenarioError:
        return False
    return not (scenario.files or scenario.sweep or scenario.needs_kernel)


def files(folder: Path) -> Iterator[Path]:
    """Yield the text files of a folder."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in LEXERS)
