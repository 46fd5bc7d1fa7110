"""Whether a written report is what its inputs give, so that nothing is planned, judged and drawn in vain.

The manifest of a report has two hashes. One covers everything that determines the report: the files that the paper
reads, the stored measurements, and the program with the libraries that draw. The other covers the files of the report,
so that a changed or missing one is written again. Reports with runs in other worlds have neither, since what these
refuse and repeat depends on the machine.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from ackclock.experiments import sources
from ackclock.experiments.store import COMPLETE, JOURNAL, TABLE
from ackclock.files import storage
from ackclock.literature import reproduction
from ackclock.literature.library import Paper
from ackclock.scenario import load

ENTRY = "report"
"""The entry of the manifest."""
LIBRARIES = ("jinja2", "markdown-it-py", "matplotlib", "pillow")
"""The libraries of a report, beside those of its measurements."""


def stamp(paper: Paper, directory: Path, *, quick: bool) -> dict[str, str]:
    """Return the two hashes of a report that has just been written."""
    return {"inputs": _inputs(paper, directory, quick=quick), "files": _files(directory)}


def is_current(paper: Paper, directory: Path, *, quick: bool) -> bool:
    """Whether a folder has the report that its inputs give."""
    there: dict[str, Any] = {}
    with contextlib.suppress(OSError):
        there = storage.read_manifest(directory, reproduction.KIND)
    known = there.get("state") == COMPLETE and there.get("paper") == paper.name and there.get("quick") is quick
    if not known or (directory / JOURNAL).exists():
        return False
    try:
        return bool(there.get(ENTRY) == stamp(paper, directory, quick=quick))
    except (OSError, ValueError):  # what is wrong with the paper, its plan will say
        return False


def _inputs(paper: Paper, directory: Path, *, quick: bool) -> str:
    versions = {name: metadata.version(name) for name in LIBRARIES}
    read = _hashes(paper.folder, _read_by(paper))
    return sources.digest(
        read, _hashes(directory, [directory / TABLE]), _package(), sources.versions(), versions, quick
    )


def _read_by(paper: Paper) -> list[Path]:
    """Return the files of a paper's folder, and the tables and pages that its scenarios name."""
    own = [paper.folder / name for name in ("paper.toml", "claims.toml", "tables.toml", "README.md")]
    scenarios = [paper.folder / experiment.file for experiment in paper.contents.experiments]
    named = [file for scenario in scenarios for file in load(scenario).core.files]
    return list(dict.fromkeys([*own, *scenarios, *named]))


@cache
def _package() -> dict[str, str]:
    """Return the hashes of the program's files: code, templates, and pages."""
    files = [path for path in sources.PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return _hashes(sources.PACKAGE, files)


def _files(directory: Path) -> str:
    there = [directory / name for name in (*reproduction.WRITTEN, *reproduction.TABLES)]
    return sources.digest(_hashes(directory, [*there, *(directory / "figures").glob("*")]))


def _hashes(folder: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the hash of each file that exists, by its path from a folder, or as it is if it lies elsewhere."""
    found = {}
    for path in files:
        if path.is_file():
            name = path.relative_to(folder) if path.is_relative_to(folder) else path
            found[name.as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
