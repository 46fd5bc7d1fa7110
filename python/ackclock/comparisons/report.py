"""A comparison on disk: measurements, tables, the figure, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars

from ackclock import _core, plot
from ackclock.comparisons import figure, words
from ackclock.comparisons.judging import METRICS, Judged
from ackclock.comparisons.measuring import COLUMNS, Row
from ackclock.comparisons.planning import Outcome, Plan
from ackclock.experiments import sources
from ackclock.files import leftovers, storage, targets
from ackclock.reports.rendering import embedded, render

KIND = "comparison"
MEASURED_FILE = "measured.parquet"
WRITTEN = ("report.html", "report.md", "comparison.parquet", "comparison.csv", "runs.parquet", "figure.png")


def begin(directory: Path, plan: Plan) -> dict[str, Row]:
    """Prepare a directory, and return the measurements stored there by the keys of their runs.

    An earlier report is removed, since it may describe other runs.

    Raises
    ------
    FileExistsError
        If the directory holds anything else.
    OSError
        If it cannot be written to.
    """
    leftovers.remove_within(directory)
    storage.check_free(directory, KIND)
    directory.mkdir(parents=True, exist_ok=True)
    known = _measured(directory)
    _write_manifest(directory, plan, "running")
    targets.remove_written(directory, WRITTEN)
    return known


def _measured(directory: Path) -> dict[str, Row]:
    """Read stored measurements; ignore a file that cannot be read."""
    try:
        kept = polars.read_parquet(directory / MEASURED_FILE)
        columns = [name for name in kept.columns if name != "key"]
        # A run has the columns of one of two measurements; the others are missing.
        return {row["key"]: {name: row[name] for name in columns} for row in kept.iter_rows(named=True)}
    except (OSError, polars.exceptions.PolarsError):
        return {}


def keep(outcome: Outcome, directory: Path, state: str) -> None:
    """Write the measurements."""
    rows = [{"key": key, **dict.fromkeys(COLUMNS), **row} for key, row in sorted(outcome.measured.items())]
    schema = {"key": polars.String, **dict.fromkeys(COLUMNS, polars.Float64)}
    storage.write_parquet(directory / MEASURED_FILE, polars.DataFrame(rows, schema))
    _write_manifest(directory, outcome.plan, state, len(outcome.points))


def _write_manifest(directory: Path, plan: Plan, state: str, runs: int | None = None) -> None:
    entries = {
        "state": state,
        "contenders": [contender.name for contender in plan.contenders],
        "places": [place.name for place in plan.places],
        "runs": runs,
        "build": sources.build(),
    }
    storage.write_manifest(directory, KIND, entries)


def summary(judged: Judged) -> polars.DataFrame:
    """Return one row for each place and contender, see `Judged.rows`."""
    return polars.DataFrame(judged.rows, infer_schema_length=None)


def runs(judged: Judged) -> polars.DataFrame:
    """Return one row for each run: place, path, seed, contender, role, scenario hash and measurements."""
    rows: list[dict[str, Any]] = []
    outcome = judged.outcome
    for place in judged.places:
        for unit, planned in outcome.units[place.name]:
            points = [("solo", name, point) for name, point in zip(judged.names, planned.solo, strict=True)]
            points += [
                ("beside", name, point)
                for name, point in zip(judged.names, planned.beside, strict=True)
                if point is not None
            ]
            points += [("alone", name, point) for name, point in zip(judged.names, planned.alone, strict=True)]
            for role, name, point in points:
                if outcome.has(point):
                    labels = {"place": place.name, "path": unit.path.name, "seed": unit.seed, "contender": name}
                    row = {**dict.fromkeys(COLUMNS), **outcome.measured[point.key]}
                    rows.append({**labels, "role": role, "hash": point.scenario.hash, **row})
    texts = dict.fromkeys(("place", "path", "contender", "role", "hash"), polars.String)
    schema = {**texts, "seed": polars.Int64, **dict.fromkeys(COLUMNS, polars.Float64)}
    order = ["place", "path", "seed", "contender", "role", *COLUMNS, "hash"]
    return polars.DataFrame(rows, schema).select(order)


def write(judged: Judged, directory: Path) -> Path:
    """Write everything into a directory that `begin` prepared, and return the HTML report."""
    plan = judged.outcome.plan
    keep(judged.outcome, directory, "drawing")
    table = summary(judged)
    storage.write_parquet(directory / "comparison.parquet", table)
    storage.write_text(directory / "comparison.csv", table.write_csv())
    storage.write_parquet(directory / "runs.parquet", runs(judged))
    plot.save(figure.draw(judged), directory / "figure.png")
    columns, rows = words.table(judged)
    others = range(1, len(judged.names))
    context = {
        "title": f"{' and '.join(judged.names[1:])} against {judged.names[0]}",
        "version": _core.__version__,
        "program": sources.build(),
        "answer": words.answer(judged),
        "figure": embedded(directory / "figure.png"),
        "caption": figure.caption(judged),
        "columns": columns,
        "rows": rows,
        "left": words.LEFT,
        "sentences": [words.sentence(judged, place, index) for place in judged.places for index in others],
        "places": judged.places,
        "margin": 100 * judged.margin,
        "runs": len(judged.outcome.points),
        "contenders": plan.contenders,
        "base": judged.names[0],
        "metrics": list(METRICS.values()),
    }
    for ending in ("md", "html"):
        storage.write_text(directory / f"report.{ending}", render(f"comparison.{ending}.j2", context))
    _write_manifest(directory, plan, "complete", len(judged.outcome.points))
    return directory / "report.html"
