"""Atomic writing: a file or folder is written under a temporary name beside its place, then renamed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.files import leftovers, toml

if TYPE_CHECKING:
    import polars

MANIFEST = "manifest.json"
COMMANDS = {
    "sweep": "run",
    "dataset": "sweep",
    "comparison": "compare",
    "tuning": "tune",
    "kernel comparison": "kernel compare",
}
"""The commands that write results of a kind, if kind and command have different names."""
OWN_FILES = re.compile(
    r"manifest\.json|scenario\.toml|runs\.jsonl|(flows|links|transfers|pages)\.parquet|trace-\w+\.parquet"
)
"""Files of `Result.write` and of sweeps. Every other file in the folder of a result belongs to the user."""
REPORT = "report.html"
GENERATOR = '<meta name="generator" content="ackclock">'
"""A line near the start of every report in HTML."""


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# Read once: reading the mask also sets it, which affects files that other threads create.
_UMASK = _read_umask()


@contextlib.contextmanager
def replacing(directory: Path, kind: str) -> Iterator[Path]:
    """Return a new folder that replaces `directory` when the block ends without an error.

    Parameters
    ----------
    directory
        The final place. An earlier result there is removed, except for the user's files.
    kind
        Kind of the result, see `write_manifest`.

    Raises
    ------
    FileExistsError
        If `directory` holds something other than an earlier result of that kind.
    OSError
        If the place cannot be written to.
    """
    with draft(directory, kind) as folder:
        yield folder
        place(folder, directory)


@contextlib.contextmanager
def draft(directory: Path, kind: str) -> Iterator[Path]:
    """Return a new folder beside `directory`, for `place`; the folder is removed unless it is placed.

    Parameters and errors are those of `replacing`.
    """
    final = directory.resolve()
    if final == Path.cwd() or final.is_mount():
        raise OSError(f"{directory}: cannot be replaced; choose a directory inside it")
    leftovers.remove(final, _carry)
    check_free(directory, kind)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        handle, folder = leftovers.new_folder(final)
    except OSError as error:
        raise _named(error, directory) from None
    try:
        yield folder
    except OSError as error:
        # The user does not know the temporary name.
        if str(folder) in str(error):
            raise _named(error, directory) from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _named(error: OSError, directory: Path) -> OSError:
    return type(error)(f"{directory}: cannot write here: {reason(error)}")


def reason(error: OSError) -> str:
    """Return the cause of a failed write, without the name of the file."""
    return error.strerror or str(error).rpartition("cannot write here: ")[2]


def place(folder: Path, directory: Path) -> None:
    """Replace `directory` by a folder of `draft`, and carry over the user's files."""
    final = directory.resolve()
    folder.chmod(0o777 & ~_UMASK)
    old = folder.with_name(folder.name + leftovers.OLD)
    if not final.exists():
        folder.rename(final)
        return
    # The lock keeps another run from removing the earlier result as a leftover.
    handle = leftovers.lock(final)
    try:
        final.rename(old)
        try:
            folder.rename(final)
        except OSError:
            old.rename(final)
            raise
        _carry(old, final)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        if handle is not None:
            os.close(handle)


def _carry(old: Path, new: Path) -> None:
    """Move the user's files from an earlier result into its successor."""
    try:
        runs = set(json.loads(manifest_text(old)).get("runs", []))
    except FileNotFoundError:
        runs = set()
    for entry in sorted(old.iterdir()):
        if entry.name in runs and entry.is_dir():
            if any(not _is_own(inner) for inner in entry.iterdir()):
                (new / entry.name).mkdir(exist_ok=True)
                _carry(entry, new / entry.name)
        elif not _is_own(entry):
            target = new / entry.name
            while target.exists():
                target = target.with_name(target.name + ".old")
            entry.rename(target)


def _is_own(path: Path) -> bool:
    """Whether a file in the folder of a result is not the user's; an earlier report describes earlier runs."""
    return bool(OWN_FILES.fullmatch(path.name)) or (path.name == REPORT and is_report(path))


def is_report(path: Path) -> bool:
    """Whether a file is a report in HTML that Ackclock wrote."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(500)


def check_free(directory: Path, *kinds: str) -> None:
    """Refuse to overwrite the user's files.

    Raises
    ------
    FileExistsError
        If `directory` exists, is not empty, and is not a result of one of these kinds.
    """
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return
    try:
        found = json.loads(manifest_text(directory)).get("kind")
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise FileExistsError(f"{directory} exists and was not written by ackclock; choose another directory") from None
    if found not in kinds:
        raise FileExistsError(f"{directory} holds results of {command_of(found)}; choose another directory")


def command_of(kind: str) -> str:
    """Return the command that writes results of a kind, with its name in backquotes.

    >>> command_of("dataset")
    '`ackclock sweep`'
    """
    return f"`ackclock {COMMANDS.get(kind, kind)}`"


def check_file(path: Path) -> None:
    """Refuse a path that cannot be a file.

    Raises
    ------
    OSError
        If `path` is a directory, or if its parent is not one.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a directory; name a file")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path}: cannot write here: there is no directory {path.parent}")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    _write(path, data, 0o666 & ~_UMASK)


def write_named(path: Path, data: bytes) -> None:
    """Write a file that the user named, atomically; an existing file keeps its permissions.

    Leftovers of killed runs beside it are removed.
    """
    leftovers.remove(path, _carry)
    _write(path, data, stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_UMASK)


def _write(path: Path, data: bytes, mode: int) -> None:
    try:
        handle, temporary = leftovers.new_file(path)
    except OSError as error:
        raise _named(error, path) from None
    try:
        # The file is closed after the rename, because closing releases the lock of the temporary name.
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            temporary.chmod(mode)
            temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_parquet(path: Path, table: polars.DataFrame) -> None:
    """Write a table atomically."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    write_bytes(path, buffer.getvalue())


def read_parquet(path: Path) -> polars.DataFrame:
    """Read a table.

    Raises
    ------
    OSError
        If the file is missing or damaged.
    """
    import polars

    try:
        return polars.read_parquet(path)
    except polars.exceptions.PolarsError as error:
        raise OSError(f"{path}: not a readable Parquet file: {str(error).splitlines()[0]}") from None


def write_manifest(directory: Path, kind: str, entries: dict[str, Any]) -> None:
    """Write the manifest of a result: the program, and the kind, such as ``run``, ``sweep`` or ``paper``."""
    manifest = {"program": "ackclock", "version": _core.__version__, "kind": kind, **entries}
    write_text(directory / MANIFEST, json.dumps(manifest, indent=2) + "\n")


def read_manifest(directory: Path, kind: str) -> dict[str, Any]:
    """Read a manifest.

    Raises
    ------
    FileNotFoundError
        If the directory has no manifest of that kind.
    """
    manifest: dict[str, Any] = json.loads(manifest_text(directory))
    if manifest.get("kind") != kind:
        raise FileNotFoundError(f"{directory}: not a result of the kind {kind!r}")
    return manifest


def manifest_text(directory: Path) -> str:
    """Read a manifest as text.

    Raises
    ------
    FileNotFoundError
        If the directory has no manifest of ackclock.
    """
    try:
        text = toml.read_text(directory / MANIFEST)
        ours = json.loads(text).get("program") == "ackclock"
    except (OSError, ValueError, AttributeError, RecursionError):
        ours = False
    if not ours:
        raise FileNotFoundError(f"{directory}: no result of ackclock here (no {MANIFEST} by ackclock)")
    return text
