"""The kernels that were built: their folder in the user's cache, and how one is found by its name."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.files import checks, reading
from ackclock.linux import inputs, versions

MANIFEST = "kernel.json"
KEY = r"[0-9a-f]{12}"
WORLD = "linux"
PACKAGE = "ackclock_kernel"
"""A package with a kernel, which can be installed beside this one."""
JOINT = inputs.joint()
"""Version of the joint between kernel and engine."""
BUILD = "ackclock kernel build"
_TEXTS = checks.Kind("a list of texts", checks.is_texts)
_ENTRIES = {
    "linux": checks.TEXT,
    "release": checks.TEXT,
    "hz": checks.COUNT,
    "joint": checks.COUNT,
    "additions": _TEXTS,
    "date": checks.TEXT,
    "size": checks.COUNT,
    "absent": _TEXTS,
    "hashes": checks.TABLE,
}


@dataclass(frozen=True)
class Built:
    """A kernel that was built for virtual time."""

    path: Path
    """Its folder; the folder's name is the kernel's key."""
    version: str
    """Version of Linux, such as ``6.12.117``."""
    release: str
    """What `uname -r` prints in it."""
    hz: int
    """Ticks per second."""
    joint: int
    """Version of the joint with Ackclock; only kernels with that of the installed one run."""
    additions: tuple[str, ...]
    """Files that were built in beside those of the source."""
    date: str
    """End of the build, in ISO 8601 and UTC."""
    size: int
    """Size of the program, in bytes."""
    absent: tuple[str, ...]
    """Options of the configuration that this version does not have."""
    outdated: bool
    """Whether it was built from other files than those of the installed Ackclock."""

    @property
    def name(self) -> str:
        """Name for readers, such as ``linux-6.12.117``."""
        return f"linux-{self.version}"

    @property
    def linux(self) -> Path:
        """The kernel, a program."""
        return self.path / "linux"

    @property
    def hash(self) -> str:
        """Hash of both programs: it differs for another compiler, too."""
        files = (self.linux, self.init)
        return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()

    @property
    def init(self) -> Path:
        """The program that the kernel starts first."""
        return self.path / "root" / "init"


def folder() -> Path:
    """Return the folder of all kernels: ``ackclock/kernels`` in the user's cache (``XDG_CACHE_HOME``)."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".cache") / "ackclock" / "kernels"


def read(path: Path) -> Built:
    """Read the description of a kernel.

    Raises
    ------
    OSError
        If it is missing or damaged.
    """
    file = path / MANIFEST
    found: dict[str, Any] = reading.read_json(file)
    reading.check_entries(file, found, _ENTRIES)
    return Built(
        path,
        version=found["linux"],
        release=found["release"],
        hz=found["hz"],
        joint=found["joint"],
        additions=tuple(found["additions"]),
        date=found["date"],
        size=found["size"],
        absent=tuple(found["absent"]),
        outdated=not inputs.hashes(found["linux"]).items() <= found["hashes"].items(),
    )


def _folders() -> Iterator[Path]:
    """Return the folders with kernels: that of the user's cache, and that of an installed package."""
    yield folder()
    package = importlib.util.find_spec(PACKAGE)
    for place in (package and package.submodule_search_locations) or ():
        yield Path(place) / "kernels"


def built() -> list[Built]:
    """Return the kernels that were built or installed.

    Those built from the present files come first, then the newest version, then the newest build.

    Raises
    ------
    OSError
        If a description is damaged.
    """
    entries = (entry for place in _folders() if place.is_dir() for entry in place.iterdir())
    kernels = [read(entry) for entry in entries if re.fullmatch(KEY, entry.name)]

    def rank(kernel: Built) -> tuple[bool, tuple[int, ...], str]:
        return not kernel.outdated, versions.order(kernel.version), kernel.date

    return sorted(kernels, key=rank, reverse=True)


def find(name: str = WORLD) -> Built:
    """Return the kernel of a world `linux`.

    Parameters
    ----------
    name
        ``linux``: the kernel that `built` puts first. ``linux:6.12``: the first whose version begins so.
        ``linux:`` and a key: that kernel.

    Raises
    ------
    ValueError
        If there is no such kernel; the message lists those that are there.
    """
    world, _, wanted = name.partition(":")
    if world != WORLD or name.endswith(":"):
        raise ValueError(f"{name}: expected {WORLD}, or {WORLD}: with a version or key, such as {WORLD}:6.12")
    kernels = [kernel for kernel in built() if kernel.joint == JOINT]
    for kernel in kernels:
        if not wanted or versions.begins(kernel.version, wanted) or kernel.path.name == wanted:
            return kernel
    if not kernels:
        older = " for this version of Ackclock" if built() else ""
        raise ValueError(f"{name}: no kernel was built yet{older}; build one with: {BUILD}")
    there = ", ".join(f"{kernel.version} ({kernel.path.name})" for kernel in kernels)
    raise ValueError(f"{name}: no such kernel was built; there are {there}; build another with: {BUILD} SOURCE")
