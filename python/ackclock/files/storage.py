"""Atomic writing: a file or folder is written under a temporary name beside its place, then renamed."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.files import checks, leftovers, made, reading

if TYPE_CHECKING:
    import polars

MANIFEST = "manifest.json"
LOCK = "lock"
"""The file that holds the process that writes; it stays."""
COMMANDS = {
    "dataset": "sweep",
    "comparison": "compare",
    "conformance": "conform",
    "tuning": "tune",
    "kernel comparison": "kernel compare",
}
"""The commands that write results of a kind, if kind and command have different names."""
OWN_FILES = re.compile(
    r"manifest\.json|scenario\.toml|(flows|links|transfers|pages|media)\.parquet|trace-\w+\.parquet|packets\.pcapng"
)
"""Files of a run. Every other file in the folder of a result belongs to the user."""
UNMARKED = re.compile(rf"{LOCK}|\.{re.escape(MANIFEST)}-.*{re.escape(leftovers.SUFFIX)}")
"""Files of a process that was killed before it wrote the manifest."""
WAITS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Seconds between attempts to replace a file: Windows refuses while another process reads it."""
_COUNT = checks.Kind("a whole number, at least 0", lambda value: type(value) is int and 0 <= value < 2**64)
_WORD = checks.Kind("a text", lambda value: isinstance(value, str))
_WORDS = checks.Kind("a list of texts", checks.is_texts)
_TIME = checks.Kind("a number from 0 on", lambda value: checks.is_number(value) and 0 <= value < math.inf)
_WARNINGS = checks.Kind(
    "a list of warnings",
    lambda value: isinstance(value, list) and all(isinstance(each, dict) and _is_warning(each) for each in value),
)
ENTRIES: dict[str, dict[str, checks.Kind]] = {
    "run": {
        "scenario": _WORD,
        "labels": checks.TEXT_TABLE,
        "duration": _TIME,
        "seed": _COUNT,
        "hash": _WORD,
        "traces": _WORDS,
        "trace_hash": _WORD,
        "warnings": _WARNINGS,
        "python_controls": checks.BOOL,
    },
    "dataset": {
        "state": _WORD,
        "planned": _COUNT,
        "labels": _WORDS,
        "settings": checks.TABLE,
        "worlds": _WORDS,
    },
    "matrix": {"state": _WORD, "runs": _COUNT, "asked": checks.TABLE},
    "comparison": {"state": _WORD},
    "paper": {"state": _WORD, "paper": _WORD, "quick": checks.BOOL},
    "page": {"files": checks.TEXT_TABLE},
}
"""For each kind of a manifest, the entries that its readers use."""
OPTIONAL = ("planned", "settings", "worlds")
REPORT = "report.html"
GENERATOR = '<meta name="generator" content="ackclock">'
"""A line near the start of every report in HTML."""


def _is_warning(value: Mapping[str, object]) -> bool:
    return all(isinstance(value.get(key), str) for key in ("name", "text")) and checks.is_texts(value.get("flows"))


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
    check_folder(directory)
    final = directory.resolve()
    if final == Path.cwd() or os.path.ismount(final):
        raise OSError(f"{directory}: cannot be replaced; choose a directory inside it")
    leftovers.remove(final, _carry)
    check_free(directory, kind)
    with contextlib.ExitStack() as stack:
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(leftovers.folder(final)) / leftovers.NEW
            folder.mkdir()
        except OSError as error:
            raise _named(error, directory) from None
        try:
            yield folder
        except OSError as error:
            # The user does not know the temporary name.
            if str(folder) in str(error):
                raise _named(error, directory) from None
            raise


def _named(error: OSError, directory: Path) -> OSError:
    return type(error)(f"{directory}: cannot write here: {reason(error)}")


def reason(error: OSError) -> str:
    """Return the cause of a failed write, without the name of the file."""
    return error.strerror or str(error).rpartition("cannot write here: ")[2]


def place(folder: Path, directory: Path) -> None:
    """Replace `directory` by a folder of `draft`, and carry over the user's files."""
    final = directory.resolve()
    if not final.exists():
        move(folder, final)
        return
    # If this run is killed, the next one restores it, or moves the user's files.
    earlier = folder.with_name(leftovers.EARLIER)
    move(final, earlier)
    try:
        move(folder, final)
    except OSError:
        move(earlier, final)
        raise
    _carry(earlier, final)
    shutil.rmtree(earlier, ignore_errors=True)


