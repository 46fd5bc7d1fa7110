"""Reports of sweeps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars

from ackclock import datasets
from ackclock.drawing.figure import Style, binned
from ackclock.experiments.labelled import Sample
from ackclock.files import reading, toml
from ackclock.formatting.numbers import ANY_NUMBER, counted, number
from ackclock.formatting.units import positions
from ackclock.formatting.warnings import clause
from ackclock.metrics.registry import Measure
from ackclock.reports import Answer, Axis, Cell, Column, Figure, Panel, Section, Series, Table, Text, Verbatim, page
from ackclock.reports import labels as over
from ackclock.reports.dependence import Group
from ackclock.reports.points import MOST_NAMES, MOST_SERIES, SEED, WIDE, Axes, Effect, Points

MOST_SHOWN = 200_000  # values in all figures of a page, which keeps it below 5 MB
MOST_POINTS = 200  # single points of a sample; more become medians and bands
MOST_PAIRED = 50_000  # runs of which pairs are drawn
MOST_LOST = 3  # values without a finished run that the answer names
MOST_WARNINGS = 3  # sentences of warnings in the answer


def stored_dataset(directory: Path) -> str:
    """Return the report of a dataset, also while its sweep runs."""
    data = datasets.Dataset(directory)
    path = directory / "sweep.toml"
    text = reading.read_text(path) if path.exists() else ""
    return _page(_points_of(data, directory), str(data.manifest.get("scenario", directory.name)), data.manifest, text)


def lead(directory: Path) -> Figure | None:
    """Return the leading figure of the report of a dataset; None if nothing differs between its runs."""
    points = _points_of(datasets.Dataset(directory), directory)
    measure = points.lead
    axes = None if measure is None else points.axes(measure)
    return None if measure is None or axes is None else _figure(points, axes, measure, MOST_SHOWN)


def _points_of(data: datasets.Dataset, directory: Path) -> Points:
    with data.reading():
        return Points(data.runs.collect(), data.labels, sampled_log(directory))


def sampled_log(directory: Path) -> set[str]:
    """Return the keys of a dataset whose values were sampled on a logarithmic scale."""
    path = directory / "sweep.toml"
    text = reading.read_text(path) if path.exists() else ""
    sweep = toml.parse(text, path.name).get("sweep", {}) if text else {}
    keys = {**sweep, **sweep.get("sample", {}).get("keys", {})}
    return {key for key, given in keys.items() if isinstance(given, dict) and given.get("scale") == "log"}


def _page(points: Points, title: str, manifest: dict[str, Any], scenario: str) -> str:
    measure = points.lead
    planned, state = manifest.get("planned", points.runs.height), manifest["state"]
    about = f"{counted(points.runs.height, 'run')} of {planned:,} planned, {state}" if state != "complete" else (
        f"{counted(points.runs.height, 'run')}; labels: {', '.join(points.labels) or 'none'}"
    )  # fmt: skip
    if measure is None:
        said = ["No run has finished yet."] if not points.failed.height else ["Every run ended with an error."]
        return page(title, Answer(said), [*_failures(points), *_scenario(scenario)], about=about)
    axes = points.axes(measure)
    budget = MOST_SHOWN // max(1, len(points.measures))
    same = {each: mean for each in points.measures if axes and (mean := points.constant(axes.drawn, each))}
    drawn = {each: _figure(points, axes, each, budget) for each in points.measures if each not in same} if axes else {}
    constants = "; ".join(f"{each.title} {mean}" for each, mean in same.items())
    sections = [
        Section(
            "Measures",
            [
                *(figure for each, figure in drawn.items() if each is not measure),
                *([Text(f"The same at every point: {constants}.")] if constants else []),
            ],
        ),
        Section("Labels", [*_paired(points, measure), *_effects(points, measure)], printed=True),
        Section("Points", [_table(points, measure)]),
        *_failures(points),
        *_scenario(scenario),
    ]
    shown = [section for section in sections if section.items]
    return page(title, Answer(_answer(points, measure), drawn.get(measure)), shown, about=about)


def _answer(points: Points, measure: Measure) -> list[str]:
    """Return the sentences of the answer: the largest effect, the best point, failures."""
    whole = points.means([], measure).row(0, named=True)
    effects = points.effects(measure)
    said = []
    if effects:
        said.append(_largest(points, effects, measure))
    said += [sentence for group in points.groups if group.joint for sentence in _joint(points, group, measure)]
    if not said:
        said.append(f"The mean {measure.title} of {counted(whole['runs'], 'run')} is {measure.in_unit(whole['mean'])}.")
    several = len(points.labels) > 1 and not (effects and len(points.groups) == 1)
    if several and not points.constant(points.labels, measure):
        means = points.means(points.labels, measure).sort("mean", descending=measure.sign > 0)
        best = means.row(0, named=True)
        extreme = "highest" if measure.sign > 0 else "lowest"
        said.append(f"The {extreme} mean, {measure.in_unit(best['mean'])}, is at {points.place(best)}.")
    return [*said, *_failed(points), *_warned(points)]


def _largest(points: Points, effects: Sequence[Effect], measure: Measure) -> str:
    first = effects[0]
    (low, least), (high, most) = first.lowest, first.highest
    group = next(group for group in points.groups if group.lead == first.label)
    if measure.in_unit(least) == measure.in_unit(most):
        return f"No label changes the {measure.title}: its mean is {measure.in_unit(most)} at each of their values."
    name, change = _titled(points, group), f"from {measure.in_unit(least)} at"
    if len(points.groups) == 1:
        place = f"{points.name(first.label)} {low}"
        return f"The {measure.title} changes {change} {place} to {measure.in_unit(most)} at {high}."
    change += f" {low} to {measure.in_unit(most)} at {high}, averaged over all else."
    if len(effects) == 1:
        return f"The label {name} changes the {measure.title} {change}"
    leads = {effect.label for effect in effects}
    alone = not any(group.joint for group in points.groups if group.lead in leads)
    counts = f"{len(effects):,} {'labels' if alone else 'axes'}"
    counts += " beside the sample" if any(points.correlations(group, measure) for group in points.groups) else ""
    return f"Of the {counts}, {name} changes the {measure.title} most: {change}"


def _joint(points: Points, group: Group, measure: Measure) -> list[str]:
    """Say what can be said of labels that vary together: the strongest correlation in a sample, otherwise nothing."""
    names = [points.name(label) for label in group.labels if not (group.population and label == group.lead)]
    if found := points.correlations(group, measure):
        kind = "population" if group.population else "sample"
        label, rho = found[0]
        if rho.low <= 0 <= rho.high:
            return [f"In this {kind}, no label has a rank correlation with the {measure.title} that differs from 0."]
        way = "rises" if rho.mean > 0 else "falls"
        ends = f"[{number(rho.low, 2)}, {number(rho.high, 2)}]"
        value = f"Spearman's ρ = {number(rho.mean, 2)} {ends}"
        return [f"In this {kind}, the {measure.title} {way} most with {points.name(label)} ({value})."]
    if len(names) < 2:
        return []
    return [f"The labels {', '.join(names[:-1])} and {names[-1]} vary together; their effects cannot be separated."]


def _failed(points: Points) -> list[str]:
    if not points.failed.height:
        return []
    total = points.finished.height + points.failed.height
    first = _first(points, points.failed.row(0, named=True))
    said = [f"{points.failed.height:,} of {counted(total, 'run')} ended with an error, first at {first}."]
    for group in points.groups:
        done = set(points.finished[group.lead])
        lost = [value for value in points.values(group.lead) if value not in done]
        if 0 < len(lost) <= MOST_LOST:
            said.append(f"No run finished at {points.name(group.lead)} {', '.join(lost)}.")
    return said


def _warned(points: Points) -> list[str]:
    """Say what limited the runs, the most frequent warning first."""
    said = []
    for name, runs, row in _warnings(points)[:MOST_WARNINGS]:
        where = f", first at {place}" if (place := points.place(row)) else ""
        said.append(f"{clause(name)} in {runs:,} of {counted(points.finished.height, 'run')} ({name}){where}.")
    return said


def _warnings(points: Points) -> list[tuple[str, int, dict[str, object]]]:
    """Return each warning with the number of its runs and the first of them, the most frequent first."""
    if "warnings" not in points.finished.columns:
        return []
    found: dict[str, tuple[int, dict[str, object]]] = {}
    for row in points.finished.filter(polars.col("warnings").fill_null("") != "").iter_rows(named=True):
        for name in row["warnings"].split(", "):
            runs, first = found.get(name, (0, row))
            found[name] = (runs + 1, first)
    return sorted(((name, *each) for name, each in found.items()), key=lambda each: -each[1])


def _first(points: Points, row: Mapping[str, object]) -> str:
    seed = f"seed {row[SEED]}" if SEED in row else ""
    return ", ".join(part for part in (points.place(row), seed) if part) or "the only point"


def _figure(points: Points, axes: Axes, measure: Measure, budget: int) -> Figure:
    """Draw means with intervals over the label of the axis."""
    labels = axes.drawn
    means = points.means(labels, measure)
    cut = means.height > budget
    means = means.head(budget)
    places = points.values(axes.x)
    order = {place: index for index, place in enumerate(places)}
    known = positions(places) if axes.numeric else None
    found, unit = known or ({}, "")
    panels: list[Panel] = []
    scattered = axes.sampled or (axes.numeric and len(places) > MOST_NAMES)
    many = scattered and bool(found) and means.height > MOST_POINTS
    style: Style = "points" if scattered or (axes.group and axes.group.population) else "joined"
    log = bool(found) and min(found.values()) > 0 and (
        axes.x in points.log or max(found.values()) > WIDE * min(found.values())
    )  # fmt: skip
    title = points.name(axes.x) if axes.sampled or axes.group is None else _titled(points, axes.group)
    # The page would end the axis at the last point, and cut points that step aside for others.
    x_axis = Axis(
        title + (f" ({unit})" if unit else ""), log, [] if found else places,
        _around(list(found.values()), log=log) if found else None,
    )  # fmt: skip
    y_axis = Axis(measure.heading, limits=None if many else _shared(means) if axes.panel else None)
    for value, own in _parts(means, axes.panel, points):
        series = []
        for name, part in _parts(own, axes.series, points):
            title = f"{points.name(axes.series)} {name}" if axes.series else measure.title
            rows = sorted(part.iter_rows(named=True), key=lambda row: order[row[axes.x]])
            if many and len(rows) > 1:
                x = [found[row[axes.x]] for row in rows]
                series.append(Series(title, *binned(x, [row["mean"] for row in rows], log=log)))
                continue
            ends = [(row["low"], row["high"]) for row in rows]
            spread = any(low is not None for low, _ in ends)
            low, high = ([_or_nan(end[side]) for end in ends] for side in (0, 1))
            series.append(
                Series(
                    title, [found[row[axes.x]] if found else row[axes.x] for row in rows],
                    [row["mean"] for row in rows], style, low if spread else None, high if spread else None,
                )
            )  # fmt: skip
        title = f"{points.name(axes.panel)} {value}" if axes.panel else ""
        panels.append(Panel(series, title=title, x=x_axis, y=y_axis))
    seeds = points.means(labels, measure)["runs"]
    note = "Bars: 95 % intervals of the means." if seeds.max() and int(str(seeds.max())) > 1 else ""
    if many:
        note = f"Curves: medians of {means.height:,} points in bins; bands hold 80 % of them."
    shown = {label for group in points.groups if {group.lead, *group.labels} & set(labels) for label in group.labels}
    averaged = [points.name(label) for label in points.labels if label not in shown]
    others = [points.name(label) for label in labels if label not in (axes.x, axes.series, axes.panel)]
    note += f" {'Points of a bin' if many else 'The points'} differ also in {', '.join(others)}." if others else ""
    note += f" Averaged over {', '.join(averaged)}." if averaged else ""
    note += f" The first {budget:,} points are drawn." if cut else ""
    return Figure(measure.title[:1].upper() + measure.title[1:], panels, measure.name, note=note.strip())


def _titled(points: Points, group: Group) -> str:
    """Return the name of the lead of a group, with the labels that change along it; `paths` stands for all."""
    name = points.name(group.lead)
    others = [points.name(label) for label in group.labels if label != group.lead]
    return f"{name} (with {', '.join(others)})" if others and not group.population else name


def _all(means: polars.DataFrame) -> list[float]:
    return [value for name in ("mean", "low", "high") for value in means[name] if value is not None]


def _shared(means: polars.DataFrame) -> tuple[float, float] | None:
    """Return the ends of an axis that several panels share."""
    every = _all(means)
    return Panel([Series("", every, every, "points")]).limits if every else None


def _around(values: Sequence[float], *, log: bool = False) -> tuple[float, float]:
    """Return the range of positions with a margin.

    >>> _around([10.0, 30.0]), _around([0.5, 10.5])
    ((9.0, 31.0), (0.0, 11.0))
    """
    low, high = min(values), max(values)
    if log:
        factor = (high / low) ** 0.05
        return low / factor, high * factor
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin if low < 0 else max(0.0, low - margin), high + margin


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _parts(table: polars.DataFrame, label: str, points: Points) -> list[tuple[str, polars.DataFrame]]:
    """Split a table by a label in the order of its values; without a label, return the whole table."""
    if not label:
        return [("", table)]
    parts = {key[0]: part for key, part in table.partition_by(label, as_dict=True, maintain_order=True).items()}
    return [(value, parts[value]) for value in points.values(label) if value in parts]


def _paired(points: Points, measure: Measure) -> list[Figure]:
    """Return what each label changes between runs that agree in all else; empty if no runs pair."""
    if points.finished.height > MOST_PAIRED:
        return []
    keys = [*points.labels, *([SEED] if SEED in points.finished.columns and SEED not in points.labels else [])]
    found = [
        Sample({key: str(row[key]) for key in keys}, [row[measure.name]])
        for row in points.finished.filter(polars.col(measure.name).is_not_null()).iter_rows(named=True)
    ]
    panels = []
    for label in (group.lead for group in points.groups if not group.joint):
        values = points.values(label)
        if 2 <= len(values) <= MOST_SERIES:
            with contextlib.suppress(ValueError):  # no runs pair
                (panel,) = over.paired(over.Question(found, measure.name, by=[label])).figure.panels
                title = f"{points.name(label)} against {values[0]}"
                panels.append(replace(panel, title=title, y=Axis(f"change of {measure.title} (%)")))
    note = "Ratios of the means of runs that agree in all else, with 95 % intervals. Small points: single pairs."
    return [Figure("What each label changes", panels, "paired", note=note)] if panels else []


def _effects(points: Points, measure: Measure) -> list[Table | Text]:
    """Return a table of effects and one of rank correlations for each sample."""
    if not points.labels:
        return [Text("No label varies.")]
    columns = [
        Column("label"), Column("values", "number"), Column("lowest at"),
        Column(f"lowest mean {measure.title}", "number", measure.shown[0]), Column("highest at"),
        Column(f"highest mean {measure.title}", "number", measure.shown[0]), Column("spread", "number", "%"),
    ]  # fmt: skip
    joint = {group.lead: ", ".join(group.labels) for group in points.groups}
    rows = [
        [joint[it.label], len(points.values(it.label)), *it.lowest, *it.highest, 100 * it.spread]
        for it in points.effects(measure)
    ]
    note = "Means over all runs with a value of the label. The spread is the difference over the larger mean."
    made: list[Table | Text] = [Table(columns, rows, note=note)] if rows else []
    ranks = [Column("label"), *(Column(name, "number") for name in ("values", "ρ", "low", "high"))]
    note = f"Spearman's rank correlation of the label with the {measure.title} of the points, with its 95 % interval."
    for group in points.groups:
        if found := points.correlations(group, measure):
            lines = [[label, len(points.values(label)), rho.mean, rho.low, rho.high] for label, rho in found]
            made.append(Table(ranks, lines, title="Rank correlations", note=note))
    return made


def _table(points: Points, measure: Measure) -> Table:
    """Return a row for each point with the means of all measures, the best first."""
    table = points.means(points.labels, measure).rename({"mean": measure.name})
    table = table.with_columns(((polars.col("high") - polars.col("low")) / 2).alias("half")).drop("low", "high")
    failed = bool(points.labels and points.failed.height)
    if failed:
        every = points.runs.select(points.labels).unique(maintain_order=True)
        counts = points.failed.group_by(points.labels).agg(polars.len().alias("failed"))
        table = every.join(table, on=points.labels, how="left").join(counts, on=points.labels, how="left")
        table = table.with_columns(polars.col("runs", "failed").fill_null(0))
    others = [each for each in points.measures if each is not measure]
    for each in others:
        own = points.means(points.labels, each).rename({"mean": each.name}).select(*points.labels, each.name)
        table = table.join(own, on=points.labels, how="left") if points.labels else table.hstack(own)
    table = table.sort(measure.name, descending=measure.sign > 0, nulls_last=True, maintain_order=True)
    columns = [Column(points.name(label)) for label in points.labels]
    columns += [Column(name, "number") for name in ("runs", *(["failed"] if failed else []))]
    columns += [*(Column(name, "number", measure.shown[0]) for name in (measure.title, "± 95 %"))]
    columns += [Column(each.title, "number", each.shown[0]) for each in others]
    order = [
        *points.labels,
        "runs",
        *(["failed"] if failed else []),
        measure.name,
        "half",
        *(each.name for each in others),
    ]
    return Table(columns, table.select(order).rows())


def _failures(points: Points) -> list[Section]:
    """Return a section of errors and one of warnings, if there are any. Errors that differ only in numbers are one."""
    made = []
    if points.failed.height:
        kind = polars.col("error").str.replace_all(ANY_NUMBER, "0").alias("kind")
        parts = points.failed.with_columns(kind).partition_by("kind", maintain_order=True)
        rows = [(part.row(0, named=True), part.height) for part in parts]
        rows.sort(key=lambda each: -each[1])
        made.append(_counts("error", [(row["error"], runs, _first(points, row)) for row, runs in rows], "worse"))
    if found := _warnings(points):
        made.append(_counts("warning", [(name, runs, _first(points, row)) for name, runs, row in found], ""))
    return made


def _counts(noun: str, found: Iterable[tuple[str, int, str]], mark: str) -> Section:
    rows = [[Cell(name, mark=mark), runs, first] for name, runs, first in found]
    table = Table([Column(noun), Column("runs", "number"), Column("first at")], rows)
    return Section(f"{noun.capitalize()}s", [table], printed=True)


def _scenario(text: str) -> list[Section]:
    return [Section("Scenario", [Verbatim(text)])] if text else []
