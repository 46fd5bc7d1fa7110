"""The documentation is correct: scenarios are valid, examples run, commands print the output shown, links work.

The first line of a block says what it is:

- ``toml`` is a scenario, ``toml NAME.toml`` one that later blocks of the page use, ``toml wrong`` one that is refused,
  ``toml tuning NAME.toml`` a file of a tuning, and ``toml part`` neither;
- ``text NAME.csv`` is a table that later blocks of the page read;
- ``python run`` is executed, ``python run needs=NAME`` only where that package is installed;
- ``console`` holds commands after ``$ `` with what they print; only those of ackclock are executed.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import ackclock
from ackclock.files import toml
from ackclock.tuning import schema

from .conftest import ROOT, Cli

DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    DOCS.rglob("*.md")
)


@dataclass(frozen=True)
class Block:
    """A fenced block: the words of its first line, its text, and its line on the page."""

    words: list[str]
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for match in re.finditer(r"^```(.+)\n([\s\S]*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE):
        yield Block(match[1].split(), match[2], page.read_text(encoding="utf-8")[: match.start()].count("\n") + 1)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=name)
def test_blocks_of(page: Path, tmp_path: Path, cli: Cli) -> None:
    for block in blocks(page):
        place = f"{name(page)}:{block.line}"
        kind, *words = block.words
        if kind == "toml" and words != ["part"]:
            check_scenario(block, words, tmp_path, place)
        elif kind == "text" and words:
            (tmp_path / words[0]).write_text(block.text, encoding="utf-8")
        elif kind == "python" and "run" in words and installed(words):
            command = [sys.executable, "-c", block.text]
            done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
            assert done.returncode == 0, f"{place}: {done.stderr}"
        elif kind == "console":
            check_commands(block, cli, place)


def installed(words: list[str]) -> bool:
    needed = [word.removeprefix("needs=") for word in words if word.startswith("needs=")]
    return all(importlib.util.find_spec(package) is not None for package in needed)


def check_scenario(block: Block, words: list[str], folder: Path, place: str) -> None:
    names = [word for word in words if word.endswith(".toml")]
    path = folder / (names[0] if names else "scenario.toml")
    path.write_text(block.text, encoding="utf-8")
    if "tuning" in words:
        schema.read(path)
        return
    if "wrong" in words:
        with pytest.raises(ackclock.ScenarioError):
            ackclock.load(path)
        return
    try:
        ackclock.load(path).variants()
    except ackclock.ScenarioError as error:
        pytest.fail(f"{place}: {error}")


def check_commands(block: Block, cli: Cli, place: str) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        program, *arguments = shlex.split(command)
        if program != "ackclock":
            continue
        done = cli(*arguments)
        assert not done.returncode or shown, f"{place}: {command}: {done.stderr}"
        if shown:
            # A failed gate (1) prints its table; bad input (2) prints an error.
            printed = done.stderr if done.returncode > 1 else done.stdout
            assert is_shown(lines(shown), lines(printed)), f"{place}: {command} prints\n{printed}"


def is_shown(shown: list[str], printed: list[str]) -> bool:
    """Whether the page shows the printed lines; … on a page stands for any text."""
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in shown]
    return len(shown) == len(printed) and all(map(re.fullmatch, patterns, printed))


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def anchors(page: Path) -> set[str]:
    text = re.sub(r"^```[\s\S]*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


REPOSITORY = re.compile(
    r"https://(github\.com/ackclock/ackclock/blob|raw\.githubusercontent\.com/ackclock/ackclock)/main/"
)
"""The address of the repository's files, and of those that a page shows."""


def links(page: Path) -> list[str]:
    """Return the targets of a page's links and images, in the text or below it."""
    text = re.sub(r"^```[\s\S]*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return re.findall(r"\]\(<?([^)>\s]+)>?\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_of(page: Path) -> None:
    for link in links(page):
        if not (whole := REPOSITORY.match(link)) and re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link[whole.end() if whole else 0 :].partition("#")
        target = ((ROOT if whole else page.parent) / path).resolve() if path else page
        assert target.exists(), f"{name(page)}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors(target), f"{name(page)}: {link}: there is no such heading"


def test_the_readme_is_whole_on_another_host() -> None:
    """The package's page on PyPI shows it, where a relative link leads nowhere and an image needs its bytes."""
    readme = ROOT / "README.md"
    found = links(readme)
    assert len(found) > 30
    assert [link for link in found if not re.match(r"https://|#", link)] == []
    text = readme.read_text(encoding="utf-8")
    targets = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", text, re.MULTILINE))
    # A label in brackets is a link only if it is defined.
    prose = re.sub(r"^```[\s\S]*?^```$|`[^`\n]*`", "code", text.partition("\n<!-- ")[0], flags=re.MULTILINE)
    used = {(second or first).lower() for first, second in re.findall(r"\[([^\]]+)\](?:\[([^\]]*)\])?(?!\()", prose)}
    assert used == targets.keys()
    for label in re.findall(r"!\[[^\]]*\]\[([^\]]+)\]", prose):
        assert targets[label].startswith("https://raw.githubusercontent.com/")


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "guides" / "first-scenario.md"], ids=name)
def test_the_first_pages_begin_with_the_installation(page: Path) -> None:
    commands = re.findall(r"^(?:    |\$ )(\S.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert commands[0] == "pip install ackclock"


def test_the_package_names_its_pages() -> None:
    urls = toml.read(ROOT / "pyproject.toml")["project"]["urls"]
    assert urls.keys() >= {"Documentation", "Source", "Changelog", "Issues"}
    assert REPOSITORY.sub("", urls["Changelog"]) == "CHANGELOG.md"


def test_architecture_names_existing_files() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./]+(?:\.rs|\.py|/))`", text)
    assert len(named) > 20
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    known = {f"/{path}" for path in tracked} | {f"/{folder}/" for path in tracked for folder in Path(path).parents}
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in known)] == []


def test_the_index_lists_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if page.name != "README.md"]
    assert [page for page in pages if f"({page})" not in index] == []


@pytest.mark.parametrize(
    ("page", "scenario"),
    [
        ("guides/queues.md", "aqm.toml"),
        ("guides/congestion-control.md", "cubic.toml"),
        ("concepts/initial-windows.md", "initial_windows.toml"),
    ],
)
def test_a_page_shows_the_stored_scenario(page: str, scenario: str) -> None:
    shown = [block.text for block in blocks(DOCS / page) if block.words == ["toml", scenario]]
    assert shown == [(ROOT / "scenarios" / scenario).read_text(encoding="utf-8")]
