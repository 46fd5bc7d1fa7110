"""The report on a paper: its answer, causes, verdicts, tables and figures, as Markdown and as one HTML file.

The HTML file contains all its images. It opens with three sentences and one figure; the other sections are folded. Each
figure appears once; other places link to it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars

from ackclock import _core
from ackclock.drawing import bands
from ackclock.drawing.figure import Figure
from ackclock.drawing.workers import Drawing
from ackclock.experiments import budget
from ackclock.experiments.store import Store
from ackclock.experiments.world import SIMULATION
from ackclock.files import reading, storage
from ackclock.formatting.numbers import counted, finite, number
from ackclock.literature import answers, charts, current, library, panels, reproduction, sentences, tables
from ackclock.literature.again import Runs
from ackclock.literature.charts import Picture
from ackclock.literature.claims import Claim, bounds
from ackclock.literature.library import Paper
from ackclock.literature.panels import Drawn
from ackclock.literature.plan import Plan, plan_paper
from ackclock.literature.reproduction import Outcome, manifest
from ackclock.literature.verdicts import WHYS, Judgement, judge_all
from ackclock.literature.worlds import judging, section
from ackclock.literature.worlds import runs as elsewhere
from ackclock.literature.worlds.runs import Elsewhere
from ackclock.reports import grids, units
from ackclock.reports.live import STATIC, Live
from ackclock.reports.live import live as make_live
from ackclock.reports.markdown import rendered
from ackclock.reports.rendering import render
from ackclock.statistics.intervals import Interval, rounded

WAYS = {
    "no difference": "within the tolerance",
    "apart": "different beyond the tolerance, or outside the limits",
    "reversed": "reversed",
    "beaten": "beaten by another value",
    None: "not above by more than the tolerance",
}
VERDICTS = ("does not hold", "holds", "cannot tell", "not run")
MOST_STILL = 4_000_000
"""Bytes of pictures in a report, for readers without JavaScript and until the page has drawn its figures; the leading
figure always has its picture."""
NUMBERED, FURTHER = "Figures of the paper", "Further figures"
START_COLUMNS = {
    "exit cwnd": "slow_start_exit_cwnd",
    "exit cwnd / (BDP + queue)": "slow_start_exit_ratio",
    "exit at (s)": "slow_start_exit_time",
    "first overshoot losses": "first_overshoot_losses",
    "bytes in 1 s": "delivered_1s",
    "2 s": "delivered_2s",
    "5 s": "delivered_5s",
    "10 s": "delivered_10s",
}


@dataclass(frozen=True)
class Shown:
    """A figure in the report.

    Attributes
    ----------
    figure : Figure
        The figure as data; its anchor is the name in links.
    path : Path
        Its file.
    group : str
        The group that the report folds.
    columns, rows : sequence
        Its numbers as a table; empty for curves over time.
    same : str
        Name of an earlier figure with the same picture, or "".
    still : str
        Its picture as an address within the page, or "" if the page has no room for it.
    """

    figure: Figure
    path: Path
    group: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    same: str = ""
    still: str = ""

    @property
    def name(self) -> str:
        """Name in links."""
        return self.figure.anchor

    @property
    def title(self) -> str:
        """Its title."""
        return self.figure.title

    @property
    def file(self) -> str:
        """Path of its file relative to the report."""
        return f"figures/{self.path.name}"


@dataclass(frozen=True, repr=False)
class Report:
    """The judged claims of a paper.

    Attributes
    ----------
    html : Path
        The written report.
    answer : Answer
        The answer in words.
    quick : str
        What a quick run leaves out, as a sentence; empty for all runs.
    judge : callable
        Returns the judgements.
    """

    html: Path
    answer: answers.Answer
    quick: str
    judge: Callable[[], Sequence[Judgement]]

    def __repr__(self) -> str:
        return f"<Report on {self.folder.name}: {counted(len(self.verdicts), 'reading')} of claims, in {self.html}>"

    @cached_property
    def judgements(self) -> Sequence[Judgement]:
        """The judgement of every claim in each of its readings; of a report that was there already, judged again."""
        return self.judge()

    @property
    def folder(self) -> Path:
        """The folder with the report, tables and figures."""
        return self.html.parent

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdicts with their numbers, as ``verdicts.json`` has them."""
        found: list[dict[str, Any]] = reading.read_json(self.folder / reproduction.VERDICTS)
        return found

    @property
    def counts(self) -> Counter[sentences.Outcome]:
        """Number of the paper's sentences by outcome, each in its main reading."""
        found = reading.read_json(self.folder / reproduction.SENTENCES)
        return Counter(it["outcome"] for it in found if not it["ours"])


