"""Papers: folders with a `paper.toml` in known places; there is no registry."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ackclock.files import checks, limits, toml
from ackclock.files.problems import Problems
from ackclock.literature import schema
from ackclock.literature.contents import Contents

PAPER_FILE = "paper.toml"


@dataclass(frozen=True)
class Paper:
    """A paper's folder.

    Attributes
    ----------
    folder : Path
        The folder.
    contents : Contents
        The contents of its ``paper.toml``.
    document : dict
        The same as parsed TOML, for messages.
    """

    folder: Path
    contents: Contents
    document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def file(self) -> Path:
        """Its ``paper.toml``."""
        return self.folder / PAPER_FILE

    def problems(self) -> Problems:
        """Return an empty collection of the problems of its ``paper.toml``."""
        return Problems(str(self.file), self.document)

    @property
    def title(self) -> str:
        """The paper's title."""
        return self.contents.title

    @property
    def reference(self) -> str:
        """The publication of the paper."""
        return self.contents.reference

    @property
    def link(self) -> str:
        """The lasting address of the publication; empty if none is known."""
        contents = self.contents
        return f"https://doi.org/{contents.doi}" if contents.doi is not None else contents.url or ""

    @property
    def citation(self) -> dict[str, str]:
        """The publication as an entry of a manifest."""
        contents = self.contents
        given = {"reference": contents.reference, "doi": contents.doi, "url": self.link or None}
        return {name: text for name, text in given.items() if text is not None}

    @property
    def labels(self) -> list[str]:
        """Names of the labels of its cells."""
        return list(self.contents.labels)

    @property
    def all_labels(self) -> list[str]:
        """Its labels, followed by the label of flows if the paper compares flows of a run."""
        return [*self.labels, *([self.contents.flows] if self.contents.flows is not None else [])]

    @cached_property
    def claims(self) -> dict[str, Any]:
        """The parsed ``claims.toml``; empty if there is none."""
        path = self.folder / "claims.toml"
        return toml.read(path, limits.most("claims")) if path.exists() else {}

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The parsed ``tables.toml`` with the printed tables; empty if there is none."""
        path = self.folder / "tables.toml"
        return toml.read(path, limits.most("paper")) if path.exists() else {}

    @property
    def notes(self) -> str:
        """Its README: open questions of the paper, and the choices made."""
        path = self.folder / "README.md"
        return toml.read_text(path) if path.exists() else ""


def places() -> list[Path]:
    """Return the folders that can hold papers: in the working directory, the source tree, and the installed package."""
    package = Path(__file__).resolve().parents[1]
    source = package.parents[1]
    found = [Path.cwd() / "papers", package / "data" / "papers"]
    if (source / "pyproject.toml").exists():
        found.insert(1, source / "papers")
    return list(dict.fromkeys(found))


def folders() -> list[Path]:
    """Return the existing folders of `places`."""
    return [place for place in places() if place.is_dir()]


def papers() -> list[Paper]:
    """Return all papers by name; if two papers share a name, the first in the order of `places`.

    A paper with an error in its ``paper.toml`` is skipped with a warning.
    """
    found = [_load_or_warn(name, folder) for name, folder in sorted(_places().items())]
    return [paper for paper in found if paper is not None]


def names() -> list[str]:
    """Return the names of all papers without reading the files."""
    return sorted(_places())


def _load_or_warn(name: str, folder: Path) -> Paper | None:
    try:
        return _load(folder)
    except (OSError, ValueError) as error:
        warnings.warn(f"paper {name!r} is skipped: {error}", stacklevel=3)
        return None


def find(name: str) -> Paper:
    """Return a paper by name.

    Raises
    ------
    ValueError
        If the name is unknown, or if ``paper.toml`` has an error.
    """
    found = _places()
    if name not in found:
        where = "" if found else f"; a paper is a folder in one of {', '.join(map(str, places()))}"
        raise ValueError(f"unknown paper {name!r}{checks.near(name, sorted(found))}{where}")
    return _load(found[name])


def _places() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders():
        for file in folder.glob(f"*/{PAPER_FILE}"):
            found.setdefault(file.parent.name, file.parent)
    return found


def _load(folder: Path) -> Paper:
    read = toml.read(folder / PAPER_FILE, limits.most("paper"))
    return Paper(folder, schema.read(read, str(folder / PAPER_FILE)), read)
