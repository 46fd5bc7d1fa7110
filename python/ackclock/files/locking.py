"""The lock of a result's folder: one process writes at a time; readers need no lock."""

from __future__ import annotations

import contextlib
import os
import platform
from pathlib import Path

from ackclock.files.storage import LOCK

MARK = "ackclock "


class LockedError(OSError):
    """Another process writes to the folder."""


class Lock:
    """The lock of a folder, which the system releases when the process ends, even if it is killed.

    Parameters
    ----------
    folder
        The folder, which exists.

    Raises
    ------
    LockedError
        If another process holds the lock.
    FileExistsError
        If the folder has a file of the user's in the place of the lock.
    OSError
        If the folder cannot be written to, or its file system has no locks.
    """

    def __init__(self, folder: Path) -> None:
        # Only writers need it, and the package loads without it in less time.
        from filelock import FileLock, Timeout

        path = folder / LOCK
        _check(path)
        self._lock = FileLock(path, thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            # The holder writes its name just after it locked the file.
            holder = _text(path).removeprefix(MARK).strip() or "another process"
            raise LockedError(
                f"{folder}: {holder} writes to it; wait for its end, or choose another directory"
            ) from None
        except OSError as error:
            raise OSError(f"{folder}: cannot be locked: {error.strerror or error}; choose another directory") from None
        # On Windows nobody can write to a locked file.
        with contextlib.suppress(OSError):
            path.write_text(f"{MARK}process {os.getpid()} on {platform.node()}\n", encoding="utf-8")

    def release(self) -> None:
        """Let other processes write."""
        self._lock.release()


def _check(path: Path) -> None:
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file():
        raise FileExistsError(f"{path} is not a file of ackclock; delete it, or choose another directory")
    if (found := _text(path)) and not found.startswith(MARK):
        raise FileExistsError(f"{path} exists and was not written by ackclock; choose another directory")


def _text(path: Path) -> str:
    """Return the beginning of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(200).decode("utf-8", "replace")
    except OSError:
        return ""
