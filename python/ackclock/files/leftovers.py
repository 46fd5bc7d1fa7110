"""Temporary names beside a path. Each is locked while its owner runs; the next run removes leftovers of killed runs.

The lock is `flock` on the temporary file or folder itself. The system releases it when its owner ends, even if
the owner is killed. On a system without `flock`, nothing is removed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".ackclock"
OLD = "-old"
"""Suffix of an earlier result while its successor replaces it."""
LONGEST = 50
TRIES = 100


def new_file(path: Path) -> tuple[int, Path]:
    """Create a locked temporary file beside `path`; return the descriptor that holds the lock, and the name."""

    def make() -> tuple[int | None, Path]:
        handle, name = tempfile.mkstemp(prefix=_prefix(path), suffix=SUFFIX, dir=path.parent)
        return handle, Path(name)

    return _locked(make)


def new_folder(path: Path) -> tuple[int, Path]:
    """Create a locked temporary folder beside `path`; return a descriptor that holds the lock, and the name."""

    def make() -> tuple[int | None, Path]:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(path), suffix=SUFFIX, dir=path.parent))
        try:
            return os.open(folder, os.O_RDONLY), folder
        except FileNotFoundError:
            return None, folder

    return _locked(make)


def lock(path: Path) -> int | None:
    """Lock a file or folder; return the descriptor that holds the lock, or None if it cannot be locked."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is(handle, path):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def remove(path: Path, carry: Callable[[Path, Path], None]) -> None:
    """Remove leftovers of killed runs beside `path`, whatever they were to become.

    Parameters
    ----------
    path
        The path that is written. If a killed run moved an earlier result away from it and put no successor in its
        place, the earlier result is restored. Earlier results of other paths stay.
    carry
        Called with an earlier result and its successor; moves the user's files.
    """
    for name in sorted(_found(path.parent, re.escape(_prefix(path)))):
        _remove(name, path, carry)
    remove_within(path.parent)


def remove_within(folder: Path) -> None:
    """Remove leftovers of killed runs in a folder."""
    for name in sorted(_found(folder, r"\..+-")):
        _remove(name, None, None)


def _remove(name: Path, path: Path | None, carry: Callable[[Path, Path], None] | None) -> None:
    if (handle := lock(name)) is None:
        return
    try:
        if name.name.endswith(OLD):
            if path is None or carry is None:
                return
            if not path.exists():
                name.rename(path)
                return
            carry(name, path)
        if name.is_dir():
            shutil.rmtree(name, ignore_errors=True)
        else:
            name.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _found(folder: Path, prefix: str) -> list[Path]:
    """List the temporary names in a folder that begin with a regular expression."""
    name = re.compile(rf"{prefix}[a-z0-9_]{{8}}{re.escape(SUFFIX)}({OLD})?")
    try:
        return [entry for entry in folder.iterdir() if name.fullmatch(entry.name) and not entry.is_symlink()]
    except OSError:
        return []


def _prefix(path: Path) -> str:
    """Return the prefix of temporary names for `path`; a long name is shortened."""
    name = path.name
    if len(name) > LONGEST:
        name = f"{name[: LONGEST - 9]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"
    return f".{name}-"


def _locked(make: Callable[[], tuple[int | None, Path]]) -> tuple[int, Path]:
    """Create a temporary name and lock it; retry if another run or thread took it for a leftover before the lock."""
    for _ in range(TRIES):
        handle, name = make()
        if handle is None:
            continue
        if fcntl is None:
            return handle, name
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = False
        except BlockingIOError:
            taken = True
        except OSError:
            # On a file system without locks, no run removes the name as a leftover.
            taken = False
        if not taken and _is(handle, name):
            return handle, name
        os.close(handle)
    raise OSError(errno.EAGAIN, "another process removes temporary files here", str(name))


def _is(handle: int, path: Path) -> bool:
    """Whether a name still refers to an open file."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False
