"""Change of the plan: stored runs get new points, labels and seeds; rows outside the plan move to ``earlier``.

A run is known if any folder of runs has it. The rows of its tables are in the batch in which it was stored first: its
home. Its rows in `runs` have the same batch number, so that `recovery.settle` finds both together.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.datasets import layout, recovery
from ackclock.files import reading, storage

if TYPE_CHECKING:
    import polars

BATCH = "batch"


@dataclass(frozen=True)
class Changes:
    """Numbers of rows after a change of the plan.

    Attributes
    ----------
    kept : int
        Rows of `runs` that stayed as they are.
    relabelled : int
        New rows of `runs` whose run was known.
    moved : int
        Rows that moved to ``earlier`` because the plan has them no more.
    again : int
        Rows of failed runs that moved there because the runs are to run again.
    """

    kept: int
    relabelled: int
    moved: int
    again: int = 0


def keys(folder: Path, labels: Sequence[str]) -> polars.DataFrame:
    """Return point, labels, seed, hash, run, error and batch number of every row in a folder of runs.

    Labels that a file lacks are null.

    Raises
    ------
    OSError
        If a file is damaged.
    """
    import polars

    types = polars.Schema({**layout.schema(labels), BATCH: polars.UInt64()})
    parts = [polars.DataFrame(schema=types)]
    for number, path in layout.batches(folder).items():
        part = read(path).with_columns(polars.lit(number).alias(BATCH))
        missing = [polars.lit(None).alias(name) for name in types if name not in part.columns]
        try:
            parts.append(part.with_columns(missing).select(*types).cast(types))
        except polars.exceptions.PolarsError as error:
            raise layout.damaged(path, reading.first_line(error)) from None
    return polars.concat(parts, rechunk=True)


def known(folder: Path) -> set[str]:
    """Return the keys of all runs with a row, present or earlier, if runs have folders of their own."""
    if not (folder / layout.RESULTS).exists():
        return set()
    return {run for place in layout.runs_folders(folder) for run in keys(place, ())["run"].to_list()}


def read(path: Path) -> polars.DataFrame:
    """Read a batch of runs.

    Raises
    ------
    OSError
        If it is damaged.
    """
    try:
        return reading.read_parquet(path)
    except reading.DamagedError as error:
        raise layout.damaged(path, error.what) from None


def relabel(folder: Path, plan: polars.DataFrame, labels: Sequence[str], *, retry: bool) -> Changes:
    """Make the stored runs those of a plan.

    Parameters
    ----------
    folder
        The folder of the dataset.
    plan
        A row for each point and seed, with the columns of `layout.schema` before ``version``.
    labels
        The columns of labels in the plan.
    retry
        Whether failed runs count as unknown.

    Raises
    ------
    ValueError
        If the plan has a point and seed twice.
    OSError
        If a stored file is damaged.
    """
    import polars

    if plan.select("point", "seed").is_duplicated().any():
        raise ValueError("the plan has a point and seed twice")

    current = keys(folder / layout.RUNS, labels)
    stored = current.filter(polars.col("error").is_null()) if retry else current
    known = _known(folder, current, retry=retry)
    wanted = plan.join(known, on="run", how="inner")
    # A run has one hash, which is null if the scenario is wrong.
    same = ["point", *labels, "seed", "run"]
    kept = wanted.join(stored, on=same, how="semi")
    gone = current.join(wanted, on="run", how="anti")
    again = gone.join(plan, on=["point", "seed", "run"], how="semi").height
    changes = Changes(kept.height, wanted.height - kept.height, gone.height - again, again)
    if not kept.height == wanted.height == current.height or _labels(folder) not in (None, list(labels)):
        _build(folder, wanted, labels)
        _replace(folder)
    return changes


def _labels(folder: Path) -> list[str] | None:
    """Return the columns of labels of the stored runs; None without runs."""
    for path in layout.batches(folder / layout.RUNS).values():
        return layout.labels_in(read(path).columns)
    return None


def _known(folder: Path, current: polars.DataFrame, *, retry: bool) -> polars.DataFrame:
    """Return every known run once, with its home; a successful run rather than a failed one."""
    import polars

    names = ["run", "error", BATCH]
    succeeded = polars.col("error").is_null()
    # The limits of an earlier failure may no longer hold.
    earlier = [keys(place, ()).filter(succeeded) for place in layout.earlier_runs(folder).values()]
    found = polars.concat([part.select(names) for part in (current, *earlier)])
    if retry:
        found = found.filter(succeeded)
    order = [polars.col("error").is_not_null(), BATCH]
    return found.sort(order, maintain_order=True).unique("run", keep="first", maintain_order=True).drop("error")


def _build(folder: Path, wanted: polars.DataFrame, labels: Sequence[str]) -> None:
    """Write the new runs beside the present ones."""
    import polars

    new = folder / layout.NEW_RUNS
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    homes = [layout.batches(place) for place in layout.runs_folders(folder)]
    for (number,), rows in wanted.partition_by(BATCH, as_dict=True).items():
        # Later forms of the sweep may have reused runs of the batch; their measures are the same.
        parts = [_content(home[number]) for home in homes if number in home]
        content = polars.concat(parts, how="diagonal_relaxed").sort(polars.col("error").is_not_null())
        content = content.unique("run", keep="first", maintain_order=True)
        table = rows.drop(BATCH).join(content, on="run", how="inner")
        types = layout.schema(labels)
        storage.write_parquet(new / layout.batch_name(number), table.select(*types, polars.exclude(*types)))


def _content(path: Path) -> polars.DataFrame:
    """Return the columns of a batch of runs that do not depend on the plan."""
    table = read(path)
    return table.drop("point", *layout.labels_in(table.columns), layout.WORLD, "seed", "hash")


def _replace(folder: Path) -> None:
    """Put the new runs in the place of the present ones, which move to ``earlier``."""
    runs, new, earlier = folder / layout.RUNS, folder / layout.NEW_RUNS, folder / layout.EARLIER
    # Their tables come first: a reader that sees a run finds its rows.
    recovery.settle(folder)
    earlier.mkdir(exist_ok=True)
    old = earlier / str(max(layout.earlier_runs(folder), default=0) + 1)
    storage.move(runs, old)
    storage.move(new, runs)
    _prune(folder)
    for entry in list(old.iterdir()) if old.exists() else ():
        if not layout.BATCH.fullmatch(entry.name):  # a file of the user
            entry.rename(runs / entry.name)
    for place in (*layout.earlier_runs(folder).values(), earlier):
        with contextlib.suppress(OSError):  # not empty
            place.rmdir()
    recovery.settle(folder)


def _prune(folder: Path) -> None:
    """Remove rows in ``earlier`` whose run is present."""
    present = keys(folder / layout.RUNS, ()).select("run").unique()
    for place in layout.earlier_runs(folder).values():
        for path in layout.batches(place).values():
            table = read(path)
            left = table.join(present, on="run", how="anti")
            if left.height == 0:
                path.unlink()
            elif left.height < table.height:
                storage.write_parquet(path, left)
