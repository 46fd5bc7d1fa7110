"""What a kernel is built from: a source of Linux, the files of ``data/kernel``, and files of the user."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.linux import versions
from ackclock.linux.sources import Source

DATA = Path(__file__).parents[1] / "data" / "kernel"
"""The files of ours; its README describes them."""
RECIPE = 1
"""A part of every key. Increase it if `building` makes other kernels from the same inputs."""
HZ = (100, 250, 300, 1000)
"""Ticks per second that Linux offers."""
Files = Mapping[str, bytes]
"""Names, relative to a folder, and contents."""


GROUPS = ("config", "patches", "tree", "init")
"""The folders of ours."""


@dataclass(frozen=True)
class Inputs:
    """Everything that a kernel is built from, but the compiler."""

    source: Source
    hz: int
    config: Files
    patches: Files
    tree: Files
    init: Files
    additions: Files

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of each group of files."""
        return {name: _digest(getattr(self, name)) for name in (*GROUPS, "additions")}

    @property
    def key(self) -> str:
        """The name of the kernel's folder."""
        parts = [RECIPE, self.source.version, self.source.sha256, self.hz, self.hashes]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def read(source: Source, hz: int, additions: Files) -> Inputs:
    """Read the files of ours that are for the version of a source."""
    return Inputs(source, hz, **_ours(source.version), additions=additions)


def hashes(version: str) -> dict[str, str]:
    """Return the hash of each group of our files that are for a version of Linux."""
    return {name: _digest(files) for name, files in _ours(version).items()}


def _ours(version: str) -> dict[str, Files]:
    def suited(folder: str, suffix: str) -> Files:
        files = _files(DATA / folder, suffix).items()
        return {name: text for name, text in files if versions.suits(version, text.decode(), f"{folder}/{name}")}

    groups = (suited("config", ".config"), suited("patches", ".patch"), _files(DATA / "tree"), _files(DATA / "init"))
    return dict(zip(GROUPS, groups, strict=True))


def joint() -> int:
    """Return the version of the joint that a kernel gets."""
    header = (DATA / "tree" / "arch" / "um" / "drivers" / "ackclock.h").read_text()
    found = re.search(r"^#define ACKCLOCK_VERSION (\d+)$", header, re.MULTILINE)
    assert found is not None
    return int(found[1])


def read_additions(paths: Iterable[Path]) -> Files:
    """Read files of the user that are to be built in.

    Raises
    ------
    OSError
        If one cannot be read.
    ValueError
        If one has a name that Linux cannot build, or that of another.
    """
    added: dict[str, bytes] = {}
    for path in paths:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*\.c", path.name):
            raise ValueError(f"{path}: the name must be letters, digits and _ with the ending .c, such as my_control.c")
        if path.name in added:
            raise ValueError(f"{path}: two files are named {path.name}; rename one")
        added[path.name] = path.read_bytes()
    return added


def _files(folder: Path, suffix: str = "") -> Files:
    paths = sorted(path for path in folder.rglob(f"*{suffix}") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _digest(files: Files) -> str:
    found = hashlib.sha256()
    for name, content in sorted(files.items()):
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()