def _carry(old: Path, new: Path) -> None:
    """Move the user's files from an earlier result into its successor."""
    for entry in sorted(old.iterdir()):
        if not _is_own(entry):
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
    OSError
        If `directory` cannot be a directory.
    FileExistsError
        If `directory` exists, is not empty, and is not a result of one of these kinds.
    """
    check_folder(directory)
    if not directory.exists() or all(UNMARKED.fullmatch(entry.name) for entry in directory.iterdir()):
        return
    try:
        found = read_manifest(directory, checked=False)["kind"]
    except OSError:
        raise FileExistsError(f"{directory} exists and was not written by ackclock; choose another directory") from None
    if found not in kinds:
        raise FileExistsError(f"{directory} holds results of {command_of(found)}; choose another directory")


def command_of(kind: str) -> str:
    """Return the command that writes results of a kind, with its name in backquotes.

    >>> command_of("dataset")
    '`ackclock sweep`'
    """
    return f"`ackclock {COMMANDS.get(kind, kind)}`"


def check_folder(directory: Path) -> None:
    """Refuse a path that cannot be a directory.

    Raises
    ------
    OSError
        If `directory` is ``-``, or if anything but a directory is there or on the way to it.
    """
    if directory == Path("-"):
        raise NotADirectoryError("-: standard output is not a directory; name a directory")
    place = directory.absolute()
    there = next(path for path in (place, *place.parents) if os.path.lexists(path))
    if not there.is_dir():
        if there == place and there.exists():
            raise FileExistsError(f"{directory} exists and was not written by ackclock; choose another directory")
        what = "a symbolic link to nothing" if there.is_symlink() and not there.exists() else "not a directory"
        raise NotADirectoryError(f"{directory}: cannot write here: {there} is {what}; name a directory")


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
    _write(path, data)


def write_named(path: Path, data: bytes) -> None:
    """Write a file that the user named, atomically; an existing file keeps its permissions.

    Leftovers of killed runs beside it are removed.
    """
    leftovers.remove(path, _carry)
    _write(path, data, stat.S_IMODE(path.stat().st_mode) if path.exists() else None)


def _write(path: Path, data: bytes, mode: int | None = None) -> None:
    try:
        with leftovers.folder(path) as work:
            new = work / leftovers.NEW
            new.write_bytes(data)
            if mode is not None:
                new.chmod(mode)
            move(new, path)
    except OSError as error:
        raise _named(error, path) from None


def move(old: Path, new: Path) -> None:
    """Rename a file or a folder, over an earlier file; on Windows, wait while another process reads either.

    Raises
    ------
    OSError
        If it cannot be renamed, or is still read after a while.
    """
    for wait in WAITS:
        with contextlib.suppress(PermissionError):
            old.replace(new)
            return
        time.sleep(wait)
    old.replace(new)


def write_parquet(path: Path, table: polars.DataFrame) -> None:
    """Write a table atomically."""
    write_bytes(path, parquet(table))


def parquet(table: polars.DataFrame) -> bytes:
    """Return the file of a table, with its checksum."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return reading.sealed(buffer.getvalue())


def write_manifest(directory: Path, kind: str, entries: dict[str, Any]) -> None:
    """Write the manifest of a result; parameters are those of `manifest`."""
    write_bytes(directory / MANIFEST, manifest(kind, entries))


def manifest(kind: str, entries: dict[str, Any]) -> bytes:
    """Return the file of a manifest.

    The entry `made.MADE` says how the result was made. It alone differs between equal results.

    Parameters
    ----------
    kind
        The kind of the result, such as ``run``, ``dataset`` or ``paper``.
    entries
        Its entries.
    """
    whole = {"program": "ackclock", "version": _core.__version__, "kind": kind, **entries, made.MADE: made.made()}
    return (json.dumps(whole, indent=2) + "\n").encode()


def read_manifest(directory: Path, *kinds: str, checked: bool = True) -> dict[str, Any]:
    """Read a manifest.

    Parameters
    ----------
    directory
        The folder of the result.
    kinds
        Kinds of the result; without any, every kind will do.
    checked
        Whether to check the entries that its readers use.

    Raises
    ------
    FileNotFoundError
        If the directory has no manifest of ackclock, or one of another kind.
    DamagedError
        If the manifest is damaged.
    """
    path = directory / MANIFEST
    try:
        found = reading.read_json(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"{directory}: no result of ackclock here (no {MANIFEST} by ackclock)") from None
    if not isinstance(found, dict) or found.get("program") != "ackclock":
        raise FileNotFoundError(f"{directory}: no result of ackclock here (no {MANIFEST} by ackclock)")
    reading.check_entries(path, found, {"kind": checks.TEXT})
    if kinds and found["kind"] not in kinds:
        raise FileNotFoundError(f"{directory}: not a result of the kind {kinds[0]!r}")
    if checked:
        check_manifest(path, found, found["kind"])
    return found


def check_manifest(path: Path, manifest: object, kind: str, place: str = "") -> None:
    """Refuse a manifest whose entries are not those of its kind.

    Raises
    ------
    DamagedError
        If an entry is missing or wrong.
    """
    reading.check_entries(path, manifest, ENTRIES.get(kind, {}), place, OPTIONAL)


def is_result(directory: Path) -> bool:
    """Whether a folder has a manifest of ackclock."""
    try:
        read_manifest(directory, checked=False)
    except OSError:
        return False
    return True
