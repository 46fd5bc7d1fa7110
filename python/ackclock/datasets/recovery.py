"""Opening of a dataset for writing: whether the folder is free, and repair after a kill.

`ackclock.datasets.relabelling` changes the plan in steps. Each is one rename or removal, and an opening after a kill
repeats the remaining ones:

1. ``runs.new`` is built. Without the next step, it is discarded.
2. ``runs`` is renamed to ``earlier/M``. If ``runs`` is missing, ``runs.new`` is complete.
3. ``runs.new`` is renamed to ``runs``.
4. Batches of the other tables move to where their runs are.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from ackclock.datasets import layout
from ackclock.files import leftovers, storage


def check_free(folder: Path) -> None:
    """Refuse to write into a folder of the user.

    Raises
    ------
    FileExistsError
        If the folder is not empty and holds no dataset.
    """
    storage.check_free(folder, layout.KIND)
    if (folder / storage.MANIFEST).exists():
        layout.read_manifest(folder)


def recover(folder: Path) -> None:
    """Finish or undo the work of a writer that was killed."""
    runs, new = folder / layout.RUNS, folder / layout.NEW_RUNS
    if not runs.exists() and new.exists():
        storage.move(new, runs)
    runs.mkdir(exist_ok=True)
    shutil.rmtree(new, ignore_errors=True)
    for place in (folder, *_places(folder), *layout.runs_folders(folder)):
        leftovers.remove_within(place)
    settle(folder)


def _places(folder: Path) -> list[Path]:
    """Return the folders of the tables other than `runs`, present and earlier."""
    return [place / name for name in layout.TABLES for place in (folder, folder / layout.EARLIER)]


def settle(folder: Path) -> None:
    """Remove batches of tables without runs; move the others to `folder` or ``earlier``, where their runs are.

    While ``runs.new`` waits to replace `runs`, readers need the batches of both.
    """
    present = {number for name in (layout.RUNS, layout.NEW_RUNS) for number in layout.batches(folder / name)}
    known = {number for place in layout.earlier_runs(folder).values() for number in layout.batches(place)} | present
    for name in layout.TABLES:
        here, there = folder / name, folder / layout.EARLIER / name
        for number, path in [*layout.batches(here).items(), *layout.batches(there).items()]:
            place = here if number in present else there
            if number not in known:
                path.unlink()
            elif path.parent != place:
                place.mkdir(parents=True, exist_ok=True)
                storage.move(path, place / path.name)


def next_number(folder: Path) -> int:
    """Return a number above those of all batches."""
    return max((number for place in layout.runs_folders(folder) for number in layout.batches(place)), default=0) + 1


def remove_orphans(folder: Path, known: Collection[str]) -> None:
    """Remove the folders of runs without a row, whose writer was killed before it; `known` are the keys of all rows."""
    place = folder / layout.RESULTS
    leftovers.remove_within(place)
    for entry in list(place.iterdir()) if place.exists() else ():
        if entry.name not in known and storage.is_result(entry):
            shutil.rmtree(entry)
