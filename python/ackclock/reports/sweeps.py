"""Reports of sweeps: the folder of ``ackclock run --out``, and the dataset of ``ackclock sweep``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars

from ackclock import datasets
from ackclock.files import storage
from ackclock.reports import Answer, Axis, Cell, Column, Figure, Panel, Section, Series, Table, Text, Verbatim, page
from ackclock.reports.points import Axes, Measure, Points, positions
from ackclock.texts.numbers import counted, number

MOST_SHOWN = 200_000  # values in all figures of a page, which keeps it below 5 MB


def stored_sweep(directory: Path) -> str:
    """Return the report of a sweep that ``ackclock run --out`` wrote.

    Raises
    ------
    OSError
        If a table is missing or damaged.
    """
    manifest = storage.read_manifest(directory, "sweep")
    flows = storage.read_parquet(directory / "flows.parquet")
    links = storage.read_parquet(directory / "links.parquet")
    labels = flows.columns[: flows.columns.index("name")]
    return _page(Points(_runs(flows, links, labels), labels), str(manifest["scenario"]), manifest, "")


def stored_dataset(directory: Path) -> str:
    """Return the report of a dataset, also while its sweep runs."""
    data = datasets.open(directory)
    path = directory / "sweep.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    points = Points(data.runs.collect(), data.labels)
    return _page(points, str(data.manifest.get("scenario", directory.name)), data.manifest, text)


def _runs(flows: polars.DataFrame, links: polars.DataFrame, labels: Sequence[str]) -> polars.DataFrame:
    """Return the measures of each run from its flows and from its busiest link."""
    column, goodput = polars.col, polars.col("goodput_bps").cast(polars.Float64)
    sums = ("delivered_bytes", "retransmitted_packets", "dropped_packets", "timeouts")
    made = flows.group_by(list(labels), maintain_order=True).agg(
        goodput.sum().alias("goodput_bps"),
        (goodput.sum() ** 2 / ((goodput**2).sum() * polars.len())).alias("jain"),
        *(column(name).sum() for name in sums),
        column("completion_time").median().alias("completion_median"),
        column("completion_time").quantile(0.95, "linear").alias("completion_p95"),
    )
    used = links.sort("utilisation", descending=True, nulls_last=True)
    busiest = used.group_by(list(labels), maintain_order=True).first()
    return made.join(busiest.select(*labels, "utilisation", "sojourn_mean", "queue_mean"), on=list(labels), how="left")


def _page(points: Points, title: str, manifest: dict[str, object], scenario: str) -> str:
    measure = points.lead
    planned, state = int(str(manifest.get("planned", points.runs.height))), str(manifest.get("state", "complete"))
    about = f"{counted(points.runs.height, 'run')} of {planned:,} planned, {state}" if state != "complete" else (
        f"{counted(points.runs.height, 'run')}; labels: {', '.join(points.labels) or 'none'}"
    )  # fmt: skip
    if measure is None:
        said = ["No run has finished yet."] if not points.failed.height else ["Every run ended with an error."]
        return page(title, Answer(said), [*_failures(points), *_scenario(scenario)], about=about)
    axes = points.axes(measure)
    budget = MOST_SHOWN // max(1, len(points.measures))
    drawn = {each: _figure(points, axes, each, budget) for each in points.measures} if axes else {}
    sections = [
        Section("Measures", [figure for each, figure in drawn.items() if each is not measure]),
        Section("Labels", [_effects(points, measure)], printed=True),
        Section("Points", [_table(points, measure)]),
        *_failures(points),
        *_scenario(scenario),
    ]
    shown = [section for section in sections if section.items]
    return page(title, Answer(_answer(points, measure), drawn.get(measure)), shown, about=about)


def _answer(points: Points, measure: Measure) -> list[str]:
    """Return the sentences of the answer: the largest effect, the best point, failures."""
    whole = points.means([], measure).row(0, named=True)
    if not points.labels:
        said = [f"The mean {measure.title} of {counted(whole['runs'], 'run')} is {_said(whole['mean'], measure)}."]
        return said + _failed(points)
    first = points.effects(measure)[0]
    (low, least), (high, most) = first.lowest, first.highest
    said = [
        f"Of the {counted(len(points.labels), 'label')}, {points.name(first.label)} changes the {measure.title} most: "
        f"from {_said(least, measure)} at {low} to {_said(most, measure)} at {high}, averaged over all else."
        if len(points.labels) > 1
        else f"The {measure.title} changes from {_said(least, measure)} at {points.name(first.label)} {low} "
        f"to {_said(most, measure)} at {high}."
    ]
    if len(points.labels) > 1:
        best = points.means(points.labels, measure).sort("mean", descending=measure.better > 0).row(0, named=True)
        where = ", ".join(f"{points.name(label)} {best[label]}" for label in points.labels)
        said.append(
            f"The {'highest' if measure.better > 0 else 'lowest'} mean, {_said(best['mean'], measure)}, is at {where}."
        )
    return said + _failed(points)


def _failed(points: Points) -> list[str]:
    return [f"{counted(points.failed.height, 'run')} ended with an error."] if points.failed.height else []


def _said(value: float, measure: Measure) -> str:
    return f"{number(value, 3)} {measure.unit}".rstrip()


def _figure(points: Points, axes: Axes, measure: Measure, budget: int) -> Figure:
    """Draw means with intervals over the label of the axis."""
    labels = [label for label in (axes.x, axes.series, axes.panel) if label]
    means = points.means(labels, measure)
    cut = means.height > budget
    means = means.head(budget)
    panels = []
    for value, own in _parts(means, axes.panel, points):
        series = []
        for name, part in _parts(own, axes.series, points):
            places = points.values(axes.x)
            order = {place: index for index, place in enumerate(places)}
            rows = sorted(part.iter_rows(named=True), key=lambda row: order[row[axes.x]])
            found = positions(places) if axes.numeric else None
            x = [found[row[axes.x]] if found else row[axes.x] for row in rows]
            ends = [(row["low"], row["high"]) for row in rows]
            known = any(low is not None for low, _ in ends)
            low, high = ([_or_nan(end[side]) for end in ends] for side in (0, 1))
            series.append(
                Series(
                    f"{points.name(axes.series)} {name}" if axes.series else measure.title, x,
                    [row["mean"] for row in rows], "points" if axes.numeric else "joined",
                    low if known else None, high if known else None,
                )
            )  # fmt: skip
        unit = points.values(axes.x)[0].partition(" ")[2] if axes.numeric else ""
        x_title = points.name(axes.x) + (f" ({unit})" if unit else "")
        x_axis = Axis(x_title, names=[] if axes.numeric else points.values(axes.x))
        title = f"{points.name(axes.panel)} {value}" if axes.panel else ""
        panels.append(Panel(series, title=title, x=x_axis, y=Axis(measure.axis)))
    seeds = points.means(labels, measure)["runs"]
    note = "Bars: 95 % intervals of the means." if seeds.max() and int(str(seeds.max())) > 1 else ""
    averaged = [points.name(label) for label in points.labels if label not in labels]
    note += f" Averaged over {', '.join(averaged)}." if averaged else ""
    note += f" The first {budget:,} points are drawn." if cut else ""
    return Figure(measure.title[:1].upper() + measure.title[1:], panels, measure.key, note=note.strip())


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _parts(table: polars.DataFrame, label: str, points: Points) -> list[tuple[str, polars.DataFrame]]:
    """Split a table by a label in the order of its values; without a label, return the whole table."""
    if not label:
        return [("", table)]
    parts = {key[0]: part for key, part in table.partition_by(label, as_dict=True, maintain_order=True).items()}
    return [(value, parts[value]) for value in points.values(label) if value in parts]


def _effects(points: Points, measure: Measure) -> Table | Text:
    if not points.labels:
        return Text("No label varies.")
    columns = [
        Column("label"), Column("values", "number"), Column("lowest at"),
        Column(f"lowest mean {measure.title}", "number", measure.unit), Column("highest at"),
        Column(f"highest mean {measure.title}", "number", measure.unit), Column("spread", "number", "%"),
    ]  # fmt: skip
    rows = [
        [it.label, len(points.values(it.label)), *it.lowest, *it.highest, 100 * it.spread]
        for it in points.effects(measure)
    ]
    note = "Means over all runs with a value of the label. The spread is the difference over the larger mean."
    return Table(columns, rows, note=note)


def _table(points: Points, measure: Measure) -> Table:
    """Return a row for each point with the means of all measures, the best first."""
    table = points.means(points.labels, measure).rename({"mean": measure.key})
    table = table.with_columns(((polars.col("high") - polars.col("low")) / 2).alias("half")).drop("low", "high")
    others = [each for each in points.measures if each is not measure]
    for each in others:
        own = points.means(points.labels, each).rename({"mean": each.key}).select(*points.labels, each.key)
        table = table.join(own, on=points.labels, how="left") if points.labels else table.hstack(own)
    table = table.sort(measure.key, descending=measure.better > 0, nulls_last=True, maintain_order=True)
    columns = [Column(points.name(label)) for label in points.labels]
    columns += [Column("runs", "number"), *(Column(name, "number", measure.unit) for name in (measure.title, "± 95 %"))]
    columns += [Column(each.title, "number", each.unit) for each in others]
    order = [*points.labels, "runs", measure.key, "half", *(each.key for each in others)]
    return Table(columns, table.select(order).rows())


def _failures(points: Points) -> list[Section]:
    """Return a section of errors and one of warnings, if there are any."""
    made = []
    if points.failed.height:
        grouped = points.failed.group_by("error", maintain_order=True).agg(polars.len().alias("runs"))
        made.append(_counts("error", grouped.iter_rows(), "worse"))
    if "warnings" in points.finished.columns:
        names = [name for text in points.finished["warnings"].drop_nulls() for name in text.split(", ")]
        if names:
            made.append(_counts("warning", Counter(names).most_common(), ""))
    return made


def _counts(noun: str, found: Iterable[tuple[str, int]], mark: str) -> Section:
    rows = [[Cell(name, mark=mark), runs] for name, runs in found]
    table = Table([Column(noun), Column("runs", "number")], rows)
    return Section(f"{noun.capitalize()}s", [table], printed=True)


def _scenario(text: str) -> list[Section]:
    return [Section("Scenario", [Verbatim(text)])] if text else []
