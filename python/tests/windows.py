"""The rules of Windows for files, on Linux: `rules` applies them to this process.

Output has its code page and its ends of lines. What is open can be neither renamed, replaced nor removed, a folder
cannot be opened, a rename replaces nothing, and links and modules of Unix are missing.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ABSENT = ("fork", "geteuid", "getuid", "killpg", "mkfifo", "openpty", "pread", "sched_getaffinity", "setsid", "uname")
"""Functions of `os` that Windows lacks."""
Function = Callable[..., Any]
UNIX = ("fcntl", "grp", "pwd", "resource", "termios")
"""Modules that Windows lacks."""


def rules() -> None:
    """Apply the rules of Windows to this process, for good."""
    import filelock  # noqa: F401 - it has locks of its own for Windows

    for name in ABSENT:
        delattr(os, name)
    for name in UNIX:
        sys.modules[name] = None  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="cp1252", newline="\r\n")  # type: ignore[union-attr]
    # It removes folders by their descriptors.
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    os.unlink = os.remove = _closed(os.unlink)
    os.rmdir, os.replace, os.rename = _closed(os.rmdir), _closed(os.replace), _fresh(_closed(os.rename))
    os.open, os.symlink = _no_folder(os.open), _refuse_links
    if sys.version_info < (3, 12):
        Path.is_mount = _refuse_mounts  # type: ignore[method-assign]


def _closed(function: Function) -> Function:
    def checked(*paths: Any, **options: Any) -> Any:
        for path in paths:
            _refuse_held(path)
        return function(*paths, **options)

    return checked


def _fresh(function: Function) -> Function:
    def checked(source: str, target: str, **options: Any) -> Any:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", str(target))
        return function(source, target, **options)

    return checked


def _no_folder(function: Function) -> Function:
    def checked(path: str, *rest: Any, **options: Any) -> Any:
        if os.path.isdir(path):  # noqa: PTH112 - names of any type
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return function(path, *rest, **options)

    return checked


def _refuse_links(source: str, *_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "A required privilege is not held by the client", str(source))


def _refuse_mounts(path: Path) -> bool:
    raise NotImplementedError("Path.is_mount() is unsupported on this system")


def _refuse_held(path: str | Path) -> None:
    """Refuse a file that this process has open or mapped, and a folder that holds such a file."""
    place = os.path.realpath(path)
    for held in _held():
        if held == place or held.startswith(place + os.sep):
            raise PermissionError(errno.EACCES, "The process cannot access the file: it is used", str(path))


def _held() -> set[str]:
    found = {line.rstrip("\n")[73:] for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()}
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 - the descriptor of the listing itself is gone by then
        try:
            name = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115
        except OSError:
            continue
        # Windows lets a folder be listed meanwhile.
        if name.startswith("/") and not os.path.isdir(name):  # noqa: PTH112
            found.add(name)
    return found