def write(outcome: Outcome, directory: Path, others: Sequence[Elsewhere] = (), *, jobs: int | None = None) -> Report:
    """Judge the claims, draw the figures, and write everything.

    Parameters
    ----------
    outcome
        The results of the runs.
    directory
        Directory for ``runs.parquet verdicts.json report.md report.html figures/ manifest.json``. A paper with
        printed tables adds ``tables.parquet tables.csv checks.parquet checks.csv``. Runs in other worlds add
        ``worlds.parquet``.
    others
        The results of runs in worlds beside the simulation.
    jobs
        Processes that draw at the same time; by default one for each processor.
    """
    paper = outcome.plan.paper
    folder = directory / "figures"
    folder.mkdir(exist_ok=True)
    drawn, single = panels.pictures(outcome, paper.contents.figures, folder) if paper.contents.figures else ([], [])
    charted = charts.pictures(outcome, folder)
    pictures = [*single, *((figure, path) for _, path, figure in drawn), *((it.shown, it.path) for it in charted)]
    with contextlib.closing(Drawing(pictures, budget.threads(jobs))) as drawing:
        judgements = _judged(outcome, others)
        if others:
            storage.write_parquet(directory / elsewhere.TABLE, elsewhere.table(others))
        table = polars.DataFrame(outcome.rows, infer_schema_length=None)
        storage.write_parquet(directory / "runs.parquet", table)
        verdicts = finite([judgement.to_dict() for judgement in judgements])
        _write_json(directory / reproduction.VERDICTS, verdicts)
        _write_json(
            directory / reproduction.SENTENCES, finite([it.to_dict() for it in sentences.sentences(judgements)])
        )
        live = None
        if outcome.plan.runs and make_live({}) is not None:
            drawn, charted, live = _with_runs(outcome, drawn, charted)
        compared = tables.compare(outcome.plan.tables, outcome.rows)
        tables.write(compared, directory)
        drawing.finish()
    shown: dict[str, list[dict[str, Any]]] = {}
    for item in compared:
        heading = f"Table {item.table.number}: {item.table.title}"
        shown.setdefault(heading, []).append({**tables.shown(item), "reading": item.reading})
    static = STATIC if outcome.plan.runs and live is None else ""
    context = {
        **_context(outcome, judgements, (drawn, charted), table, others),
        "tables": shown,
        "live": live,
        "static": static,
        "command": _command(outcome.plan, others),
    }
    for ending in ("md", "html"):
        storage.write_text(directory / f"report.{ending}", render(f"report.{ending}.j2", context))
    answer, quick = context["answer"], _quick(outcome.plan)
    _write_json(directory / reproduction.ANSWER, {**asdict(answer), "quick": quick})
    entries: dict[str, Any] = {"worlds": [elsewhere.manifest(each) for each in others]} if others else {}
    if not others:
        entries[current.ENTRY] = current.stamp(paper, directory, quick=outcome.plan.quick)
    storage.write_manifest(directory, "paper", {**manifest(outcome.plan), **entries, "state": "complete"})
    return Report(directory / "report.html", answer, quick, lambda: judgements)


def written(paper: Paper, directory: Path, *, quick: bool) -> Report | None:
    """Return the report that a folder has, if its inputs have not changed since; None otherwise."""
    if not current.is_current(paper, directory, quick=quick):
        return None

    def judge() -> Sequence[Judgement]:
        return _judged(reproduction.stored(plan_paper(paper, quick=quick), directory), ())

    said = reading.read_json(directory / reproduction.ANSWER)
    return Report(directory / "report.html", answers.read(said), said["quick"], judge)


def _judged(outcome: Outcome, others: Sequence[Elsewhere]) -> list[Judgement]:
    """Judge the claims, also in other worlds."""
    found = judge_all(outcome.plan.claims, outcome.rows, outcome.plan.paper.all_labels)
    judged = {each.choice.world.name: judging.judged(each) for each in others}
    if not judged:
        return found
    return [
        replace(item, worlds={name: own[item.claim.id, item.metric] for name, own in judged.items()}) for item in found
    ]


