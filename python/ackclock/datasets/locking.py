"""The lock of a dataset: one process writes at a time; readers need no lock."""

from __future__ import annotations

import os
import platform
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

MARK = "ackclock "


class LockedError(OSError):
    """Another process writes to the dataset."""


class Lock:
    """A lock on a file, which the system releases when the process ends, even if it is killed.

    The file holds the process id and stays. On a system without `flock`, nothing is locked.

    Parameters
    ----------
    path
        The file; it is created.

    Raises
    ------
    LockedError
        If another process holds the lock.
    FileExistsError
        If the file is one of the user's.
    """

    def __init__(self, path: Path) -> None:
        if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
            raise FileExistsError(f"{path} is not a file of ackclock; delete it, or choose another directory")
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OSError(f"{path.parent}: cannot write here: {error.strerror}") from None
        try:
            found = os.pread(self._handle, 200, 0).decode("utf-8", "replace")
            if found and not found.startswith(MARK):
                raise FileExistsError(f"{path} exists and was not written by ackclock; choose another directory")
            self._lock(path, found.removeprefix(MARK).strip())
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{MARK}process {os.getpid()} on {platform.node()}\n".encode(), 0)
        except BaseException:
            os.close(self._handle)
            raise

    def _lock(self, path: Path, holder: str) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if not isinstance(error, BlockingIOError):
                raise OSError(
                    f"{path}: cannot be locked: {error.strerror}; choose a directory on a file system with locks"
                ) from None
            # The holder writes its name just after it locked the file.
            raise LockedError(
                f"{path.parent}: {holder or 'another process'} writes to it; wait for its end, or choose another "
                "directory"
            ) from None

    def release(self) -> None:
        """Let other processes write."""
        os.close(self._handle)
