"""The one way to read stored results."""

from __future__ import annotations

import warnings
from pathlib import Path

from ackclock.datasets.dataset import Dataset
from ackclock.files import storage
from ackclock.results import StoredResult


def open(directory: str | Path) -> StoredResult | Dataset:  # noqa: A001 - called as ackclock.open
    """Open what a command or a function has stored: a single run, or the dataset of a sweep.

    Tables are frames of polars; those of a dataset, which a sweep may still be writing, are lazy.

    Parameters
    ----------
    directory
        The directory given to ``--out``, to `ackclock.sweep` or to `Result.write`.

    Raises
    ------
    FileNotFoundError
        If it holds neither.
    ValueError
        If a later version of Ackclock wrote it.
    """
    folder = Path(directory)
    kind = storage.read_manifest(folder, checked=False)["kind"]
    return StoredResult(folder) if kind == "run" else Dataset(folder)


def runs(directory: str | Path) -> list[StoredResult]:
    """Return the finished runs that are stored in a directory; a warning says if a sweep is not complete.

    Raises
    ------
    FileNotFoundError
        If it holds neither a run nor a dataset.
    ValueError
        If no run of its sweep is finished.
    """
    found = open(directory)
    if isinstance(found, StoredResult):
        return [found]
    with found.reading():
        results = list(found.results().values())
    manifest = found.manifest
    if not results:
        raise ValueError(f"{directory}: no run of the sweep is finished")
    if not found.complete:
        text = f"{directory}: {manifest['state']}; {len(results)} of {manifest['planned']} runs are stored"
        warnings.warn(text, stacklevel=2)
    return results
