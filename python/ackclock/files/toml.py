"""Text and TOML files: those of users are read up to a size limit, and messages name the file."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import Any

from ackclock.files import limits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST = 256_000_000
"""Largest file of this program, in bytes; `limits` has those of files that users write."""
CHUNK = 1 << 20


def parse(text: str, place: str) -> dict[str, Any]:
    """Parse TOML.

    Raises
    ------
    ValueError
        If the text is not TOML, or takes too much memory to read; the message begins with `place`.
    """
    if excess := limits.excess(text):
        raise ValueError(f"{place}: {excess}: shorten its lists and tables")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place}: {error}") from None
    except RecursionError:
        raise ValueError(f"{place}: its values are nested too deeply") from None


def own(text: str) -> dict[str, Any]:
    """Parse TOML that this program wrote, such as a scenario with every flow and default; it has no limit."""
    return tomllib.loads(text)


def read(path: Path, most: int = LARGEST) -> dict[str, Any]:
    """Read a TOML file of at most so many bytes.

    Raises
    ------
    ValueError
        If the file is not TOML.
    OSError
        If the file cannot be read.
    """
    return parse(read_text(path, most), str(path))


def read_text(path: Path, most: int = LARGEST) -> str:
    """Read a text file, which may be a pipe or a device.

    Parameters
    ----------
    path
        The file.
    most
        Largest size, in bytes.

    Raises
    ------
    ValueError
        If the file is not UTF-8, contains a NUL character, or is too large.
    OSError
        If the file cannot be read.
    """
    limits.check(path, most)
    decoder = codecs.getincrementaldecoder("utf-8")()
    parts, size = [], 0
    try:
        with path.open("rb") as file:
            # Reading in pieces refuses a long binary file early.
            while chunk := file.read(CHUNK):
                size += len(chunk)
                if size > most:
                    raise ValueError(f"{path}: larger than the limit of {most / 1e6:,.0f} MB")
                parts.append(decoder.decode(chunk))
                if "\0" in parts[-1]:
                    raise ValueError(f"{path}: not a text file: it contains a NUL character")
        parts.append(decoder.decode(b"", final=True))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text file in UTF-8: {error}") from None
    except OSError as error:
        # An error of reading, unlike one of opening, does not name the file.
        raise OSError(error.errno, error.strerror, str(path)) from None
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
