"""A comparison of simulation and kernel on disk: tables, and the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars

from ackclock.drawing.figure import with_intervals
from ackclock.experiments import sources
from ackclock.files import storage
from ackclock.formatting.numbers import counted
from ackclock.judging.words import percent
from ackclock.linux import judging, words
from ackclock.linux.comparing import Outcome
from ackclock.linux.facts import FACTS
from ackclock.linux.judging import Difference, Pairs, ranked
from ackclock.linux.measuring import FLOW, PATH, Run
from ackclock.reports import Answer, Axis, Bullets, Cell, Column, Figure, Panel, Section, Series, Table, Text, page

KIND = "kernel comparison"
KERNEL_FILE, TABLE_FILE = "kernel.csv", "differences.csv"
WRITTEN = ("report.html", TABLE_FILE, KERNEL_FILE)
MOST_SHOWN = 24
"""Differences in the leading figure."""
MARKS = {"within": "holds", "unclear": "cannot-tell", "differs": "does-not-hold"}


def manifest(outcome: Outcome) -> dict[str, Any]:
    """Return what the manifest says of a comparison."""
    return {
        "scenarios": [case.name for case in outcome.cases],
        "repetitions": outcome.count,
        "world": outcome.world.name,
        "release": outcome.world.release,
    }


def write(directory: Path, outcome: Outcome, pairs: Sequence[Pairs], found: Sequence[Difference]) -> Path:
    """Write tables and report into the directory of an open store, and return the report."""
    storage.write_text(directory / TABLE_FILE, table(found).write_csv())
    storage.write_text(directory / KERNEL_FILE, kernel_table(pairs).write_csv())
    storage.write_text(directory / "report.html", html(outcome, pairs, found))
    return directory / "report.html"


def rows(found: Sequence[Difference]) -> list[dict[str, Any]]:
    """Return a row for every difference, the largest first, for tables and JSON."""
    return [
        {
            "scenario": each.scenario,
            "flow": each.flow or None,
            "measure": each.measure.key,
            "primary": each.measure.primary,
            "kernel": each.kernel_mean,
            "kernel_low": min(each.kernel),
            "kernel_high": max(each.kernel),
            "simulated": each.simulated_mean,
            "difference": each.relative.mean,
            "difference_low": each.relative.low,
            "difference_high": each.relative.high,
            "repetitions": len(each.kernel),
            "tolerance": each.measure.tolerance.value,
            "verdict": each.verdict,
            "verdict_half": each.at(0.5),
            "verdict_double": each.at(2.0),
            "known": "; ".join(rule.name for rule in each.known) or None,
        }
        for each in ranked(found)
    ]


def measured(outcome: Outcome, pairs: Sequence[Pairs]) -> dict[str, Any]:
    """Return what JSON says of the runs: refused and failed ones, and settings that the kernel ignores.

    Of real time also how late the emulator was, and its further attempts.
    """
    return {
        "refused": dict(outcome.refused),
        "failed": [
            {"scenario": name, "repetition": number, "reason": reason} for name, number, reason in outcome.failures
        ],
        **({} if outcome.world.virtual or not pairs else _lateness(pairs)),
        "unfollowed": [{"setting": text, "scenarios": names} for text, names in words.settings(pairs).items()],
    }


def _lateness(pairs: Sequence[Pairs]) -> dict[str, Any]:
    late = judging.lateness(pairs)
    return {
        "lateness_p50": late.p50,
        "lateness_p99": late.p99,
        "lateness_max": late.latest,
        "further_attempts": late.further,
    }


def table(found: Sequence[Difference]) -> polars.DataFrame:
    """Return `rows` as a table."""
    return polars.DataFrame(rows(found), infer_schema_length=None)


def kernel_table(pairs: Sequence[Pairs]) -> polars.DataFrame:
    """Return a row for every repetition on the kernel and every flow, from which `take_rows` restores the runs."""
    made = [
        {"scenario": each.name, "repetition": number, "flow": name, **row, **run.path, **_facts(run)}
        for each in pairs
        for number, run in zip(each.numbers, each.kernel, strict=True)
        for name, row in run.flows.items()
    ]
    return polars.DataFrame(made, infer_schema_length=None)


def _facts(run: Run) -> dict[str, Any]:
    return {name: run.facts[name] for name in FACTS if name in run.facts}


def take_rows(outcome: Outcome, stored: polars.DataFrame) -> None:
    """Take the runs of `kernel_table` instead of measuring; they have no curves.

    Scenarios that the table lacks are refused.
    """
    for case in outcome.cases:
        own = stored.filter(polars.col("scenario") == case.name)
        if own["repetition"].n_unique() < outcome.count:
            outcome.refused[case.name] = "was not measured"
    for name, repetitions in outcome.repetitions.items():
        for number, each in enumerate(repetitions, 1):
            flows = stored.filter(scenario=name, repetition=number).to_dicts()
            path, facts = ({key: flows[0][key] for key in names if key in flows[0]} for names in (PATH, FACTS))
            run = Run({row["flow"]: {key: row[key] for key in FLOW} for row in flows}, path, {}, facts)
            outcome.experiment.store.put(each.kernel, run)


def html(outcome: Outcome, pairs: Sequence[Pairs], found: Sequence[Difference]) -> str:
    """Return the report as HTML."""
    answered = words.answer(outcome, pairs, found)
    larger = words.larger(found)
    sections = [
        Section(f"Larger differences ({len(larger)})", [Bullets(larger)] if larger else [], folded=False, printed=True),
        Section("All comparisons", [_table(found)], printed=True),
        Section("Congestion windows", [_curves(each) for each in pairs if each.kernel[0].curves]),
        Section("Scenarios that cannot run on the kernel", [Bullets(refusals(outcome))] if outcome.refused else []),
        Section("Runs that failed", [Bullets(said)] if (said := failures(outcome)) else []),
        Section(
            "Settings that the kernel does not follow", [Bullets(said)] if (said := words.unfollowed(pairs)) else []
        ),
        Section("Method", [*map(Text, (*words.method(outcome), *words.lateness(outcome, pairs)))]),
    ]
    about = f"{outcome.world.title}, {counted(len(pairs), 'scenario')}, {counted(outcome.count, 'repetition')}"
    answer = Answer(answered, _lead(found) if pairs else None)
    shown = [section for section in sections if section.items]
    return page("Simulation and kernel", answer, shown, about=about, footer=f"program {sources.build()[:16]}")


def refusals(outcome: Outcome) -> list[str]:
    """Return a sentence for every scenario that the kernel cannot run."""
    return [f"{name}: {reason}" for name, reason in outcome.refused.items()]


def failures(outcome: Outcome) -> list[str]:
    """Return a sentence for every run that failed."""
    return [f"{name}: failed in repetition {number}: {reason}" for name, number, reason in outcome.failures]


def _table(found: Sequence[Difference]) -> Table:
    kinds = ("text", "text", "text", "number", "text", "number", "number", "text", "text")
    columns = [Column(name, kind) for name, kind in zip(words.COLUMNS, kinds, strict=True)]  # type: ignore[arg-type]
    made: list[list[Any]] = []
    for each in ranked(found):
        cells: list[Any] = list(words.row(each))
        cells[3] = Cell(cells[3], each.kernel_mean * each.measure.scale)
        cells[5] = Cell(cells[5], each.simulated_mean * each.measure.scale)
        cells[6] = Cell(cells[6], each.relative.mean)
        cells[7] = Cell(cells[7], mark=MARKS[each.verdict])
        made.append(cells)
    return Table(columns, made, note="Largest differences first, relative to their tolerance.")


def _lead(found: Sequence[Difference]) -> Figure:
    """Return the ranked differences of the primary measures, with their intervals."""
    primary = [each for each in ranked(found) if each.measure.primary]
    shown = primary[:MOST_SHOWN]
    names = [_label(each) for each in shown]
    series = []
    for verdict, name in words.VERDICTS.items():
        own = [(label, each.relative) for label, each in zip(names, shown, strict=True) if each.verdict == verdict]
        if own:
            texts = [f"{label}: {percent(relative.mean)} %" for label, relative in own]
            labels, relatives = [label for label, _ in own], [relative for _, relative in own]
            series.append(with_intervals(name, labels, relatives, "points", 100.0, texts=texts))
    tolerance = 100 * shown[0].measure.tolerance.value
    panel = Panel(
        series, x=Axis(names=names), y=Axis("simulation − kernel (%)"), references=[0.0], band=(-tolerance, tolerance)
    )
    note = f"The {MOST_SHOWN} largest of {len(primary)}." if len(primary) > MOST_SHOWN else ""
    title = (
        "Data delivered or completion time: difference in percent of the kernel's mean, 95 % intervals over repetitions"
    )
    return Figure(f"{title}.", [panel], note=note)


def _label(each: Difference) -> str:
    return f"{each.scenario} ({each.flow or 'all'})" if each.several else each.scenario


def _curves(each: Pairs) -> Figure:
    """Return the congestion windows of both sides: all repetitions on the kernel, and the simulations that differ."""
    panels = []
    for flow in each.kernel[0].curves:
        series = []
        simulated = each.simulated[:1] if each.deterministic else each.simulated
        for name, runs in (("kernel", each.kernel), ("simulation", simulated)):
            # There can be fewer simulations than repetitions.
            for number, run in zip(each.numbers, runs, strict=False):
                y = np.array([math.nan if value is None else value for value in run.curves[flow]])
                x = (np.arange(len(y)) + 0.5) * (each.duration / max(1, len(y)))
                first = number == each.numbers[0]
                label = name if first else f"{name} {number}"
                series.append(Series(label, x, y, "step", faint=not first, like="" if first else name))
        title = flow if len(each.kernel[0].curves) > 1 else ""
        panels.append(Panel(series, title=title, x=Axis("time (s)"), y=Axis("cwnd (segments)")))
    return Figure(each.name, panels)
