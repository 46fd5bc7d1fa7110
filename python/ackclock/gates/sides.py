"""Reading of the two results: the runs of every point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.datasets import open  # noqa: A004 - as ackclock.open
from ackclock.files import storage
from ackclock.formatting.labels import last_part
from ackclock.metrics.runs import of_run
from ackclock.results import StoredResult

if TYPE_CHECKING:
    import polars

REPEATED = ("seed", "start_offset")
"""Last parts of labels whose values are repetitions of a point."""
COSTS = ("point", "world", "seed", "hash", "run", "version", "error", "events", "cpu_s", "wall_s", "warnings")
"""Columns of the runs of a dataset that are no measures."""

Point = tuple[tuple[str, str], ...]
"""Labels of a point with their values, without repetitions."""
Repetition = tuple[str, ...]
"""Seed and other repetitions: runs of two results with equal ones are a pair."""


@dataclass(frozen=True)
class Run:
    """One run of a point.

    Attributes
    ----------
    scenario : str
        Hash of its scenario.
    content : str
        Equal for equal results: a hash of all events, or of scenario and program.
    error : str
        The reason why it failed; empty if it finished.
    values : dict
        Its measures; a measure without a value is missing.
    """

    scenario: str
    content: str
    error: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Side:
    """One of the two results.

    Attributes
    ----------
    folder : Path
        Its folder.
    points : dict
        The runs of each point.
    measures : tuple of str
        Names of its measures.
    notes : tuple of str
        Remarks for the reader, such as an interrupted sweep.
    """

    folder: Path
    points: Mapping[Point, Mapping[Repetition, Run]]
    measures: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())


def open_side(folder: Path) -> Side:
    """Read a result: a folder of ``ackclock run --out`` or of ``ackclock sweep``.

    Raises
    ------
    FileNotFoundError
        If the folder holds no result.
    ValueError
        If it holds a result of another kind, or no run that finished without an error.
    """
    kind = storage.read_manifest(folder, checked=False)["kind"]
    if kind not in ("run", "dataset"):
        raise ValueError(
            f"{folder}: holds a result of the kind {kind!r}; the gate compares folders of ackclock run and sweep"
        )
    found = open(folder)
    if isinstance(found, StoredResult):
        return of_table(folder, _row(found), [])
    with found.reading():
        side = of_table(folder, found.runs.collect(), found.labels)
    return side if found.complete else replace(side, notes=(_unfinished(folder, found.manifest, _count(side)),))


def _row(result: StoredResult) -> polars.DataFrame:
    """Return a single run as the table of runs of a dataset."""
    import polars

    about = result.manifest
    known = {"seed": about["seed"], "hash": about["hash"], "run": about["trace_hash"]}
    measures = of_run(result.flows, result.links, result.bottleneck, result.duration)
    return polars.DataFrame([{**known, "error": None, **measures}])


def _unfinished(folder: Path, manifest: Mapping[str, Any], count: int) -> str:
    return f"{folder}: the sweep is {manifest.get('state')}; {count} of {manifest.get('planned')} runs are stored"


def _count(side: Side) -> int:
    return sum(map(len, side.points.values()))


def of_table(folder: Path, runs: polars.DataFrame, labels: Sequence[str]) -> Side:
    """Take the runs of a result.

    Parameters
    ----------
    folder
        Its folder.
    runs
        A row for each point and seed: labels, ``seed``, ``hash``, ``run``, ``error``, and measures.
    labels
        The columns that are labels.

    Raises
    ------
    ValueError
        If no run finished without an error.
    """
    numeric = [name for name, kind in runs.schema.items() if kind.is_numeric()]
    # The number of a label, such as "limit (BDP)", is no measure either.
    own = (*labels, *(name for name in numeric if any(name.startswith(f"{label} (") for label in labels)))
    measures = tuple(name for name in numeric if name not in COSTS and name not in own)

    def made() -> Iterable[tuple[dict[str, str], object, Run]]:
        for row in runs.iter_rows(named=True):
            values = {name: float(row[name]) for name in measures if _is_finite(row[name])}
            # A label that is also a column has a prefix.
            own = {label.removeprefix("label."): str(row[label]) for label in labels}
            yield own, row["seed"], Run(str(row["hash"]), str(row["run"]), row["error"] or "", values)

    return _side(folder, made(), measures)


def _side(
    folder: Path,
    made: Iterable[tuple[Mapping[str, str], object, Run]],
    measures: tuple[str, ...],
) -> Side:
    points: dict[Point, dict[Repetition, Run]] = {}
    for labels, seed, run in made:
        # A label for the seed itself says nothing new, so that an axis `seed` and the option --seeds make equal pairs.
        repeated = [value for label, value in labels.items() if last_part(label) in REPEATED and value != str(seed)]
        point = tuple((label, value) for label, value in labels.items() if last_part(label) not in REPEATED)
        points.setdefault(point, {})[(str(seed), *repeated)] = run
    if not points:
        raise ValueError(f"{folder}: there is no finished run")
    errors = [run.error for runs in points.values() for run in runs.values()]
    if all(errors):
        raise ValueError(f"{folder}: every run failed, so there is nothing to compare: {errors[0]}")
    return Side(folder, points, measures)


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)
