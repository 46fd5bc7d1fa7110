"""Checks that the files of a release agree, and prints its notes.

usage: python packaging/release.py [TAG]

The version is that of Cargo.toml. CITATION.cff must name it, and CHANGELOG.md must begin with its section. With a tag,
such as v0.1.0, the tag must be that version, and the section and the citation must have the same date. The notes are
the section of the changelog. The workflow `release.yml` publishes nothing before this passes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNRELEASED = "unreleased"
SECTION = re.compile(r"^## \[([^\]]+)\] – (\S+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def wrong(root: Path, tag: str = "") -> Iterator[str]:
    """Yield what keeps the version in a folder, or the one of a tag, from being released."""
    version = _of(root / "Cargo.toml", r'^version = "(.*)"$')
    if tag and tag != f"v{version}":
        yield f"the tag {tag} is not v{version}, the version of Cargo.toml"
    if (cited := _of(root / "CITATION.cff", r"^version: (.*)$")) != version:
        yield f"CITATION.cff has version {cited}, and Cargo.toml {version}"
    newest = SECTION.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if newest is None or newest[1] != version:
        yield f"CHANGELOG.md begins with {newest[1] if newest else 'no section'}, and not with {version}"
        return
    if tag and not re.fullmatch(r"\d{4}-\d\d-\d\d", newest[2]):
        yield f"CHANGELOG.md has no date for {version}, but “{newest[2]}”"
    dated = _of(root / "CITATION.cff", r"^date-released: (.*)$")
    if dated != (None if newest[2] == UNRELEASED else newest[2]):
        yield f"CITATION.cff is dated {dated or 'never'}, and the section of CHANGELOG.md {newest[2]}"


def notes(root: Path) -> str:
    """Return the section of the newest version in CHANGELOG.md, without its heading."""
    newest = SECTION.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    return newest[3].strip() + "\n" if newest else ""


def _of(file: Path, pattern: str) -> str | None:
    found = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else None


def main(arguments: list[str]) -> None:
    """Print the notes, or what is wrong."""
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    if found := list(wrong(ROOT, *arguments)):
        sys.exit("\n".join(found))
    print(notes(ROOT), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
