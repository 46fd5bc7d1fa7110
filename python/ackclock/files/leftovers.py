"""Temporary folders beside a path. Each is locked while its owner runs; the next run removes leftovers of killed runs.

What is written grows in a temporary folder beside its place, and moves there when it is complete. A file in the folder
is the lock, which the system releases when its owner ends, even if the owner is killed. Nothing that moves is open,
since Windows moves no open files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

SUFFIX = ".ackclock"
LOCK = "lock"
NEW = "new"
"""What is being written, in its temporary folder."""
EARLIER = "earlier"
"""An earlier result, in the temporary folder of its successor, which replaces it."""
LONGEST = 50
TRIES = 100


@contextlib.contextmanager
def folder(path: Path) -> Iterator[Path]:
    """Return a locked temporary folder beside `path`, which is removed at the end of the block.

    If an earlier result is still in it, as after Ctrl-C, it stays for `remove`.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    work, lock = _locked(path)
    try:
        yield work
    finally:
        if not (work / EARLIER).exists():
            _end(work, lock)
        lock.release()


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
    for work in sorted(_found(path.parent, re.escape(_prefix(path)))):
        _remove(work, path, carry)
    remove_within(path.parent)


def remove_within(folder: Path) -> None:
    """Remove leftovers of killed runs in a folder."""
    for work in sorted(_found(folder, r"\..+-")):
        _remove(work, None, None)


def _remove(work: Path, path: Path | None, carry: Callable[[Path, Path], None] | None) -> None:
    lock = _lock(work)
    try:
        lock.acquire(timeout=0)
    except OSError:  # its owner runs, or nothing can be locked here
        return
    try:
        earlier = work / EARLIER
        if not earlier.exists():
            pass
        elif path is None or carry is None:
            return
        elif path.exists():
            carry(earlier, path)
        else:
            earlier.rename(path)
        _end(work, lock)
    finally:
        lock.release()


def _end(work: Path, lock: BaseFileLock) -> None:
    """Remove a folder, as far as possible; its lock goes last, and holds off others until then."""
    with contextlib.suppress(OSError):
        for each in work.iterdir():
            if _is_folder(each):
                shutil.rmtree(each, ignore_errors=True)
            elif each.name != LOCK:
                each.unlink()
        try:
            (work / LOCK).unlink()
        except PermissionError:  # Windows removes no open file, also of another process that has locked it since
            lock.release()
            (work / LOCK).unlink(missing_ok=True)
        # Another process may have locked the folder as its own: then it is not empty, and stays.
        work.rmdir()


def _found(folder: Path, prefix: str) -> list[Path]:
    """List the temporary folders in a folder that begin with a regular expression."""
    name = re.compile(rf"{prefix}[a-z0-9_]{{8}}{re.escape(SUFFIX)}")
    try:
        return [each for each in folder.iterdir() if name.fullmatch(each.name) and _is_folder(each)]
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _prefix(path: Path) -> str:
    """Return the prefix of temporary names for `path`; a long name is shortened."""
    name = path.name
    if len(name) > LONGEST:
        name = f"{name[: LONGEST - 9]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"
    return f".{name}-"


def _locked(path: Path) -> tuple[Path, BaseFileLock]:
    """Make a temporary folder and lock it; retry if another run or thread took it for a leftover before the lock."""
    for _ in range(TRIES):
        work = Path(tempfile.mkdtemp(prefix=_prefix(path), suffix=SUFFIX, dir=path.parent))
        lock = _lock(work)
        try:
            lock.acquire(timeout=0)
        except (TimeoutError, FileNotFoundError, FileExistsError, PermissionError):
            # Another one has the lock, or removes the folder. Where every lock is refused, nothing stays.
            shutil.rmtree(work, ignore_errors=True)
            continue
        except OSError:
            # On a file system without locks, no run removes the folder as a leftover.
            return work, lock
        if (work / LOCK).exists():
            return work, lock
        lock.release()
    raise OSError(errno.EAGAIN, "another process removes temporary files here", str(path))


def _lock(work: Path) -> BaseFileLock:
    # Only writers need it, and the package loads without it in less time.
    from filelock import FileLock

    return FileLock(work / LOCK, thread_local=False)
