"""A comparison on disk: measurements, tables, the figure, and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars

from ackclock import _core
from ackclock.comparisons import conditions, figure, words
from ackclock.comparisons import contenders as resolving
from ackclock.comparisons.judging import Judged
from ackclock.comparisons.measuring import COLUMNS, WARNINGS
from ackclock.comparisons.planning import Plan
from ackclock.drawing import plotly
from ackclock.drawing.files import store
from ackclock.experiments import sources
from ackclock.files import storage, stored
from ackclock.reports import (
    Answer,
    Bullets,
    Cell,
    Column,
    Figure,
    Section,
    Table,
    Text,
    grids,
    page,
)
from ackclock.reports.rendering import render
from ackclock.texts.numbers import counted, finite

KIND = "comparison"
PAGE_FILE = "report.json"
WON = (
    'A cell names the algorithms that are better than another and worse than none. "Equal": no difference that '
    'matters. "Open": no winner is shown.'
)
ROBUST = "At half and at double the tolerance, every verdict on speed is the same."
WRITTEN = (
    *("report.html", "report.md", PAGE_FILE, "comparison.parquet", "comparison.csv", "runs.parquet", "figure.png"),
)


def manifest(plan: Plan) -> dict[str, Any]:
    """Return what the manifest says of a comparison."""
    return {
        "contenders": [contender.name for contender in plan.contenders],
        "places": [place.name for place in plan.places],
    }


def summary(judged: Judged) -> polars.DataFrame:
    """Return one row for each place and contender, see `Judged.rows`."""
    return polars.DataFrame(judged.rows, infer_schema_length=None)


def runs(judged: Judged) -> polars.DataFrame:
    """Return one row for each run: place, path, seed, contender, role, scenario hash, measurements and warnings."""
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
            points += [("alone", name, point) for name, point in zip(judged.names, planned.alone, strict=False)]
            for role, name, point in points:
                if outcome.has(point):
                    labels = {"place": place.name, "path": unit.path.name, "seed": unit.seed, "contender": name}
                    row = {**dict.fromkeys(COLUMNS), **outcome.measured[point.key]}
                    row[WARNINGS] = ", ".join(each["name"] for each in row.get(WARNINGS) or []) or None
                    rows.append({**labels, "role": role, "hash": point.scenario.hash, **row})
    texts = dict.fromkeys(("place", "path", "contender", "role", WARNINGS, "hash"), polars.String)
    schema = {**texts, "seed": polars.Int64, **dict.fromkeys(COLUMNS, polars.Float64)}
    order = ["place", "path", "seed", "contender", "role", *COLUMNS, WARNINGS, "hash"]
    return polars.DataFrame(rows, schema).select(order)


def write(judged: Judged, directory: Path) -> Path:
    """Write tables, figure and reports into the directory of an open store, and return the HTML report."""
    table = summary(judged)
    storage.write_parquet(directory / "comparison.parquet", table)
    storage.write_text(directory / "comparison.csv", table.write_csv())
    storage.write_parquet(directory / "runs.parquet", runs(judged))
    store(figure.figure(judged), directory / "figure.png")
    context = finite(_context(judged))
    storage.write_text(directory / PAGE_FILE, json.dumps(context, indent=1, ensure_ascii=False) + "\n")
    storage.write_text(directory / "report.md", render("comparison.md.j2", context))
    storage.write_text(directory / "report.html", _page(context))
    return directory / "report.html"


def stored_comparison(directory: Path) -> str:
    """Return the HTML report of a comparison on disk.

    Raises
    ------
    OSError
        If the directory has no complete comparison.
    """
    try:
        return _page(stored.read_json(directory / PAGE_FILE))
    except FileNotFoundError:
        raise FileNotFoundError(f"{directory}: no complete comparison here; run it again with --out") from None
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise stored.DamagedError(directory / PAGE_FILE, repr(error), "run the same `ackclock compare` again") from None


def _context(judged: Judged) -> dict[str, Any]:
    """Return everything that a report says, as values of JSON."""
    columns, rows = words.table(judged)
    titles, wins = words.wins(judged)
    others = range(1, len(judged.names))
    contenders = judged.outcome.plan.contenders
    return {
        "title": f"{' and '.join(judged.names[1:])} against {judged.names[0]}",
        "about": f"{counted(len(judged.outcome.points), 'run')} on {', '.join(place.name for place in judged.places)}",
        "version": _core.__version__,
        "program": sources.build(),
        "answer": words.answer(judged),
        "caption": figure.caption(judged),
        "key": figure.key(judged),
        "small": figure.small(judged),
        "figure": plotly.spec(replace(figure.figure(judged), title=f"{figure.caption(judged)}.")),
        "wins": {"columns": titles, "rows": wins},
        "sensitive": words.sensitive(judged),
        "columns": columns,
        "rows": rows,
        "legend": words.legend(judged),
        "notes": [*filter(None, [conditions.mixed(judged.outcome.plan)]), *words.notes(judged)],
        "warnings": judged.warnings,
        "sentences": [words.sentence(judged, place, index) for place in judged.places for index in others],
        "method": [words.method(judged), *([words.harm_method(judged)] if judged.outcome.plan.harm else [])],
        "contenders": [f"{each.name}: {resolving.settings_in_words(each)}." for each in contenders]
        + [f"{line[:1].upper()}{line[1:]}." for line in conditions.conditions(judged.outcome.plan)],
        "places": [f"{place.name}: {place.summary or 'a scenario file'}." for place in judged.places],
    }


def _page(context: Mapping[str, Any]) -> str:
    """Return the report as HTML."""
    made = grids.numbers(context["columns"], context["rows"], words.LEFT)
    verdict = context["columns"].index("verdict")
    rows = [
        [Cell(str(text), mark=str(text)) if at == verdict and text in ("better", "worse") else value
         for at, (value, text) in enumerate(zip(values, texts, strict=True))]
        for values, texts in zip(made.rows, context["rows"], strict=True)
    ]  # fmt: skip
    wins, sensitive = context["wins"], context["sensitive"]
    columns = [Column(title, "text") for title in wins["columns"]]
    sections = [
        Section("Who wins in what", [Table(columns, wins["rows"], note=WON)], folded=False, printed=True),
        Section(
            "Table",
            [Table(made.columns, rows, note=context["legend"]), *map(Text, context["notes"]), *_warnings(context)],
            folded=False,
            printed=True,
        ),
        Section(f"Path by path ({len(context['sentences'])})", [Bullets(context["sentences"])]),
        Section(
            f"Verdicts with another tolerance ({len(sensitive)})", [Bullets(sensitive) if sensitive else Text(ROBUST)]
        ),
        Section("Method", [*map(Text, context["method"]), Bullets(context["contenders"]), Bullets(context["places"])]),
    ]
    answer = Answer(context["answer"], _figure(context))
    footer = f"program {context['program'][:16]}"
    return page(context["title"], answer, sections, about=context["about"], footer=footer)


def _warnings(context: Mapping[str, Any]) -> list[Text | Bullets]:
    found = context.get("warnings")
    return [Text("Warnings of the runs with the flows under test:"), Bullets(found)] if found else []


def _figure(context: Mapping[str, Any]) -> Figure:
    return replace(plotly.figure(context["figure"]), note=context["key"])
