"""Output files that the user names, for example with ``--pcap`` and ``--plot``.

A regular file is replaced atomically, even through symbolic links. Pipes, devices and open descriptors are written to
directly. An input of the command and a file of a stored result are never replaced; a file of another program is
replaced only with ``--force``.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from ackclock.files import storage

STDOUT = Path("-")
MARK = b"ackclock"
"""Every file of ackclock contains the program's name in its first or last bytes, in a field of the format."""
FORMATS = (
    *(b"\x0a\x0d\x0d\x0a", b"\x89PNG\r\n\x1a\n", b"<?xml", b"%PDF-", b"<!-- ackclock"),
    *(begin + key for begin in (b"{", b"\x1e{") for key in (b'"file_schema"', b'"qlog_version"')),
)
SHOWN = (".html", ".md", ".xml", ".png", ".svg", ".pdf", ".pcap", ".pcapng", ".qlog", ".sqlog")
"""Endings of the files that a user may write into the folder of a result: everything but its data."""
EDGE = 8192
DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/(self|thread-self|\d+)(/task/\d+)?/fd/\d+")
MOST_LINKS = 40


def check(*paths: Path, inputs: Iterable[Path] = (), force: bool = False) -> None:
    """Refuse paths that must not be written to, before the first run.

    Parameters
    ----------
    paths
        The paths that the user named; ``-`` is standard output.
    inputs
        The files that the command reads, under any name.
    force
        Whether a file of another program may be replaced.

    Raises
    ------
    OSError
        If a path cannot be written to.
    FileExistsError
        If a path is an input, a part of a result, or a file of another program.
    ValueError
        If two paths are the same file, or both are standard output.
    """
    read = list(inputs)
    places: dict[Path, Path] = {}
    for path in paths:
        _check(path, read, force=force)
        place = STDOUT if is_stdout(path) else path.resolve()
        if place in places and (place == STDOUT or not is_stream(path)):
            raise ValueError(f"{path}: names the same file as {places[place]}; name another file")
        places[place] = path


def _check(path: Path, inputs: Iterable[Path], *, force: bool) -> None:
    if is_stdout(path):
        if sys.stdout.isatty():
            raise OSError(f"{path}: standard output is a terminal; name a file, or redirect it")
        return
    storage.check_file(path)
    try:
        found = path.stat()
    except FileNotFoundError:
        storage.check_file(path.resolve())  # a symbolic link to a new file
        _check_store(path)
        return
    if stat.S_ISBLK(found.st_mode) or stat.S_ISSOCK(found.st_mode):
        raise OSError(f"{path}: is a {'disk' if stat.S_ISBLK(found.st_mode) else 'socket'}; name a file")
    if not stat.S_ISREG(found.st_mode):
        return
    for read in inputs:
        if _same(read, found):
            raise FileExistsError(f"{path}: is read by this command ({read}); name another file")
    if _is_descriptor(path):
        return
    _check_store(path)
    if not force and found.st_size and not is_own(path):
        raise FileExistsError(f"{path}: exists and was not written by ackclock; name another file, or add --force")


def _check_store(path: Path) -> None:
    """Refuse a file in the folder of a result, except a report, a figure or a capture."""
    place = path.resolve()
    if place.suffix in SHOWN:
        return
    for folder in place.parents:
        if storage.is_result(folder):
            kinds = ", ".join(SHOWN)
            raise FileExistsError(
                f"{path}: is in the folder of a result ({folder}), where only {kinds} may be written; "
                "name a file outside"
            )


def write(path: Path, data: bytes) -> None:
    """Write a file atomically; write to a pipe, a device or an open descriptor directly.

    Raises
    ------
    OSError
        If the path cannot be written to.
    """
    if path == STDOUT or _is_open(path, 1):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    storage.check_file(path)
    if _is_descriptor(path) or (path.exists() and not path.is_file()):
        try:
            with path.open("wb") as file:
                file.write(data)
        except OSError as error:
            raise OSError(f"{path}: cannot write here: {storage.reason(error)}") from None
        return
    place = path.resolve()
    try:
        storage.write_named(place, data)
    except OSError as error:
        # The message names the path that the user gave.
        raise OSError(f"{path}: cannot write here: {storage.reason(error)}") from None


def is_stdout(path: Path) -> bool:
    """Whether a path is standard output: ``-``, or another name of the same open file, except ``/dev/null``."""
    return path == STDOUT or (_is_open(path, 1) and not _is_null(path))


def is_stream(path: Path) -> bool:
    """Whether a path is standard output, a pipe or a device, which is written to and never replaced."""
    return is_stdout(path) or (path.exists() and not path.is_file())


def is_own(path: Path) -> bool:
    """Whether a regular file is a report, a capture, a figure or an outcome of the gate, by the program's name."""
    if storage.is_report(path):
        return True
    with path.open("rb") as file:
        head = file.read(EDGE)
        file.seek(max(0, path.stat().st_size - EDGE))
        return head.startswith(FORMATS) and (MARK in head or MARK in file.read(EDGE))


def remove_written(directory: Path, names: Iterable[str]) -> None:
    """Remove files of an earlier result, and figures of ackclock from its folders; files of the user stay."""
    for path in (directory / name for name in names):
        if not path.is_dir():
            path.unlink(missing_ok=True)
            continue
        for entry in path.iterdir():
            if entry.is_file() and is_own(entry):
                entry.unlink()
        with contextlib.suppress(OSError):  # not empty
            path.rmdir()


def _same(path: Path, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), found)
    except OSError:
        return False


def _is_open(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _is_null(path: Path) -> bool:
    return _is_open(path, 1) and os.path.samestat(path.stat(), Path(os.devnull).stat())


def _is_descriptor(path: Path) -> bool:
    """Whether a path names an open descriptor, which a rename cannot replace."""
    for _ in range(MOST_LINKS):
        if DESCRIPTOR.fullmatch(os.path.abspath(path)):  # noqa: PTH100 - resolving would lose the name
            return True
        if not path.is_symlink():
            return False
        path = path.parent / path.readlink()
    return False