def _quick(plan: Plan) -> str:
    """Say what a quick run leaves out; empty for all runs."""
    if not plan.quick:
        return ""
    ran = f"{len(plan.runs):,} of {counted(plan.whole, 'run')}" if plan.whole else "fewer evaluations of models"
    return (
        f"Quick: {ran}. This is a preview, whose sentences speak of what ran alone; those without runs are “not run”."
    )


def _write_json(path: Path, found: object) -> None:
    storage.write_text(path, json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def _command(plan: Plan, others: Sequence[Elsewhere]) -> str:
    """Return the command that runs the paper and judges its claims again."""
    names = [SIMULATION.name, *(each.choice.world.name for each in others)]
    where = f" --on {','.join(names)}" if others else ""
    return (
        f"ackclock paper {plan.paper.name}{' --quick' if plan.quick else ''}{where} --out out/{plan.paper.name}-again"
    )


def stored_paper(directory: Path) -> str:
    """Write the report again from stored runs, and return its HTML; see `reproduction.stored` for errors."""
    there = storage.read_manifest(directory, "paper")
    plan = plan_paper(library.find(str(there["paper"])), quick=bool(there["quick"]))
    store = Store(directory)
    others = [elsewhere.stored(plan, each, store) for each in there.get("worlds", ())]
    return write(reproduction.stored(plan, directory), directory, others).html.read_text(encoding="utf-8")


def _with_runs(
    outcome: Outcome, drawn: Sequence[Drawn], charted: Sequence[Picture]
) -> tuple[list[Drawn], list[Picture], Live | None]:
    """Return the figures with their runs, and the live part of the report."""
    runs, figures = Runs(outcome), outcome.plan.paper.contents.figures
    sheets = []
    for sheet, path, figure in drawn:
        assert figures is not None
        cells = [{**sheet.where, figures.panel: value} for _, value in sheet.panels]
        sheets.append((sheet, path, replace(figure, again=runs.sheet(figures, sheet.kind, cells))))
    pictures = [replace(it, shown=replace(it.shown, again=runs.chart(it))) for it in charted]
    again = [figure.again for figure in (*(it for _, _, it in sheets), *(it.shown for it in pictures)) if figure.again]
    return sheets, pictures, make_live(runs.data([dict(it) for it in again]))


def _context(
    outcome: Outcome,
    judgements: Sequence[Judgement],
    drawn_and_charted: tuple[Sequence[Drawn], Sequence[Picture]],
    table: polars.DataFrame,
    others: Sequence[Elsewhere],
) -> dict[str, Any]:
    paper, (drawn, charted) = outcome.plan.paper, drawn_and_charted
    # Claims beyond the paper are counted separately.
    grouped: dict[tuple[bool, str], list[Judgement]] = {}
    for judgement in sorted(judgements, key=lambda judgement: judgement.claim.ours):
        grouped.setdefault((judgement.claim.ours, judgement.metric), []).append(judgement)
    anchors = {figure: sheet.name for sheet, _, _ in drawn for figure, _ in sheet.panels if figure is not None}
    anchors |= {it.chart.figure: it.name for it in charted if it.chart.figure is not None}
    lead, figures = _figures(paper, drawn, charted)
    start = _slow_start(table, paper.labels) if paper.contents.figures is not None else []
    answer = _answer(paper, judgements, others)
    return {
        "paper": paper,
        "quick": _quick(outcome.plan),
        "runs": len(outcome.plan.runs),
        "evaluations": outcome.plan.evaluations,
        "version": _core.__version__,
        "manifest": manifest(outcome.plan),
        "answer": answer,
        "worlds": [section.context(each, judgements) for each in others],
        "lead": lead,
        "readings": [_summary(metric, group, ours=ours) for (ours, metric), group in grouped.items()],
        "said": sentences.words(sentences.counts(sentences.of_paper(judgements))),
        "sentences": _sentences(judgements, answer.causes, anchors),
        "claims": _claim_groups(judgements, anchors),
        "figures": figures,
        "drawn_runs": bands.RUNS,
        "single": paper.contents.figures.single if paper.contents.figures else {},
        "start_columns": [*paper.labels, "exit", *START_COLUMNS],
        # The charts of a paper without sheets show these numbers.
        "start": start,
        "start_table": grids.numbers([*paper.labels, "exit", *START_COLUMNS], start, left=len(paper.labels) + 1),
        "notes": rendered(paper.notes),
    }


def _answer(paper: Paper, judgements: Sequence[Judgement], others: Sequence[Elsewhere]) -> answers.Answer:
    """Return the answer of the paper; each other world adds a sentence that links to its section."""
    found = answers.answer(paper, judgements)
    added = [section.sentence(each.choice.world, judgements) for each in others]
    return replace(found, sentences=[*found.sentences, *added])


def _figures(
    paper: Paper, drawn: Sequence[Drawn], charted: Sequence[Picture]
) -> tuple[Shown | None, dict[str, list[Shown]]]:
    """Return the leading figure, and all figures by group; a duplicate refers to the earlier figure."""
    shown = [Shown(figure, path, sheet.group or NUMBERED) for sheet, path, figure in drawn]
    for it in charted:
        group = it.chart.group or (FURTHER if it.chart.figure is None else NUMBERED)
        shown.append(Shown(it.shown, it.path, group, it.columns, it.rows))
    answer = paper.contents.answer
    wanted = [] if answer is None else [it.name for it in charted if answer.leads(it.chart)]
    lead = next((item for item in shown if item.name in wanted), shown[0] if shown else None)
    if lead is not None:
        lead = replace(lead, still=_still(lead.path))
    first: dict[bytes, str] = {} if lead is None else {lead.path.read_bytes(): lead.name}
    groups: dict[str, list[Shown]] = {}
    room = MOST_STILL - (len(lead.still) if lead is not None else 0)
    for item in shown:
        same = first.setdefault(item.path.read_bytes(), item.name)
        if same != item.name or (lead is not None and item.name == lead.name):
            groups.setdefault(item.group, []).append(replace(item, same=same))
            continue
        still = _still(item.path)
        room -= len(still)
        groups.setdefault(item.group, []).append(replace(item, still=still if room >= 0 else ""))
    return lead, groups


def _still(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"


def _summary(metric: str, judgements: Sequence[Judgement], *, ours: bool) -> dict[str, Any]:
    """Count the verdicts on one metric, and the ordered claims whose means are in the claimed order."""
    counted = Counter(judgement.verdict for judgement in judgements)
    failed = Counter(judgement.why for judgement in judgements if judgement.verdict == "does not hold")
    ways = [(failed[why], WAYS[why]) for why in (*reversed(WHYS), None) if failed[why]]
    orders = [judgement.order_matches for judgement in judgements if judgement.order_matches is not None]
    counts = [(verdict, counted[verdict]) for verdict in ("holds", "does not hold", "cannot tell", "not run")]
    return {
        "name": units.name(metric) + (", beyond the paper" if ours else ""),
        "counts": counts,
        "ways": "; ".join(f"{count} {words}" for count, words in ways),
        "orders": (sum(orders), len(orders)),
    }


def _claim_groups(judgements: Sequence[Judgement], anchors: Mapping[int, str]) -> list[dict[str, Any]]:
    """Group the claims by the verdict on their main reading; claims beyond the paper are separate."""
    main = answers.mains(judgements)
    made = []
    for ours in (False, True):
        for verdict in VERDICTS:
            chosen = [item for item in judgements if item.claim.ours == ours and main[item.claim.id].verdict == verdict]
            if chosen:
                rows = _claim_rows(chosen, anchors)
                slug = verdict.replace(" ", "-")
                made.append({"verdict": verdict, "slug": slug, "ours": ours, "rows": rows})
    return made


def _sentences(
    judgements: Sequence[Judgement], causes: Sequence[answers.Reason], anchors: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return the rows of the paper's sentences: outcome, other readings, and the numbers of their causes."""
    rows = []
    for it in sentences.of_paper(judgements):
        ids = [claim.id for claim in it.claims]
        held, parts = it.readings[0].held
        rows.append(
            {
                "sentence": it,
                "parts": f"{held} of {parts} parts hold" if parts > 1 else "",
                "claims": ids,
                "causes": [place for place, cause in enumerate(causes, 1) if set(ids) & set(cause.explains)],
                "anchor": next((found for claim in it.claims if (found := _anchor(claim, anchors))), None),
            }
        )
    return rows


def _anchor(claim: Claim, anchors: Mapping[int, str]) -> str | None:
    """Return the anchor of the first figure that the source of a claim names."""
    figures = [int(number) for number in re.findall(r"\d+", claim.source.partition("figure")[2])]
    return next((anchors[figure] for figure in figures if figure in anchors), None)


def otherwise(judgement: Judgement) -> list[str]:
    """Say which verdict half or double the tolerance would give, if it is another one."""
    words = {0.5: "half", 2.0: "double"}
    said = [
        f"with {words[at]} the tolerance: {found}" for at, found in judgement.at.items() if found != judgement.verdict
    ]
    return ["; ".join(said)] if said else []


def _claim_rows(judgements: Sequence[Judgement], anchors: Mapping[int, str]) -> list[dict[str, Any]]:
    grouped: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        grouped.setdefault(judgement.claim.id, []).append(judgement)
    made = []
    for group in grouped.values():
        readings = [
            {
                "metric": units.name(item.metric) + (", the exact path" if item not in group else ""),
                "verdict": item.verdict,
                "why": item.why,
                "slug": item.verdict.replace(" ", "-"),
                "reasons": [*item.reasons, *([item.evidence.text] if item.evidence else []), *otherwise(item)],
                "measured": _measured(item),
                "unit": units.unit(item.metric),
                "ranking": answers.ranking(item),
                "cells": _cells(item),
                "order": item.order_matches,
                "worlds": section.readings(item),
            }
            for item in with_exact_path(group)
        ]
        claim = group[0].claim
        anchor = _anchor(claim, anchors)
        made.append({"claim": claim, "expected": _expected(claim), "readings": readings, "anchor": anchor})
    return made


def with_exact_path(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements, each followed by its judgement on the exact path."""
    return [each for item in judgements for each in (item, item.beside) if each is not None]


def _expected(claim: Claim) -> str:
    if claim.kind == "equal":
        return f"{claim.axis} does not matter"
    where = {"any": "in at least one cell", "most": "in most cells", "all": "in all cells"}[claim.quantifier]
    if claim.word == "up to":
        where = "for the largest of all cells"
    if claim.kind == "best":
        return f"no {claim.axis} is better than {claim.of} ({claim.sense}), {where}"
    if claim.kind == "bound":
        named = f"{claim.of} / {claim.to}" if claim.to else claim.of
        return f"{named} {bounds(claim)}, {where}"
    groups = [" ~ ".join(group) for group in claim.expected]
    lead, rest = (f"({', '.join(names)})" if len(names) > 1 else "".join(names) for names in (claim.lead, claim.rest))
    return " > ".join(filter(None, [lead, *groups, rest]))


def _measured(judgement: Judgement) -> list[tuple[str, str, str]]:
    """Return name, mean and interval of the variants of a claim on one cell, best first."""
    if len(judgement.measured) != 1:
        return []
    return [(variant, *_mean_and_ends(mean)) for variant, mean in judgement.measured[0][1]]


def _mean_and_ends(mean: Interval) -> tuple[str, str]:
    text, low, high = rounded(mean)
    return text, f"[{low}, {high}]"


def _cells(judgement: Judgement) -> str:
    if len(judgement.measured) < 2:
        return ""
    means = [mean.mean for _, ranks in judgement.measured for _, mean in ranks]
    span = f"{number(min(means))} to {number(max(means))} {units.unit(judgement.metric)}".rstrip()
    return f"means range from {span} in {len(judgement.measured)} cells; verdicts.json lists them"


def _slow_start(table: polars.DataFrame, labels: Sequence[str]) -> list[list[str]]:
    means = [
        polars.col(column).cast(polars.Float64).mean() for column in START_COLUMNS.values() if column in table.columns
    ]
    reason = polars.col("slow_start_exit_reason").drop_nulls().mode().sort().first().fill_null("none")
    # Only verdicts show the exact path.
    drawn = table.filter(polars.col("paths").cast(polars.String).ne_missing("exact"))
    grouped = drawn.group_by(list(labels), maintain_order=True).agg(reason.alias("exit"), *means)
    return [
        [number(value) if isinstance(value, float) else "–" if value is None else str(value) for value in row]
        for row in grouped.iter_rows()
    ]
