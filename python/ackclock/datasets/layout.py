"""Names in the folder of a dataset, and its manifest.

::

    manifest.json    kind, format, scenario, state, labels and settings
    sweep.toml       the scenario file
    runs/N.parquet   a row for each point and seed
    results/KEY/     the folder of a run with traces or packets, or of one that is not simulated by the engine alone
    flows/N.parquet  rows of flows with the key of their run; likewise links, transfers, pages, media
    earlier/         rows of an earlier form of the sweep: M/N.parquet of runs, flows/N.parquet and so on
    lock             locked while a process writes

A batch is the files with the same number. Its file in `runs` is written last: a batch without it does not count.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core, columns
from ackclock.files import reading, storage

if TYPE_CHECKING:
    import polars

KIND = "dataset"
FORMAT = 2
SCENARIO = "sweep.toml"
EARLIER = "earlier"
RESULTS = "results"
RUNS = "runs"
NEW_RUNS = "runs.new"
TABLES = ("flows", "links", "transfers", "pages", "media")
BATCH = re.compile(r"(\d{6,})\.parquet")
FIRST = ("point",)
WORLD = "world"
LAST = (WORLD, "seed", "hash", "run", "version", "error")
"""Columns of `runs` before and after the labels; the measures follow."""
TASK = "task"
"""Column of the engine that a dataset does not store."""
MEANINGS = {
    "point": "number of the point in the sweep, from 0",
    WORLD: "world in which the run took place",
    "seed": "seed of the run",
    "hash": "hash of the scenario",
    "run": "key of the run: of the scenario, its world, what it records, and the program",
    "version": "version of ackclock that ran it",
}


def schema(labels: Iterable[str] = ()) -> polars.Schema:
    """Return the types of the columns that every table of runs has, with these columns of labels."""
    import polars

    whole, text = polars.UInt64(), polars.String()
    texts = dict.fromkeys([*labels], text)
    rest = dict.fromkeys(LAST, text)
    return polars.Schema({"point": whole, **texts, **rest, "seed": whole})


def declared(table: str, labels: Iterable[str] = ()) -> polars.Schema:
    """Return the columns of a table as the engine declares them, with the columns that a dataset adds."""
    import polars

    kinds = {"texts": polars.String(), "whole numbers": polars.UInt64(), "numbers": polars.Float64()}
    first = schema(labels) if table == RUNS else {"run": polars.String()}
    rest = {column.name: kinds[column.kind] for column in columns.of(table) if column.name != TASK}
    return polars.Schema({**first, **rest})


def label_columns(labels: Iterable[str]) -> list[str]:
    """Return the column of each label; a label that is also a column of a table gets the prefix ``label.``."""
    taken = {*FIRST, *LAST}
    for table in columns.tables().values():
        if table.trace is None:
            taken.update(column.name for column in table.columns)
    return [f"label.{label}" if label in taken else label for label in labels]


def labels_in(names: Sequence[str]) -> list[str]:
    """Return the columns of labels of a table of runs: those between the point and the world."""
    return list(names[len(FIRST) : names.index(LAST[0])])


def batches(folder: Path) -> dict[int, Path]:
    """Return the batch files in a folder by their numbers, in their order; empty without the folder."""
    try:
        found = [(BATCH.fullmatch(entry.name), entry) for entry in folder.iterdir()]
    except FileNotFoundError:
        return {}
    return dict(sorted((int(match[1]), entry) for match, entry in found if match))


def batch_name(number: int) -> str:
    """Return the name of a batch's files.

    >>> batch_name(7)
    '000007.parquet'
    """
    return f"{number:06}.parquet"


def earlier_runs(folder: Path) -> dict[int, Path]:
    """Return the folders of runs of earlier forms of the sweep by their numbers, in their order."""
    try:
        found = [entry for entry in (folder / EARLIER).iterdir() if entry.name.isdecimal() and entry.is_dir()]
    except FileNotFoundError:
        return {}
    return {int(entry.name): entry for entry in sorted(found, key=lambda entry: int(entry.name))}


def runs_folders(folder: Path) -> Iterator[Path]:
    """Yield every folder of runs: the present one, then the earlier ones."""
    yield folder / RUNS
    yield from earlier_runs(folder).values()


def damaged(path: Path, what: str) -> reading.DamagedError:
    """Return the error for a damaged batch, with its mend."""
    folder = next(place for place in path.parents if (place / storage.MANIFEST).exists())
    runs = folder / RUNS / path.name
    mend = f"delete {runs} and run the same `ackclock` command again, which repeats its runs"
    return reading.DamagedError(path, what, mend)


def batch_schema(path: Path) -> polars.Schema:
    """Return the columns of a batch.

    Raises
    ------
    DamagedError
        If it is damaged.
    """
    import polars

    try:
        data = reading.parquet_bytes(path)
        with reading.refusing_parquet(path):
            return polars.Schema(polars.read_parquet_schema(io.BytesIO(data)))
    except reading.DamagedError as error:
        raise damaged(path, error.what) from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a dataset.

    Raises
    ------
    FileNotFoundError
        If the folder holds no dataset.
    ValueError
        If a later version of Ackclock wrote it in another format.
    """
    found = storage.read_manifest(folder, checked=False)
    kind = found["kind"]
    if kind != KIND:
        raise FileNotFoundError(f"{folder}: holds results of {storage.command_of(kind)}, and no dataset")
    if found.get("format") != FORMAT:
        raise ValueError(
            f"{folder}: version {_word(found, 'version')} of ackclock wrote this dataset in format "
            f"{_word(found, 'format')}; this version, {_core.__version__}, reads format {FORMAT}"
        )
    storage.check_manifest(folder / storage.MANIFEST, found, KIND)
    return found


def _word(manifest: Mapping[str, object], key: str) -> str:
    return str(manifest.get(key))[:20]
