"""Papers: folders with a `paper.toml`, found where they lie and registered nowhere."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ackclock.files import checks, toml
from ackclock.papers import schema
from ackclock.papers.contents import Contents

PAPER_FILE = "paper.toml"


@dataclass(frozen=True)
class Paper:
    """A paper's folder.

    Attributes
    ----------
    folder : Path
        Where it lies.
    contents : Contents
        What its ``paper.toml`` says.
    """

    folder: Path
    contents: Contents

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def file(self) -> Path:
        """Its ``paper.toml``."""
        return self.folder / PAPER_FILE

    @property
    def title(self) -> str:
        """The paper's title."""
        return self.contents.title

    @property
    def reference(self) -> str:
        """Where the paper appeared."""
        return self.contents.reference

    @property
    def labels(self) -> list[str]:
        """Names of the labels that tell its cells apart."""
        return list(self.contents.labels)

    @property
    def all_labels(self) -> list[str]:
        """Its labels, and the label that names the flows of a run if it compares those."""
        return [*self.labels, *([self.contents.flows] if self.contents.flows is not None else [])]

    @cached_property
    def claims(self) -> dict[str, Any]:
        """The parsed ``claims.toml``; empty if there is none."""
        path = self.folder / "claims.toml"
        return toml.read(path) if path.exists() else {}

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The parsed ``tables.toml``, the tables that the paper prints; empty if there is none."""
        path = self.folder / "tables.toml"
        return toml.read(path) if path.exists() else {}

    @property
    def notes(self) -> str:
        """Its README: what it leaves open, and what was chosen."""
        path = self.folder / "README.md"
        return toml.read_text(path) if path.exists() else ""


def places() -> list[Path]:
    """Name the folders that may hold papers: in the working directory, the source tree, the installed package."""
    package = Path(__file__).resolve().parents[1]
    source = package.parents[1]
    found = [Path.cwd() / "papers", package / "data" / "papers"]
    if (source / "pyproject.toml").exists():
        found.insert(1, source / "papers")
    return list(dict.fromkeys(found))


def folders() -> list[Path]:
    """Give those of the folders that may hold papers that are there."""
    return [place for place in places() if place.is_dir()]


def papers() -> list[Paper]:
    """Give all papers, by name; of two with the same name the one nearer to the working directory.

    One whose ``paper.toml`` is wrong is left out, with a warning.
    """
    found = [_load_or_warn(name, folder) for name, folder in sorted(_places().items())]
    return [paper for paper in found if paper is not None]


def names() -> list[str]:
    """Give the names of all papers, without reading them."""
    return sorted(_places())


def _load_or_warn(name: str, folder: Path) -> Paper | None:
    try:
        return _load(folder)
    except (OSError, ValueError) as error:
        warnings.warn(f"paper {name!r} is left out: {error}", stacklevel=3)
        return None


def find(name: str) -> Paper:
    """Give a paper.

    Raises
    ------
    ValueError
        If there is none of that name, or its ``paper.toml`` is wrong.
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
    return Paper(folder, schema.read(toml.read(folder / PAPER_FILE), str(folder / PAPER_FILE)))
