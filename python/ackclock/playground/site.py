"""The playground as files for a static host, or for a browser that opens them from the disk."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ackclock.files import storage
from ackclock.playground.page import INDEX, Page, Setup

KIND = "page"


def export(page: Page, setup: Setup, directory: Path) -> None:
    """Write the files into a folder, which may hold an earlier export.

    Parameters
    ----------
    page
        The built files.
    setup
        What the page is told.
    directory
        The folder; it is made if it does not exist.

    Raises
    ------
    FileExistsError
        If the folder holds other files, or files of an earlier export that were changed.
    ValueError
        If the engine as WebAssembly was not built.
    OSError
        If the folder cannot be written to.
    """
    if not page.has_engine:
        raise ValueError(
            "--export: without a server the page needs the engine as WebAssembly, which this installation does not "
            "have: `make web` builds it in a source tree"
        )
    storage.check_free(directory, KIND)
    earlier = _earlier(directory)
    files = {**page.files, INDEX: page.index(setup)}
    for name in files.keys() | earlier.keys():
        path = directory / name
        if path.exists() and (path.is_dir() or _hash(path.read_bytes()) not in earlier.get(name, "").split()):
            raise FileExistsError(
                f"{path}: was not written by ackclock, or was changed since; choose another directory"
            )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"{directory}: cannot write here: {storage.reason(error)}") from None
    # The manifest comes first, with the earlier files: if writing stops half way, the next export finds its own.
    now = {name: _hash(data) for name, data in sorted(files.items())}
    both = {
        name: f"{now.get(name, '')} {earlier.get(name, '')}".strip() for name in sorted(now.keys() | earlier.keys())
    }
    storage.write_manifest(directory, KIND, {"files": both})
    for name, data in files.items():
        storage.write_bytes(directory / name, data)
    for name in earlier.keys() - files.keys():
        (directory / name).unlink(missing_ok=True)
    storage.write_manifest(directory, KIND, {"files": now})


def _earlier(directory: Path) -> dict[str, str]:
    """Return the hashes that the files of earlier exports may have, by name."""
    try:
        found: dict[str, str] = storage.read_manifest(directory)["files"]
    except FileNotFoundError:
        return {}
    # Only plain names: nothing outside the folder is ever removed.
    return {name: value for name, value in found.items() if Path(name).name == name}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
