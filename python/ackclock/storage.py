"""Files that are either complete or not there: everything is written beside its place and then renamed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ackclock import _core

MANIFEST = "manifest.json"


@contextlib.contextmanager
def replacing(directory: Path, kind: str) -> Iterator[Path]:
    """Give a new folder that takes the place of `directory` when the block ends without an error.

    Parameters
    ----------
    directory
        The final place; an earlier result there is replaced.
    kind
        What is written, see `write_manifest`.

    Raises
    ------
    FileExistsError
        If something other than an earlier result of that kind is there.
    """
    check_free(directory, kind)
    directory.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    try:
        yield folder
        folder.chmod(0o777 & ~_umask())
        old = folder.with_name(folder.name + "-old")
        if directory.exists():
            directory.rename(old)
        folder.rename(directory)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_free(directory: Path, *kinds: str) -> None:
    """Refuse to write over what is not ours.

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
        raise FileExistsError(f"{directory} holds results of another kind ({found}); choose another directory")


def write_text(path: Path, text: str) -> None:
    """Write a text file at once."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file at once."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_manifest(directory: Path, kind: str, entries: dict[str, Any]) -> None:
    """Write the manifest: what made a result, and of which kind (``run``, ``sweep`` or ``paper``) it is."""
    manifest = {"program": "ackclock", "version": _core.__version__, "kind": kind, **entries}
    write_text(directory / MANIFEST, json.dumps(manifest, indent=2) + "\n")


def read_manifest(directory: Path, kind: str) -> dict[str, Any]:
    """Read a manifest.

    Raises
    ------
    FileNotFoundError
        If there is none of that kind.
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
        If there is none, or not one of ackclock's.
    """
    try:
        text = (directory / MANIFEST).read_text(encoding="utf-8")
        ours = json.loads(text).get("program") == "ackclock"
    except (OSError, ValueError, AttributeError):
        ours = False
    if not ours:
        raise FileNotFoundError(f"{directory}: no result of ackclock here (no {MANIFEST} of its own)")
    return text


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
