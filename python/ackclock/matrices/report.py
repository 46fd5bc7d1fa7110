"""A matrix on disk: measurements, tables, figures, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars

from ackclock import _core
from ackclock.drawing.figure import Figure
from ackclock.drawing.files import store
from ackclock.experiments import sources
from ackclock.experiments.store import Store
from ackclock.files import checks, storage, stored
from ackclock.matrices import crossing
from ackclock.matrices.crossing import Plan
from ackclock.matrices.effects import Crossed
from ackclock.matrices.figures import cells, overview
from ackclock.matrices.metrics import METRICS
from ackclock.matrices.tables import TOP, answer, tables
from ackclock.reports import Answer, Bullets, Section, Text, grids, page
from ackclock.reports.rendering import render
from ackclock.texts.numbers import counted

LEAD = "Each part against the baseline: mean over all compositions with it, by metric and path"
KIND = "matrix"
ASKED = {
    "chosen": checks.TABLE,
    "where": checks.Kind("a list of texts, or null", lambda value: value is None or checks.is_texts(value)),
    "seeds": checks.COUNT,
    "duration": checks.Kind("a text, or null", lambda value: value is None or isinstance(value, str)),
    "baseline": checks.TABLE,
}
"""What the manifest says of the plan, which the report is made from."""
WRITTEN = ("report.html", "report.md", "runs.parquet", "matrix.parquet", "matrix.csv", "figures")


def manifest(plan: Plan) -> dict[str, Any]:
    """Return what the manifest says of a matrix."""
    return {"runs": len(plan.distinct), "hash": plan.hash, "baseline": plan.baseline.name, "asked": plan.asked}


def keep(matrix: Crossed, directory: Path) -> None:
    """Write the tables of the measurements."""
    storage.write_parquet(directory / "runs.parquet", matrix.runs)
    storage.write_parquet(directory / "matrix.parquet", matrix.table)
    storage.write_text(directory / "matrix.csv", matrix.table.write_csv())


def stored_matrix(directory: Path) -> str:
    """Write the report again from stored measurements, and return its HTML.

    Raises
    ------
    FileNotFoundError
        If measurements are missing, or another version of the program made them.
    """
    there = storage.read_manifest(directory, "matrix")
    stored.check_entries(directory / storage.MANIFEST, there["asked"], ASKED, "asked.")
    again = "run the same `ackclock matrix` again"
    if there["asked"]["seeds"] > there["runs"]:
        raise stored.DamagedError(directory / storage.MANIFEST, "asked.seeds is larger than runs", again)
    try:
        plan = crossing.plan(**{key: there["asked"][key] for key in ASKED})
    except (ValueError, TypeError, LookupError) as error:
        raise stored.DamagedError(directory / storage.MANIFEST, f"asked: {error}", again) from None
    outcome = crossing.Outcome(plan, Store(directory))
    if missing := len(plan.distinct) - outcome.finished:
        raise FileNotFoundError(
            f"{directory}: {missing:,} of {counted(len(plan.distinct), 'run')} missing, or another version ran them; "
            "run the same `ackclock matrix` again"
        )
    matrix = Crossed(outcome)
    return write(matrix, directory, there.get("metric"), there.get("top", TOP)).read_text(encoding="utf-8")


def _page(context: Mapping[str, Any]) -> str:
    """Return the report as HTML."""
    reading = (
        f"Baseline: {context['baseline']}. Values are means over {counted(context['seeds'], 'seed')}, paired by seed. "
        "[low, high] is the 95 % interval over the seeds: Fieller's for a ratio (×), Student's for a difference. "
        "In the maps, blue is better than the baseline, and red is worse."
    )
    shown = [
        Section(
            f"{it.title.capitalize()} ({counted(len(it.rows), 'row')})", [grids.numbers(it.columns, it.rows, it.left)],
            printed=index == 0,
        )
        for index, it in enumerate(context["tables"])
    ]  # fmt: skip
    maps = [Section(f"{path} ({len(items)})", items) for path, items in context["maps"].items()]
    paths = [f"{path.name}: {path.summary}." for path in context["paths"]]
    sections = [
        Section("Tables", [Text(reading), *shown], printed=True),
        Section("Maps", maps),
        Section("Paths", [Bullets(paths), *map(Text, context["notes"])]),
    ]
    answer = Answer(context["answer"], context["lead"])
    footer = f"runs {context['hash'][:16]}, program {context['program'][:16]}"
    return page(context["title"], answer, sections, about=context["about"], footer=footer)


def write(matrix: Crossed, directory: Path, metric: str | None = None, top: int = TOP) -> Path:
    """Write everything into the directory of an open store, and return the HTML report."""
    keep(matrix, directory)
    folder = directory / "figures"
    folder.mkdir(exist_ok=True)
    lead = replace(overview(matrix), title=LEAD)
    store(lead, folder / "overview.png")
    maps: dict[str, list[Figure]] = {}
    for path in matrix.plan.paths:
        own = matrix.compositions.filter(polars.col("path") == path.name)
        for key in METRICS:
            if not own[f"{key}_vs"].is_null().all():
                figure = cells(matrix, path.name, key)
                store(figure, folder / f"{figure.anchor}.png")
                maps.setdefault(path.name, []).append(figure)
    plan = matrix.plan
    notes = []
    if plan.refused:
        notes = [f"{counted(len(plan.refused), 'impossible combination')} skipped; the first: {plan.refused[0]}"]
    context = {
        "title": "The matrix: " + " × ".join(str(len(set(labels))) for labels in _labels(plan)) + " parts",
        "about": f"{counted(len(plan.compositions), 'composition')} of slow start, avoidance, loss response and "
        f"recovery on {counted(len(plan.paths), 'path')}, {counted(len(plan.distinct), 'run')}",
        "version": _core.__version__,
        "hash": plan.hash,
        "program": sources.build(),
        "baseline": plan.baseline.name,
        "seeds": plan.seeds,
        "paths": plan.paths,
        "notes": notes,
        "answer": answer(matrix, metric),
        "tables": tables(matrix, metric, top),
        "lead": lead,
        "maps": maps,
    }
    storage.write_text(directory / "report.md", render("matrix.md.j2", context))
    storage.write_text(directory / "report.html", _page(context))
    return directory / "report.html"


def _labels(plan: Plan) -> list[list[str]]:
    return [[each.parts[index].label for each in plan.compositions] for index in range(4)]
