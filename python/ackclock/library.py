"""Papers: folders with a `paper.toml`, found where they lie and registered nowhere."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAPER_FILE = "paper.toml"


@dataclass(frozen=True)
class Paper:
    """A paper's folder.

    Attributes
    ----------
    name : str
        Name of the folder.
    folder : Path
        Where it lies.
    title, reference : str
        Of the paper.
    document : dict
        The whole of ``paper.toml``.
    """

    name: str
    folder: Path
    title: str
    reference: str
    document: Mapping[str, Any]

    @property
    def labels(self) -> list[str]:
        """Names of the labels that tell its runs apart."""
        return list(self.document["labels"])

    @cached_property
    def claims(self) -> dict[str, Any]:
        """The parsed ``claims.toml``; empty if there is none."""
        path = self.folder / "claims.toml"
        return _read(path) if path.exists() else {}

    @property
    def notes(self) -> str:
        """Its README: what it leaves open, and what was chosen."""
        path = self.folder / "README.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""


def folders() -> list[Path]:
    """Give the folders that may hold papers: in the working directory, the source tree, the installed package."""
    here = Path(__file__).resolve().parent
    source = here.parents[1]
    places = [Path.cwd() / "papers", here / "papers"]
    if (source / "pyproject.toml").exists():
        places.insert(1, source / "papers")
    return [place for place in dict.fromkeys(places) if place.is_dir()]


def papers() -> list[Paper]:
    """Give all papers, by name; of two with the same name the one nearer to the working directory."""
    found: dict[str, Paper] = {}
    for folder in folders():
        for file in sorted(folder.glob(f"*/{PAPER_FILE}")):
            found.setdefault(file.parent.name, _load(file.parent))
    return [found[name] for name in sorted(found)]


def find(name: str) -> Paper:
    """Give a paper.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    known = {paper.name: paper for paper in papers()}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ";"
        raise ValueError(
            f"unknown paper {name!r}{hint} known: {', '.join(known) or 'none; there is no folder papers here'}"
        )
    return known[name]


def _load(folder: Path) -> Paper:
    document = _read(folder / PAPER_FILE)
    try:
        return Paper(folder.name, folder, document["title"], document["reference"], document)
    except KeyError as error:
        raise ValueError(f"{folder / PAPER_FILE}: {error.args[0]} is missing") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
