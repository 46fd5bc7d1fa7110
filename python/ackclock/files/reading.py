"""Reading of files that ackclock wrote: a damaged one gives a message that names the file and the mend."""

from __future__ import annotations

import contextlib
import io
import json
import stat
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.files import checks, limits

if TYPE_CHECKING:
    import polars

MOST_WORDS = 200
SEAL = b"ackclock checksum "
CHECKSUM = 8
Check = Callable[["polars.DataFrame", Path], None]
"""A function that raises `DamagedError` for a table with wrong columns."""


class DamagedError(OSError):
    """A stored file is damaged.

    Parameters
    ----------
    path
        The file.
    what
        What is wrong with it.
    mend
        What to do.
    """

    def __init__(self, path: Path, what: str, mend: str = "") -> None:
        again = f"restore it, or delete {path.parent} and repeat the command that wrote it"
        super().__init__(f"{path}: damaged: {what[:MOST_WORDS]}; {mend or again}")
        self.path, self.what = path, what


def check_regular(path: Path) -> None:
    """Refuse anything but a regular file: a result has no links, and reading a pipe would wait.

    Raises
    ------
    FileNotFoundError
        If nothing is there.
    DamagedError
        If something else is there.
    """
    try:
        kind = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"{path}: is missing; repeat the command that wrote this result") from None
    if not stat.S_ISREG(kind):
        raise DamagedError(path, "a symbolic link" if stat.S_ISLNK(kind) else "not a file")


def read_bytes(path: Path) -> bytes:
    """Read a stored file.

    Raises
    ------
    FileNotFoundError
        If it is missing.
    DamagedError
        If it is not a regular file.
    """
    check_regular(path)
    return path.read_bytes()


def read_text(path: Path) -> str:
    """Read a stored text; errors are those of `read_bytes`, and a `DamagedError` if it is not UTF-8."""
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise DamagedError(path, str(error)) from None


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """Read stored JSON; errors are those of `read_text`, and a `DamagedError` if it is not JSON."""
    return parsed(read_text(path), path)


def parsed(text: str, path: Path) -> Any:  # noqa: ANN401 - any JSON
    """Parse JSON of a stored file.

    Raises
    ------
    DamagedError
        If it is not JSON, or takes too much memory to read.
    """
    if excess := limits.excess(text, json=True):
        raise DamagedError(path, excess)
    try:
        return json.loads(text)
    except RecursionError:
        raise DamagedError(path, "its values are nested too deeply") from None
    except ValueError as error:
        raise DamagedError(path, f"not JSON: {error}") from None


def check_entries(
    path: Path, value: object, known: Mapping[str, checks.Kind], place: str = "", optional: Collection[str] = ()
) -> None:
    """Refuse a stored table without these keys, or with values of other kinds; further keys do not matter.

    Raises
    ------
    DamagedError
        If a value is wrong.
    """
    if not isinstance(value, Mapping):
        raise DamagedError(path, f"{place or 'its content'} is not a table")
    for key, kind in known.items():
        if key not in value:
            if key in optional:
                continue
            raise DamagedError(path, f"{place}{key} is missing")
        if not kind.test(value[key]):
            raise DamagedError(path, f"{place}{key} must be {kind.words}, not {str(value[key])[:40]!r}")


def read_parquet(path: Path, check: Check | None = None) -> polars.DataFrame:
    """Read a stored table.

    Parameters
    ----------
    path
        The file.
    check
        Called with the table and the file; raises `DamagedError` for wrong columns.

    Raises
    ------
    FileNotFoundError
        If it is missing.
    DamagedError
        If it is no table of Parquet.
    """
    import polars

    data = parquet_bytes(path)
    with refusing_parquet(path):
        table = polars.read_parquet(io.BytesIO(data))
    if check is not None:
        check(table, path)
    return table


def sealed(data: bytes) -> bytes:
    """Add a checksum to a file of Parquet: before its last part, whose place readers compute from the end.

    Readers are not made for changed files: some end the whole program, and others read wrong numbers.
    """
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:end] + SEAL + _checksum(data) + data[end:]


def parquet_bytes(path: Path) -> bytes:
    """Read a file of Parquet, and compare it with its checksum, if it has one.

    Raises
    ------
    FileNotFoundError
        If it is missing.
    DamagedError
        If it is not a regular file, or was changed.
    """
    data = read_bytes(path)
    place = data.rfind(SEAL)
    if place >= 0:
        end = place + len(SEAL) + CHECKSUM
        if data[end - CHECKSUM : end] != _checksum(data[:place], data[end:]):
            raise DamagedError(path, "it has changed since it was written")
    return data


def _checksum(*parts: bytes) -> bytes:
    found = 0
    for part in parts:
        found = zlib.crc32(part, found)
    return f"{found:0{CHECKSUM}x}".encode()


@contextlib.contextmanager
def refusing_parquet(path: Path) -> Iterator[None]:
    """Turn errors of polars while it reads a file into a `DamagedError`."""
    import polars

    try:
        yield
    except (polars.exceptions.PolarsError, OSError, ValueError) as error:
        raise DamagedError(path, f"not a readable Parquet file: {first_line(error)}") from None
    except BaseException as error:
        if not is_panic(error):
            raise
        raise DamagedError(path, f"not a readable Parquet file: {first_line(error)}") from None


def is_panic(error: BaseException) -> bool:
    """Whether an error is a panic of a library in Rust, which is no `Exception`; polars has some on damaged files."""
    return type(error).__name__ == "PanicException"


def first_line(error: BaseException) -> str:
    """Return the first line of a message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
