"""Checks the built site: links, anchors, texts of images, order of headings; pages load only files of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address the browser loads at once; `a` leads elsewhere only if it is followed.
LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}


@dataclass
class Page(HTMLParser):
    """What the check needs of a page.

    Attributes
    ----------
    anchors
        Ids of its elements.
    links
        Addresses to which it leads.
    loaded
        Addresses that the browser loads with it.
    problems
        Faults of the page itself.
    """

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    level: int = 0

    def __post_init__(self) -> None:
        """Prepare the parser."""
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the ids and addresses of an element."""
        found = dict(attrs)
        if name := found.get("id"):
            if name in self.anchors:
                self.problems.append(f"two elements have the id {name}")
            self.anchors.add(name)
        if tag == "a" and (link := found.get("href")) is not None:
            self.links.append(link)
        if address := found.get(LOADED.get(tag, "")):
            self.loaded.append(address)
        if tag == "img" and not (found.get("alt") or "").strip():
            self.problems.append(f"the image {found.get('src')} has no text (alt)")
        if re.fullmatch("h[1-6]", tag):
            level = int(tag[1])
            if level > self.level + 1:
                self.problems.append(f"a heading of level {level} follows one of level {self.level}")
            self.level = level


def problems(site: Path, apart: tuple[str, ...] = ()) -> list[str]:
    """Return every fault of a built site.

    Parameters
    ----------
    site
        The folder of the site.
    apart
        Folders in it whose pages are not checked, only that links lead to files there.
    """
    pages = {path: _read(path) for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] not in apart}
    found = []
    for path, page in pages.items():
        faults = [*page.problems, *_faults(path, page, pages, site)]
        found += [f"{path.relative_to(site).as_posix()}: {fault}" for fault in dict.fromkeys(faults)]
    for path in sorted(site.rglob("*.css")):
        if re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site).as_posix()}: loads from another host")
    lost = pages.keys() - _reachable(pages, site) - {site / "search.html"}
    return found + [f"{path.relative_to(site).as_posix()}: no page leads to it" for path in sorted(lost)]


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _faults(path: Path, page: Page, pages: dict[Path, Page], site: Path) -> Iterator[str]:
    """Yield the links of a page that lead nowhere, and what it loads from elsewhere."""
    for link in page.loaded:
        if _is_outside(link):
            yield f"loads {link} from another host"
    for link in page.links + page.loaded:
        if _is_outside(link):
            continue
        target = _target(path, link)
        anchor = unquote(urlsplit(link).fragment)
        if site not in target.parents or not target.is_file():
            yield f"{link} leads nowhere"
        elif anchor and target in pages and anchor not in pages[target].anchors:
            yield f"{link}: the page has no such anchor"


def _reachable(pages: dict[Path, Page], site: Path) -> set[Path]:
    seen, waiting = set(), [site / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in seen or path not in pages:
            continue
        seen.add(path)
        waiting += [_target(path, link) for link in pages[path].links if not _is_outside(link)]
    return seen


def _is_outside(link: str) -> bool:
    return bool(re.match(r"[a-z][a-z0-9+.-]*:|//", link))


def _target(path: Path, link: str) -> Path:
    """Return the file to which a link of a page leads."""
    way = unquote(urlsplit(link).path)
    return Path((path.parent / way).resolve()) if way else path
