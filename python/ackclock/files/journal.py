"""Journals: texts of JSON by their keys in a file that grows by a line each, so that a killed process loses none."""

from __future__ import annotations

import contextlib
import io
import json
import zlib
from pathlib import Path

from ackclock.files import reading


class Journal:
    """Texts of JSON by their keys, a line each, which is in the file when `add` returns.

    Parameters
    ----------
    file
        The file, which need not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> dict[str, str]:
        """Return the texts by their keys, the last of each key; incomplete and changed lines do not count.

        Raises
        ------
        DamagedError
            If the file cannot be read.
        """
        try:
            lines = reading.read_bytes(self._file).splitlines()
        except FileNotFoundError:
            return {}
        found: dict[str, str] = {}
        for each in lines:
            content, _, checksum = each.rpartition(b" ")
            if checksum == _checksum(content):
                with contextlib.suppress(ValueError, RecursionError):
                    # The value stays a text, which takes a small part of the memory of its objects.
                    line = content.decode()
                    key, end = json.JSONDecoder().raw_decode(line, 1)
                    found[str(key)] = line[end + 2 : -1]
        return found

    def add(self, key: str, text: str) -> None:
        """Append a text of JSON on one line.

        Raises
        ------
        OSError
            If the file cannot be written to.
        """
        with self._file.open("a+b") as file:
            # A killed process may have left an incomplete line.
            if file.tell() and not _ends_with_newline(file):
                file.write(b"\n")
            content = f"[{json.dumps(key)}, {text}]".encode()
            file.write(content + b" " + _checksum(content) + b"\n")

    def remove(self) -> None:
        """Remove the file; what stays while another process reads it, on Windows, is read once more by the next run."""
        with contextlib.suppress(PermissionError):
            self._file.unlink(missing_ok=True)


def _checksum(content: bytes) -> bytes:
    return f"{zlib.crc32(content):08x}".encode()


def _ends_with_newline(file: io.BufferedRandom) -> bool:
    file.seek(-1, io.SEEK_END)
    return file.read(1) == b"\n"
