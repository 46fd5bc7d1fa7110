"""A comparison on disk: measurements, tables, the figure, and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars

from ackclock import _core
from ackclock.comparisons import conditions, figure, maps, words
from ackclock.comparisons import contenders as resolving
from ackclock.comparisons.answered import Answered
from ackclock.comparisons.crossed import SHOWN, Crossed
from ackclock.comparisons.judging import Judged
from ackclock.comparisons.measuring import COLUMNS, WARNINGS
from ackclock.comparisons.parts import AXES
from ackclock.comparisons.planning import Plan
from ackclock.drawing import plotly
from ackclock.drawing.files import store
from ackclock.experiments import sources
from ackclock.files import reading, storage
from ackclock.formatting.numbers import counted, finite
from ackclock.reports import (
    Answer,
    Bullets,
    Cell,
    Figure,
    Section,
    Table,
    Text,
    grids,
    page,
)
from ackclock.reports.pages import Item
from ackclock.reports.rendering import render

KIND = "comparison"
PAGE_FILE = "report.json"
ROBUST = "At half and at double the tolerance, every verdict on speed is the same."
LEAD = "Each part against the baseline: mean over all combinations with it, by metric and path"
MAP_KEY = "Blue is better than the baseline, and red is worse."
MAPS = "maps"
WRITTEN = (
    *("report.html", "report.md", PAGE_FILE, "comparison.parquet", "comparison.csv", "runs.parquet", "figure.png"),
    MAPS,
)


def manifest(plan: Plan) -> dict[str, Any]:
    """Return what the manifest says of a comparison."""
    return {
        "contenders": [contender.name for contender in plan.contenders],
        "places": [place.name for place in plan.places],
        "worlds": list(dict.fromkeys(place.world.title for place in plan.places)),
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
                    labels = {
                        "world": place.world.name,
                        "place": place.name,
                        "path": unit.path.name,
                        "seed": unit.seed,
                        "contender": name,
                    }
                    row = {**dict.fromkeys(COLUMNS), **outcome.measured[point.key]}
                    row[WARNINGS] = ", ".join(each["name"] for each in row.get(WARNINGS) or []) or None
                    rows.append({**labels, "role": role, "hash": point.scenario.hash, **row})
    texts = dict.fromkeys(("world", "place", "path", "contender", "role", WARNINGS, "hash"), polars.String)
    schema = {**texts, "seed": polars.Int64, **dict.fromkeys(COLUMNS, polars.Float64)}
    order = ["world", "place", "path", "seed", "contender", "role", *COLUMNS, WARNINGS, "hash"]
    return polars.DataFrame(rows, schema).select(order)


def write(found: Answered, directory: Path) -> list[str]:
    """Write tables, figures and reports into the directory of an open store, and return their names."""
    judged = found.judged
    table = summary(judged)
    storage.write_parquet(directory / "comparison.parquet", table)
    storage.write_text(directory / "comparison.csv", table.write_csv())
    storage.write_parquet(directory / "runs.parquet", runs(judged))
    lead = _lead(found)
    store(lead, directory / "figure.png")
    drawn = [] if found.crossed is None else _maps(found.crossed)
    for each in drawn:
        (directory / MAPS).mkdir(exist_ok=True)
        store(each, directory / MAPS / f"{each.anchor}.png")
    context = finite(_context(found, lead, drawn))
    storage.write_text(directory / PAGE_FILE, json.dumps(context, indent=1, ensure_ascii=False) + "\n")
    storage.write_text(directory / "report.md", render("comparison.md.j2", context))
    storage.write_text(directory / "report.html", _page(context))
    return [name for name in WRITTEN if name != MAPS or found.crossed is not None]


def _lead(found: Answered) -> Figure:
    """Return the figure of the report: of a matrix, the effects of parts."""
    if found.crossed is not None:
        return replace(maps.overview(found.crossed), title=f"{LEAD}.")
    return replace(figure.figure(found.judged), title=f"{figure.caption(found.judged)}.")


def _maps(matrix: Crossed) -> list[Figure]:
    """Return the maps of a matrix: speed against queue, and one for each path and metric with values."""
    front = maps.front(matrix)
    cells = [
        maps.cells(matrix, path, key)
        for path in matrix.paths
        for key in SHOWN
        if not matrix.compositions.filter(polars.col("place") == path)[f"{key}_vs"].is_null().all()
    ]
    return cells if front is None else [front, *cells]


def stored_comparison(directory: Path) -> str:
    """Return the HTML report of a comparison on disk.

    Raises
    ------
    OSError
        If the directory has no complete comparison.
    """
    try:
        return _page(reading.read_json(directory / PAGE_FILE))
    except FileNotFoundError:
        raise FileNotFoundError(f"{directory}: no complete comparison here; run it again with --out") from None
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise reading.DamagedError(
            directory / PAGE_FILE, repr(error), "run the same `ackclock compare` again"
        ) from None


def _context(found: Answered, lead: Figure, drawn: Sequence[Figure]) -> dict[str, Any]:
    """Return everything that a report says, as values of JSON."""
    judged, matrix = found.judged, found.crossed
    plan = judged.outcome.plan
    others = range(1, 1 if judged.many else len(judged.names))
    contenders = [] if judged.many else plan.contenders
    return {
        "title": f"{' and '.join(judged.names[1:])} against {judged.names[0]}" if matrix is None else _parts(plan),
        "about": f"{counted(len(judged.outcome.points), 'run')} on {', '.join(place.name for place in judged.places)}",
        "version": _core.__version__,
        "program": sources.build(),
        "answer": found.answer,
        "caption": LEAD if matrix else figure.caption(judged),
        "key": MAP_KEY if matrix else figure.key(judged),
        "small": "" if matrix else figure.small(judged),
        "figure": plotly.spec(lead),
        "tables": [asdict(shown) for shown in found.tables],
        "maps": [{"name": each.anchor, "caption": each.title, "figure": plotly.spec(each)} for each in drawn],
        "sensitive": [] if judged.many else words.sensitive(judged),
        "notes": [*filter(None, [conditions.mixed(plan)]), *found.notes],
        "warnings": judged.warnings,
        "sentences": [words.sentence(judged, place, index) for place in judged.places for index in others],
        "method": [words.method(judged), *([words.harm_method(judged)] if plan.harm else [])],
        "contenders": [f"{each.name}: {resolving.settings_in_words(each)}." for each in contenders]
        + [f"{line[:1].upper()}{line[1:]}." for line in [conditions.about(plan), *conditions.conditions(plan)]],
        "places": [f"{place.name}: {place.summary or 'a scenario file'}." for place in judged.places],
    }


def _parts(plan: Plan) -> str:
    counts = [str(len({each.labels[axis] for each in plan.contenders[plan.outside :]})) for axis in AXES]
    return f"The matrix: {' × '.join(counts)} parts"


def _page(context: Mapping[str, Any]) -> str:
    """Return the report as HTML."""
    tables = [Section(each["title"].capitalize(), [_table(each)], folded=False, printed=True)
              for each in context["tables"]]  # fmt: skip
    sensitive, sentences = context["sensitive"], context["sentences"]
    sections = [
        *tables,
        *_folded("Remarks", [*map(Text, context["notes"]), *_warnings(context)]),
        *_folded("Maps", [plotly.figure(each["figure"]) for each in context["maps"]]),
        *_folded(f"In words ({len(sentences)})", [Bullets(sentences)] if sentences else []),
        Section(
            f"Verdicts with another tolerance ({len(sensitive)})", [Bullets(sensitive) if sensitive else Text(ROBUST)]
        ),
        Section("Method", [*map(Text, context["method"]), Bullets(context["contenders"]), Bullets(context["places"])]),
    ]
    answer = Answer(context["answer"], replace(plotly.figure(context["figure"]), note=context["key"]))
    footer = f"program {context['program'][:16]}"
    return page(context["title"], answer, sections, about=context["about"], footer=footer)


def _folded(title: str, items: Sequence[Item]) -> list[Section]:
    return [Section(title, items)] if items else []


def _table(said: Mapping[str, Any]) -> Table:
    """Return a table with its verdicts marked."""
    made = grids.numbers(said["columns"], said["rows"], said["left"])
    at = said["columns"].index("verdict") if "verdict" in said["columns"] else -1
    rows = [
        [Cell(str(text), mark=str(text)) if place == at and text in ("better", "worse") else value
         for place, (value, text) in enumerate(zip(values, texts, strict=True))]
        for values, texts in zip(made.rows, said["rows"], strict=True)
    ]  # fmt: skip
    return Table(made.columns, rows, note=said["note"])


def _warnings(context: Mapping[str, Any]) -> list[Text | Bullets]:
    found = context.get("warnings")
    return [Text("Warnings of the runs with the flows under test:"), Bullets(found)] if found else []
